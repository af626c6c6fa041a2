/* life.c: a table of of= through commands, copies of the database, and writers that its triggers do
** not see. */
#include "follow.h"

#define KEYS "SELECT email AS k FROM customers"

static void add_customers(sqlite3 *db, int from, int to) {
  run(db,
      "WITH RECURSIVE c(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM c WHERE i < %d) "
      "INSERT INTO customers(email) SELECT 'user ' || i FROM c",
      from, to);
}

/* The path of a new database with 1,100 customers, of which the table has seen 100 come. */
static sqlite3 *make_database(const char *name, const char *more, const char **path) {
  *path = fresh(name);
  sqlite3 *db = open_database(*path);
  run(db, "CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT)");
  add_customers(db, 1, 1000);
  run(db, "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001%s)", more);
  add_customers(db, 1001, 1100);
  return db;
}

/* ---- sizes and commands ---- */

static void test_sizes(void) {
  const char *path;
  sqlite3 *db = make_database("sizes.db", "", &path);
  static const char n_of[] =
      "SELECT json_extract(bloom_status('known'), '$.n') || ' ' || "
      "json_extract(bloom_status('known'), '$.layers')";
  expect(db, "n is a quarter more than the rows", "1250 1", "%s", n_of);
  add_customers(db, 1101, 9000);
  test(all_found(db, "known", KEYS, 16), "all found after growth");
  test(atoi(ask(db, "SELECT json_extract(bloom_status('known'), '$.layers')")) > 1,
       "it grew in layers");
  run(db, "INSERT INTO known(known) VALUES('optimize')");
  expect(db, "optimized, it has one layer for its rows and a quarter", "11250 1", "%s", n_of);
  test(all_found(db, "known", KEYS, 12), "all found after optimize");
  run(db, "DELETE FROM customers WHERE id > 100; INSERT INTO known(known) VALUES('rebuild')");
  expect(db, "few rows: n is 1000", "1000 1", "%s", n_of);
  expect(db, "rebuilt, it is a fresh filter", "1",
         "SELECT bloom_snapshot('known') = bloom_build(email, 1000, 0.001) FROM customers");
  expect(db, "what was deleted is forgotten", "0", "SELECT bloom_lookup('known', 'user 5000')");
  run(db, "DELETE FROM customers; INSERT INTO known(known) VALUES('rebuild')");
  expect(db, "of an empty source", "1", "SELECT bloom_snapshot('known') = bloom_new(1000, 0.001)");
  close_database(db);

  db = make_database("sizes-given.db", ", n=200", &path);
  expect(db, "an n that was given stays", "200",
         "SELECT json_extract(bloom_status('known'), '$.n')");
  run(db, "INSERT INTO known(known) VALUES('rebuild')");
  expect(db, "and bloom_build outgrows it alike", "1",
         "SELECT bloom_snapshot('known') = bloom_build(email, 200, 0.001) FROM customers");
  run(db, "INSERT INTO known(known) VALUES('optimize')");
  expect(db, "optimized, it has one layer", "1",
         "SELECT json_extract(bloom_status('known'), '$.layers')");
  test(all_found(db, "known", KEYS, 12), "all found after both");
  run(db,
      "DELETE FROM customers WHERE id > 100; INSERT INTO known(known) VALUES('rebuild'); "
      "INSERT INTO known(known) VALUES('optimize')");
  expect(db, "where one layer holds all, the given n stays", "200 1", "%s", n_of);
  close_database(db);
}

