#!/bin/sh
# Runs every SQL file here and compares what it prints with its .expected file; prints TAP.
#
#   run.sh            with the sqlite3 command
#   ONLY=NAME run.sh  one file
#   run.sh PROGRAM    with PROGRAM FILE, as build/sql-shell: for a SQLite without such a command
#
# A file runs on a new database in memory with the extension loaded. Every statement must succeed:
# errors are the business of errors.c, since the sqlite3 command words them differently by version.
B=${B-build}
BLOOM=$B/bloom.so
export BLOOM
here=$(dirname "$0")
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0
for sql in "$here"/*.sql; do
  name=$(basename "$sql" .sql)
  [ "${ONLY-$name}" = "$name" ] || continue
  if [ $# = 0 ]; then
    sqlite3 -batch -bail -list -init /dev/null -nullvalue NULL -cmd ".load $B/bloom" \
      :memory: <"$sql" >"$out/got" 2>"$out/errors"
  else
    "$@" "$sql" >"$out/got" 2>"$out/errors"
  fi
  if diff -u "$here/$name.expected" "$out/got" >"$out/diff" && ! grep . "$out/errors" >>"$out/diff"
  then
    echo "ok sql $name"
  else
    echo "not ok sql $name"
    sed 's/^/# /' "$out/diff" "$out/errors"
    failed=1
  fi
done
exit $failed
