/* transactions: what SQLite does to a table with its own memory, one directed case each. The
** randomized test in steps.c mixes them. */
#include "table.h"

#define KEYS(table) "SELECT key FROM " table

/* A database with main.seen (n = 1000) beside main.keys, in step by a trigger on keys. */
static sqlite3 *start(const char *name, const char *mode) {
  sqlite3 *db = open_database(fresh(name));
  run(db, "PRAGMA journal_mode = %s; PRAGMA synchronous = OFF", mode);
  run(db,
      "CREATE VIRTUAL TABLE seen USING bloom(n=1000);"
      "CREATE TABLE keys(key UNIQUE);"
      "CREATE TRIGGER keep AFTER INSERT ON keys BEGIN"
      " INSERT INTO seen(key) VALUES (new.key); END");
  return db;
}

static void finish(sqlite3 *db, const char *name) {
  test(has_all(db, "seen", KEYS("keys")) && same_as_build(db, "seen", KEYS("keys"), "1000"),
       "%s: the table holds exactly the keys", name);
  close_database(db);
}

static void insert(sqlite3 *db, int first, int last) {
  run(db,
      "WITH RECURSIVE c(i) AS (VALUES(%d) UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
      "INSERT INTO keys SELECT nth(i) FROM c",
      first, last);
}

/* ---- savepoints and statements ---- */

static void test_savepoints(void) {
  sqlite3 *db = start("savepoints", "delete");
  run(db, "BEGIN");
  insert(db, 1, 9);
  run(db, "SAVEPOINT a");
  run(db, "INSERT INTO keys VALUES (nth(10))");
  run(db, "SAVEPOINT b");
  run(db, "INSERT INTO keys VALUES (nth(11))");
  run(db, "ROLLBACK TO b");
  run(db, "INSERT INTO keys VALUES (nth(12))");
  run(db, "RELEASE b; ROLLBACK TO a");
  run(db, "INSERT INTO keys VALUES (nth(13))");
  test(has_all(db, "seen", KEYS("keys")), "savepoints: inside the transaction nothing is missing");
  run(db, "RELEASE a; COMMIT");
  run(db, "SAVEPOINT a");
  insert(db, 20, 29);
  run(db, "ROLLBACK TO a");
  insert(db, 30, 39);
  run(db, "RELEASE a; BEGIN");
  insert(db, 40, 49);
  run(db, "ROLLBACK");
  finish(db, "savepoints");
}

/* A transaction that is rolled back with savepoints open leaves none of them to the next one. (No
** statement here has one of its own.) */
static void test_savepoints_left(void) {
  sqlite3 *db = start("left", "delete");
  run(db, "DROP TRIGGER keep; BEGIN; SAVEPOINT a; SAVEPOINT b; SAVEPOINT c");
  run(db, "INSERT INTO seen(key) VALUES (nth(1)); ROLLBACK");
  run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(2)); SAVEPOINT a");
  run(db, "INSERT INTO seen(key) VALUES (nth(3)); ROLLBACK TO a; COMMIT");
  run(db, "INSERT INTO keys VALUES (nth(2))");
  finish(db, "savepoints left open by ROLLBACK");
}

/* A statement that fails at its last row, or does as its conflict clause says. */
static void test_statements(void) {
  static const char *const clauses[] = {"",          "OR ABORT",   "OR FAIL",
                                        "OR IGNORE", "OR REPLACE", "OR ROLLBACK"};
  for (unsigned i = 0; i < COUNT(clauses); i++) {
    for (int explicit = 0; explicit < 2; explicit ++) {
      char name[60];
      sqlite3 *db = start("statements", "delete");
      insert(db, 1, 5);
      if (explicit) run(db, "BEGIN");
      run(db, "INSERT INTO keys VALUES (nth(6))");
      int code = try_sql(db, "INSERT %s INTO keys SELECT nth(column1) FROM (VALUES (7), (8), (3))",
                         clauses[i]);
      bool fails = i < 3 || i == 5;
      snprintf(name, sizeof name, "a conflict at the last row, INSERT %s%s", clauses[i],
               explicit ? " in a transaction" : "");
      test(code == (fails ? SQLITE_CONSTRAINT : SQLITE_OK), "%s: code %d", name, code);
      if (!sqlite3_get_autocommit(db)) {
        test(has_all(db, "seen", KEYS("keys")), "%s: nothing is missing before the commit", name);
        run(db, "COMMIT");
      }
      finish(db, name);
    }
  }
}

