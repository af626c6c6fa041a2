/* house: what a database does around a table: DEFENSIVE, VACUUM, backup, dump and restore, ATTACH,
** integrity_check, untrusted schemas, closing, memory and limits. */
#include "table.h"

#define KEYS \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000) SELECT nth(i) " \
  "AS key FROM c"

static sqlite3 *start(const char *name) {
  sqlite3 *db = open_database(fresh(name));
  run(db,
      "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE seen USING bloom(n=5000, p=0.001); INSERT "
      "INTO seen(key) " KEYS);
  return db;
}

/* The table of this schema is whole. */
static bool whole(sqlite3 *db, const char *table) {
  return has_all(db, table, KEYS) && same_as_build(db, table, KEYS, "5000, 0.001");
}

static void set_defensive(sqlite3 *db, int on) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, on, NULL);
}

/* ---- shadow table ---- */

static void test_defensive(void) {
  static const char *const writes[] = {
      "UPDATE seen_data SET block = x''",       "DELETE FROM seen_data",
      "INSERT INTO seen_data VALUES (99, x'')", "DROP TABLE seen_data",
      "ALTER TABLE seen_data RENAME TO x",      "ALTER TABLE seen_data ADD COLUMN x"};
  sqlite3 *db = start("defensive");
  set_defensive(db, 1);
  for (unsigned i = 0; i < COUNT(writes); i++) {
    const char *got = ask(db, "%s", writes[i]);
    test(strncmp(got, "code 1:", 7) == 0, "DEFENSIVE: %s is refused", writes[i]);
  }
  run(db,
      "INSERT INTO seen(key) VALUES (nth(1)); SAVEPOINT a; INSERT INTO seen(key) VALUES ('new');"
      "SAVEPOINT b; ROLLBACK TO a; INSERT INTO seen(key) VALUES (nth(2)); RELEASE a");
  run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(3)); COMMIT");
  test(whole(db, "seen"), "DEFENSIVE: the table itself goes on");
  run(db,
      "CREATE VIRTUAL TABLE small USING bloom(n=5);"
      "INSERT INTO small(key) SELECT value FROM "
      "json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]');"
      "INSERT INTO small(small) VALUES ('clear'); ALTER TABLE small RENAME TO tiny; DROP TABLE "
      "tiny");
  expect(db, "DEFENSIVE: create, grow, clear, rename and drop", "0",
         "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%%tiny%%' OR name LIKE '%%small%%'");
  close_database(db);
}

static void test_integrity(void) {
  sqlite3 *db = start("integrity");
  expect(db, "integrity_check of a sound table", "ok", "PRAGMA integrity_check");
  run(db, "BEGIN; INSERT INTO seen(key) VALUES ('more')");
  expect(db, "and within a transaction with changes", "ok", "PRAGMA integrity_check");
  run(db, "ROLLBACK");
  test(whole(db, "seen"), "integrity_check leaves the table as it is");
  close_database(db);
  if (sqlite3_libversion_number() < 3044000) return;
  db = open_database(scratch("integrity"));
  run(db,
      "UPDATE seen_data SET block = CAST(substr(block, 1, 100) || x'00ff' || substr(block, 103) AS "
      "BLOB) WHERE id = 2");
  const char *got = ask(db, "PRAGMA integrity_check");
  test(strstr(got, "seen") && strstr(got, "checksum"),
       "integrity_check tells of a damaged row (%s)", got);
  run(db, "DELETE FROM seen_data WHERE id = 2");
  got = ask(db, "PRAGMA integrity_check");
  test(strstr(got, "missing") != NULL, "integrity_check tells of a missing row (%s)", got);
  close_database(db);
}

/* ---- copies ---- */

