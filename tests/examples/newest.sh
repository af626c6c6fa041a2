#!/bin/sh
# The examples with the newest SQLite: the same output as with the system's. See newest.c.
: "${B:=build}" "${NEWEST:=build/newest}"
SHELL_SOURCE_ID=$(sqlite3 :memory: 'SELECT sqlite_source_id()')
export SHELL_SOURCE_ID
export EXAMPLES_PRELOAD="$B/examples/newest.so $NEWEST/libsqlite3.so.0"
system=$(sqlite3 :memory: 'SELECT sqlite_version()')
newest=$(LD_PRELOAD=$EXAMPLES_PRELOAD sqlite3 :memory: 'SELECT sqlite_version()')
echo "# system $system, newest $newest"
if [ "$newest" = "$system" ] || [ "$newest" = "" ]; then
  echo "not ok examples with the newest SQLite: it is not in use"
  exit 1
fi
exec "$(dirname "$0")/run.sh"