static void test_raise(void) {
  static const char *const raises[] = {"ABORT, 'no'", "FAIL, 'no'", "ROLLBACK, 'no'", "IGNORE"};
  for (unsigned i = 0; i < COUNT(raises); i++) {
    char name[60];
    sqlite3 *db = start("raise", "delete");
    run(db,
        "CREATE TABLE doors(key);"
        "CREATE TRIGGER door AFTER INSERT ON doors BEGIN"
        " INSERT INTO keys VALUES (new.key);"
        " SELECT RAISE(%s) WHERE new.key IS nth(8); END",
        raises[i]);
    insert(db, 1, 5);
    run(db, "BEGIN");
    run(db, "INSERT INTO doors VALUES (nth(6))");
    try_sql(db, "INSERT INTO doors SELECT nth(column1) FROM (VALUES (7), (8), (9))");
    snprintf(name, sizeof name, "RAISE(%s) in a trigger", raises[i]);
    test(has_all(db, "seen", KEYS("keys")), "%s: nothing is missing before the commit", name);
    if (!sqlite3_get_autocommit(db)) run(db, "COMMIT");
    finish(db, name);
  }
}

/* A new layer that is rolled back, with and without a savepoint. */
static void test_growth_rolled_back(void) {
  sqlite3 *db = start("growth", "delete");
  insert(db, 1, 5);
  run(db,
      "CREATE VIRTUAL TABLE small USING bloom(n=10); BEGIN;"
      "INSERT INTO small(key) SELECT value FROM json_each('[1,2,3]'); SAVEPOINT a");
  char *before = strdup(ask(db, "SELECT hex(bloom_snapshot('small'))"));
  run(db,
      "WITH RECURSIVE c(i) AS (VALUES(4) UNION ALL SELECT i + 1 FROM c WHERE i < 4000)"
      "INSERT INTO small(key) SELECT i FROM c");
  test(atoi(ask(db, "SELECT bloom_status('small') ->> 'layers'")) > 2, "growth: layers are added");
  run(db, "ROLLBACK TO a");
  test(strcmp(before, ask(db, "SELECT hex(bloom_snapshot('small'))")) == 0,
       "growth: rolled back to a savepoint, the table is as before");
  free(before);
  run(db, "COMMIT");
  expect(db, "growth: and holds its keys", "3",
         "SELECT sum(bloom_lookup('small', value)) FROM json_each('[1,2,3]')");
  expect(db, "growth: no row of a layer stays", "2", "SELECT count(*) FROM small_data");
  finish(db, "growth");
}

/* ---- the schema ---- */

/* After a schema reset a second table object serves while the first waits in its transaction. */
static void test_schema_reset(void) {
  static const char *const changes[] = {
      "ALTER TABLE other ADD COLUMN z",
      "ALTER TABLE other RENAME TO another",
      "CREATE TABLE third(x)",
      "DROP TABLE other",
      "SAVEPOINT s; CREATE TABLE third(x); ROLLBACK TO s; RELEASE s",
      "SAVEPOINT s; ALTER TABLE other ADD COLUMN z; ROLLBACK TO s; RELEASE s",
      "SAVEPOINT s; DROP TABLE other; ROLLBACK TO s; RELEASE s",
      "SAVEPOINT s; CREATE VIRTUAL TABLE v USING bloom(n=9); ROLLBACK TO s; RELEASE s",
      "CREATE VIRTUAL TABLE v USING bloom(n=9)",
      "CREATE INDEX i ON other(x)"};
  for (unsigned i = 0; i < COUNT(changes); i++) {
    sqlite3 *db = start("reset", "delete");
    run(db, "CREATE TABLE other(x); BEGIN; INSERT INTO keys VALUES (nth(1))");
    run(db, "%s", changes[i]);
    run(db, "INSERT INTO keys VALUES (nth(2))");
    test(has_all(db, "seen", KEYS("keys")), "%s: nothing is missing", changes[i]);
    run(db, "SAVEPOINT a; INSERT INTO keys VALUES (nth(3)); ROLLBACK TO a");
    test(has_all(db, "seen", KEYS("keys")), "%s, then a savepoint: nothing is missing", changes[i]);
    run(db, "INSERT INTO keys VALUES (nth(4)); COMMIT");
    finish(db, changes[i]);
  }
}

