/* damage: the shadow table is not what the extension wrote. The next read of another connection
** must be an error in words: never a 0, never a crash. */
#include "hash.h"
#include "table.h"

/* Chunks of layer 0 have ids 1, 2, ...; of layer 1 from 4294967297 on. */
static const char *const make_sql =
    "CREATE VIRTUAL TABLE seen USING bloom(n=20000, p=0.01);"
    "CREATE VIRTUAL TABLE other USING bloom(n=30000, p=0.01);"
    "CREATE VIRTUAL TABLE tally USING bloom(n=5000, kind=counting);"
    "CREATE VIRTUAL TABLE grown USING bloom(n=100, p=0.01);"
    "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000)"
    " INSERT INTO seen(key) SELECT nth(i) FROM c;"
    "INSERT INTO tally(key) SELECT nth(value) FROM json_each('[1,2,3]');"
    "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000)"
    " INSERT INTO grown(key) SELECT nth(i) FROM c";

/* What is wrong; `words` must be in the message. */
static const struct {
  const char *name, *table, *sql, *words;
} damages[] = {
    {"a chunk is missing", "seen", "DELETE FROM seen_data WHERE id = 2", "row 2 is missing"},
    {"all rows are missing", "seen", "DELETE FROM seen_data", "row 0 is missing"},
    {"the header is missing", "seen", "DELETE FROM seen_data WHERE id = 0", "row 0 is missing"},
    {"all chunks are missing", "seen", "DELETE FROM seen_data WHERE id > 0", "is missing"},
    {"a short chunk", "seen", "UPDATE seen_data SET block = substr(block, 1, 4039) WHERE id = 2",
     "length"},
    {"a long chunk", "seen",
     "UPDATE seen_data SET block = CAST(block || x'00' AS BLOB) WHERE id = 2", "length"},
    {"an empty chunk", "seen", "UPDATE seen_data SET block = x'' WHERE id = 2", "row 2 is empty"},
    {"a chunk is NULL", "seen", "UPDATE seen_data SET block = NULL WHERE id = 2", "not a blob"},
    {"a chunk is a text", "seen", "UPDATE seen_data SET block = hex(block) WHERE id = 2",
     "not a blob"},
    {"a chunk is a number", "seen", "UPDATE seen_data SET block = 17 WHERE id = 2", "not a blob"},
    {"a chunk is zeros", "seen",
     "UPDATE seen_data SET block = zeroblob(length(block)) WHERE id = 2", "checksum"},
    {"two chunks are swapped", "seen",
     "UPDATE seen_data SET block = (SELECT block FROM seen_data AS d WHERE d.id = 5 - "
     "seen_data.id) "
     "WHERE id IN (2, 3)",
     "checksum"},
    {"a chunk of another table", "seen",
     "UPDATE seen_data SET block = (SELECT block FROM other_data WHERE id = 3) WHERE id = 2",
     "checksum"},
    {"the last chunk is missing", "seen",
     "DELETE FROM seen_data WHERE id = (SELECT max(id) FROM seen_data)", "is missing"},
    {"the header is short", "seen",
     "UPDATE seen_data SET block = substr(block, 1, 71) WHERE id = 0", "damaged"},
    {"the header is long", "seen",
     "UPDATE seen_data SET block = CAST(block || x'00' AS BLOB) WHERE id = 0", "damaged"},
    {"the header is empty", "seen", "UPDATE seen_data SET block = x'' WHERE id = 0",
     "row 0 is empty"},
    {"the header is NULL", "seen", "UPDATE seen_data SET block = NULL WHERE id = 0", "not a blob"},
    {"the header is a text", "seen", "UPDATE seen_data SET block = 'header' WHERE id = 0",
     "not a blob"},
    {"the header is zeros", "seen", "UPDATE seen_data SET block = zeroblob(72) WHERE id = 0",
     "damaged"},
    {"the header of a larger table", "seen",
     "UPDATE seen_data SET block = (SELECT block FROM other_data WHERE id = 0) WHERE id = 0",
     "damaged"},
    {"the header of a counting table", "seen",
     "UPDATE seen_data SET block = (SELECT block FROM tally_data WHERE id = 0) WHERE id = 0",
     "damaged"},
    {"the header of the unsized empty filter", "seen",
     "UPDATE seen_data SET block = (SELECT bloom_build(1) WHERE 0 UNION ALL SELECT "
     "bloom_build(NULL)) WHERE id = 0",
     "damaged"},
    {"the header is a whole filter", "seen",
     "UPDATE seen_data SET block = bloom_new(20000, 0.01) WHERE id = 0", "damaged"},
    {"the header of a filter of 2^50 keys", "seen",
     "UPDATE seen_data SET block = huge_header() WHERE id = 0", ""},
    {"the column is gone", "seen", "ALTER TABLE seen_data RENAME COLUMN block TO blok",
     "no such column"},
    {"the shadow table is gone", "seen", "DROP TABLE seen_data", "no such table"},
    {"the shadow table is a view", "seen",
     "DROP TABLE seen_data; CREATE VIEW seen_data AS SELECT 1 AS id, 2 AS block", ""},
    {"a counting chunk is missing", "tally", "DELETE FROM tally_data WHERE id = 1",
     "row 1 is missing"},
    {"a counting chunk has a plain one's length", "tally",
     "UPDATE tally_data SET block = CAST(block || zeroblob(192) AS BLOB) WHERE id = 1", "length"},
    {"a layer's chunk is missing", "grown", "DELETE FROM grown_data WHERE id = 1 + (1 << 32)",
     "is missing"},
    {"two layers' chunks are swapped", "grown",
     "UPDATE grown_data SET block = (SELECT block FROM grown_data AS d WHERE d.id = (1 << 32) + 2 "
     "- grown_data.id) "
     "WHERE id IN (1, 1 + (1 << 32))",
     ""}};

