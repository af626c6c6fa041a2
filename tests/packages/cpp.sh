#!/bin/sh
# The amalgamation in other builds: C++17, clang, and the loadable extension out of bloom.c, each with
# warnings as errors. Needs g++ and clang. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=$(cd "${B-build}" && pwd)
CC=${CC-cc}
. tests/packages/lib.sh
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wvla -Werror"
cp "$B"/amalgamation/bloom.[ch] "$work"

# Block number $1 of README.md that is fenced with c.
fenced() {
  awk -v wanted="$1" '$0 == "```c" { n++; on = n == wanted; next } /^```/ { on = 0 } on' README.md
}

fenced 1 >"$work/app.cpp"
fenced 2 >"$work/words.cpp"
built=$(cd "$work" && g++ -std=c++17 $strict -o app app.cpp "$B/packages-test/core.o" -lsqlite3 -lm 2>&1)
say "C++17 with SQLite" "1 0" "$built$("$work/app" | xargs)"
built=$(cd "$work" && g++ -std=c++17 $strict -o words words.cpp "$B/packages-test/plain.o" -lm 2>&1)
printf 'apple\npear\n' | "$work/words" >"$work/words.bloom"
say "C++17 without SQLite" "1|0" "$built$(sqlite3 :memory: ".load $B/bloom" "
  SELECT readfile('$work/words.bloom') = bloom_build(value),
         bloom_contains(readfile('$work/words.bloom'), 'fig')
  FROM json_each('[\"apple\", \"pear\"]')" 2>&1)"

for define in -DSQLITE_CORE -DBLOOM_NO_SQLITE -DBLOOM_LOADABLE; do
  said=$(clang -std=c11 $strict $define -fsyntax-only "$work/bloom.c" 2>&1)
  say "clang: bloom.c with $define" "0" "$?$said"
done

built=$($CC -std=c11 $strict -O2 -ffp-contract=off -fPIC -fvisibility=hidden -shared \
  -o "$work/bloom.so" "$work/bloom.c" -lm 2>&1)
say "bloom.c as a loadable extension exports one name" "sqlite3_bloom_init" \
  "$built$(nm -D --defined-only "$work/bloom.so" | awk '{print $3}' | xargs)"
say "and loads" "1|0" "$(sqlite3 :memory: ".load $work/bloom" \
  "SELECT bloom_contains(bloom_build('a'), 'a'), bloom_contains(bloom_build('a'), 'b')" 2>&1)"
