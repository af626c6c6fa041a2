#!/bin/sh
# build.sh MACHINE: what a machine has before the extension comes: SQLite's library and shell,
# cmocka, xxhash.h and the names of its tools, in build/machines/MACHINE. Does
# nothing when all is there.
set -eu
machine=$1
. tests/machines/machine.sh
mkdir -p "$home/bin" "$home/lib" "$home/include"
[ "$sqlite" ] || exit 0
compile="tests/machines/cc $machine"
options='-O0 -w -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS
  -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_DESERIALIZE
  -DHAVE_LOG2 -DHAVE_LOG10'

cp /usr/include/xxhash.h "$home/include/"
cp "$sqlite/sqlite3.h" "$sqlite/sqlite3ext.h" "$home/include/"
for tool in nm objdump readelf; do
  [ -z "$tools" ] || ln -sf "/usr/bin/$tools$tool" "$home/bin/$tool"
done

if [ ! -e "$home/lib/libsqlite3.so.0" ]; then
  # shellcheck disable=SC2086
  $compile $options -fPIC -shared -Wl,-soname,libsqlite3.so.0 -o "$home/lib/new.so" \
    "$sqlite/sqlite3.c" $more -lm
  ln -sf libsqlite3.so.0 "$home/lib/libsqlite3.so"
  mv "$home/lib/new.so" "$home/lib/libsqlite3.so.0"
fi
# The shell is of 3.44. It takes a library of another version when it is told that it is the
# system's, and compiles with the newest header only.
# shellcheck disable=SC2086
[ -e "$home/bin/sqlite3" ] ||
  tests/machines/cc $machine -Ibuild/newest $options -DUSE_SYSTEM_SQLITE=1 -o "$home/bin/sqlite3" \
    build/shell/shell.c -lsqlite3 -lm
if [ ! -e "$home/lib/libcmocka.a" ]; then
  $compile -O1 -w -DHAVE_SIGNAL_H -DHAVE_STRINGS_H -DHAVE_CLOCK_GETTIME -DHAVE_CLOCK_REALTIME \
    -DHAVE_STRUCT_TIMESPEC -Ibuild/cmocka/include -c -o "$home/lib/cmocka.o" \
    build/cmocka/src/cmocka.c
  cp build/cmocka/include/*.h "$home/include/"
  ar rcs "$home/lib/libcmocka.a" "$home/lib/cmocka.o"
fi
