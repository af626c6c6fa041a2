#!/bin/sh
# What README.md says of bloom tables in files: .dump and restore, with and without the extension
# and DEFENSIVE; VACUUM, backup, read-only, ATTACH, renames, DROP; writers without the extension.
# Needs the sqlite3 shell.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

say() { # say NAME WANT GOT
  if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok files: $1"; return; fi
  echo "# want: $2"
  printf '%s\n' "$3" | sed 's/^/# got: /'
  echo "not ok files: $1"
}

contains() { # contains NAME PART GOT
  case "$3" in
    *"$2"*) echo "ok files: $1" ;;
    *) say "$1" "... $2 ..." "$3" ;;
  esac
}

bloom() { db=$1; shift; sqlite3 "$work/$db.db" ".load $B/bloom" "$@" 2>&1; }
without() { db=$1; shift; sqlite3 "$work/$db.db" "$@" 2>&1; }

# What is in and what is not: of a hand-fed table, of one that follows, of a counting one.
ask="SELECT bloom_lookup('seen', 'a'), bloom_lookup('seen', 'absent'),
  bloom_lookup('emails', 'ann@x'), bloom_lookup('emails', 'absent'),
  bloom_lookup('counted', 'ann@x'), bloom_lookup('counted', 'absent')"
right="1|0|1|0|1|0"

bloom first "CREATE VIRTUAL TABLE seen USING bloom(n=1000, p=0.001);
  INSERT INTO seen(key) VALUES ('a'), ('b');
  CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT);
  INSERT INTO customers(email) VALUES ('ann@x'), ('bob@x');
  CREATE VIRTUAL TABLE emails USING bloom(of='customers(email)', p=0.001);
  CREATE VIRTUAL TABLE counted USING bloom(of='customers(email)', p=0.001, kind=counting);"
say "the tables" "$right" "$(bloom first "$ask")"

# ---- copies ----

bloom first "VACUUM" "VACUUM INTO '$work/vacuumed.db'" ".backup '$work/backup.db'"
say "VACUUM" "$right" "$(bloom first "$ask")"
say "VACUUM INTO" "$right" "$(bloom vacuumed "$ask")"
say "backup" "$right" "$(bloom backup "$ask")"
say "read-only" "$right" "$(sqlite3 -readonly "$work/first.db" ".load $B/bloom" "$ask" 2>&1)"

say "ATTACH" "1|0|1|0" "$(bloom attaching "ATTACH '$work/backup.db' AS other" \
  "SELECT bloom_lookup('other.seen', 'a'), bloom_lookup('seen', 'absent'),
     EXISTS (SELECT 1 FROM other.emails WHERE key = 'ann@x'),
     EXISTS (SELECT 1 FROM emails WHERE key = 'absent')")"
say "rename" "1|0|1|0" "$(bloom backup "ALTER TABLE seen RENAME TO known" \
  "ALTER TABLE emails RENAME TO mails" "INSERT INTO customers(email) VALUES ('new@x')" \
  "SELECT bloom_lookup('known', 'a'), bloom_lookup('known', 'absent'),
     bloom_lookup('mails', 'new@x'), bloom_lookup('mails', 'absent')")"
say "DROP TABLE leaves nothing behind" "counted customers" "$(bloom backup "DROP TABLE known" \
  "DROP TABLE mails" "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master
     WHERE name NOT LIKE 'counted\_%' ESCAPE '\' ORDER BY name)")"

# ---- .dump and restore ----

without first .dump >"$work/dump.sql"
off=".dbconfig defensive off"
without restored "$off" ".read '$work/dump.sql'" >/dev/null
say "restored without the extension" "$right" "$(bloom restored "$ask")"
say "it goes on following" "1|0" "$(bloom restored "INSERT INTO customers(email) VALUES ('new@x')" \
  "DELETE FROM customers WHERE email = 'ann@x'" \
  "SELECT bloom_lookup('emails', 'new@x'), bloom_lookup('counted', 'ann@x')")"
contains "the connection that restored does not know the table" \
  "there is no bloom table named seen" "$(bloom loaded "$off" ".read '$work/dump.sql'" "$ask")"
say "restored with the extension" "$right" "$(bloom loaded "$ask")"

refused=$(bloom defensive ".dbconfig defensive on" ".read '$work/dump.sql'")
contains "DEFENSIVE: refused" "may not be modified" "$refused"
say "DEFENSIVE: the shadow table is there, the table is not" "seen_data" \
  "$(without defensive "SELECT name FROM sqlite_master WHERE name LIKE 'seen%'")"
contains "DEFENSIVE: the table cannot be made beside it" "already exists" \
  "$(bloom defensive "CREATE VIRTUAL TABLE seen USING bloom(n=1000, p=0.001)")"
say "DEFENSIVE: mended" "$right" "$(bloom defensive "DROP TABLE seen_data" \
  "DROP TABLE emails_data" "DROP TABLE counted_data" \
  "CREATE VIRTUAL TABLE seen USING bloom(n=1000, p=0.001)" \
  "INSERT INTO seen(key) VALUES ('a'), ('b')" \
  "CREATE VIRTUAL TABLE emails USING bloom(of='customers(email)', p=0.001)" \
  "CREATE VIRTUAL TABLE counted USING bloom(of='customers(email)', p=0.001, kind=counting)" "$ask")"

# ---- damage ----

bloom vacuumed "$off" "UPDATE seen_data SET block = zeroblob(length(block)) WHERE id = 1" \
  >/dev/null
contains "a damaged row" "the table seen_data is damaged: row 1 does not match its checksum" \
  "$(bloom vacuumed "SELECT bloom_lookup('seen', 'a')")"
contains "DEFENSIVE protects the shadow table" "may not be modified" \
  "$(bloom defended "CREATE VIRTUAL TABLE seen USING bloom(n=1000)" ".dbconfig defensive on" \
    "DELETE FROM seen_data")"

# ---- without the extension ----

say "without: the source is read" 2 "$(without first "SELECT count(*) FROM customers")"
say "without: VACUUM and integrity_check" ok "$(without first "VACUUM; PRAGMA integrity_check")"
for statement in "INSERT INTO customers(email) VALUES ('late@x')" \
  "UPDATE customers SET email = 'late@x'" "DELETE FROM customers" \
  "SELECT 1 FROM seen WHERE key = 'a'" "DROP TABLE seen"; do
  contains "without: $statement" "no such module: bloom" "$(without first "$statement")"
done
without first "DROP TRIGGER emails_insert; DROP TRIGGER emails_update;
  DROP TRIGGER counted_insert; DROP TRIGGER counted_update;
  DROP TRIGGER counted_delete; DROP TRIGGER counted_forget;
  INSERT INTO customers(email) VALUES ('late@x')"
say "without: triggers are dropped, and the source is written" 3 "$(without first "SELECT count(*) FROM customers")"
contains "then reads say so" "no longer kept in step" \
  "$(bloom first "SELECT bloom_lookup('emails', 'late@x')")"
say "until rebuild" "1|0" "$(bloom first "INSERT INTO emails(emails) VALUES ('rebuild')" \
  "SELECT bloom_lookup('emails', 'late@x'), bloom_lookup('emails', 'absent')")"