/* A table that is made inside a savepoint and rolled back is not told of the rollback. */
static void test_create_rolled_back(void) {
  sqlite3 *db = start("create", "delete");
  run(db,
      "BEGIN; INSERT INTO keys VALUES (nth(1)); SAVEPOINT a;"
      "CREATE VIRTUAL TABLE late USING bloom(n=100); INSERT INTO late(key) VALUES (1);"
      "ROLLBACK TO a; COMMIT");
  expect_error(db, "CREATE rolled back to a savepoint: no such table", SQLITE_ERROR,
               "no such table", "SELECT 1 FROM late WHERE key = 1");
  run(db,
      "BEGIN; SAVEPOINT a; CREATE VIRTUAL TABLE late USING bloom(n=100);"
      "INSERT INTO late(key) VALUES (1); ROLLBACK TO a;"
      "CREATE VIRTUAL TABLE late USING bloom(n=300); INSERT INTO late(key) VALUES (2); COMMIT");
  test(same_as_build(db, "late", "SELECT 2 AS key", "300"),
       "CREATE rolled back, then another of the same name: it holds its own keys");
  run(db,
      "BEGIN; SAVEPOINT a; DROP TABLE late; CREATE VIRTUAL TABLE late USING bloom(n=300);"
      "INSERT INTO late(key) VALUES (3); ROLLBACK TO a");
  test(has_all(db, "late", "SELECT 2 AS key"),
       "DROP and CREATE rolled back to a savepoint: the old table's key is found");
  run(db, "INSERT INTO late(key) VALUES (4); COMMIT");
  test(same_as_build(db, "late", "SELECT 2 AS key UNION ALL SELECT 4", "300"),
       "and the commit adds to the old table");
  run(db,
      "BEGIN; DROP TABLE late; CREATE VIRTUAL TABLE late USING bloom(n=50);"
      "INSERT INTO late(key) VALUES (3); ROLLBACK");
  test(same_as_build(db, "late", "SELECT 2 AS key UNION ALL SELECT 4", "300"),
       "DROP and CREATE rolled back: the old table is there");
  run(db,
      "BEGIN; CREATE VIRTUAL TABLE latest USING bloom(n=50); INSERT INTO latest(key) VALUES (3);"
      "SAVEPOINT a; INSERT INTO latest(key) VALUES (4); ROLLBACK TO a; COMMIT");
  test(same_as_build(db, "latest", "SELECT 3 AS key", "50"),
       "CREATE, then a savepoint rolled back");
  finish(db, "create");
}

static void test_drop_rolled_back(void) {
  sqlite3 *db = start("drop", "delete");
  run(db,
      "BEGIN; INSERT INTO keys VALUES (nth(1)); SAVEPOINT a;"
      "INSERT INTO keys VALUES (nth(2)); DROP TABLE seen; ROLLBACK TO a");
  test(has_all(db, "seen", KEYS("keys")), "DROP rolled back to a savepoint: nothing is missing");
  run(db,
      "INSERT INTO keys VALUES (nth(3)); COMMIT; BEGIN; INSERT INTO keys VALUES (nth(4));"
      "DROP TABLE seen; ROLLBACK");
  test(has_all(db, "seen", KEYS("keys")), "DROP rolled back: nothing is missing");
  sqlite3_stmt *reader;
  sqlite3_prepare_v2(db, "SELECT bloom_lookup('seen', key) FROM keys", -1, &reader, NULL);
  run(db, "BEGIN; INSERT INTO keys VALUES (nth(5))");
  sqlite3_step(reader);
  expect_error(db, "DROP under a running bloom_lookup is refused", SQLITE_LOCKED, "locked",
               "DROP TABLE seen");
  sqlite3_finalize(reader);
  run(db, "COMMIT");
  finish(db, "drop");
}

