/* statements: what depends on how a filter reaches the function and on the connection around it.
**
** Bound parameters, literals and subqueries with a damaged body; the life of a bloom_ref; UTF-16;
** the warning of an old SQLite; loading twice; several connections; interrupts; SQLITE_NOMEM. */
#include "sqltest.h"

enum {
  COPIES_BLOBS_BEFORE = 3043000
};

#define BODY_SUM "code 1: bloom_contains: damaged filter: the body's checksum does not match"
#define HEADER_SUM "code 1: bloom_contains: damaged filter: the header's checksum does not match"

typedef struct Bytes {
  unsigned char *at;
  int size;
} Bytes;

static Bytes fetch(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  Bytes bytes = {NULL, 0};
  sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (statement && sqlite3_step(statement) == SQLITE_ROW) {
    bytes.size = sqlite3_column_bytes(statement, 0);
    bytes.at = malloc((size_t)bytes.size + 1);
    memcpy(bytes.at, sqlite3_column_blob(statement, 0), (size_t)bytes.size);
  }
  sqlite3_finalize(statement);
  return bytes;
}

/* Steps a statement to its end; rows seen, and the last code in *code. */
static int step_all(sqlite3_stmt *statement, int *code) {
  int rows = 0;
  while ((*code = sqlite3_step(statement)) == SQLITE_ROW) rows++;
  return rows;
}

static int steps_with(sqlite3_stmt *statement, Bytes filter, int *code) {
  int rows;
  sqlite3_bind_blob(statement, 1, filter.at, filter.size, SQLITE_STATIC);
  rows = step_all(statement, code);
  sqlite3_reset(statement);
  return rows;
}

static void setup(sqlite3 *db) {
  run_sql(db,
          "CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i "
          "< 20000) SELECT i FROM c;"
          "CREATE TABLE filters(name TEXT PRIMARY KEY, f BLOB);"
          "INSERT INTO filters SELECT 'small', bloom_build(i, 100, 1e-6) FROM t WHERE i <= 100;"
          "INSERT INTO filters SELECT 'large', bloom_build(i, 100000, 0.01) FROM t;"
          "INSERT INTO filters SELECT 'medium', bloom_new(53500, 0.01);"
          "INSERT INTO filters SELECT 'small damaged', patch(f, -40, x'ffff') FROM filters WHERE "
          "name = 'small';"
          "INSERT INTO filters SELECT 'large damaged', patch(f, -40000, x'ffff') FROM filters WHERE "
          "name = 'large';"
          "INSERT INTO filters SELECT 'header', patch(f, 20, x'ff') FROM filters WHERE name = "
          "'large'");
}

/* ---- bound parameters ---- */