/* A header of FORMAT.md whose filter no machine holds: everything in it is consistent. */
static void huge_header(sqlite3_context *context, int argc, sqlite3_value **argv) {
  sqlite3 *db = sqlite3_context_db_handle(context);
  (void)argc;
  (void)argv;
  sqlite3_stmt *read;
  unsigned char header[72];
  sqlite3_prepare_v2(db, "SELECT block FROM seen_data WHERE id = 0", -1, &read, NULL);
  if (sqlite3_step(read) != SQLITE_ROW || sqlite3_column_bytes(read, 0) != 72) {
    sqlite3_result_error(context, "no header", -1);
  } else {
    memcpy(header, sqlite3_column_blob(read, 0), 72);
    for (int i = 0; i < 2; i++) { /* n and capacity: 2^50; lines: 2^39 */
      memset(header + (i == 0 ? 16 : 32), 0, 8);
      header[(i == 0 ? 16 : 32) + 6] = 4;
    }
    memset(header + 40, 0, 8);
    header[44] = 0x80;
    sqlite3_result_blob(context, header, 72, SQLITE_TRANSIENT);
  }
  sqlite3_finalize(read);
}

/* All ways to read: each must be an error with words, or (one key only) find what it looks for in
** chunks that are sound. */
static void must_tell(const char *name, const char *table, const char *words) {
  static const char *const wholes[] = {"SELECT bloom_snapshot(%Q)", "SELECT bloom_status(%Q)"};
  static const char *const keys[] = {
      "SELECT sum(bloom_lookup(%Q, nth(value))) FROM (SELECT value FROM numbers)",
      "SELECT count(*) FROM numbers JOIN \"%w\" AS t ON t.key = nth(value)",
      "SELECT count(*) FROM \"%w\" WHERE key IN (SELECT nth(value) FROM numbers)",
      "INSERT INTO \"%w\"(key) SELECT absent(value) FROM numbers"};
  bool good = true;
  for (unsigned i = 0; i < 6; i++) {
    sqlite3 *db = open_database(scratch("damage"));
    run(db,
        "CREATE TEMP VIEW numbers AS WITH RECURSIVE c(value) AS (VALUES(1) UNION ALL "
        "SELECT value + 1 FROM c WHERE value < 3000) SELECT value FROM c");
    const char *got = ask(db, i < 2 ? wholes[i] : keys[i - 2], table);
    if (strncmp(got, "code ", 5) != 0 || strstr(got, words) == NULL ||
        strstr(got, "SQL logic error")) {
      printf("#  %s gives: %.200s\n", i < 2 ? wholes[i] : keys[i - 2], got);
      good = false;
    }
    expect(db, "and the connection goes on", "1", "SELECT 1");
    run(db, "BEGIN; CREATE TEMP TABLE t(x); COMMIT");
    close_database(db);
  }
  test(good, "damage: %s", name);
}