static void test_rename(void) {
  sqlite3 *db = start("rename", "delete");
  insert(db, 1, 5);
  run(db,
      "BEGIN; INSERT INTO keys VALUES (nth(6)); ALTER TABLE seen RENAME TO later;"
      "INSERT INTO keys VALUES (nth(7)); SAVEPOINT a; INSERT INTO keys VALUES (nth(8));"
      "ROLLBACK TO a; COMMIT");
  test(same_as_build(db, "later", KEYS("keys"), "1000"),
       "ALTER TABLE RENAME: the keys are the same");
  expect_error(db, "ALTER TABLE RENAME: the old name is gone", SQLITE_ERROR,
               "no bloom table named seen", "SELECT bloom_lookup('seen', 1)");
  expect(db, "ALTER TABLE RENAME: the shadow table follows", "later_data",
         "SELECT group_concat(name) FROM sqlite_schema WHERE name LIKE '%%data'");
  run(db, "BEGIN; ALTER TABLE later RENAME TO never; INSERT INTO keys VALUES (nth(9)); ROLLBACK");
  test(same_as_build(db, "later", KEYS("keys"), "1000"), "ALTER TABLE RENAME rolled back");
  run(db, "CREATE TABLE taken_data(x)");
  run(db, "BEGIN; INSERT INTO keys VALUES (nth(10))");
  test(try_sql(db, "ALTER TABLE later RENAME TO taken") == SQLITE_ERROR,
       "ALTER TABLE RENAME to a name whose shadow is taken is an error");
  run(db, "INSERT INTO keys VALUES (nth(11)); COMMIT; ALTER TABLE later RENAME TO seen");
  finish(db, "rename");
}

/* ---- commits that fail ---- */

/* In the rollback journal a reader elsewhere makes COMMIT fail after the table was flushed. */
static void test_failed_commit(void) {
  static const char *const goes_on[] = {"COMMIT", "ROLLBACK TO a; COMMIT",
                                        "INSERT INTO keys VALUES (nth(50)); COMMIT", "ROLLBACK",
                                        "ROLLBACK TO a; INSERT INTO keys VALUES (nth(51)); COMMIT"};
  for (unsigned i = 0; i < COUNT(goes_on); i++) {
    sqlite3 *db = start("failed", "delete"), *other = open_database(scratch("failed"));
    sqlite3_stmt *reader;
    insert(db, 1, 5);
    sqlite3_prepare_v2(other, "SELECT * FROM keys", -1, &reader, NULL);
    run(db,
        "BEGIN; INSERT INTO keys VALUES (nth(10)); SAVEPOINT a; INSERT INTO keys VALUES (nth(11))");
    sqlite3_step(reader);
    test(try_sql(db, "COMMIT") == SQLITE_BUSY, "a reader makes COMMIT fail");
    test(has_all(db, "seen", KEYS("keys")), "after the failed COMMIT nothing is missing");
    test(has_all(other, "seen", KEYS("keys")), "nor for the reader");
    sqlite3_reset(reader);
    run(db, "%s", goes_on[i]);
    test(has_all(other, "seen", KEYS("keys")) && same_as_build(other, "seen", KEYS("keys"), "1000"),
         "a failed COMMIT, then %s: the reader sees the same", goes_on[i]);
    sqlite3_finalize(reader);
    close_database(other);
    finish(db, goes_on[i]);
  }
}

/* ---- two connections ---- */

static void test_snapshots(void) {
  sqlite3 *db = start("snapshots", "wal"), *other = open_database(scratch("snapshots"));
  sqlite3_stmt *lookup, *exists;
  insert(db, 1, 5);
  sqlite3_prepare_v2(other, "SELECT bloom_lookup('seen', nth(?1))", -1, &lookup, NULL);
  sqlite3_prepare_v2(other, "SELECT EXISTS (SELECT 1 FROM seen WHERE key = nth(?1))", -1, &exists,
                     NULL);
  bool all = true;
  for (int i = 6; i < 60; i++) { /* the other connection's statements stay prepared */
    insert(db, i, i);
    sqlite3_bind_int(lookup, 1, i);
    sqlite3_bind_int(exists, 1, i);
    all = sqlite3_step(lookup) == SQLITE_ROW && sqlite3_column_int(lookup, 0) == 1 && all;
    all = sqlite3_step(exists) == SQLITE_ROW && sqlite3_column_int(exists, 0) == 1 && all;
    sqlite3_reset(lookup);
    sqlite3_reset(exists);
  }
  test(all, "each commit is seen at once by another connection's prepared statements");
  sqlite3_finalize(lookup);
  sqlite3_finalize(exists);
  run(other, "BEGIN");
  char *before = strdup(ask(other, "SELECT hex(bloom_snapshot('seen'))"));
  insert(db, 60, 90);
  test(strcmp(before, ask(other, "SELECT hex(bloom_snapshot('seen'))")) == 0,
       "a read transaction keeps its snapshot");
  free(before);
  run(other, "COMMIT");
  expect(other, "and the next one sees the commit", "1", "SELECT bloom_lookup('seen', nth(90))");
  close_database(other);
  finish(db, "snapshots");
}

