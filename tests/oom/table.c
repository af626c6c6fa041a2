/* table: bloom tables. A trigger keeps each in step with the table `keys`, so that keys and filter
** change together: whatever fails, the filter must be what bloom_build makes of the keys. */
#include "oom.h"

#define POOL \
  "CREATE TABLE pool(i INTEGER PRIMARY KEY, key);" \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 400) " \
  "INSERT INTO pool SELECT i, CASE i % 4 WHEN 0 THEN i WHEN 1 THEN 'key number ' || i WHEN 2 " \
  "THEN " \
  "i + 0.5 ELSE CAST('blob ' || i AS BLOB) END FROM c;" \
  "CREATE TABLE keys(key);"

/* seen has nine chunks and one layer, grow soon has several layers. Keys of pool above 200 are
** never in. */
#define PLAIN \
  POOL "CREATE VIRTUAL TABLE seen USING bloom(n=20000, p=0.001);" \
       "CREATE VIRTUAL TABLE grow USING bloom(n=20);" \
       "CREATE TRIGGER keep AFTER INSERT ON keys BEGIN INSERT INTO seen(key) VALUES (new.key);" \
       "INSERT INTO grow(key) VALUES (new.key); END;" \
       "INSERT INTO keys SELECT key FROM pool WHERE i <= 12;"

#define COUNTING \
  POOL "CREATE VIRTUAL TABLE tally USING bloom(n=3000, p=0.001, kind=counting);" \
       "CREATE TRIGGER add_key AFTER INSERT ON keys BEGIN INSERT INTO tally(key) VALUES " \
       "(new.key); END;" \
       "CREATE TRIGGER forget AFTER DELETE ON keys BEGIN DELETE FROM tally WHERE key = old.key; " \
       "END;" \
       "INSERT INTO keys SELECT key FROM pool WHERE i <= 40;"

#define WARM "SELECT bloom_lookup('seen', 1), bloom_lookup('grow', 1)"

/* What holds for the table `name` and the keys: none is missing either way; and of the 200 absent
** keys at most `limit` are answered with 1. */
static const char *wrong_keys(sqlite3 *db, const char *name, int limit) {
  const char *missing =
      ask(db,
          "SELECT sum(NOT bloom_lookup(%Q, key)), "
          "sum(NOT EXISTS (SELECT 1 FROM \"%w\" AS t WHERE t.key = keys.key)) FROM keys",
          name, name);
  if (strcmp(missing, "0|0|") != 0 && strcmp(missing, "NULL|NULL|") != 0) return missing;
  const char *absent =
      ask(db, "SELECT sum(bloom_lookup(%Q, key)) <= %d FROM pool WHERE i > 200", name, limit);
  if (strcmp(absent, "1|") != 0) return absent;
  return NULL;
}

/* The snapshot is what bloom_build makes of the keys. */
static const char *wrong_bytes(sqlite3 *db, const char *name, const char *sizes) {
  const char *same = ask(db,
                         "SELECT bloom_snapshot(%Q) IS bloom_union(bloom_new(%s), "
                         "(SELECT bloom_build(key, %s) FROM keys))",
                         name, sizes, sizes);
  return strcmp(same, "1|") == 0 ? NULL : same;
}

/* seen or what it is called by now. */
static const char *name_of_seen(sqlite3 *db) {
  return strcmp(ask(db, "SELECT count(*) FROM sqlite_master WHERE name = 'other'"), "1|") == 0
             ? "other"
             : "seen";
}

/* Limits for absent keys: 4 sigma over 200 p at p = 0.001, and over 200 * 2 p at p = 0.01. */
static const char *check_plain(sqlite3 *db, bool same) {
  const char *seen = name_of_seen(db), *wrong;
  if (same) {
    wrong = ask(db, "INSERT INTO keys VALUES ('afterwards'); INSERT INTO keys VALUES (4711)");
    if (*wrong) return wrong;
  }
  wrong = wrong_bytes(db, seen, "20000, 0.001");
  if (wrong == NULL) wrong = wrong_keys(db, seen, 2);
  if (wrong == NULL) wrong = wrong_keys(db, "grow", 12);
  if (wrong == NULL && !same) {
    wrong = ask(db, "PRAGMA integrity_check");
    if (strcmp(wrong, "ok|") == 0) wrong = NULL;
  }
  return wrong;
}

/* seen was cleared, or not: it has all keys, or those since. */
static const char *check_cleared(sqlite3 *db, bool same) {
  const char *wrong;
  if (same) {
    wrong = ask(db, "INSERT INTO keys VALUES ('afterwards'); INSERT INTO keys VALUES (4711)");
    if (*wrong) return wrong;
  }
  wrong = ask(
      db,
      "SELECT bloom_lookup('seen', 'afterwards'), bloom_lookup('seen', 4711), "
      "bloom_snapshot('seen') IN "
      "((SELECT bloom_union(bloom_new(20000, 0.001), bloom_build(key, 20000, 0.001)) FROM keys), "
      "bloom_add(bloom_new(20000, 0.001), 'afterwards', 4711))");
  return strcmp(wrong, "1|1|1|") == 0 ? wrong_keys(db, "grow", 12) : wrong;
}

