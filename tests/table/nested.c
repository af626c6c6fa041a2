/* nested: statements inside statements, by an SQL function that runs SQL; and what a transaction can
** and cannot undo of them. */
#include "table.h"

/* run(sql): 1 when it succeeds. */
static void run_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  sqlite3 *db = sqlite3_context_db_handle(context);
  const char *sql = (const char *)sqlite3_value_text(argv[0]);
  (void)argc;
  sqlite3_result_int(context, sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3 *start(void) {
  sqlite3 *db = open_database(fresh("nested"));
  sqlite3_create_function(db, "run", 1, SQLITE_UTF8, NULL, run_function, NULL, NULL);
  run(db,
      "CREATE VIRTUAL TABLE seen USING bloom(n=1000); CREATE TABLE keys(key);"
      "CREATE TABLE plain(x UNIQUE); INSERT INTO plain VALUES (1);"
      "CREATE TABLE both(x UNIQUE, key); CREATE TRIGGER keep AFTER INSERT ON both BEGIN"
      " INSERT INTO seen(key) VALUES (new.key); END");
  return db;
}

static void finish(sqlite3 *db, const char *name) {
  test(has_all(db, "seen", "SELECT key FROM keys") &&
           same_as_build(db, "seen", "SELECT key FROM keys", "1000"),
       "nested: %s: the table holds exactly the keys", name);
  close_database(db);
}

/* The inner statement fails, and takes nothing along that is the table's. */
static void test_harmless(void) {
  sqlite3 *db = start();
  run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(1))");
  run(db,
      "INSERT INTO seen(key) SELECT CASE run('INSERT INTO plain SELECT column1 FROM (VALUES (2), "
      "(1))') WHEN 0 THEN nth(column1) END FROM (VALUES (2), (3))");
  run(db, "COMMIT; INSERT INTO keys VALUES (nth(1)), (nth(2)), (nth(3))");
  expect(db, "nested: the inner statement was undone", "1", "SELECT count(*) FROM plain");
  finish(db, "an inner statement that fails");
}

/* What the inner statement put into the table cannot be told from what the outer one did. */
static void test_lost(const char *name, const char *inner) {
  sqlite3 *db = start();
  run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(1))");
  run(db, "INSERT INTO seen(key) SELECT nth(2 + run(%Q)) FROM (VALUES (1), (2))", inner);
  expect_error(db, "nested: a transaction that lost track cannot be committed", SQLITE_ABORT,
               "must be rolled back", "COMMIT");
  try_sql(db, "ROLLBACK"); /* where the error has not done so */
  run(db, "INSERT INTO seen(key) VALUES (nth(5)); INSERT INTO keys VALUES (nth(5))");
  expect(db, "nested: what was rolled back is gone", "0", "SELECT bloom_lookup('seen', nth(1))");
  finish(db, name);
}

/* A savepoint of the user is rolled back to by a statement that is under way, at each row. */
static void test_outer(void) {
  sqlite3 *db = start();
  run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(1)); SAVEPOINT a");
  run(db, "INSERT INTO seen(key) VALUES (nth(2)); SAVEPOINT b; INSERT INTO seen(key) VALUES (8)");
  run(db,
      "INSERT INTO seen(key) SELECT nth(run('ROLLBACK TO a') + column1) FROM (VALUES (20), (30))");
  run(db, "INSERT INTO seen(key) VALUES (nth(3)); COMMIT");
  run(db, "INSERT INTO keys VALUES (nth(1)), (nth(31)), (nth(3))");
  finish(db, "ROLLBACK TO in a statement");
}

/* Commands that empty the shadow table cannot be undone in memory. */
static void test_clear(void) {
  sqlite3 *db = start();
  run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(1))");
  expect_error(db, "nested: 'clear' for several rows is refused after changes", SQLITE_ERROR,
               "several rows", "INSERT INTO seen(seen) SELECT 'clear' FROM (VALUES (1), (2))");
  run(db, "INSERT INTO seen(seen) SELECT 'optimize' FROM (VALUES (1), (2)); COMMIT");
  run(db, "INSERT INTO keys VALUES (nth(1))");
  finish(db, "'clear' refused, 'optimize' twice");
}

/* A key of another type, whose cells are all set: only the header changes. */
static void test_header(void) {
  sqlite3 *db = start();
  run(db, "CREATE VIRTUAL TABLE half USING bloom(n=20, p=0.5)");
  for (int i = 1; i <= 20; i++) run(db, "INSERT INTO half(key) VALUES (%d)", i);
  const char *found = ask(db,
                          "SELECT min(column1) FROM (VALUES ('a'), ('b'), ('c'), ('d'), ('e'), "
                          "('f'), ('g'), ('h'), ('i'), ('j'), ('k'), ('l'), ('m'), ('n'), "
                          "('o'), ('p')) WHERE bloom_lookup('half', column1)");
  expect(db, "nested: a text that is taken for one of the integers", "1",
         "SELECT bloom_lookup('half', %Q)", found);
  run(db, "BEGIN; INSERT INTO half(key) VALUES (%Q); SAVEPOINT a", found);
  run(db, "INSERT INTO half(key) VALUES (x'00'); ROLLBACK TO a; COMMIT");
  expect(db, "nested: a header alone is written", "[\"integer\",\"text\"]",
         "SELECT bloom_status('half') -> 'key_types'");
  close_database(db);
  db = open_database(scratch("nested"));
  expect(db, "nested: and read", "[\"integer\",\"text\"]",
         "SELECT bloom_status('half') -> 'key_types'");
  close_database(db);
}

void test_nested(void) {
  test_harmless();
  test_lost("an inner statement that writes and fails",
            "INSERT INTO both SELECT 1, nth(20 + column1) FROM (VALUES (1), (2))");
  test_lost("two of them, one in the other",
            "INSERT INTO both SELECT 1, nth(run('INSERT INTO both SELECT x, nth(40) FROM plain') + "
            "column1) FROM (VALUES (1), (2))");
  test_outer();
  test_clear();
  test_header();
}