/* While a statement that looks up is under way, the same connection writes and rolls back. */
static void test_running_lookup(void) {
  sqlite3 *db = start("running", "wal");
  sqlite3_stmt *lookup;
  bool all = true;
  insert(db, 1, 40);
  sqlite3_prepare_v2(db, "SELECT bloom_lookup('seen', key) FROM (SELECT key FROM keys LIMIT 30)",
                     -1, &lookup, NULL);
  for (int i = 0; i < 30; i++) {
    all = sqlite3_step(lookup) == SQLITE_ROW && sqlite3_column_int(lookup, 0) == 1 && all;
    if (i % 3 == 0) run(db, "BEGIN; INSERT INTO keys VALUES (nth(%d)); ROLLBACK", 100 + i);
    if (i % 3 == 1) run(db, "INSERT INTO keys VALUES (nth(%d))", 100 + i);
  }
  test(all, "a running bloom_lookup answers through commits and rollbacks of its own connection");
  sqlite3_finalize(lookup);
  run(db, "INSERT INTO keys SELECT absent(1) WHERE bloom_lookup('seen', absent(1)) = 0");
  finish(db, "running");
}

/* The other connection drops the table, or makes another one of its name. */
static void test_dropped_elsewhere(void) {
  sqlite3 *db = start("elsewhere", "delete"), *other = open_database(scratch("elsewhere"));
  sqlite3 *third = open_database(scratch("elsewhere"));
  insert(db, 1, 5);
  expect(other, "elsewhere: before", "1", "SELECT bloom_lookup('seen', nth(1))");
  expect(third, "elsewhere: before, by a query", "1", "SELECT 1 FROM seen WHERE key = nth(1)");
  run(db, "DROP TABLE seen");
  expect_error(other, "a table that was dropped elsewhere: bloom_lookup", SQLITE_ERROR, "no ",
               "SELECT bloom_lookup('seen', nth(1))");
  expect_error(third, "a table that was dropped elsewhere: its first bloom_lookup", SQLITE_ERROR,
               "no ", "SELECT bloom_lookup('seen', nth(1))");
  run(db,
      "CREATE VIRTUAL TABLE seen USING bloom(n=1000);"
      "INSERT INTO seen(key) SELECT key FROM keys");
  test(has_all(other, "seen", KEYS("keys")) && has_all(third, "seen", KEYS("keys")),
       "a table that was made anew elsewhere answers");
  close_database(other);
  close_database(third);
  finish(db, "elsewhere");
}

/* A prepared statement keeps the table object of an attached database that is detached. */
static void test_attached_anew(void) {
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *kept, *lookup;
  for (int i = 1; i <= 2; i++) {
    run(db,
        "ATTACH %Q AS aux; CREATE VIRTUAL TABLE aux.seen USING bloom(n=1000);"
        "INSERT INTO aux.seen(key) VALUES (nth(%d)); DETACH aux",
        fresh(i == 1 ? "one" : "two"), i);
  }
  run(db, "ATTACH %Q AS aux", scratch("one"));
  sqlite3_prepare_v2(db, "SELECT 1 FROM aux.seen WHERE key = nth(?1)", -1, &kept, NULL);
  sqlite3_prepare_v2(db, "SELECT bloom_lookup('aux.seen', nth(?1))", -1, &lookup, NULL);
  sqlite3_bind_int(kept, 1, 1);
  sqlite3_bind_int(lookup, 1, 1);
  test(sqlite3_step(kept) == SQLITE_ROW, "attached: the first file's key");
  test(sqlite3_step(lookup) == SQLITE_ROW && sqlite3_column_int(lookup, 0) == 1,
       "attached: the first file's key, by bloom_lookup");
  sqlite3_reset(kept);
  sqlite3_reset(lookup);
  run(db, "DETACH aux; ATTACH %Q AS aux", scratch("two"));
  expect(db, "another file under the same name: its key, by bloom_lookup", "1",
         "SELECT bloom_lookup('aux.seen', nth(2))");
  expect(db, "another file under the same name: its key", "1",
         "SELECT 1 FROM aux.seen WHERE key = nth(2)");
  sqlite3_bind_int(kept, 1, 2);
  sqlite3_bind_int(lookup, 1, 2);
  test(sqlite3_step(kept) == SQLITE_ROW, "its key, by a statement prepared before");
  test(sqlite3_step(lookup) == SQLITE_ROW && sqlite3_column_int(lookup, 0) == 1,
       "its key, by a bloom_lookup prepared before");
  sqlite3_finalize(kept);
  sqlite3_finalize(lookup);
  run(db, "INSERT INTO aux.seen(key) VALUES (nth(3))");
  test(same_as_build(db, "aux.seen", "SELECT nth(2) AS key UNION ALL SELECT nth(3)", "1000"),
       "and a write goes to the file that is attached");
  close_database(db);
}