static const char *check_counting(sqlite3 *db, bool same) {
  const char *wrong;
  if (same) {
    wrong = ask(db, "INSERT INTO keys VALUES ('afterwards'); DELETE FROM keys WHERE rowid = 40");
    if (*wrong) return wrong;
  }
  wrong = wrong_bytes(db, "tally", "3000, 0.001, 'counting'");
  return wrong ? wrong : wrong_keys(db, "tally", 2);
}

/* Tables that are made and dropped: all of a table is there and it works, or nothing of it is. */
static const char *check_made(sqlite3 *db, bool same) {
  const char *count = ask(db, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'made%%'");
  if (strcmp(count, "2|") == 0) {
    const char *found = ask(db,
                            "INSERT INTO made(key) VALUES ('m'); SELECT bloom_lookup('made', 'm'), "
                            "sum(bloom_lookup('made', key)) < 3 FROM pool WHERE i > 200");
    return strcmp(found, "1|1|") == 0 ? NULL : found;
  }
  if (strcmp(count, "0|") != 0)
    return ask(db, "SELECT 'left: ' || group_concat(name) FROM sqlite_master");
  if (!same) return NULL;
  /* Nothing stands in the way of another one. */
  const char *again = ask(db,
                          "CREATE VIRTUAL TABLE made USING bloom(n=500, p=0.001); "
                          "INSERT INTO made(key) VALUES ('m'); SELECT bloom_lookup('made', 'm')");
  return strcmp(again, "1|") == 0 ? NULL : again;
}

static const char *check_all(sqlite3 *db, bool same) {
  const char *wrong = check_made(db, same);
  return wrong ? wrong : check_plain(db, same);
}

#define SOME(from, to) "INSERT INTO keys SELECT key FROM pool WHERE i BETWEEN " #from " AND " #to

static const Scenario scenarios[] = {
    {"bloom table: CREATE",
     POOL,
     NULL,
     {"CREATE VIRTUAL TABLE made USING bloom(n=20000, p=0.001)",
      "INSERT INTO made(key) VALUES ('x')", "SELECT bloom_lookup('made', 'x')"},
     check_made,
     NULL},
    {"bloom table: CREATE in a transaction",
     PLAIN,
     "BEGIN;" SOME(20, 30),
     {"CREATE VIRTUAL TABLE made USING bloom(n=300, kind='counting')", SOME(31, 33)},
     check_all,
     NULL},
    {"bloom table: DROP",
     POOL "CREATE VIRTUAL TABLE made USING bloom(n=20000, p=0.001)",
     NULL,
     {"DROP TABLE made"},
     check_made,
     NULL},
    {"bloom table: DROP in a transaction",
     PLAIN "CREATE VIRTUAL TABLE made USING bloom(n=2000, p=0.001)",
     "BEGIN;" SOME(20, 30) "; INSERT INTO made(key) VALUES (1)",
     {"DROP TABLE made", SOME(31, 33)},
     check_all,
     NULL},
    {"bloom table: INSERT, cold",
     PLAIN,
     NULL,
     {"INSERT INTO keys VALUES ('new')"},
     check_plain,
     NULL},
    {"bloom table: INSERT", PLAIN, WARM, {SOME(30, 60), SOME(60, 64)}, check_plain, NULL},
    {"bloom table: a transaction",
     PLAIN,
     WARM,
     {"BEGIN", SOME(30, 50), SOME(70, 73), "INSERT INTO keys VALUES (nullif('a', 'b'))",
      SOME(74, 75), "COMMIT", SOME(76, 77)},
     check_plain,
     NULL},
    {"bloom table: savepoints",
     PLAIN,
     WARM,
     {"BEGIN", SOME(30, 40), "SAVEPOINT a", SOME(41, 60), "ROLLBACK TO a", SOME(50, 55),
      "SAVEPOINT b", SOME(60, 62), "RELEASE a", SOME(63, 64), "COMMIT"},
     check_plain,
     NULL},
    {"bloom table: ROLLBACK",
     PLAIN,
     WARM,
     {"BEGIN", SOME(30, 40), "ROLLBACK", SOME(35, 45)},
     check_plain,
     NULL},
    {"bloom table: INSERT OR FAIL",
     PLAIN,
     WARM,
     {"BEGIN", SOME(30, 32),
      "INSERT OR FAIL INTO keys SELECT key FROM pool WHERE i BETWEEN 40 AND 60", "COMMIT"},
     check_plain,
     NULL},
    {"bloom table: grows", PLAIN, WARM, {SOME(30, 150)}, check_plain, NULL},
    {"bloom table: reads",
     PLAIN SOME(20, 80),
     NULL,
     {"SELECT count(*) FROM keys WHERE EXISTS (SELECT 1 FROM seen WHERE seen.key = keys.key)",
      "SELECT key FROM grow WHERE key = 'key number 5'",
      "SELECT sum(bloom_lookup('main.seen', key)) FROM pool",
      "SELECT bloom_lookup('grow', 4), bloom_lookup('seen', NULL)", "SELECT bloom_status('seen')",
      "SELECT bloom_snapshot('grow')"},
     check_plain,
     NULL},
    {"small: refused, a scan",
     PLAIN,
     NULL,
     {"SELECT * FROM seen"},
     check_plain,
     "cannot list its keys"},
    {"small: refused, a filter of another size",
     PLAIN,
     NULL,
     {"INSERT INTO seen(filter) VALUES (bloom_new(9, 0.1))"},
     check_plain,
     "n differs"},
    {"small: refused, p",
     POOL,
     NULL,
     {"CREATE VIRTUAL TABLE made USING bloom(n=9, p=2, kind=plain)"},
     check_made,
     "bloom: p is 2"},
    {"small: refused, a command",
     PLAIN,
     NULL,
     {"INSERT INTO seen(seen) VALUES (17)"},
     check_plain,
     "the commands are"},
    {"small: refused, a zeroblob as filter",
     PLAIN,
     NULL,
     {"INSERT INTO seen(filter) VALUES (zeroblob(3000))"},
     check_plain,
     "bloom: "},
    {"bloom table: import",
     PLAIN "CREATE TABLE lots(a, b); CREATE TRIGGER lot AFTER INSERT ON lots BEGIN "
           "INSERT INTO seen(filter) SELECT bloom_build(key, 20000, 0.001) FROM pool WHERE i "
           "BETWEEN new.a AND new.b;"
           "INSERT INTO grow(filter) SELECT bloom_build(key, 20) FROM pool WHERE i BETWEEN new.a "
           "AND new.b;"
           "INSERT INTO keys SELECT key FROM pool WHERE i BETWEEN new.a AND new.b; END",
     WARM,
     {"BEGIN", SOME(21, 22), "INSERT INTO lots VALUES (60, 70)", "INSERT INTO lots VALUES (20, 24)",
      "COMMIT"},
     check_plain,
     NULL},
    {"bloom table: clear",
     PLAIN SOME(20, 80),
     WARM,
     {"BEGIN", SOME(90, 91), "INSERT INTO seen(seen) VALUES ('clear')", "COMMIT"},
     check_cleared,
     NULL},
    {"bloom table: clear, cold",
     PLAIN SOME(20, 80),
     NULL,
     {"INSERT INTO seen(seen) VALUES ('clear')"},
     check_cleared,
     NULL},
    {"bloom table: optimize",
     PLAIN
     "INSERT INTO grow(filter) SELECT bloom_add(bloom_build(1, 20), 2) FROM pool;" SOME(20, 80),
     WARM,
     {"INSERT INTO grow(grow) VALUES ('optimize')", "INSERT INTO seen(seen) VALUES ('optimize')"},
     check_plain,
     NULL},
    {"bloom table: rename",
     PLAIN,
     "BEGIN;" SOME(20, 22),
     {"ALTER TABLE seen RENAME TO other", SOME(30, 34)},
     check_plain,
     NULL},
    {"bloom table: rename, cold",
     PLAIN,
     NULL,
     {"ALTER TABLE seen RENAME TO other", SOME(30, 31)},
     check_plain,
     NULL},
    {"small: IN",
     PLAIN,
     NULL,
     {"SELECT count(*) FROM seen WHERE key IN (SELECT key FROM pool WHERE i < 9)",
      "SELECT bloom_lookup('main.seen', 'x')"},
     check_plain,
     NULL},
    {"small: DELETE, to be undone",
     COUNTING,
     "BEGIN; DELETE FROM keys WHERE rowid = 3",
     {"DELETE FROM keys WHERE rowid BETWEEN 5 AND 6"},
     check_counting,
     NULL},
    {"small: integrity_check",
     PLAIN,
     NULL,
     {"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check LIKE 'bloom table%'"},
     check_plain,
     NULL},
    {"bloom table: VACUUM", PLAIN, WARM, {"VACUUM", SOME(30, 31)}, check_plain, NULL},
    {"counting table: DELETE",
     COUNTING,
     "SELECT bloom_lookup('tally', 1)",
     {"BEGIN", "DELETE FROM keys WHERE rowid BETWEEN 3 AND 9", "SAVEPOINT a", SOME(60, 66),
      "DELETE FROM keys WHERE rowid BETWEEN 9 AND 20", "ROLLBACK TO a",
      "DELETE FROM keys WHERE rowid = 30", SOME(5, 8), "COMMIT"},
     check_counting,
     NULL},
    {"counting table: cold",
     COUNTING,
     NULL,
     {"DELETE FROM keys WHERE rowid = 5", SOME(70, 71)},
     check_counting,
     NULL}};

void suite_table(void) {
  for (unsigned i = 0; i < COUNT(scenarios); i++) scenario_loops(&scenarios[i]);
}
