#!/bin/sh
# The golden files against this build. For each: the recipe gives the same bytes, every member is
# found, absent keys are found at the rate that the cells have, the facts are those of facts.tsv,
# and a changed, missing or added byte is an error. Prints TAP; from the project's root.
#
#   tests/golden/run.sh [NAME ...]      only these
. tests/golden/lib.sh

tap() { # name, what, what it is, what it should be
  if [ "$3" = "$4" ]; then
    echo "ok golden $1: $2"
  else
    echo "not ok golden $1: $2"
    echo "# got '$3', expected '$4'"
  fi
}

# One line: same bytes?, members, members found, absent keys that are found, and whether that is
# within 5 sigma of what bloom_fpr says of these cells (a binomial of 20000 keys; never more than
# that above, and none at all where the rate is 0).
answers() {
  {
    recipe_sql "$1"
    kept_sql "$1"
    cat <<'SQL'
CREATE TEMP TABLE absent AS SELECT count(*) AS keys, sum(bloom_contains(filter, value)) AS found,
  bloom_fpr(filter) AS rate
  FROM kept, generate_series(700000000001, 700000020000);
SELECT (SELECT k.filter IS f.filter AND typeof(f.filter) = 'blob' FROM kept k, filters f),
  (SELECT count(*) FROM members),
  (SELECT total(bloom_contains(filter, key)) FROM kept, members),
  (SELECT (found - keys * rate) * (found - keys * rate) <= 25 * keys * rate * (1 - rate)
    FROM absent);
SQL
  } | shell 2>&1
}

# Statements that each must end in an error: one bit of each header byte and of some 40 body bytes
# changed, the last byte missing, a byte more.
damages() {
  kept_sql "$1"
  echo "CREATE TEMP TABLE bytes(number, byte);"
  awk 'BEGIN {
    for (i = 0; i < 256; i++) printf "INSERT INTO bytes VALUES (%d, x'\''%02x'\'');\n", i, i
  }'
  layers=$(od -An -tu1 -j9 -N1 "$GOLDEN/$1.bloom")
  awk -v size="$2" -v layers="$layers" 'BEGIN {
    header = 40 + 32 * layers
    step = int((size - header) / 40) + 1
    for (at = 0; at < size; at += at < header ? 1 : step) flip(at)
    flip(size - 1)
    print "SELECT bloom_info(substr(filter, 1, length(filter) - 1)) FROM kept;"
    print "SELECT bloom_info(CAST(filter || x'\''00'\'' AS BLOB)) FROM kept;"
  }
  function flip(at) {
    printf "SELECT bloom_info(CAST(substr(filter, 1, %d) || flipped.byte", at
    printf " || substr(filter, %d) AS BLOB))", at + 2
    printf " FROM kept JOIN bytes AS old ON old.byte = substr(filter, %d, 1)", at + 1
    printf " JOIN bytes AS flipped ON flipped.number = (old.number | %d) - (old.number & %d);\n",
      2 ^ (at % 8), 2 ^ (at % 8)
  }'
}

check() {
  size=$(wc -c <"$GOLDEN/$1.bloom" | tr -d ' ')
  line=$(answers "$1")
  members=$(printf '%s\n' "$line" | cut -f 2)
  tap "$1" 'bytes, members found, absent keys at their rate' "$line" "1	$members	${members}.0	1"
  case $1 in
    unsized-empty | empty-*) ;;
    *) [ "${members:-0}" -gt 0 ] 2>/dev/null || echo "not ok golden $1: it has no members" ;;
  esac
  tap "$1" 'facts' "$(facts "$1" 2>&1)" "$(grep "^$1	" "$GOLDEN/facts.tsv")"
  damages "$1" "$size" >"$scratch/damages"
  asked=$(grep -c bloom_info "$scratch/damages")
  { echo ".load $B/bloom.so"; cat "$scratch/damages"; } |
    sqlite3 -init /dev/null -batch -list :memory: >"$scratch/out" 2>"$scratch/err"
  refused=$(grep -cE 'bloom_info: (damaged filter|not a bloom filter|unsupported)' "$scratch/err")
  tap "$1" 'damage is an error' "$refused errors, $(grep -c . "$scratch/out") answers" \
    "$asked errors, 0 answers"
}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
if [ $# -gt 0 ]; then
  for name in "$@"; do check "$name"; done
  exit
fi
for file in "$GOLDEN"/*.bloom; do
  name=$(basename "$file" .bloom)
  if [ -e "$GOLDEN/$name.recipe" ]; then
    check "$name"
  else
    echo "not ok golden $name: no recipe"
  fi
done

# The numbers of spelt-twins are, spelt as text, in spelt-numbers.
line=$({
  recipe_sql spelt-twins
  kept_sql spelt-numbers
  echo "SELECT total(bloom_contains(kept.filter, key)), count(*) FROM kept, members;"
} | shell 2>&1)
tap spelt-numbers 'the numbers themselves are found' "$line" '40.0	40'

for file in "$GOLDEN"/*.recipe; do
  [ -e "${file%.recipe}.bloom" ] || echo "not ok golden $file: no kept file"
done
