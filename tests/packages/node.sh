#!/bin/sh
# Node's packages, installed from their tarballs into an empty project outside of the tree, with
# better-sqlite3 and with the sqlite module of a newer Node; and what they say where they cannot work.
# Needs node and npm; NEWER_NODE, a Node that has node:sqlite; NODE_PATH, where better-sqlite3 and
# typescript are. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}
: "${NEWER_NODE:?}" "${NODE_PATH:?}"
export NODE_PATH
. tests/packages/lib.sh

packed=$(cd "$B/packages" && pwd)
top=$packed/sqlite-bloom-$version.tgz
readme=$PWD/ext/packages/node/README.md
project=$work/project
mkdir "$project"
echo '{ "private": true }' >"$project/package.json"

install() { (cd "$project" && npm install --offline --no-audit --no-fund "$@" 2>&1); }
run() { (cd "$project" && node -e "$1" 2>&1); }

# ---- the two packages, and one alone ----

install "$top" >"$work/log"
contains "without the library's package" "Error: sqlite-bloom needs the package sqlite-bloom-$native, \
which is not installed" "$(run 'require("sqlite-bloom").getLoadablePath()')"

# README.md's line, in a folder that has build/packages and no other tarball.
mkdir "$project/build"
ln -s "$packed" "$project/build/packages"
line=$(grep -m 1 "^npm install build/packages/.*-$native-" README.md)
(cd "$project" && npm_config_offline=true sh -c "$line") >"$work/log" 2>&1
say "npm installs the tarballs" "sqlite-bloom@$version sqlite-bloom-$native@$version" \
  "$(cd "$project" && npm ls --parseable --long | sed -n 's/.*:\(sqlite-bloom[^:]*\).*/\1/p' | sort -t@ -k1,1 | xargs)"
say "getLoadablePath() is the library's" "$project/node_modules/sqlite-bloom-$native/bloom.so" \
  "$(run 'console.log(require("sqlite-bloom").getLoadablePath())')"
say "import works too" "function function" "$(cd "$project" && node --input-type=module -e '
import { getLoadablePath, load } from "sqlite-bloom";
console.log(typeof getLoadablePath, typeof load)' 2>&1)"

# ---- used ----

sed -n '/^```js/,/^```$/p' "$readme" | awk '/^```$/ { exit } !/^```/' >"$project/readme.js"
say "the program of its README" "$(sed -n 's|^// prints: ||p' "$project/readme.js")" \
  "$(cd "$project" && node readme.js 2>&1)"

cat >"$project/used.js" <<'JS'
const bloom = require('sqlite-bloom');
let db, get;
if (process.argv[2] === 'better-sqlite3') {
  db = require('better-sqlite3')(':memory:');
} else {
  const { DatabaseSync } = require('node:sqlite');
  db = new DatabaseSync(':memory:', { allowExtension: true });
}
bloom.load(db);
get = (sql, ...values) => Object.values(db.prepare(sql).get(...values));
db.exec(`CREATE TABLE words(word TEXT); INSERT INTO words VALUES ('apple'), ('Äpfel'), ('5');
  CREATE TABLE filters AS SELECT bloom_build(word, 1000, 1e-6) AS filter FROM words;
  CREATE VIRTUAL TABLE seen USING bloom(n=1000, p=1e-6)`);
const [filter] = get('SELECT filter FROM filters');
const ask = (key) => get('SELECT bloom_contains(?, ?)', filter, key)[0];
console.log(filter instanceof Uint8Array, ['apple', 'Äpfel', 5, 5n, 'fig', null].map(ask));
console.log(db.prepare(`SELECT word FROM words WHERE bloom_contains(
  (SELECT bloom_ref(filter) FROM filters), word || '') ORDER BY word`).all().map((row) => row.word));
db.prepare('INSERT INTO seen(key) VALUES (?)').run('apple');
console.log(get("SELECT bloom_lookup('seen', 'apple'), bloom_lookup('seen', 'fig')"));
for (const call of [() => get('SELECT bloom_contains(?, 1)', Buffer.from('no filter')),
  () => get('SELECT bloom_build(1, 0)')]) {
  try { call(); } catch (error) { console.log(error instanceof Error, error.message); }
}
JS
used="true [ 1, 1, 1, 1, 0, null ]
[ '5', 'apple', 'Äpfel' ]
[ 1, 0 ]
true bloom_contains: not a bloom filter
true bloom_build: n is 0, it must be an integer of at least 1, or NULL to size the filter by its keys"
say "better-sqlite3: filters bound and by bloom_ref, a table, errors as exceptions" "$used" \
  "$(cd "$project" && node used.js better-sqlite3 2>&1)"
newer() { (cd "$project" && "$NEWER_NODE" --no-warnings "$@" 2>&1); }
say "node:sqlite of Node $("$NEWER_NODE" --version | cut -d. -f1): the same" "$used" \
  "$(newer used.js node:sqlite)"
say "node:sqlite: the lines of its README" "0" "$(sed -n '/DatabaseSync }/,/^```$/p' "$readme" |
  sed '/^```/d' >"$project/lines.js"; newer lines.js >"$work/log"; echo $?)"

# ---- typed ----

cat >"$project/typed.ts" <<'TS'
import { getLoadablePath, load } from 'sqlite-bloom';
const path: string = getLoadablePath();
load({ loadExtension(file: string) { return file + path; } });
TS
types() { (cd "$project" && node "$NODE_PATH/typescript/bin/tsc" --noEmit --strict --module nodenext \
  --moduleResolution nodenext typed.ts 2>&1; echo "$?"); }
say "typed" "0" "$(types)"
echo 'load(5);' >>"$project/typed.ts"
contains "typed: a wrong argument is found" "Argument of type 'number' is not assignable" "$(types)"

# ---- where they cannot work ----

contains "a database that cannot load" "TypeError: sqlite-bloom: the database has no loadExtension()" \
  "$(run 'require("sqlite-bloom").load({})')"
contains "node:sqlite without allowExtension" "extension loading is not allowed" "$(newer -e '
const { DatabaseSync } = require("node:sqlite");
require("sqlite-bloom").load(new DatabaseSync(":memory:"))')"
contains "a platform that has no library" "sqlite-bloom has no library for aix-ppc64, only \
sqlite-bloom-linux-x64, sqlite-bloom-linux-arm64" "$(run '
Object.defineProperty(process, "platform", { value: "aix" });
Object.defineProperty(process, "arch", { value: "ppc64" });
require("sqlite-bloom").getLoadablePath()')"
foreign=linux-$([ "$native" = linux-x64 ] && echo arm64 || echo x64)
mkdir "$work/foreign"
ext/packages/npm.sh "$version" "$work/foreign" "$foreign" "$B/bloom.so"
contains "npm refuses the package of another platform" "Unsupported platform for sqlite-bloom-$foreign" \
  "$(install "$work/foreign/sqlite-bloom-$foreign-$version.tgz")"
installed=$project/node_modules/sqlite-bloom-$native/bloom.so
echo "no library" >"$installed"
contains "a library that is none" "$installed: file too short" \
  "$(run 'require("sqlite-bloom").load(require("better-sqlite3")(":memory:"))')"