static void test_vacuum(void) {
  sqlite3 *db = start("vacuum");
  run(db, "VACUUM");
  test(whole(db, "seen"), "VACUUM");
  run(db, "PRAGMA page_size = 1024; VACUUM; INSERT INTO seen(key) VALUES (nth(1))");
  test(whole(db, "seen"), "VACUUM to another page size");
  run(db, "VACUUM INTO %Q", fresh("into"));
  close_database(db);
  db = open_database(scratch("into"));
  test(whole(db, "seen"), "VACUUM INTO");
  close_database(db);
}

/* Onto a connection that has another table of the same name in use. */
static void test_backup(void) {
  sqlite3 *db = start("backup"), *copy = open_database(fresh("copy"));
  sqlite3_stmt *kept, *lookup;
  run(copy, "CREATE VIRTUAL TABLE seen USING bloom(n=5000, p=0.001)");
  expect(copy, "backup: before, the key is not in", "0", "SELECT bloom_lookup('seen', nth(7))");
  sqlite3_prepare_v2(copy, "SELECT 1 FROM seen WHERE key = nth(7)", -1, &kept, NULL);
  sqlite3_prepare_v2(copy, "SELECT bloom_lookup('seen', nth(7))", -1, &lookup, NULL);
  test(sqlite3_step(kept) == SQLITE_DONE, "backup: nor by a prepared statement");
  test(sqlite3_step(lookup) == SQLITE_ROW, "backup: nor by a prepared bloom_lookup");
  sqlite3_reset(kept);
  sqlite3_reset(lookup);
  sqlite3_backup *backup = sqlite3_backup_init(copy, "main", db, "main");
  test(sqlite3_backup_step(backup, -1) == SQLITE_DONE && sqlite3_backup_finish(backup) == SQLITE_OK,
       "backup: copied");
  test(sqlite3_step(lookup) == SQLITE_ROW && sqlite3_column_int(lookup, 0) == 1,
       "backup: the prepared bloom_lookup finds the key");
  test(sqlite3_step(kept) == SQLITE_ROW, "backup: the prepared statement finds the key");
  sqlite3_finalize(kept);
  sqlite3_finalize(lookup);
  test(whole(copy, "seen"), "backup: the copy is whole");
  close_database(copy);
  close_database(db);
}

