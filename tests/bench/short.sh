#!/bin/sh
# The forms of the bench that are not TAP themselves, at small sizes: instructions, a table of one
# figure, JSON, and the plots that are drawn from it.
set -u
B=${B-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result() {
  if [ "$1" = 0 ]; then
    echo "ok bench: $2"
  else
    echo "not ok bench: $2"
    cat "$work/out"
  fi
}

figure='bloom_contains, bound, absent text, 1.2 MB'
"$B/bench" --instructions --quick --only "$figure" >"$work/out" 2>/dev/null
code=$?
# a scan alone is some hundreds of instructions a row, the filter adds to it
awk -v "name=$figure" 'index($0, name) == 1 {
  $0 = substr($0, length(name) + 1); found = $2 > 100 && $3 > $2 && $3 < 3 * $2 && $4 > 1
} END { exit !found }' "$work/out"
result $((code + $?)) "--instructions counts a row's"

"$B/bench" --only 'header and layer table' >"$work/out" 2>/dev/null
code=$?
grep -q '1 figures in .*: 0 over their limit, 0 wrong' "$work/out"
result $((code + $?)) "a table of one figure"

"$B/bench" --only 'no figure has this name' >"$work/out" 2>&1
[ $? = 2 ]
result $? "a name that no figure has is an error"

"$B/bench" --quick --json >"$work/json" 2>"$work/out"
result $? "--json"
tests/bench/plots.sh --test "$work/json"
tests/bench/laws.sh "$work/json" >"$work/out" 2>&1 && [ "$(wc -l <"$work/out")" -ge 13 ]
result $? "the cost laws of what was measured"

# costs n^1.5 and (log2 1/p)^0.5, by hand
cat >"$work/json" <<'JSON'
[{"figure": "bloom_union of two, by size, 12 KB", "n": 10000, "ns": 1000000, "verdict": "-"},
 {"figure": "bloom_union of two, by size, 120 KB", "n": 40000, "ns": 8000000, "verdict": "-"},
 {"figure": "bloom_union of two, by size, 1.2 MB", "n": 90000, "ns": 27000000, "verdict": "-"},
 {"figure": "bloom_contains, bound, absent text, p = 0.5", "n": 1, "ns": 7, "verdict": "-"},
 {"figure": "bloom_contains, bound, absent text, p = 0.0625", "n": 1, "ns": 14, "verdict": "ok"},
 {"figure": "bloom_contains, bound, absent text, p = 0.25", "n": 1, "ns": 1, "verdict": "WRONG"}]
JSON
tests/bench/laws.sh "$work/json" >"$work/out" 2>&1
code=$?
grep -q '^| union of two .* | 3 .* | 1.50 ' "$work/out" &&
  grep -q '^| probed row, absent key .* | 2 .* | 0.50 ' "$work/out"
result $((code + $?)) "the cost laws of known costs"
