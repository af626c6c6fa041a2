#!/bin/sh
# An older SQLite than the oldest that is served: loading fails, and says why. TAP.
B=${B:-build}
library=$B/machines/sqlite-3.33.0
mkdir -p "$library"
[ -e "$library/libsqlite3.so.0" ] ||
  ${CC:-cc} -O0 -w -fPIC -shared -o "$library/libsqlite3.so.0" build/sqlite-3.33.0/sqlite3.c \
    -lm -lpthread -ldl || exit
echo "SELECT bloom_version();" >"$library/version.sql"
got=$(BLOOM=$B/bloom.so LD_LIBRARY_PATH=$library "$B/sql-shell" "$library/version.sql" 2>&1)
want="error during initialization: bloom needs SQLite 3.34.0 or later, this is 3.33.0"
if [ "$got" = "$want" ]; then
  echo "ok SQLite 3.33.0 is refused in words"
else
  printf '%s\n' "$got" | sed 's/^/# /'
  echo "not ok SQLite 3.33.0 is refused in words"
fi