/* A database in memory is replaced under a prepared statement, and so many commits follow; after one
** of those numbers the pager's version is what it was before. */
static void deserialize_after(sqlite3 *db, int commits) {
  sqlite3 *copy = open_database(":memory:");
  sqlite3_stmt *kept;
  sqlite3_int64 size;
  unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
  run(copy, "CREATE VIRTUAL TABLE seen USING bloom(n=5000, p=0.001)");
  expect(copy, "deserialize: before", "0", "SELECT bloom_lookup('seen', nth(7))");
  sqlite3_prepare_v2(copy, "SELECT 1 FROM seen WHERE key = nth(7)", -1, &kept, NULL);
  sqlite3_step(kept);
  sqlite3_reset(kept);
  test(sqlite3_deserialize(copy, "main", bytes, size, size,
                           SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
           SQLITE_OK,
       "deserialize: replaced, then %d commits", commits);
  for (int i = 0; i < commits; i++) run(copy, "PRAGMA user_version = %d", i + 1);
  test(sqlite3_step(kept) == SQLITE_ROW, "deserialize: the prepared statement finds the key");
  sqlite3_reset(kept);
  expect(copy, "deserialize: bloom_lookup finds the key", "1",
         "SELECT bloom_lookup('seen', nth(7))");
  sqlite3_finalize(kept);
  test(whole(copy, "seen"), "deserialize: the table is whole");
  close_database(copy);
}

static void test_deserialize(void) {
  sqlite3 *db = start("serialize");
  for (int commits = 0; commits < 6; commits++) deserialize_after(db, commits);
  close_database(db);
}

/* What the shell's .dump writes: the shadow table as an ordinary one, and the virtual table as a
** row of sqlite_schema, which needs PRAGMA writable_schema, hence DEFENSIVE off. */
static void restore(sqlite3 *from, sqlite3 *to) {
  sqlite3_stmt *rows;
  run(to, "PRAGMA foreign_keys = OFF; BEGIN");
  run(to, "CREATE TABLE IF NOT EXISTS 'seen_data'(id INTEGER PRIMARY KEY, block BLOB)");
  sqlite3_prepare_v2(
      from,
      "SELECT 'INSERT INTO seen_data VALUES(' || id || ',' || quote(block) || ')' FROM seen_data",
      -1, &rows, NULL);
  while (sqlite3_step(rows) == SQLITE_ROW) run(to, "%s", sqlite3_column_text(rows, 0));
  sqlite3_finalize(rows);
}

static void test_dump(void) {
  static const char *const schema_row =
      "INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES "
      "('table', 'seen', 'seen', 0, 'CREATE VIRTUAL TABLE seen USING bloom(n=5000, p=0.001)')";
  sqlite3 *db = start("dumped");
  for (int defensive = 0; defensive < 2; defensive++) {
    sqlite3 *to = open_database(fresh("restored"));
    set_defensive(to, defensive);
    restore(db, to);
    run(to, "PRAGMA writable_schema = ON");
    int code = try_sql(to, schema_row);
    test(code == (defensive ? SQLITE_ERROR : SQLITE_OK),
         "a dump is restored only without DEFENSIVE");
    run(to, "PRAGMA writable_schema = OFF; COMMIT");
    close_database(to);
    if (defensive) continue;
    to = open_database(scratch("restored"));
    test(whole(to, "seen"), "a restored dump is whole");
    run(to,
        "INSERT INTO seen(key) VALUES (nth(1)); ALTER TABLE seen RENAME TO x; ALTER TABLE x RENAME "
        "TO seen");
    test(whole(to, "seen"), "and goes on");
    close_database(to);
  }
  sqlite3 *to = open_database(fresh("restored")); /* under DEFENSIVE: by the filter itself */
  set_defensive(to, 1);
  run(to,
      "ATTACH %Q AS old; CREATE VIRTUAL TABLE seen USING bloom(n=5000, p=0.001);"
      "INSERT INTO seen(filter) SELECT bloom_snapshot('old.seen')",
      scratch("dumped"));
  test(whole(to, "main.seen"), "under DEFENSIVE a snapshot that is merged restores the table");
  close_database(to);
  close_database(db);
}

static void test_attach(void) {
  sqlite3 *db = start("attached"), *other = open_database(":memory:");
  run(other, "ATTACH %Q AS aux; ATTACH ':memory:' AS \"a.b c\"", scratch("attached"));
  test(whole(other, "aux.seen") && has_all(other, "seen", KEYS), "ATTACH: by schema and without");
  run(other,
      "CREATE VIRTUAL TABLE \"a.b c\".t USING bloom(n=5); INSERT INTO \"a.b c\".t(key) VALUES (1)");
  expect(other, "ATTACH: a schema with a difficult name", "1",
         "SELECT bloom_lookup('\"a.b c\".t', 1)");
  run(other,
      "BEGIN; INSERT INTO aux.seen(key) VALUES (nth(1)); INSERT INTO \"a.b c\".t(key) VALUES (2); "
      "ROLLBACK");
  run(other,
      "CREATE VIRTUAL TABLE temp.twin USING bloom(n=9); CREATE VIRTUAL TABLE twin USING "
      "bloom(n=9); "
      "INSERT INTO temp.twin(key) VALUES (1)");
  expect(other, "without a schema temp comes first", "10",
         "SELECT bloom_lookup('twin', 1) || bloom_lookup('main.twin', 1)");
  run(other, "DETACH aux");
  expect_error(other, "DETACH: the table is gone", SQLITE_ERROR, "no bloom table named",
               "SELECT bloom_lookup('seen', 1)");
  expect_error(other, "DETACH: also by schema", SQLITE_ERROR, "no bloom table named",
               "SELECT bloom_lookup('aux.seen', 1)");
  close_database(other);
  close_database(db);
}

/* ---- triggers of a schema that is not trusted ---- */

static void test_untrusted(void) {
  sqlite3 *db = start("untrusted");
  run(db,
      "CREATE TABLE t(x); CREATE TABLE log(x);"
      "CREATE TRIGGER e AFTER INSERT ON t BEGIN"
      " INSERT INTO log SELECT EXISTS (SELECT 1 FROM seen WHERE key = new.x); INSERT INTO "
      "seen(key) VALUES (new.x); END;"
      "PRAGMA trusted_schema = OFF; INSERT INTO t VALUES (nth(5)), (absent(1)), (absent(1))");
  expect(db, "trusted_schema=OFF: EXISTS and INSERT work in a trigger", "1,0,1",
         "SELECT group_concat(x) FROM log");
  run(db,
      "DROP TRIGGER e; PRAGMA trusted_schema = ON;"
      "CREATE TRIGGER l AFTER INSERT ON t BEGIN INSERT INTO log SELECT bloom_lookup('seen', "
      "new.x); END;"
      "CREATE VIEW v AS SELECT bloom_snapshot('seen') AS f; INSERT INTO t VALUES (1); PRAGMA "
      "trusted_schema = OFF");
  expect_error(db, "trusted_schema=OFF: bloom_lookup in a trigger is refused", SQLITE_ERROR,
               "unsafe use of bloom_lookup", "INSERT INTO t VALUES (1)");
  expect_error(db, "trusted_schema=OFF: bloom_snapshot in a view is refused", SQLITE_ERROR,
               "unsafe use of bloom_snapshot", "SELECT f FROM v");
  run(db, "PRAGMA trusted_schema = ON");
  expect_error(db, "bloom_lookup in an index is refused", SQLITE_ERROR, "non-deterministic",
               "CREATE INDEX i ON t(bloom_lookup('seen', x))");
  close_database(db);
}

/* ---- closing and memory ---- */

/* sqlite3_close is not blocked by anything that the extension holds; nothing is left in memory. */
static void test_close(void) {
  static const char *const uses[] = {
      "SELECT 1",
      "SELECT bloom_lookup('seen', 1)",
      "SELECT 1 FROM seen WHERE key = 1",
      "SELECT bloom_snapshot('seen')",
      "SELECT bloom_status('seen')",
      "INSERT INTO seen(key) VALUES (1)",
      "BEGIN; INSERT INTO seen(key) VALUES (1)",
      "BEGIN; INSERT INTO seen(key) VALUES (1); SAVEPOINT a; SELECT bloom_lookup('seen', 1)",
      "BEGIN; CREATE VIRTUAL TABLE x USING bloom(n=9); INSERT INTO x(key) VALUES (1)",
      "BEGIN; DROP TABLE seen",
      "DROP TABLE seen",
      "SELECT bloom_lookup('none', 1)",
      "SELECT bloom_lookup('seen', 1), bloom_lookup('seen', 2), bloom_lookup('main.seen', 3)",
      ("BEGIN; INSERT INTO seen(key) VALUES (1); ALTER TABLE seen RENAME TO x; SELECT "
       "bloom_lookup('x', 1)"),
      "CREATE VIRTUAL TABLE temp.y USING bloom(n=9); SELECT bloom_lookup('y', 1)",
      "SELECT * FROM seen",
      "CREATE VIRTUAL TABLE bad USING bloom(n=0)",
      "SELECT bloom_lookup('seen', 1) FROM no_table"};
  close_database(open_database(":memory:"));
  sqlite3_int64 before = sqlite3_memory_used();
  for (unsigned i = 0; i < COUNT(uses); i++) {
    sqlite3 *db = start("close");
    try_sql(db, "%s", uses[i]);
    int code = sqlite3_close(db);
    test(code == SQLITE_OK && sqlite3_memory_used() == before,
         "after %s: closes (%d), %lld bytes are left", uses[i], code,
         (long long)(sqlite3_memory_used() - before));
    if (code != SQLITE_OK) sqlite3_close_v2(db);
  }
  sqlite3 *db = start("close"); /* a statement is still there: as for any table */
  sqlite3_stmt *lookup;
  sqlite3_prepare_v2(
      db, "SELECT bloom_lookup('seen', 1), bloom_lookup('seen', 2) FROM (VALUES (1), (2))", -1,
      &lookup, NULL);
  sqlite3_step(lookup);
  test(sqlite3_close(db) == SQLITE_BUSY, "a running statement of the user's blocks sqlite3_close");
  test(sqlite3_close_v2(db) == SQLITE_OK, "but not sqlite3_close_v2");
  sqlite3_finalize(lookup);
  test(sqlite3_memory_used() == before, "and then everything is freed");
}

/* Several tables in one connection; the memory of each is bounded by its filter. */
static void test_memory(void) {
  sqlite3 *db = open_database(":memory:");
  run(db, "ATTACH %Q AS d; PRAGMA d.synchronous = OFF; PRAGMA d.cache_size = 10", fresh("memory"));
  for (int i = 0; i < 20; i++) run(db, "CREATE VIRTUAL TABLE d.t%d USING bloom(n=100000)", i);
  sqlite3_int64 before = sqlite3_memory_used();
  for (int i = 0; i < 20; i++) run(db, "INSERT INTO t%d(key) " KEYS, i);
  bool all = true;
  for (int i = 0; i < 20; i++)
    all = strcmp(ask(db, "SELECT sum(bloom_lookup('t%d', key)) FROM (" KEYS ")", i), "3000") == 0 &&
          all;
  long long used = sqlite3_memory_used() - before,
            filters = 20 * atoll(ask(db, "SELECT length(bloom_snapshot('t0'))"));
  test(all, "twenty tables in one connection");
  test(used < filters + filters / 4 + 20 * 20000, "their memory: %lld bytes, the filters have %lld",
       used, filters);
  for (int i = 0; i < 20; i++) run(db, "DROP TABLE t%d", i);
  used = sqlite3_memory_used() - before;
  test(used < filters / 4, "dropped, their memory is given back (%lld bytes are left)", used);
  close_database(db);
}

static void test_limit(void) {
  sqlite3 *db = open_database(fresh("limit"));
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 20000);
  expect_error(db, "SQLITE_LIMIT_LENGTH: a table beyond it is refused", SQLITE_TOOBIG,
               "limit of 20000 bytes", "CREATE VIRTUAL TABLE large USING bloom(n=100000)");
  run(db,
      "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE grown USING bloom(n=500); CREATE TABLE "
      "keys(key)");
  int key = 1;
  while (key < 20000 && try_sql(db, "INSERT INTO grown(key) VALUES (nth(%d))", key) == SQLITE_OK) {
    run(db, "INSERT INTO keys VALUES (nth(%d))", key++);
  }
  test(key < 20000 && strstr(sqlite3_errmsg(db), "limit of 20000 bytes") &&
           sqlite3_errcode(db) == SQLITE_TOOBIG,
       "SQLITE_LIMIT_LENGTH: a table grows up to it, %d keys: %s", key - 1, sqlite3_errmsg(db));
  test(has_all(db, "grown", "SELECT key FROM keys"), "SQLITE_LIMIT_LENGTH: and keeps what it has");
  close_database(db);
  db = start("limit");
  run(db, "BEGIN; INSERT INTO seen(key) VALUES ('late')");
  int limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 3000);
  expect_error(db, "SQLITE_LIMIT_LENGTH: lowered in a transaction, below a chunk", SQLITE_TOOBIG,
               "too big", "COMMIT");
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
  if (!sqlite3_get_autocommit(db)) run(db, "COMMIT");
  test(whole(db, "seen") || has_all(db, "seen", KEYS), "SQLITE_LIMIT_LENGTH: and nothing is lost");
  close_database(db);
}