static void test_commands(void) {
  const char *path;
  sqlite3 *db = make_database("commands.db", "", &path);
  run(db,
      "INSERT INTO known(filter) VALUES((SELECT bloom_build(email, 1250, 0.001) FROM customers)); "
      "INSERT INTO known(key) VALUES('a guest')");
  test(all_found(db, "known", KEYS, 12), "a filter and a key may be added by hand");
  expect(db, "a key that was added by hand", "1", "SELECT bloom_lookup('known', 'a guest')");
  run(db, "INSERT INTO known(known) VALUES('rebuild')");
  expect(db, "is forgotten by rebuild", "0", "SELECT bloom_lookup('known', 'a guest')");
  /* An empty filter beside a source that has rows would say no to what is there. */
  bool refused = try_sql(db, "INSERT INTO known(known) VALUES('clear')") != SQLITE_OK;
  const char *answer = ask(db, "SELECT bloom_lookup('known', 'user 5')");
  test(refused || strncmp(answer, "code", 4) == 0,
       "'clear' is refused, or reads are errors after it");
  run(db, "INSERT INTO known(known) VALUES('rebuild')");
  run(db, "INSERT INTO customers(id, email) VALUES(777777, 'late')");
  expect(db, "last_insert_rowid is the source's", "777777", "SELECT last_insert_rowid()");
  run(db, "UPDATE customers SET email = 'later' WHERE id IN (3, 4)");
  expect(db, "changes too", "2", "SELECT changes()");
  run(db,
      "BEGIN; INSERT INTO customers(email) VALUES('not yet'); INSERT INTO known(known) "
      "VALUES('rebuild'); INSERT INTO customers(email) VALUES('not yet either'); ROLLBACK");
  test(all_found(db, "known", KEYS, 12), "rebuilt and rolled back");
  run(db,
      "BEGIN; DROP TABLE known; INSERT INTO customers(email) VALUES('unseen'); ROLLBACK; "
      "INSERT INTO customers(email) VALUES('seen')");
  test(all_found(db, "known", KEYS, 12), "dropped and rolled back");
  run(db,
      "BEGIN; CREATE VIRTUAL TABLE two USING bloom(of='customers(id)'); INSERT INTO "
      "customers(email) "
      "VALUES('x'); ROLLBACK; INSERT INTO customers(email) VALUES('y')");
  expect(db, "created and rolled back", "0",
         "SELECT count(*) FROM sqlite_master WHERE name GLOB 'two*'");
  run(db,
      "SAVEPOINT s; ALTER TABLE customers RENAME TO clients; ALTER TABLE clients RENAME email TO "
      "mail;"
      "INSERT INTO clients(mail) VALUES('in between'); ROLLBACK TO s; RELEASE s;"
      "INSERT INTO customers(email) VALUES('z')");
  test(all_found(db, "known", KEYS, 12), "renamed and rolled back");
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  expect_error(db, "defensive: the shadow table is read-only", "may not be modified",
               "DELETE FROM known_data");
  run(db,
      "INSERT INTO customers(email) VALUES('defended'); INSERT INTO known(known) VALUES('rebuild');"
      "ALTER TABLE known RENAME TO known3; ALTER TABLE known3 RENAME TO known");
  test(all_found(db, "known", KEYS, 12), "defensive: all the rest works");
  close_database(db);
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) stop(path, "read-only");
  close_database(db);
}

/* ---- copies of the database ---- */

static void check_copy(const char *path, const char *how) {
  sqlite3 *db = open_database(path);
  char name[80];
  test(all_found(db, "known", KEYS, 12), "%s: all found", how);
  run(db, "INSERT INTO customers(email) VALUES('after the copy')");
  snprintf(name, sizeof name, "%s: followed", how);
  expect(db, name, "1", "SELECT bloom_lookup('known', 'after the copy')");
  snprintf(name, sizeof name, "%s: integrity_check", how);
  expect(db, name, "ok", "PRAGMA integrity_check");
  run(db, "DROP TABLE known");
  snprintf(name, sizeof name, "%s: dropped", how);
  expect(db, name, "customers", "SELECT group_concat(name) FROM sqlite_master");
  close_database(db);
}

static void test_copies(void) {
  const char *path, *copy = fresh("copy.db");
  sqlite3 *db = make_database("original.db", "", &path), *other;
  run(db, "DELETE FROM customers WHERE id BETWEEN 30 AND 60; VACUUM");
  test(all_found(db, "known", KEYS, 12), "VACUUM: all found");
  run(db, "VACUUM INTO %Q", copy);
  check_copy(copy, "VACUUM INTO");
  copy = fresh("copy.db");
  other = open_bare(copy);
  sqlite3_backup *backup = sqlite3_backup_init(other, "main", db, "main");
  while (sqlite3_backup_step(backup, 3) == SQLITE_OK) {
    /* what is written meanwhile is copied too */
    run(db, "INSERT INTO customers(email) VALUES('during the backup')");
    if (atoi(ask(db, "SELECT count(*) FROM customers WHERE email GLOB 'during*'")) > 3) {
      sqlite3_backup_step(backup, -1);
      break;
    }
  }
  sqlite3_backup_finish(backup);
  close_database(other);
  check_copy(copy, "backup");
  close_database(db);
  /* the file itself, as another release or machine would get it */
  check_copy(path, "opened again");
}