static void bound(sqlite3 *db) {
  Bytes good = fetch(db, "SELECT f FROM filters WHERE name = 'large'");
  Bytes damaged = fetch(db, "SELECT f FROM filters WHERE name = 'large damaged'");
  Bytes header = fetch(db, "SELECT f FROM filters WHERE name = 'header'");
  Bytes small = fetch(db, "SELECT f FROM filters WHERE name = 'small'");
  sqlite3_stmt *one, *many;
  int code, rows;
  sqlite3_prepare_v2(db, "SELECT bloom_contains(?1, 1)", -1, &one, NULL);
  sqlite3_prepare_v2(db, "SELECT bloom_contains(?1, i) FROM t", -1, &many, NULL);
  rows = steps_with(one, damaged, &code);
  ok(rows == 1 && code == SQLITE_DONE, "bound, one row: the body is not read");
  rows = steps_with(one, damaged, &code);
  ok(rows == 1 && code == SQLITE_DONE, "bound, one row, executed again: neither");
  rows = steps_with(many, damaged, &code);
  ok(rows == 1 && code == SQLITE_ERROR, "bound: a damaged body is found at the second row");
  ok(strcmp(sqlite3_errmsg(db), &BODY_SUM[8]) == 0, "bound: and named");
  rows = steps_with(many, good, &code);
  ok(rows == 20000 && code == SQLITE_DONE, "bound: the same statement, a good filter");
  rows = steps_with(many, damaged, &code);
  ok(rows == 1 && code == SQLITE_ERROR, "bound: a damaged one after a good one");
  rows = steps_with(one, header, &code);
  ok(rows == 0 && code == SQLITE_ERROR, "bound, one row: a damaged header");
  rows = steps_with(many, header, &code);
  ok(rows == 0 && code == SQLITE_ERROR, "bound: a damaged header");
  /* damage at the very same address */
  memcpy(damaged.at, good.at, (size_t)good.size);
  rows = steps_with(many, damaged, &code);
  damaged.at[damaged.size - 40000] ^= 0xff;
  rows += steps_with(many, damaged, &code);
  ok(rows == 20001 && code == SQLITE_ERROR, "bound: bytes damaged between two executions");
  sqlite3_bind_null(many, 1);
  rows = step_all(many, &code);
  ok(rows == 0 && code == SQLITE_ERROR, "bound: NULL");
  sqlite3_reset(many);
  sqlite3_bind_text(many, 1, "text", -1, SQLITE_STATIC);
  rows = step_all(many, &code);
  ok(rows == 0 && code == SQLITE_ERROR, "bound: TEXT");
  sqlite3_finalize(one);
  sqlite3_finalize(many);
  sqlite3_prepare_v2(db, "SELECT sum(bloom_contains(?1, i)), sum(bloom_contains(?2, i)) FROM t", -1,
                     &many, NULL);
  sqlite3_bind_blob(many, 2, header.at, 0, SQLITE_STATIC);
  rows = steps_with(many, good, &code);
  ok(rows == 0 && code == SQLITE_ERROR, "bound: two parameters, one of them empty");
  sqlite3_finalize(many);
  /* one place in the statement that sees two parameters in turn; both rates are below 1e-5 */
  sqlite3_prepare_v2(db, "SELECT sum(bloom_contains(f, i)), sum(bloom_contains(f, -i)) FROM t, "
                         "(SELECT ?1 AS f UNION ALL SELECT ?2 LIMIT 9) WHERE i <= 100",
                     -1, &many, NULL);
  sqlite3_bind_blob(many, 1, good.at, good.size, SQLITE_STATIC);
  sqlite3_bind_blob(many, 2, small.at, small.size, SQLITE_STATIC);
  rows = sqlite3_step(many) == SQLITE_ROW ? sqlite3_column_int(many, 0) : -1;
  ok(rows == 200 && sqlite3_column_int(many, 1) == 0, "bound: two filters in turn in one place");
  sqlite3_finalize(many);
  free(good.at);
  free(damaged.at);
  free(header.at);
  free(small.at);
}

/* The first row of a bound filter reads its header, the second checks it, and when as many more as
** it has pieces of 256 bytes have asked it, it is copied; and the copy goes with the statement. */
static void bound_copied(sqlite3 *db) {
  Bytes filter = fetch(db, "SELECT f FROM filters WHERE name = 'large'");
  int pieces = filter.size / 256, rows = 0, copied_at = 0, wrong = 0;
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3_stmt *many;
  sqlite3_prepare_v2(db, "SELECT bloom_contains(?1, i) FROM t", -1, &many, NULL);
  sqlite3_bind_blob(many, 1, filter.at, filter.size, SQLITE_STATIC);
  while (sqlite3_step(many) == SQLITE_ROW) {
    rows++;
    wrong += sqlite3_column_int(many, 0) != 1;
    if (copied_at == 0 && sqlite3_memory_used() - before > filter.size) copied_at = rows;
  }
  ok(wrong == 0 && copied_at == pieces + 3,
     "bound: of %d pieces, copied at row %d", pieces, copied_at);
  sqlite3_finalize(many);
  ok(sqlite3_memory_used() - before < filter.size / 2, "bound: the copy goes with the statement");
  free(filter.at);
}

/* ---- literals, columns, subqueries ---- */

/* A blob of which SQLite makes no copy, so that it can be damaged between two rows. */
static void same_place(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Bytes *filter = sqlite3_user_data(context);
  (void)argc;
  (void)argv;
  sqlite3_result_blob(context, filter->at, filter->size, SQLITE_STATIC);
}

/* The body is verified again whenever the number of rows has doubled: damage after row r, in the
** same place of memory and with the header as it was, is an error by row 2 r + 2. */
static void doubling(sqlite3 *db) {
  Bytes filter = fetch(db, "SELECT f FROM filters WHERE name = 'small'");
  sqlite3_stmt *probe = NULL;
  int late = 0, at_once = 0, rounds = 0;
  sqlite3_create_function(db, "same_place", 1, SQLITE_UTF8, &filter, same_place, NULL, NULL);
  sqlite3_prepare_v2(db, "SELECT bloom_contains(same_place(i), i) FROM t", -1, &probe, NULL);
  for (int good = 2; good < 300; good += 1 + good / 3, rounds++) {
    int rows = 0, wrong = 0;
    for (int i = 0; i < good; i++) wrong += sqlite3_step(probe) != SQLITE_ROW;
    filter.at[filter.size - 1] ^= 1;
    while (rows <= good + 1 && sqlite3_step(probe) == SQLITE_ROW) rows++;
    at_once += rows == 0;
    late += wrong > 0 || rows > good + 1;
    filter.at[filter.size - 1] ^= 1;
    sqlite3_reset(probe);
  }
  sqlite3_finalize(probe);
  free(filter.at);
  ok(late == 0 && rounds > 10, "damage after r rows is found by row 2 r + 2: not %d of %d", late,
     rounds);
  ok(at_once < rounds / 2, "the body is not verified for every row: %d of %d", at_once, rounds);
}