/* On a connection with a lower limit than the one that made the table. */
static void test_lower_limit(void) {
  sqlite3 *db = open_database(scratch("limit"));
  int size = atoi(ask(db, "SELECT length(bloom_snapshot('seen'))"));
  close_database(db);
  for (int below = 0; below < 2; below++) {
    db = open_database(scratch("limit"));
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, size - below);
    const char *got = ask(db, "SELECT bloom_lookup('seen', nth(1))");
    test(below ? strstr(got, "limit") && !strstr(got, "damaged") : strcmp(got, "1") == 0,
         "SQLITE_LIMIT_LENGTH: a table %s is %s (%s)", below ? "above it" : "of its size",
         below ? "told, not called damaged" : "read", got);
    close_database(db);
  }
}

/* ---- layers ---- */

/* Filters that outgrew n by different numbers of keys have second layers of different sizes. */
static void test_layers(void) {
  sqlite3 *db = open_database(fresh("layers"));
  int merged = 0;
  run(db,
      "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE many USING bloom(n=4);"
      "CREATE TEMP VIEW c AS WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c"
      " WHERE i < 900) SELECT i FROM c");
  while (merged < 80 && try_sql(db,
                                "INSERT INTO many(filter) SELECT bloom_build(nth(i), 4) FROM c "
                                "WHERE i <= %d",
                                9 * merged + 50) == SQLITE_OK) {
    merged++;
  }
  test(merged > 60 && merged < 80 && strstr(sqlite3_errmsg(db), "more than 64 layers"),
       "layers: %d filters are merged, then: %s", merged, sqlite3_errmsg(db));
  expect(db, "layers: as many as there may be", "64", "SELECT bloom_status('many') ->> 'layers'");
  char keys[60];
  snprintf(keys, sizeof keys, "SELECT nth(i) AS key FROM c WHERE i <= %d", 9 * merged + 41);
  test(has_all(db, "many", keys), "layers: no key of those is missing");
  close_database(db);
}