/* .dump and .read of the shell, which is the system's own. */
static void test_dump(void) {
  const char *path, *copy = fresh("restored.db"), *bloom = getenv("BLOOM");
  sqlite3 *db = make_database("dumped.db", "", &path);
  char command[600];
  close_database(db);
  snprintf(command, sizeof command,
           "unset LD_LIBRARY_PATH; sqlite3 '%s' .dump >'%s.sql' && "
           "(echo '.dbconfig defensive off'; echo '.bail on'; echo '.load %s'; "
           "cat '%s.sql') | sqlite3 '%s'",
           path, copy, bloom ? bloom : "build/bloom.so", copy, copy);
  test(system(command) == 0, "the shell dumps and restores");
  check_copy(copy, ".dump");
}

/* ---- what triggers do not see ---- */

static unsigned plain_calls;

static void plain_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  plain_calls++;
  sqlite3_result_value(context, argv[0]);
}

/* A key with a function that any schema may call, and a space that SQL allows; and one with a
** function that is not innocuous, which integrity_check does not run. */
static void test_unseen_function(void) {
  const char *path;
  sqlite3 *db = make_database("function.db", "", &path);
  bool checks = sqlite3_libversion_number() >= 3044000;
  run(db,
      "DROP TABLE known; CREATE VIRTUAL TABLE lowered USING bloom(of='customers  (lower(email))', "
      "p=0.001)");
  expect(db, "a key with a function: integrity_check", "ok", "PRAGMA integrity_check");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  run(db, "INSERT INTO customers(email) VALUES('unseen'), ('USER 5')");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
  expect(db, "a key with a function: integrity_check finds what is missing (from 3.44 on)",
         checks ? "bloom table main.lowered: 1 keys of customers  (lower(email)) are missing"
                : "ok",
         "PRAGMA integrity_check");
  sqlite3_create_function(db, "plain", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, plain_function,
                          NULL, NULL);
  run(db,
      "DROP TABLE lowered; CREATE VIRTUAL TABLE plain USING bloom(of='customers(plain(email))', "
      "p=0.001)");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  run(db, "INSERT INTO customers(email) VALUES('never seen')");
  unsigned calls = plain_calls;
  test(calls > 0, "a function that is not innocuous makes the keys");
  expect(db, "and integrity_check does not look for them", "ok", "PRAGMA integrity_check");
  test(plain_calls == calls, "nor does it call the function");
  close_database(db);
}

static void test_unseen(void) {
  const char *path;
  sqlite3 *db = make_database("unseen.db", "", &path);
  bool checks = sqlite3_libversion_number() >= 3044000; /* from where on there is xIntegrity */
  sqlite3_blob *blob;
  expect(db, "integrity_check of a table in step", "ok", "PRAGMA integrity_check");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  run(db, "INSERT INTO customers(email) VALUES('unseen'), ('user 5'), (NULL)");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
  expect(db, "triggers switched off: integrity_check finds what is missing (from 3.44 on)",
         checks ? "bloom table main.known: 1 keys of customers(email) are missing" : "ok",
         "PRAGMA integrity_check");
  if (sqlite3_blob_open(db, "main", "customers", "email", 7, 1, &blob) == SQLITE_OK) {
    sqlite3_blob_write(blob, "USER", 4, 0);
    sqlite3_blob_close(blob);
  }
  expect(db, "the blob was written", "USER 7", "SELECT email FROM customers WHERE id = 7");
  /* It runs before known_insert, and ends what was to run after it. */
  run(db,
      "CREATE TRIGGER late AFTER INSERT ON customers WHEN new.email = 'ignored' BEGIN "
      "SELECT raise(IGNORE); END; INSERT INTO customers(email) VALUES('ignored')");
  run(db,
      "CREATE TRIGGER fails AFTER INSERT ON customers WHEN new.email = 'failed' BEGIN "
      "SELECT raise(FAIL, 'but the row stays'); END");
  test(try_sql(db, "INSERT INTO customers(email) VALUES('failed')") == SQLITE_CONSTRAINT,
       "RAISE(FAIL)");
  expect(db, "the row that failed is there", "1",
         "SELECT count(*) FROM customers WHERE email = 'failed'");
  expect(db, "incremental writes, RAISE(IGNORE), RAISE(FAIL): integrity_check (from 3.44 on)",
         checks ? "bloom table main.known: 4 keys of customers(email) are missing" : "ok",
         "PRAGMA integrity_check");
  run(db, "INSERT INTO known(known) VALUES('rebuild')");
  test(all_found(db, "known", KEYS, 12), "rebuilt, all is found");
  expect(db, "rebuilt, integrity_check is content", "ok", "PRAGMA integrity_check");
  run(db, "DROP TRIGGER known_update");
  const char *answer = ask(db, "PRAGMA integrity_check");
  test(checks ? strstr(answer, "no longer kept in step") != NULL : strcmp(answer, "ok") == 0,
       "integrity_check tells of lost triggers (from 3.44 on)");
  close_database(db);
}

