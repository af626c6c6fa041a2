#!/bin/sh
# C programs around the extension: README.md's program without SQLite, an SQLite that is too old, and
# what `make install` puts where. Needs gcc, make and the sqlite3 shell. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}
CC=${CC-cc}
core=$(cd "$B" && pwd)/packages-test/core.o
unset MAKEFLAGS MAKELEVEL MFLAGS # of a make that runs this
. tests/packages/lib.sh

# The first block with this fence below the words in README.md.
below() {
  awk -v words="$1" -v fence="\`\`\`$2" 'index($0, words) == 1 { below = 1 }
    below && $0 == fence { on = 1; next } /^```/ { if (on) exit } on' README.md
}

# ---- without SQLite ----

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror"
below "**C and C++ without SQLite.**" c >"$work/words.c"
cp "$B"/amalgamation/bloom.h "$B/packages-test/plain.o" "$work"
# shellcheck disable=SC2086
built=$($CC -std=c11 $warnings -o "$work/words" "$work/words.c" "$work/plain.o" -lm 2>&1)
say "no undefined name of SQLite" "0" "$(nm -u "$work/plain.o" | grep -c sqlite)"
printf '%s\n' apple Äpfel 17 ' 17.0' '' >"$work/words.txt"
"$work/words" <"$work/words.txt" >"$work/words.bloom"
say "the program of README.md: its filter is SQL's $built" "1|1|0" "$(sqlite3 :memory: ".load $B/bloom" "
  SELECT readfile('$work/words.bloom') = bloom_build(value),
         bloom_contains(readfile('$work/words.bloom'), 17.0),
         bloom_contains(readfile('$work/words.bloom'), 'fig')
  FROM json_each('[\"apple\", \"Äpfel\", \"17\", \" 17.0\", \"\"]')" 2>&1)"

# ---- an SQLite that is too old ----

cat >"$work/old.c" <<'C'
#include <sqlite3.h>
#include <stdio.h>

#include "bloom.h"

/* In place of the library's own. */
int sqlite3_libversion_number(void) { return 3033000; }
const char *sqlite3_libversion(void) { return "3.33.0"; }

int main(void) {
  sqlite3 *db;
  char *error = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  int code = sqlite3_bloom_init(db, &error, NULL);
  printf("%d %s\n", code, error);
  return sqlite3_bloom_init(db, NULL, NULL) != code;
}
C
built=$($CC -o "$work/old" "$work/old.c" "$core" -lsqlite3 -lm 2>&1)
say "an SQLite that is too old" "1 bloom needs SQLite 3.34.0 or later, this is 3.33.0" \
  "$built$("$work/old")"

# ---- make install ----

installed=$(make -s "B=$B" "CC=$CC" install "DESTDIR=$work/root" PREFIX=/opt/bloom 2>&1)
say "make install is silent when it works" "." ".$installed"
say "make install: the files, and no others" "include/sqlite-bloom/bloom.h
lib/libsqlite-bloom.a
lib/pkgconfig/sqlite-bloom.pc
lib/sqlite3/bloom.so
share/doc/sqlite-bloom/CHANGELOG.md
share/doc/sqlite-bloom/FORMAT.md
share/doc/sqlite-bloom/LICENSE
share/doc/sqlite-bloom/README.md" "$(cd "$work/root/opt/bloom" && find . -type f | cut -c 3- | LC_ALL=C sort)"
say "make install: nothing outside of PREFIX" "opt/bloom" "$(cd "$work/root" && echo */*)"
say "make install: bloom.so loads" "$version" \
  "$(sqlite3 :memory: ".load $work/root/opt/bloom/lib/sqlite3/bloom" 'SELECT bloom_version()' 2>&1)"
pc=$work/root/opt/bloom/lib/pkgconfig/sqlite-bloom.pc
field() { sed -n "s/^$1: *//p" "$pc" | sed "s|\${prefix}|$work/root$(sed -n 's/^prefix=//p' "$pc")|g"; }
say "make install: the version" "$version" "$(field Version)"
# shellcheck disable=SC2046
built=$($CC $(field Cflags) -o "$work/installed" "$work/words.c" $(field Libs) 2>&1)
"$work/installed" <"$work/words.txt" | cmp - "$work/words.bloom" >"$work/cmp" 2>&1
say "make install: README.md's program with the library" "0" "$?$built"