static void unbound(sqlite3 *db) {
  Bytes hex = fetch(db, "SELECT hex(f) FROM filters WHERE name = 'small'");
  Bytes bad = fetch(db, "SELECT hex(f) FROM filters WHERE name = 'small damaged'");
  char *sql = sqlite3_mprintf("SELECT sum(bloom_contains(x'%.*s', i)) FROM t WHERE i <= 100",
                              hex.size, hex.at);
  expect(db, "literal", sql, "100");
  sqlite3_free(sql);
  sql = sqlite3_mprintf("SELECT sum(bloom_contains(x'%.*s', i)) FROM t", bad.size, bad.at);
  expect(db, "literal: a damaged body", sql, BODY_SUM);
  sqlite3_free(sql);
  sql = sqlite3_mprintf("SELECT bloom_contains(x'%.*s', 1) IN (0, 1)", bad.size, bad.at);
  expect(db, "literal, one row: the body is not read", sql, "1");
  sqlite3_free(sql);
  expect(db, "subquery", "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'small'), i)) "
                         "FROM t WHERE i <= 100", "100");
  expect(db, "subquery: a damaged body",
         "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'small damaged'), i)) FROM t",
         BODY_SUM);
  expect(db, "subquery: a damaged large body",
         "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'large damaged'), i)) FROM t",
         BODY_SUM);
  expect(db, "subquery: a damaged header",
         "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'header'), i)) FROM t",
         HEADER_SUM);
  expect(db, "column: a damaged body",
         "SELECT sum(bloom_contains(f, i)) FROM filters CROSS JOIN t WHERE name = 'small damaged'",
         BODY_SUM);
  /* Damage that comes after many good rows, in the same place of memory, the header unchanged. */
  run_sql(db, "CREATE TABLE one AS SELECT f FROM filters WHERE name = 'small'");
  expect(db, "good rows", "SELECT sum(bloom_contains((SELECT f FROM one), i)) FROM t WHERE i <= 100",
         "100");
  run_sql(db, "UPDATE one SET f = patch(f, -40, x'ffff')");
  expect(db, "damage after many good rows",
         "SELECT sum(bloom_contains((SELECT f FROM one), i)) FROM t", BODY_SUM);
  doubling(db);
  free(hex.at);
  free(bad.at);
}

/* ---- bloom_ref ---- */

#define LOST "code 1: bloom_contains: the filter is NULL (a bloom_ref is lost unless it is the direct "

static void lost(sqlite3 *db, const char *name, const char *sql) {
  ok(strncmp(ask(db, sql), LOST, strlen(LOST)) == 0, "%s: a lost bloom_ref is an error, not a 0", name);
}

static void refs(sqlite3 *db) {
  sqlite3_stmt *statement;
  sqlite3_int64 before;
  int code, rows, kept = 0;
  expect(db, "bloom_ref: a damaged body at once",
         "SELECT bloom_contains((SELECT bloom_ref(f) FROM filters WHERE name = 'large damaged'), 1)",
         "code 1: bloom_ref: damaged filter: the body's checksum does not match");
  /* AS MATERIALIZED would do it too, from 3.35 on. */
  lost(db, "CTE", "WITH c AS (SELECT bloom_ref(f) AS r FROM filters WHERE name = 'small' "
                  "ORDER BY 1 LIMIT 1) SELECT bloom_contains(r, i) FROM c, t");
  lost(db, "derived table",
       "SELECT bloom_contains(r, i) FROM (SELECT bloom_ref(f) AS r FROM filters WHERE name = 'small' "
       "ORDER BY 1 LIMIT 1), t");
  lost(db, "coalesce", "SELECT bloom_contains(coalesce((SELECT bloom_ref(f) FROM filters WHERE name = "
                       "'small'), NULL), i) FROM t");
  lost(db, "UNION", "SELECT bloom_contains((SELECT bloom_ref(f) FROM filters WHERE name = 'small' UNION "
                    "SELECT NULL), i) FROM t");
  lost(db, "stored", "SELECT bloom_contains(r, 1) FROM (SELECT 1), (SELECT NULL AS r)");
  lost(db, "no row", "SELECT bloom_contains((SELECT bloom_ref(f) FROM filters WHERE name = 'no'), 1)");
  sqlite3_prepare_v2(
      db, "SELECT bloom_contains((SELECT bloom_ref(f) FROM filters WHERE name = ?1), i) FROM t", -1,
      &statement, NULL);
  sqlite3_bind_text(statement, 1, "small", -1, SQLITE_STATIC);
  before = -1;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 5; i++) sqlite3_step(statement); /* left in the middle */
    sqlite3_reset(statement);
    rows = step_all(statement, &code);
    sqlite3_reset(statement);
    kept += rows != 20000 || code != SQLITE_DONE;
    if (round == 5) before = sqlite3_memory_used();
  }
  ok(kept == 0, "bloom_ref: reset in the middle and executed again");
  ok(sqlite3_memory_used() <= before, "bloom_ref: nothing is left by it");
  sqlite3_bind_text(statement, 1, "large", -1, SQLITE_STATIC);
  sqlite3_step(statement);
  run_sql(db, "BEGIN; UPDATE filters SET f = x'00' WHERE name = 'large'");
  rows = 1 + step_all(statement, &code);
  ok(rows == 20000 && code == SQLITE_DONE, "bloom_ref: the row changes while the statement runs");
  sqlite3_finalize(statement);
  run_sql(db, "ROLLBACK");
}