/* Temp and main tables of one name; the temp one comes first. */
static void test_temp(void) {
  sqlite3 *db = start("temp", "delete");
  insert(db, 1, 5);
  expect(db, "temp: before, the name means main", "1", "SELECT bloom_lookup('seen', nth(1))");
  run(db,
      "CREATE VIRTUAL TABLE temp.seen USING bloom(n=500); INSERT INTO temp.seen(key) VALUES (77)");
  expect(db, "temp: then it means temp", "1", "SELECT bloom_lookup('seen', 77)");
  run(db,
      "BEGIN; INSERT INTO temp.seen(key) VALUES (78); SAVEPOINT a;"
      "INSERT INTO temp.seen(key) VALUES (79); ROLLBACK TO a; COMMIT");
  test(same_as_build(db, "temp.seen", "SELECT 77 AS key UNION ALL SELECT 78", "500"),
       "temp: transactions are followed");
  run(db, "DROP TABLE temp.seen");
  expect(db, "temp: dropped, the name means main again", "1",
         "SELECT bloom_lookup('seen', nth(1))");
  finish(db, "temp");
}

/* A trigger on the shadow table makes the table's own writes open statement savepoints, within
** which they are asked to write again. A hostile database may have one: no crash, and nothing
** is lost. */
static void test_shadow_trigger(void) {
  sqlite3 *db = start("shadow", "delete");
  unsigned taken = 0;
  run(db, "CREATE TABLE audit(id); CREATE TABLE good(key)");
  insert(db, 1, 5);
  run(db,
      "CREATE TRIGGER t AFTER UPDATE ON seen_data BEGIN"
      " INSERT INTO audit VALUES (new.id); SELECT RAISE(ABORT, 'no') WHERE new.id < 0; END; BEGIN");
  for (int i = 6; i < 30; i++) {
    if (try_sql(db, "INSERT INTO keys VALUES (nth(%d))", i) == SQLITE_OK) taken++;
    try_sql(db, "SAVEPOINT a; INSERT INTO keys SELECT nth(column1) FROM (VALUES (%d), (3))",
            100 + i);
  }
  if (try_sql(db, "COMMIT") != SQLITE_OK) try_sql(db, "ROLLBACK");
  test(has_all(db, "seen", KEYS("keys")),
       "a trigger on the shadow table: nothing is missing (%u taken)", taken);
  close_database(db);
  db = open_database(scratch("shadow"));
  test(has_all(db, "seen", KEYS("keys")),
       "a trigger on the shadow table: nor for another connection");
  run(db, "DROP TRIGGER t; INSERT INTO keys VALUES (nth(200))");
  finish(db, "without the trigger");
}

void test_transactions(void) {
  test_savepoints();
  test_savepoints_left();
  test_statements();
  test_raise();
  test_growth_rolled_back();
  test_schema_reset();
  test_create_rolled_back();
  test_drop_rolled_back();
  test_rename();
  test_failed_commit();
  test_snapshots();
  test_running_lookup();
  test_dropped_elsewhere();
  test_attached_anew();
  test_temp();
  test_shadow_trigger();
}
