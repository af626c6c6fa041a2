#!/bin/sh
# Runs every script of sql/ with the sqlite3 shell and compares what it prints, errors included,
# with NAME.expected. The demo prints times: demo.sh runs it.
#
#   tests/examples/run.sh [NAME ...]      with KEEP=1 it writes what came out as the new expectation
cd "$(dirname "$0")/../.." || exit 2
: "${B:=build}"
mkdir -p "$B/examples"
status=0

# Prints one TAP line, and the difference when there is one.
example() {
  name=$1 expected=tests/examples/$1.expected got=$B/examples/$1.out
  sed "s|build/|$B/|g" "sql/$name.sql" | LD_PRELOAD=${EXAMPLES_PRELOAD-} sqlite3 >"$got" 2>&1
  code=$?
  if [ -n "${KEEP-}" ]; then cp "$got" "$expected"; fi
  if [ ! -f "$expected" ]; then
    echo "# $expected is missing"
  elif [ "$code" != 0 ]; then
    echo "# exit code $code"; sed 's/^/# /' "$got"
  elif diff -u "$expected" "$got" >"$got.diff"; then
    echo "ok example $name"
    return
  else
    sed 's/^/# /' "$got.diff"
  fi
  echo "not ok example $name"
  status=1
}

if [ $# = 0 ]; then
  set -- $(ls sql/*.sql | sed 's|sql/||; s|\.sql$||' | grep -v '^demo$')
  for expected in tests/examples/*.expected; do
    script=sql/$(basename "$expected" .expected).sql
    [ -f "$script" ] || { echo "not ok $expected has no $script"; status=1; }
  done
fi
for name in "$@"; do example "$name"; done
exit $status
