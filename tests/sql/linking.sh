#!/bin/sh
# The library as the loader sees it, and builds of other kinds; prints TAP.
#   one exported symbol; libc and libm alone; loading by every spelling of the path; a static build
#   with sqlite3_auto_extension; -DNDEBUG. CC, B and SOURCES come from the Makefile.
B=${B-build}
: "${SOURCES:?the files of ext, as make passes them}"
CC=${CC-cc}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0
say() { # code name
  if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; failed=1; fi
}
is() { # name got expected
  [ "$2" = "$3" ]; say $? "$1"
  [ "$2" = "$3" ] || printf '%s\n' "#  gives    $2" "#  expected $3"
}
flags="-std=c11 -O1 -fPIC -fvisibility=hidden -ffp-contract=off -Iext"

is "one exported symbol" "$(nm -D --defined-only "$B/bloom.so" | awk '{print $3}')" sqlite3_bloom_init
needed=$(readelf -d "$B/bloom.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
is "libc and libm alone" "$needed" "libc.so.6 libm.so.6 "
# A build runs where the C library is 2.17 or later, of 2012, or later, but for these: in
# 2.29 libm gave exp, log2 and pow new versions, which no longer call a handler of errors.
newer=$(objdump -T "$B/bloom.so" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\))\{0,1\} *\(.*\)/\1 \2/p' |
  awk '{split($1, part, "."); if (part[1] > 2 || part[2] > 17) print $2 "@" $1}' |
  grep -vx -e exp@2.29 -e log2@2.29 -e pow@2.29 | tr '\n' ' ')
counted=$(objdump -T "$B/bloom.so" | grep -c GLIBC_)
[ "$counted" -gt 10 ]; say $? "$counted symbols of the C library"
is "no symbol newer than GLIBC_2.17 but exp, log2, pow" "$newer" ""

# Loading: with and without the suffix; by name alone only along the loader's path.
ask="SELECT typeof(bloom_build(1, 10, 0.01));"
full=$(cd "$B" && pwd)
is "load with the suffix" "$(sqlite3 :memory: ".load $B/bloom.so" "$ask")" blob
is "load without it" "$(sqlite3 :memory: ".load $B/bloom" "$ask")" blob
is "load by load_extension()" "$(sqlite3 :memory: "SELECT load_extension('$full/bloom');" "$ask" | tail -n 1)" blob
is "by name along LD_LIBRARY_PATH" "$(LD_LIBRARY_PATH=$full sqlite3 :memory: ".load bloom" "$ask")" blob
sqlite3 :memory: ".load bloom" "$ask" >"$out/got" 2>&1 && ! grep -q blob "$out/got"; code=$?
grep -q 'cannot open shared object file' "$out/got"; say $? "by name alone: the loader's error"
[ $code = 0 ] || true

# A program with the extension compiled in: it works, and takes no name that is not ours.
for define in "" "-DNDEBUG"; do
  for room in $SOURCES; do
    object="$out/$(basename "$room" .c).o"
    $CC $flags $define -DSQLITE_CORE -c -o "$object" "$room" || { say 1 "compiles with -DSQLITE_CORE $define"; exit 1; }
  done
  $CC -std=c11 -O1 -DSQLITE_CORE -o "$out/static" tests/sql/statements.c "$out"/*.o -lsqlite3 -lm
  say $? "links with -DSQLITE_CORE $define"
  "$out/static" >"$out/got" 2>&1
  grep -v '^ok' "$out/got" >"$out/bad"
  grep -E '^ok' "$out/got" | sed "s/^ok /ok compiled in $define: /"
  sed "s/^not ok /not ok compiled in $define: /" "$out/bad"
  grep -q '^not ok' "$out/bad" && failed=1
  public=$(nm --defined-only -g "$out"/*.o | awk 'NF == 3 {print $3}' | grep -v '^bloom_\|^sqlite3_bloom_init$' | tr '\n' ' ')
  is "names of the rooms begin with bloom_ $define" "$public" ""
done

# A database with the functions in its schema, opened without the extension: the BLOB is plain data.
sqlite3 "$out/db" ".load $B/bloom" "CREATE TABLE plain(f BLOB); INSERT INTO plain SELECT bloom_build(1, 10, 0.01);
  CREATE TABLE uses(k, key AS (bloom_key(k)) STORED); INSERT INTO uses(k) VALUES (1);"
is "without it: a stored filter is read" "$(sqlite3 "$out/db" "SELECT length(f) FROM plain;")" 85
is "without it: .dump" "$(sqlite3 "$out/db" ".dump plain" | grep -c "X'c14246f5")" 1
is "without it: .backup" "$(sqlite3 "$out/db" ".backup $out/copy" && sqlite3 "$out/copy" "SELECT length(f) FROM plain;")" 85
sqlite3 "$out/db" "INSERT INTO uses(k) VALUES (2);" 2>&1 | grep -q 'unknown function: bloom_key()'
say $? "without it: a generated column refuses writes"
sqlite3 "$out/db" "DROP TABLE uses; VACUUM;" && is "without it: VACUUM and integrity_check of what is left" \
  "$(sqlite3 "$out/db" "PRAGMA integrity_check;")" ok
is "and back again" "$(sqlite3 "$out/db" ".load $B/bloom" "SELECT bloom_contains(f, 1) FROM plain;")" 1
is "n and p survive reopening" "$(sqlite3 "$out/db" ".load $B/bloom" "SELECT json_extract(bloom_info(f), '$.n', '$.p') FROM plain;")" "[10,0.01]"
exit $failed