static void copy_whole(void) {
  sqlite3 *db = open_bare(scratch("whole"));
  run(db, "VACUUM INTO %Q", fresh("damage"));
  sqlite3_close(db);
}

static void test_damages(void) {
  for (unsigned i = 0; i < COUNT(damages); i++) {
    copy_whole();
    sqlite3 *db = open_database(scratch("damage"));
    sqlite3_create_function(db, "huge_header", 0, SQLITE_UTF8, NULL, huge_header, NULL, NULL);
    run(db, "%s", damages[i].sql);
    close_database(db);
    must_tell(damages[i].name, damages[i].table, damages[i].words);
  }
}

/* One bit of one row, anywhere: always an error. */
static void test_bits(void) {
  uint64_t seed = 4;
  unsigned told = 0, flips = extent == QUICK ? 60 : 600;
  copy_whole();
  sqlite3 *db = open_database(scratch("damage")), *writer = open_bare(scratch("damage"));
  sqlite3_stmt *flip, *restore;
  run(writer, "PRAGMA synchronous = OFF; CREATE TABLE saved AS SELECT * FROM seen_data");
  sqlite3_prepare_v2(writer, "UPDATE seen_data SET block = ?2 WHERE id = ?1", -1, &flip, NULL);
  sqlite3_prepare_v2(writer, "SELECT block FROM saved WHERE id = ?1", -1, &restore, NULL);
  for (unsigned i = 0; i < flips; i++) {
    int id = i % 2 == 0 ? 0 : (int)random_below(&seed, 6);
    unsigned char block[4100];
    sqlite3_bind_int(restore, 1, id);
    if (sqlite3_step(restore) != SQLITE_ROW) stop("damage", "a row is missing");
    int size = sqlite3_column_bytes(restore, 0);
    memcpy(block, sqlite3_column_blob(restore, 0), (size_t)size);
    sqlite3_reset(restore);
    unsigned bit = random_below(&seed, (unsigned)size * 8);
    block[bit / 8] ^= (unsigned char)(1 << bit % 8);
    for (int back = 0; back < 2; back++) {
      sqlite3_bind_int(flip, 1, id);
      sqlite3_bind_blob(flip, 2, block, size, SQLITE_STATIC);
      if (sqlite3_step(flip) != SQLITE_DONE) stop("damage", sqlite3_errmsg(writer));
      sqlite3_reset(flip);
      const char *got = ask(db, "SELECT length(bloom_snapshot('seen'))");
      if (back == 0 && strncmp(got, "code ", 5) == 0) told++;
      if (back == 1 && strncmp(got, "code ", 5) == 0) test(false, "damage: repaired, but %s", got);
      block[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
  }
  test(told == flips,
       "damage: %u of %u single bits that are flipped are told, and forgiven when restored", told,
       flips);
  sqlite3_finalize(flip);
  sqlite3_finalize(restore);
  sqlite3_close(writer);
  close_database(db);
}

/* Rows that do not belong there: no key may be lost, whatever the table answers to a write. */
static void test_extra_rows(void) {
  static const char *const rows[] = {
      "VALUES (-5, x'00')", "VALUES (100000, x'00')", "VALUES (4294967297, zeroblob(264))",
      "VALUES (4294967297, 'x')", "SELECT 4294967297, block FROM grown_data WHERE id = 4294967297"};
  for (unsigned i = 0; i < COUNT(rows); i++) {
    sqlite3 *db = open_database(fresh("extra"));
    run(db,
        "CREATE TABLE keys(key); CREATE VIRTUAL TABLE grown USING bloom(n=100);"
        "CREATE VIRTUAL TABLE small USING bloom(n=100)");
    run(db,
        "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 300)"
        "INSERT INTO grown(key) SELECT nth(i) FROM c");
    run(db, "INSERT INTO small_data(id, block) %s", rows[i]);
    unsigned errors = 0;
    for (int key = 1; key <= 400; key++) { /* grows at about 110 keys */
      if (key == 9) run(db, "BEGIN"); /* so that the header is as it was until the table grows */
      if (try_sql(db, "INSERT INTO small(key) VALUES (nth(%d))", key) == SQLITE_OK) {
        run(db, "INSERT INTO keys VALUES (nth(%d))", key);
      } else if (strstr(sqlite3_errmsg(db), "SQL logic error")) {
        test(false, "extra rows: %s", sqlite3_errmsg(db));
      } else {
        errors++;
      }
    }
    run(db, "COMMIT");
    close_database(db);
    db = open_database(scratch("extra"));
    const char *missing = ask(db, "SELECT count(*) FROM keys WHERE bloom_lookup('small', key) = 0");
    test(strcmp(missing, "0") == 0 || strncmp(missing, "code ", 5) == 0,
         "extra rows, %s: no key that was taken answers 0 (%s; %u errors)", rows[i], missing,
         errors);
    close_database(db);
  }
}

/* ---- damage that this connection does itself, while the table is in memory ---- */

static sqlite3 *open_copy(void) {
  copy_whole();
  sqlite3 *db = open_database(scratch("damage"));
  run(db,
      "CREATE TEMP VIEW numbers AS WITH RECURSIVE c(value) AS (VALUES(1) UNION ALL "
      "SELECT value + 1 FROM c WHERE value < 3000) SELECT value FROM c");
  return db;
}

static void test_own_damage(void) {
  sqlite3 *db = open_copy();
  expect(db, "damage: own: before", "3000",
         "SELECT sum(bloom_lookup('seen', nth(value))) FROM numbers");
  run(db, "DELETE FROM seen_data WHERE id = 2");
  expect_error(db, "damage: own: a write that finds its row gone", SQLITE_CORRUPT,
               "row 2 is missing", "INSERT INTO seen(key) SELECT absent(value) FROM numbers");
  close_database(db);

  db = open_copy();
  run(db,
      "CREATE TRIGGER t AFTER UPDATE ON seen_data BEGIN INSERT INTO seen(key) VALUES "
      "('by ' || new.id), ('and ' || new.id); END");
  expect_error(db, "damage: own: a trigger on the shadow table that writes into it: COMMIT",
               SQLITE_LOCKED, "locked", "INSERT INTO seen(key) VALUES ('one')");
  run(db, "BEGIN; INSERT INTO seen(key) VALUES ('one')");
  expect_error(db, "damage: own: a trigger on the shadow table that writes into it: SAVEPOINT",
               SQLITE_CORRUPT, "malformed", "SAVEPOINT a");
  run(db, "ROLLBACK");
  run(db, "DROP TRIGGER t; INSERT INTO seen(key) VALUES ('two')");
  expect(db, "damage: own: without it the table goes on", "3001",
         "SELECT sum(bloom_lookup('seen', nth(value))) + bloom_lookup('seen', 'two') FROM numbers");
  close_database(db);
}

/* The header goes while a statement looks up, and what it had in memory is rolled back. */
static void test_running_damage(void) {
  sqlite3 *db = open_copy();
  sqlite3_stmt *lookup;
  sqlite3_prepare_v2(db, "SELECT bloom_lookup('seen', nth(value)) FROM numbers", -1, &lookup, NULL);
  run(db, "BEGIN");
  test(sqlite3_step(lookup) == SQLITE_ROW, "damage: a lookup runs");
  run(db,
      "SAVEPOINT a; INSERT INTO seen(key) VALUES ('a'); ROLLBACK TO a;"
      "UPDATE seen_data SET block = x'' WHERE id = 0");
  test(sqlite3_step(lookup) == SQLITE_ERROR || sqlite3_errcode(db) == SQLITE_CORRUPT,
       "damage: and tells of it: %s", sqlite3_errmsg(db));
  test(strstr(sqlite3_errmsg(db), "row 0 is empty") != NULL, "damage: in words");
  sqlite3_finalize(lookup);
  run(db, "ROLLBACK");
  expect(db, "damage: rolled back, it is forgiven", "1", "SELECT bloom_lookup('seen', nth(1))");
  close_database(db);
}

/* Keys whose own chunks are sound; what is needed beside them is not. */
static void test_other_chunk(void) {
  sqlite3 *db = open_copy();
  run(db,
      "CREATE TABLE sound(key); CREATE TABLE whole AS SELECT bloom_snapshot('grown') AS filter;"
      "UPDATE seen_data SET block = x'00' WHERE id = 2;"
      "UPDATE grown_data SET block = x'00' WHERE id = 1");
  for (int i = 1; i <= 400; i++) {
    try_sql(db, "INSERT INTO sound SELECT absent(%d) WHERE bloom_lookup('seen', absent(%d)) = 0", i,
            i);
  }
  test(atoi(ask(db, "SELECT count(*) FROM sound")) > 50, "damage: keys beside a damaged chunk");
  close_database(db);
  db = open_database(scratch("damage"));
  expect(db, "damage: beside it, few keys can be added", "(no row)",
         "INSERT INTO seen(key) SELECT key FROM sound LIMIT 3");
  expect_error(db, "damage: for more the layer's keys are counted", SQLITE_CORRUPT, "row 2",
               "INSERT INTO seen(key) SELECT key FROM sound");
  expect_error(db, "damage: a filter cannot be merged into it", SQLITE_CORRUPT, "row 2",
               "INSERT INTO seen(filter) SELECT bloom_build(1, 20000, 0.01)");
  expect_error(db, "damage: nor one of several layers", SQLITE_CORRUPT, "row 1",
               "INSERT INTO grown(filter) SELECT filter FROM whole");
  close_database(db);
}

static void put_number(unsigned char *at, uint64_t number) {
  for (int i = 0; i < 8; i++) at[i] = (unsigned char)(number >> 8 * i);
}

/* with_number(header, at, number): the header with another number, and the right checksum. */
static void with_number(sqlite3_context *context, int argc, sqlite3_value **argv) {
  unsigned char header[4096];
  size_t size = (size_t)sqlite3_value_bytes(argv[0]), at = (size_t)sqlite3_value_int(argv[1]);
  (void)argc;
  memcpy(header, sqlite3_value_blob(argv[0]), size);
  put_number(header + at, (uint64_t)sqlite3_value_int64(argv[2]));
  put_number(header + size - 8, XXH3_64bits(header, size - 8));
  sqlite3_result_blob(context, header, (int)size, SQLITE_TRANSIENT);
}

/* A header, right in itself, whose next layer would have more cells than any. */
static void test_capacity(void) {
  sqlite3 *db = open_copy();
  sqlite3_create_function(db, "with_number", 3, SQLITE_UTF8, NULL, with_number, NULL, NULL);
  run(db,
      "UPDATE grown_data SET block = with_number(with_number(block, 16, 1 << 61), 32, 1 << "
      "61) WHERE id = 0");
  close_database(db);
  db = open_database(scratch("damage"));
  expect(db, "damage: a capacity of 2^61", "1", "SELECT bloom_lookup('grown', nth(1))");
  int key = 0;
  while (key < 20000 &&
         try_sql(db, "INSERT INTO grown(key) VALUES (absent(%d))", key) == SQLITE_OK) {
    key++;
  }
  test(sqlite3_errcode(db) == SQLITE_TOOBIG && strstr(sqlite3_errmsg(db), "limit"),
       "damage: a capacity of 2^61: it does not grow (%d keys): %s", key, sqlite3_errmsg(db));
  close_database(db);
}

/* twice(filter, size): the same with its last layer, of that many bytes, standing twice. */
static void twice(sqlite3_context *context, int argc, sqlite3_value **argv) {
  unsigned char blob[8192];
  const unsigned char *from = sqlite3_value_blob(argv[0]);
  size_t whole = (size_t)sqlite3_value_bytes(argv[0]), last = (size_t)sqlite3_value_int(argv[1]);
  size_t table = 32 + 32 * (size_t)from[9], cells = table + 32 + 8, body = whole - table - 8;
  (void)argc;
  memcpy(blob, from, table);
  memcpy(blob + table, from + table - 32, 32);
  memcpy(blob + cells, from + table + 8, body);
  memcpy(blob + cells + body, from + whole - last, last);
  blob[9]++;
  put_number(blob + 24, XXH3_64bits(blob + cells, body + last));
  put_number(blob + cells - 8, XXH3_64bits(blob, cells - 8));
  sqlite3_result_blob(context, blob, (int)(cells + body + last), SQLITE_TRANSIENT);
}

/* Each layer of a filter goes into one that took none yet, also where two of its own are equal. */
static void test_equal_layers(void) {
  sqlite3 *db = open_database(":memory:");
  sqlite3_create_function(db, "twice", 2, SQLITE_UTF8, NULL, twice, NULL, NULL);
  run(db,
      "CREATE VIRTUAL TABLE merged USING bloom(n=4, p=0.01); CREATE TEMP TABLE made AS "
      "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 200) "
      "SELECT bloom_build(nth(i), 4, 0.01) AS one FROM c; CREATE TEMP TABLE both AS "
      "SELECT twice(one, (bloom_info(one) ->> '$.layer_table[1].line_bits' + 7) / 8) AS two FROM "
      "made");
  expect(db, "damage: a filter whose last layer stands twice", "3",
         "SELECT bloom_info(two) ->> 'layers' FROM both");
  for (int i = 1; i <= 2; i++) {
    run(db, "INSERT INTO merged(filter) SELECT two FROM both");
    expect(db, "damage: its layers stay three", "3", "SELECT bloom_status('merged') ->> 'layers'");
    expect(db, "damage: and are those of bloom_union", "1",
           "SELECT bloom_snapshot('merged') = bloom_union(bloom_new(4, 0.01), two, two) FROM both");
  }
  run(db,
      "INSERT INTO merged(filter) WITH RECURSIVE c(i) AS (VALUES(201) UNION ALL SELECT i + 1 "
      "FROM c WHERE i < 400), made AS (SELECT bloom_build(nth(i), 4, 0.01) AS one FROM c) "
      "SELECT twice(one, (bloom_info(one) ->> '$.layer_table[1].line_bits' + 7) / 8) FROM made");
  expect(db, "damage: another one's two layers go into both", "3|1",
         "SELECT (j ->> 'layers') || '|' || (j ->> '$.layer_table[1].bits_set' = "
         "j ->> '$.layer_table[2].bits_set') FROM (SELECT bloom_info(bloom_snapshot('merged')) j)");
  expect(db, "damage: its keys are found", "400",
         "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 400) "
         "SELECT sum(bloom_lookup('merged', nth(i))) FROM c");
  close_database(db);
}

void test_damage(void) {
  sqlite3 *db = open_database(fresh("whole"));
  run(db, "%s", make_sql);
  close_database(db);
  copy_whole();
  db = open_database(scratch("damage"));
  expect(db, "damage: before, everything is found", "3000",
         "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000)"
         "SELECT sum(bloom_lookup('seen', nth(i))) FROM c");
  absent_within(db, "seen", 0.01, "damage: before");
  close_database(db);
  test_damages();
  test_bits();
  test_extra_rows();
  test_own_damage();
  test_running_damage();
  test_other_chunk();
  test_capacity();
  test_equal_layers();
}
