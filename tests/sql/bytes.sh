#!/bin/sh
# The same bytes from every build: gcc and clang, -O0 and -O3, for this machine's own instructions,
# with 32 bits, and on both SQLite versions; prints TAP. bytes.c has the list of filters. B, NEWEST
# and SOURCES come from the Makefile.
B=${B-build}
: "${SOURCES:?the files of ext, as make passes them}"
NEWEST=${NEWEST-build/newest}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0
warnings="-std=c11 -fPIC -fvisibility=hidden -ffp-contract=off -Iext"

compare() { # name program [library path]
  if LD_LIBRARY_PATH=${3-} "$2" >"$out/got" 2>&1 && cmp -s "$out/got" "$out/expected"; then
    echo "ok bytes $1"
  else
    echo "not ok bytes $1"
    diff "$out/expected" "$out/got" | head -n 10 | sed 's/^/# /'
    failed=1
  fi
}

BLOOM=$B/bloom.so
export BLOOM
"$B/sql-bytes" >"$out/expected" || exit 1
count=$(wc -l <"$out/expected")
[ "$count" -gt 400 ] && echo "ok bytes of $count filters" || { echo "not ok bytes of $count filters"; failed=1; }
compare "newest SQLite" "$B/sql-bytes" "$NEWEST"
for build in "gcc -O0" "gcc -O3" "gcc -O2 -march=native -ffp-contract=off" "gcc -O1 -DBLOOM_NO_INT128" \
  "clang -O0" "clang -O3" "gcc -O1 -fsanitize=undefined -fno-sanitize-recover"; do
  # shellcheck disable=SC2086
  if ! $build $warnings -shared -o "$out/bloom.so" $SOURCES -lm 2>"$out/errors"; then
    echo "not ok bytes $build: does not compile"
    sed 's/^/# /' "$out/errors"
    failed=1
    continue
  fi
  BLOOM=$out/bloom.so
  compare "$build" "$B/sql-bytes"
done

# <asm/...> is the same for 32 bits. (The package gcc-multilib has a link to it, but conflicts with
# cross compilers; gcc-12-multilib does not.)
m32="-m32 -idirafter /usr/include/x86_64-linux-gnu"
# 32 bits: the amalgamation is compiled in, since the system's library has 64. xxhash.h is a header.
# shellcheck disable=SC2086
if gcc $m32 $warnings -O1 -DSQLITE_CORE -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION \
  -I"$NEWEST" -o "$out/bytes32" tests/sql/bytes.c $SOURCES "$NEWEST/sqlite3.c" -lm \
  2>"$out/errors"; then
  compare "gcc -m32" "$out/bytes32"
elif echo 'int main(void){return 0;}' | gcc $m32 -x c -o /dev/null - 2>/dev/null; then
  echo "not ok bytes gcc -m32: does not compile"
  sed 's/^/# /' "$out/errors" | head -n 20
  failed=1
else
  echo "ok bytes gcc -m32 # SKIP gcc-12-multilib is not installed"
fi
exit $failed
