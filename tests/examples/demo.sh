#!/bin/sh
# The demo: it runs and prints what it should, times aside; and it fails when it ought to.
cd "$(dirname "$0")/../.." || exit 2
: "${B:=build}"
mkdir -p "$B/examples"
status=0

# Runs the demo, changed by a sed command; its output lands in $B/examples/demo.out.
demo() {
  sed "s|build/|$B/|; $1" sql/demo.sql >"$B/examples/demo.sql"
  sqlite3 <"$B/examples/demo.sql" >"$B/examples/demo.out" 2>&1
}

report() {
  if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; status=1; fi
}

# The changed demo must stop with this error, and the change must have been one.
fails() {
  name=$1 error=$2
  if demo "$3"; then code=1
  elif sed "$3" sql/demo.sql | cmp -s - sql/demo.sql; then code=1
  else grep -q "constraint failed: $error" "$B/examples/demo.out"; code=$?; fi
  [ $code = 0 ] || sed 's/^/# /' "$B/examples/demo.out"
  report $code "$name"
}

demo ''
code=$?
sed -E 's/[0-9.]+ s$/N s/; s/(ratio +)[0-9.]+$/\1N/' "$B/examples/demo.out" >"$B/examples/demo.masked"
diff -u tests/examples/demo.expected "$B/examples/demo.masked" >"$B/examples/demo.diff" || code=1
[ $code = 0 ] || sed 's/^/# /' "$B/examples/demo.diff"
report $code 'demo'

fails 'demo: fails when words has no key' 'the plain join does not use the key of words' \
  's/word TEXT PRIMARY KEY, neighbours TEXT) WITHOUT ROWID/word TEXT, neighbours TEXT)/'
fails 'demo: fails when the plain join cannot use the key' \
  'the plain join does not use the key of words' \
  '/^CREATE VIEW plain/,/;/ s/words.word = probes.word/+words.word = probes.word/'
fails 'demo: fails when the filter loses a row' 'the two queries return different rows' \
  '/^CREATE VIEW filtered/,/;/ s/WHERE/WHERE probes.id % 997 AND/'
fails 'demo: fails when the filter saves nothing' 'the filter saves less than half of the time' \
  "/^CREATE VIEW filtered/,/;/ s/WHERE.*/WHERE 1;/"
exit $status