/* ---- the connection ---- */

static int warnings;
static char warning[500];

static void log_warning(void *unused, int code, const char *message) {
  (void)unused;
  if (strncmp(message, "bloom", 5) != 0) return;
  warnings += code == SQLITE_WARNING;
  snprintf(warning, sizeof warning, "%s", message);
}

static void copies_warned_of(void) {
  int copies = sqlite3_libversion_number() < COPIES_BLOBS_BEFORE;
  sqlite3 *db = open_bloom(":memory:");
  setup(db);
  warnings = 0;
  ask(db, "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'small'), i)) FROM t");
  ask(db, "SELECT sum(bloom_contains((SELECT bloom_ref(f) FROM filters WHERE name = 'large'), i)) FROM "
          "t");
  ask(db, "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'medium'), i)) FROM t");
  ok(warnings == 0, "no warning of copies for filters of up to 64 KiB or a bloom_ref");
  ask(db, "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'large'), i)) FROM t WHERE i "
          "<= 1000");
  ok(warnings == 0, "no warning after 1,000 calls with an unbound large filter");
  ask(db, "SELECT sum(bloom_contains((SELECT f FROM filters WHERE name = 'large'), i)) FROM t WHERE i "
          "<= 3000");
  ok(warnings == copies, "then one warning where SQLite copies, and none elsewhere (%d)", warnings);
  ok(!copies || strstr(warning, "bloom_ref(filter)"), "it names bloom_ref: %s", warning);
  sqlite3_close(db);
}

static void utf16(const char *encoding) {
  sqlite3 *db = NULL, *utf8 = open_bloom(":memory:");
  char *sql;
  Bytes hex;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) exit(2);
  sql = sqlite3_mprintf("PRAGMA encoding = '%s'; CREATE TABLE t(x); INSERT INTO t VALUES ('\xc3\xa9'),"
                        "('abc'), ('5'), ('\xf0\x9f\x98\x80'), ('2.5'), ('')", encoding);
  run_sql(db, sql);
  load_bloom(db);
  sqlite3_free(sql);
  hex = fetch(db, "SELECT hex(bloom_build(x, 10, 1e-6)) FROM t");
  sql = sqlite3_mprintf("SELECT hex(bloom_build(x, 10, 1e-6)) = '%.*s' FROM (SELECT '\xc3\xa9' AS x UNION "
                        "ALL SELECT 'abc' UNION ALL SELECT 5 UNION ALL SELECT '\xf0\x9f\x98\x80' UNION "
                        "ALL SELECT 2.5 UNION ALL SELECT '')", hex.size, hex.at);
  expect(utf8, "the same filter as in UTF-8", sql, "1");
  sqlite3_free(sql);
  sql = sqlite3_mprintf("SELECT count(*) || ' ' || sum(bloom_contains(x'%.*s', x)) || ' ' || "
                        "bloom_contains(x'%.*s', 'z') || ' ' || bloom_contains(x'%.*s', 5.0) FROM t",
                        hex.size, hex.at, hex.size, hex.at, hex.size, hex.at);
  expect(db, encoding, sql, "6 6 0 1");
  sqlite3_free(sql);
  expect(db, "composite keys are UTF-8", "SELECT hex(bloom_key('\xc3\xa9'))", "040200000000000000C3A9");
  expect(db, "names of kinds", "SELECT length(bloom_new(10, 0.01, 'counting'))", "122");
  free(hex.at);
  sqlite3_close(db);
  sqlite3_close(utf8);
}