/* VACUUM gives rows new rowids where no INTEGER PRIMARY KEY holds them, and fires no trigger. */
static void test_rowids(void) {
  sqlite3 *db = open_database(fresh("rowids.db"));
  run(db, "CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES(500, 1), (1000, 2)");
  bool made =
      try_sql(db, "CREATE VIRTUAL TABLE known USING bloom(of='t(rowid)', p=0.001)") == SQLITE_OK;
  run(db, "INSERT INTO t VALUES(3); VACUUM");
  test(!made || all_found(db, "known", "SELECT rowid AS k FROM t", 12),
       "rowid without INTEGER PRIMARY KEY is refused, or right after VACUUM");
  run(db, "CREATE TABLE u(a INTEGER PRIMARY KEY); INSERT INTO u VALUES(5)");
  expect_error(db, "rowid of an INTEGER PRIMARY KEY is refused: its column has a name", "rowid",
               "CREATE VIRTUAL TABLE kept USING bloom(of='u(rowid)')");
  run(db,
      "CREATE VIRTUAL TABLE kept USING bloom(of='u(a)', p=0.001);"
      "INSERT INTO u VALUES(NULL); UPDATE u SET a = 77 WHERE a = 5; VACUUM");
  test(all_found(db, "kept", "SELECT rowid AS k FROM u", 12), "an INTEGER PRIMARY KEY by its name");
  run(db,
      "CREATE TABLE v(rowid TEXT, oid TEXT); INSERT INTO v VALUES('one', 'two');"
      "CREATE VIRTUAL TABLE named USING bloom(of='v(rowid, oid)', p=0.001);"
      "INSERT INTO v VALUES('three', 'four')");
  test(all_found(db, "named", "SELECT bloom_key(rowid, oid) AS k FROM v", 12),
       "columns named rowid");
  run(db, "CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID");
  expect_error(db, "rowid of a table WITHOUT ROWID is refused", "rowid",
               "CREATE VIRTUAL TABLE none USING bloom(of='w(rowid)')");
  close_database(db);
}

/* ---- writers without the extension ---- */

static void test_bare(void) {
  const char *path;
  sqlite3 *db = make_database("bare.db", "", &path), *bare = open_bare(path);
  expect(bare, "without the extension the source can be read", "1100",
         "SELECT count(*) FROM customers");
  expect_error(bare, "but not written", "no such module: bloom",
               "INSERT INTO customers(email) VALUES('bare')");
  expect_error(bare, "nor updated", "no such module: bloom", "UPDATE customers SET email = 'bare'");
  run(bare, "DELETE FROM customers WHERE id = 9");
  run(bare,
      "DROP TRIGGER known_insert; DROP TRIGGER known_update;"
      "INSERT INTO customers(email) VALUES('bare')");
  expect_error(db, "it may drop the triggers: then reads are errors", "no longer kept in step",
               "SELECT bloom_lookup('known', 'bare')");
  run(db, "INSERT INTO known(known) VALUES('rebuild')");
  test(all_found(db, "known", KEYS, 12), "and rebuild mends it");
  close_database(bare);
  close_database(db);
}

void test_life(void) {
  test_sizes();
  test_commands();
  test_copies();
  if (extent > TINY) test_dump();
  test_unseen();
  test_unseen_function();
  test_rowids();
  test_bare();
}