/* Another file under the name of one that a prepared statement still knows. */
static void test_other_file(void) {
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *kept;
  for (int i = 1; i <= 2; i++) {
    run(db, "ATTACH %Q AS aux", fresh(i == 1 ? "file1" : "file2"));
    run(db, "CREATE VIRTUAL TABLE aux.t USING bloom(n=9); INSERT INTO t(key) VALUES (%d)", i);
    run(db, "DETACH aux");
  }
  run(db, "ATTACH %Q AS aux", scratch("file1"));
  sqlite3_prepare_v2(db, "SELECT 1 FROM aux.t WHERE key = 2", -1, &kept, NULL);
  test(sqlite3_step(kept) == SQLITE_DONE, "another file: before");
  sqlite3_reset(kept);
  run(db, "DETACH aux; ATTACH %Q AS aux", scratch("file2"));
  expect(db, "another file: bloom_lookup", "1", "SELECT bloom_lookup('aux.t', 2)");
  test(sqlite3_step(kept) == SQLITE_ROW, "another file: the prepared statement");
  sqlite3_reset(kept);
  run(db, "DETACH aux; ATTACH %Q AS aux", scratch("file1"));
  expect(db, "another file: and back", "0", "SELECT bloom_lookup('aux.t', 2)");
  sqlite3_finalize(kept);
  close_database(db);
}

void test_house(void) {
  test_layers();
  test_other_file();
  test_defensive();
  test_integrity();
  test_vacuum();
  test_backup();
  test_deserialize();
  test_dump();
  test_attach();
  test_untrusted();
  test_close();
  test_memory();
  test_limit();
  test_lower_limit();
}