static void connections(void) {
  sqlite3 *a = open_bloom(":memory:"), *b = open_bloom(":memory:");
  Bytes filter = fetch(a, "SELECT bloom_build('x', 10, 1e-6)");
  sqlite3_stmt *probe;
  load_bloom(a);
  expect(a, "loaded twice", "SELECT bloom_contains(bloom_build('x', 10, 1e-6), 'x')", "1");
  sqlite3_prepare_v2(a, "SELECT bloom_contains((SELECT bloom_ref(?1)), 'x')", -1, &probe, NULL);
  sqlite3_bind_blob(probe, 1, filter.at, filter.size, SQLITE_STATIC);
  sqlite3_step(probe);
  ok(sqlite3_column_int(probe, 0) == 1, "a statement in use");
#ifndef SQLITE_CORE
  sqlite3_reset(probe);
  load_bloom(a); /* while a statement is prepared */
  sqlite3_step(probe);
  ok(sqlite3_column_int(probe, 0) == 1, "loaded again under a prepared statement");
#endif
  sqlite3_finalize(probe);
  sqlite3_close(a);
  sqlite3_prepare_v2(b, "SELECT bloom_contains(?1, 'x')", -1, &probe, NULL);
  sqlite3_bind_blob(probe, 1, filter.at, filter.size, SQLITE_STATIC);
  sqlite3_step(probe);
  ok(sqlite3_column_int(probe, 0) == 1, "another connection, after the first was closed");
  sqlite3_finalize(probe);
  sqlite3_close(b);
  free(filter.at);
}

static int stop_after;

static int progress(void *unused) {
  (void)unused;
  return --stop_after < 0;
}

static void interrupts(sqlite3 *db) {
  static const char *const queries[] = {
      "SELECT length(bloom_build(i, 100, 0.01)) FROM t",
      "SELECT length(bloom_build(i)) FROM t",
      "SELECT sum(bloom_contains((SELECT bloom_ref(bloom_build(i, 20000, 0.01)) FROM t), i)) FROM t",
      "SELECT length(bloom_union(bloom_add(f, i))) FROM (SELECT bloom_new(100, 0.01) AS f), t"};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    sqlite3_int64 before;
    int stopped = 0;
    ask(db, queries[i]);
    sqlite3_db_release_memory(db);
    before = sqlite3_memory_used();
    for (int after = 0; after < 40; after += 3) {
      stop_after = after;
      sqlite3_progress_handler(db, 1000, progress, NULL);
      stopped += strncmp(ask(db, queries[i]), "code 9:", 7) == 0;
      sqlite3_progress_handler(db, 0, NULL, NULL);
    }
    sqlite3_db_release_memory(db);
    ok(stopped == 14, "interrupted %d times in %s", stopped, queries[i]);
    ok(sqlite3_memory_used() <= before, "and nothing is left");
    ok(strncmp(ask(db, queries[i]), "code", 4) != 0, "and it runs to its end afterwards");
  }
}

static void no_memory(sqlite3 *db) {
  static const char *const queries[] = {"SELECT length(bloom_new(8000000, 0.01))",
                                        "SELECT length(bloom_build(1, 8000000, 0.01))"};
  sqlite3_int64 limit = sqlite3_hard_heap_limit64(-1);
  sqlite3_hard_heap_limit64(sqlite3_memory_used() + 4000000);
  for (int i = 0; i < 2; i++) expect(db, queries[i], queries[i], "code 7: out of memory");
  sqlite3_hard_heap_limit64(limit);
  expect(db, "and with memory again", "SELECT length(bloom_new(8000000, 0.01)) = bloom_size(8000000, "
                                      "0.01)", "1");
}

#ifdef SQLITE_CORE
int sqlite3_bloom_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *api);
#endif

int main(void) {
  sqlite3 *db;
  sqlite3_config(SQLITE_CONFIG_LOG, log_warning, NULL);
#ifdef SQLITE_CORE
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
#endif
  db = open_bloom(":memory:");
  setup(db);
  bound(db);
  bound_copied(db);
  unbound(db);
  refs(db);
  copies_warned_of();
  utf16("UTF-16le");
  utf16("UTF-16be");
  connections();
  interrupts(db);
  no_memory(db);
  sqlite3_close(db);
  ok(sqlite3_memory_used() < 10000, "all memory is back at the end (%lld)", sqlite3_memory_used());
  return tests_failed > 0;
}
