#!/bin/sh
# README.md's chapter "Loading", followed: the Python, Node and C programs and the compiler's line
# are cut out of it and run as they stand, and the errors that its table names are provoked. Then
# what README says of a file that travels to a place without the extension.
#
# Needs python3, node and npm, and the newest SQLite's source from `make deps-ci`. better-sqlite3 is
# kept in build/readme-node; where npm finds no ready-made one it is compiled, which takes minutes.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}
PYTHON=/usr/bin/python3
NEWEST=build/newest
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# The first block of README.md that is fenced with this word.
fenced() {
  awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { if (on) exit } on' README.md
}

say() { # say NAME WANT GOT
  if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok $1"; return; fi
  echo "# want: $2"
  printf '%s\n' "$3" | sed 's/^/# got: /'
  echo "not ok $1"
}

contains() { # contains NAME PART GOT
  case "$3" in
    *"$2"*) echo "ok $1" ;;
    *) say "$1" "... $2 ..." "$3" ;;
  esac
}

# What a program of README.md says that it prints; both sides with one blank between words.
promised() { sed -n 's/^[^a-z]*prints: \([^*]*\).*$/\1/p' "$1" | xargs; }
one_line() { printf '%s' "$1" | xargs; }

# ---- the programs: the extension must lie at ./build/bloom ----

mkdir -p "$work/build"
cp "$B/bloom.so" "$work/build/bloom.so"

fenced python >"$work/load.py"
say "python: the program of README.md" "$(promised "$work/load.py")" \
  "$(one_line "$(cd "$work" && $PYTHON load.py 2>&1)")"

node_modules=$PWD/build/readme-node/node_modules
if [ ! -f "$node_modules/better-sqlite3/build/Release/better_sqlite3.node" ]; then
  mkdir -p build/readme-node
  (cd build/readme-node && npm install --silent --no-save --prefix . better-sqlite3@12 >&2)
fi
fenced js >"$work/load.js"
say "node: the program of README.md" "$(promised "$work/load.js")" \
  "$(one_line "$(cd "$work" && NODE_PATH=$node_modules node load.js 2>&1)")"

fenced c >"$work/app.c"
cp "$B"/amalgamation/bloom.[ch] "$NEWEST"/sqlite3.c "$NEWEST"/sqlite3.h "$NEWEST"/sqlite3ext.h "$work"
compile=$(grep -m 1 '^cc .*-DSQLITE_CORE.* app\.c ' README.md)
built=$(cd "$work" && sh -c "$compile" 2>&1)
say "C: the program of README.md, compiled in by its line" "$(promised "$work/app.c")" \
  "$(one_line "$built $(cd "$work" && ./app 2>&1)")"
shared=$(printf '%s' "$compile" | sed 's/ sqlite3\.c / -lsqlite3 /')
built=$(cd "$work" && rm -f app sqlite3.c sqlite3.h sqlite3ext.h && sh -c "$shared" 2>&1)
say "C: the same with a shared SQLite" "$(promised "$work/app.c")" \
  "$(one_line "$built $(cd "$work" && ./app 2>&1)")"

# ---- the shell, and what goes wrong ----

ask="SELECT bloom_contains(bloom_build('apple'), 'apple')"
say "shell: .load ./build/bloom" 1 \
  "$(cd "$work" && sqlite3 :memory: ".load ./build/bloom" "$ask" 2>&1)"
say "shell: .load with the suffix" 1 \
  "$(cd "$work" && sqlite3 :memory: ".load ./build/bloom.so" "$ask" 2>&1)"
contains "shell: a name without a slash" "bloom.so: cannot open shared object file" \
  "$(cd "$work/build" && sqlite3 :memory: ".load bloom" "$ask" 2>&1)"
contains "shell: a path to nothing" "bloom.so.so: cannot open shared object file" \
  "$(cd "$work" && sqlite3 :memory: ".load ./elsewhere/bloom.so" "$ask" 2>&1)"
say "python: load_extension() in SQL" "not authorized" "$(cd "$work" && $PYTHON -c '
import sqlite3
try:
    sqlite3.connect(":memory:").execute("SELECT load_extension(?)", ("./build/bloom",)).fetchall()
except sqlite3.OperationalError as error:
    print(error)' 2>&1)"

# ---- a file that travels ----

sqlite3 "$work/travel.db" ".load $work/build/bloom" "
  CREATE TABLE plain(filter BLOB);
  INSERT INTO plain SELECT bloom_build('apple');
  CREATE TABLE indexed(a);
  CREATE INDEX by_key ON indexed(bloom_key(a, 1));
  INSERT INTO indexed VALUES ('x');
  CREATE TABLE checked(a CHECK (bloom_key(a) IS NOT NULL));
  INSERT INTO checked VALUES ('x');
  CREATE TABLE generated(a, key AS (bloom_key(a, 1)));
  INSERT INTO generated VALUES ('x');
  CREATE VIEW viewed AS SELECT bloom_build(a) FROM indexed;
  CREATE TABLE triggered(a);
  CREATE TRIGGER t BEFORE INSERT ON triggered BEGIN SELECT bloom_key(new.a); END;"
without() { sqlite3 "$work/$1.db" "$2" 2>&1; }
say "travel: rows are read" "x|x|x|1" \
  "$(without travel 'SELECT indexed.a, checked.a, generated.a, count(filter)
     FROM indexed, checked, generated, plain')"
contains "travel: the file is dumped" \
  "CREATE INDEX by_key ON indexed(bloom_key(a, 1));" "$(without travel .dump)"
for table in indexed checked generated triggered; do
  contains "travel: $table is not written" "function" \
    "$(without travel "INSERT INTO $table(a) VALUES (1)")"
done
contains "travel: a generated column is not read" "function" \
  "$(without travel 'SELECT key FROM generated')"
contains "travel: a view is not read" "no such function" "$(without travel 'SELECT * FROM viewed')"
contains "travel: VACUUM fails" "no such function" "$(without travel VACUUM)"
contains "travel: integrity_check fails" "function" "$(without travel 'PRAGMA integrity_check')"
sqlite3 "$work/blobs.db" ".load $work/build/bloom" \
  "CREATE TABLE plain(filter BLOB); INSERT INTO plain SELECT bloom_build('apple')"
say "travel: a column of filters needs nothing" "ok 1" \
  "$(one_line "$(without blobs 'VACUUM; PRAGMA integrity_check; SELECT count(*) FROM plain')")"
