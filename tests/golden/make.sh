#!/bin/sh
# Makes what is missing: NAME.bloom for every NAME.recipe, and its line of facts.tsv. What is there
# stays: a golden file is kept for ever. From the project's root, after make.
. tests/golden/lib.sh
for recipe in "$GOLDEN"/*.recipe; do
  name=$(basename "$recipe" .recipe)
  [ -e "$GOLDEN/$name.bloom" ] && continue
  { recipe_sql "$name" && echo "SELECT writefile('$GOLDEN/$name.bloom', filter) FROM filters;"; } |
    shell >/dev/null || exit 1
  facts "$name" >>"$GOLDEN/facts.tsv" || exit 1
  echo "$name: $(wc -c <"$GOLDEN/$name.bloom") bytes"
done
