#!/bin/sh
# Starting inputs from files that the tree has anyway: seeds.sh FOLDER. The golden filters with the
# options in front that the fuzzers blob and merge expect, and the SQL of the other suites.
set -eu
mkdir -p "$1/blob" "$1/merge" "$1/sql"
for file in tests/golden/*.bloom; do
  name=$(basename "$file" .bloom)
  { printf '\057'; cat "$file"; } >"$1/blob/golden-$name"
  size=$(wc -c <"$file")
  low=$(printf '%03o' $((size % 256))) high=$(printf '%03o' $((size / 256 % 256)))
  [ "$size" -lt 65536 ] || continue
  { printf "\\057\\$low\\$high"; cat "$file" "$file"; } >"$1/merge/golden-$name"
done
for file in sql/*.sql tests/sql/*.sql; do
  cp "$file" "$1/sql/$(basename "$(dirname "$file")")-$(basename "$file")"
done
