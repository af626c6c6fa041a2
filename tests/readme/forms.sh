#!/bin/sh
# Measures what a probed row costs in each query form and prints the table for README.md.
#
#   tests/readme/forms.sh
#
# Runs with the system's SQLite and, after `make deps-ci build/newest/libsqlite3.so.0`, also with
# the newest one, whose columns are then put beside the others. Takes a few minutes.
set -eu
cd "$(dirname "$0")/../.."
B=${B-build}
make -s "B=$B" "$B/bloom.so" "$B/readme-forms"
"$B/readme-forms" "$B/bloom.so" >"$B/readme-forms.table"
if [ -f build/newest/libsqlite3.so.0 ]; then
  LD_LIBRARY_PATH=build/newest "$B/readme-forms" "$B/bloom.so" |
    sed 's/^|[^|]*//' | paste -d '\0' "$B/readme-forms.table" - | sed 's/||/|/'
else
  cat "$B/readme-forms.table"
fi
