#!/bin/sh
# Measures what a bloom table costs beside ordinary tables, and prints the table of README.md's
# chapter "Costs": CPU time a row, in microseconds.
#
#   tests/readme/costs.sh
#
# Each figure is the least of three runs, in which both sides take turns.
set -eu
cd "$(dirname "$0")/../.."
B=${B-build}
make -s "B=$B" "$B/bloom.so"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
  cat <<SQL
.load $B/bloom
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE keys AS WITH RECURSIVE c(v) AS
  (SELECT 1 UNION ALL SELECT v + 1 FROM c WHERE v < 1000000)
  SELECT printf('%08x%08x', v * 2654435761 & 0xffffffff, v) AS key FROM c;
CREATE TABLE plain(key PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE bloom USING bloom(n=1000000, p=0.01);
CREATE TABLE bare(id INTEGER PRIMARY KEY, key TEXT);
CREATE TABLE indexed(id INTEGER PRIMARY KEY, key TEXT);
CREATE INDEX by_key ON indexed(key);
CREATE TABLE source(id INTEGER PRIMARY KEY, key TEXT);
CREATE VIRTUAL TABLE follows USING bloom(of='source(key)', n=1000000, p=0.01);
.timer on
SQL
  for run in 1 2 3; do
    # NAME ROWS, then the one statement that is timed
    cat <<SQL
.print insert_bloom 1000000
INSERT INTO bloom(key) SELECT key FROM keys;
.print insert_plain 1000000
INSERT INTO plain SELECT key FROM keys;
.print lookup 1000000
SELECT sum(bloom_lookup('bloom', key)) FROM keys;
.print length 1000000
SELECT sum(length(key)) FROM keys;
.print exists_bloom 1000000
SELECT sum(EXISTS (SELECT 1 FROM bloom WHERE bloom.key = keys.key)) FROM keys;
.print exists_plain 1000000
SELECT sum(EXISTS (SELECT 1 FROM plain WHERE plain.key = keys.key)) FROM keys;
.print bare 1000000
INSERT INTO bare(key) SELECT key FROM keys;
.print indexed 1000000
INSERT INTO indexed(key) SELECT key FROM keys;
.print source 1000000
INSERT INTO source(key) SELECT key FROM keys;
.timer off
DELETE FROM plain; DELETE FROM bare; DELETE FROM indexed; DELETE FROM source;
INSERT INTO bloom(bloom) VALUES ('clear');
INSERT INTO follows(follows) VALUES ('rebuild');
.timer on
SQL
  done
} | sqlite3 "$work/costs.db" >"$work/out"

awk '
  NF == 2 && $2 ~ /^[0-9]+$/ && $1 ~ /^[a-z]/ { name = $1; rows = $2 }
  /^Run Time/ && name {
    cost = ($6 + $8) / rows * 1e6
    if (!(name in least) || cost < least[name]) least[name] = cost
    name = ""
  }
  END {
    printf "| CPU time a row, in µs | bloom table | instead |\n|---|---|---|\n"
    printf "| insert, in one transaction | %.2f | %.2f, `key PRIMARY KEY`, `WITHOUT ROWID` |\n",
      least["insert_bloom"], least["insert_plain"]
    printf "| `EXISTS (... WHERE key = ?)` in a query | %.2f | %.2f, the same table |\n",
      least["exists_bloom"], least["exists_plain"]
    printf "| `bloom_lookup` in a query | %.2f | %.2f, `length(key)` |\n", least["lookup"],
      least["length"]
    printf "| row of a table, followed by `of=` | %.2f | %.2f, indexed; %.2f, neither |\n",
      least["source"], least["indexed"], least["bare"]
  }' "$work/out"
