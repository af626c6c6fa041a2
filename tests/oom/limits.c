/* limits: hard_heap_limit, SQLITE_LIMIT_LENGTH, an interrupt in the middle of a build, and
** connections that are closed in the middle of everything. */
#include "oom.h"

#define KEYS \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000) " \
  "INSERT INTO keys SELECT 'key number ' || i FROM c;"
#define TABLES \
  "CREATE TABLE keys(key);" \
  "CREATE VIRTUAL TABLE seen USING bloom(n=4000, p=0.001);" \
  "CREATE VIRTUAL TABLE grow USING bloom(n=50);" \
  "CREATE TRIGGER keep AFTER INSERT ON keys BEGIN INSERT INTO seen(key) VALUES (new.key); " \
  "INSERT INTO grow(key) VALUES (new.key); END;"

/* Every key is found both ways, and of 1000 absent ones at most the rate and 4 sigma. */
static const char *wrong_tables(sqlite3 *db) {
  const char *answer =
      ask(db,
          "SELECT ifnull(sum(NOT bloom_lookup('seen', key)), 0), ifnull(sum(NOT "
          "bloom_lookup('grow', key)), 0), "
          "ifnull(sum(NOT EXISTS (SELECT 1 FROM seen WHERE seen.key = keys.key)), 0) FROM keys");
  if (strcmp(answer, "0|0|0|") != 0) return answer;
  answer = ask(db,
               "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 1000) "
               "SELECT sum(bloom_lookup('seen', 'absent ' || i)) <= 5, "
               "sum(bloom_lookup('grow', 'absent ' || i)) <= 38 FROM c");
  return strcmp(answer, "1|1|") == 0 ? NULL : answer;
}

static bool reopened_right(const char *name) {
  sqlite3 *db = open_database();
  const char *wrong = wrong_tables(db);
  bool good = wrong == NULL || test(false, "%s: reopened: %s", name, wrong);
  sqlite3_close(db);
  return good;
}

/* ---- hard_heap_limit ---- */

static void heap_limit(const void *argument) {
  static const char *const builds[] = {
      "SELECT length(bloom_build(key, 100000, 0.001)) FROM keys",
      "SELECT length(bloom_build(key)) FROM keys",
      "SELECT length(bloom_build(key, 20)) FROM keys",
      "SELECT length(bloom_build(key, 3000, 0.01, 'counting')) FROM keys",
      "INSERT INTO keys SELECT 'more ' || key FROM keys",
      "INSERT INTO seen(filter) SELECT bloom_build(key, 4000, 0.001) FROM keys"};
  unsigned refused = 0, done = 0, wrong = 0;
  (void)argument;
  fresh_file();
  sqlite3 *db = open_database();
  run(db, TABLES);
  run(db, KEYS);
  for (unsigned i = 0; i < COUNT(builds); i++) {
    bool enough = false;
    for (int room = 0; room < 4000000 && !enough; room += extent == QUICK ? 40000 : 8000) {
      now_running("hard_heap_limit: %s: %d bytes", builds[i], room);
      run(db, "BEGIN");
      sqlite3_hard_heap_limit64(sqlite3_memory_used() + room);
      int code = sqlite3_exec(db, builds[i], NULL, NULL, NULL);
      sqlite3_hard_heap_limit64(0);
      if (code != SQLITE_OK && code != SQLITE_NOMEM)
        wrong += !test(false, "hard_heap_limit: %s: %s", builds[i], sqlite3_errmsg(db));
      enough = code == SQLITE_OK;
      done += enough;
      refused += !enough;
      if (!sqlite3_get_autocommit(db)) run(db, "COMMIT");
      const char *answer = wrong_tables(db);
      if (answer) wrong += !test(false, "hard_heap_limit: %s: %s", builds[i], answer);
    }
  }
  sqlite3_close(db);
  test(wrong == 0 && done == COUNT(builds) && refused >= COUNT(builds) &&
           sqlite3_memory_used() == 0 && reopened_right("hard_heap_limit"),
       "hard_heap_limit: %u statements had too little, and nothing is lost", refused);
}

/* ---- SQLITE_LIMIT_LENGTH ---- */

static bool is_limit_error(sqlite3 *db, int code) {
  const char *words = sqlite3_errmsg(db);
  return code == SQLITE_TOOBIG || strstr(words, "limit of") != NULL ||
         strstr(words, "the limit is") != NULL;
}

/* Made under each limit: right, or an error that says so. */
static void length_limit_functions(const void *argument) {
  static const char *const calls[] = {
      "SELECT bloom_build(key, 3000, 0.01) FROM keys",
      "SELECT bloom_build(key) FROM keys",
      "SELECT bloom_build(key, 20) FROM keys",
      "SELECT bloom_new(2000, 0.01, 'counting')",
      "SELECT bloom_add(bloom_new(2, 0.1), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)",
      "SELECT bloom_union(bloom_build(key, 20), bloom_new(20, 0.01)) FROM keys",
      "SELECT bloom_info(bloom_new(9, 0.01))",
      "SELECT bloom_explain(bloom_new(9, 0.01), 1)",
      "SELECT bloom_key('a long part of a key', 2, 3)",
      "SELECT bloom_snapshot('grow')",
      "SELECT bloom_status('grow')"};
  char *right[COUNT(calls)];
  unsigned wrong = 0, refused = 0;
  int code, whole;
  (void)argument;
  fresh_file();
  sqlite3 *db = open_database();
  run(db, TABLES);
  run(db, KEYS);
  whole = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
  for (unsigned i = 0; i < COUNT(calls); i++) right[i] = rows_of(db, calls[i], &code);
  for (int limit = 100; limit < 12000; limit += limit / (extent == QUICK ? 4 : 25)) {
    for (unsigned i = 0; i < COUNT(calls); i++) {
      now_running("SQLITE_LIMIT_LENGTH: %s: %d", calls[i], limit);
      sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
      char *rows = rows_of(db, calls[i], &code);
      bool good = code == SQLITE_OK ? strcmp(rows, right[i]) == 0 : is_limit_error(db, code);
      if (!good && wrong++ < 6)
        test(false, "SQLITE_LIMIT_LENGTH %d: %s: code %d, %s", limit, calls[i], code,
             sqlite3_errmsg(db));
      refused += code != SQLITE_OK;
      free(rows);
      sqlite3_limit(db, SQLITE_LIMIT_LENGTH, whole);
    }
    const char *answer = wrong_tables(db);
    if (answer && wrong++ < 6) test(false, "SQLITE_LIMIT_LENGTH %d: afterwards: %s", limit, answer);
  }
  for (unsigned i = 0; i < COUNT(calls); i++) free(right[i]);
  sqlite3_close(db);
  test(wrong == 0 && refused > 20, "SQLITE_LIMIT_LENGTH: %u calls were refused, the others right",
       refused);
}

/* The limit falls in the middle of a transaction and rises again: no committed key is lost. */
static void length_limit_tables(const void *argument) {
  static const char *const steps[] = {"INSERT INTO keys VALUES ('%d a'), ('%d b')", "SAVEPOINT a",
                                      "COMMIT"};
  unsigned wrong = 0, refused = 0;
  (void)argument;
  for (int limit = 100; limit < 9000; limit += limit / (extent == QUICK ? 2 : 8)) {
    for (unsigned falls = 0; falls < COUNT(steps); falls++) {
      now_running("SQLITE_LIMIT_LENGTH: a transaction: %d from step %u", limit, falls);
      fresh_file();
      sqlite3 *db = open_database();
      run(db, TABLES);
      run(db,
          "INSERT INTO keys VALUES (1), (2), (3), (4); BEGIN; INSERT INTO keys VALUES (5), (6)");
      int whole = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
      for (unsigned i = 0; i < COUNT(steps); i++) {
        if (i == falls) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
        int code = sqlite3_exec(db, steps[i], NULL, NULL, NULL);
        if (code != SQLITE_OK &&
            !(is_limit_error(db, code) || (refused && sqlite3_get_autocommit(db))) && wrong++ < 6) {
          test(false, "%s: %s: code %d, %s", "SQLITE_LIMIT_LENGTH", steps[i], code,
               sqlite3_errmsg(db));
        }
        refused += code != SQLITE_OK;
      }
      sqlite3_limit(db, SQLITE_LIMIT_LENGTH, whole);
      if (!sqlite3_get_autocommit(db)) run(db, "COMMIT");
      const char *answer = wrong_tables(db);
      if (answer && wrong++ < 6)
        test(false, "SQLITE_LIMIT_LENGTH %d from step %u: afterwards: %s", limit, falls, answer);
      sqlite3_close(db);
      wrong += !reopened_right("SQLITE_LIMIT_LENGTH");
    }
  }
  test(wrong == 0 && refused > 3,
       "SQLITE_LIMIT_LENGTH: falls in a transaction: %u steps were refused, no key is lost",
       refused);
}

/* ---- interrupts ---- */

static void interrupt_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  sqlite3_interrupt(sqlite3_context_db_handle(context));
  sqlite3_result_value(context, argv[0]);
}

static void interrupts(const void *argument) {
  static const char *const builds[] = {
      "SELECT bloom_build(CASE rowid WHEN 1500 THEN halt(key) ELSE key END, 3000) FROM keys",
      "SELECT bloom_build(CASE rowid WHEN 1500 THEN halt(key) ELSE key END) FROM keys",
      "SELECT bloom_build(CASE rowid WHEN 2000 THEN halt(key) ELSE key END, 20) FROM keys",
      "INSERT INTO keys SELECT CASE rowid WHEN 1500 THEN halt('h' || key) ELSE 'h' || key END FROM "
      "keys",
      "INSERT INTO seen(filter) SELECT bloom_build(CASE rowid WHEN 9 THEN halt(key) ELSE key END, "
      "4000, 0.001) FROM keys",
      "INSERT INTO copy SELECT CASE rowid WHEN 1700 THEN halt(key) ELSE key END FROM keys",
      "SELECT sum(bloom_lookup('seen', CASE rowid WHEN 1500 THEN halt(key) ELSE key END)) FROM "
      "keys"};
  unsigned wrong = 0;
  (void)argument;
  fresh_file();
  sqlite3 *db = open_database();
  sqlite3_create_function(db, "halt", 1, SQLITE_UTF8, NULL, interrupt_function, NULL, NULL);
  run(db, TABLES);
  run(db, KEYS);
  run(db, "CREATE TABLE copy(key); CREATE VIRTUAL TABLE twin USING bloom(of='copy(key)')");
  for (unsigned i = 0; i < COUNT(builds); i++) {
    now_running("interrupt: %s", builds[i]);
    int code = sqlite3_exec(db, builds[i], NULL, NULL, NULL);
    if (code != SQLITE_INTERRUPT)
      wrong += !test(false, "interrupt: %s: code %d, %s", builds[i], code, sqlite3_errmsg(db));
    const char *answer = wrong_tables(db);
    if (answer) wrong += !test(false, "interrupt: %s: %s", builds[i], answer);
    answer =
        ask(db, "INSERT INTO copy VALUES (%d); SELECT sum(NOT bloom_lookup('twin', key)) FROM copy",
            (int)i);
    if (strcmp(answer, "0|") != 0) wrong += !test(false, "interrupt: %s: %s", builds[i], answer);
  }
  sqlite3_close(db);
  test(wrong == 0 && sqlite3_memory_used() == 0 && reopened_right("interrupt"),
       "interrupt: a build, a growing table, an import and a trigger stop in the middle, and "
       "nothing is lost");
}

/* ---- closing ---- */

/* Statements that are in the middle when the connection goes. */
static const char *const OPEN[] = {
    "SELECT bloom_lookup('seen', key) FROM keys",
    "SELECT bloom_lookup('seen', key), bloom_lookup('grow', key) FROM keys",
    "SELECT keys.key FROM keys JOIN seen ON seen.key = keys.key",
    "SELECT seen.key FROM seen WHERE key = 'key number 7'",
    "SELECT rowid % 3, bloom_build(key, 100) FROM keys GROUP BY 1",
    "SELECT bloom_contains((SELECT bloom_ref(bloom_snapshot('seen'))), key) FROM keys",
    "SELECT bloom_contains(?1, key) FROM keys",
    "INSERT INTO keys VALUES ('late 1'), ('late 2') RETURNING bloom_lookup('seen', key)",
    "SELECT bloom_lookup('twin', key) FROM copy",
    "SELECT bloom_status('grow') FROM keys"};

static bool close_with(unsigned first, unsigned second, bool in_transaction, bool finalize_first) {
  sqlite3_stmt *statements[2] = {NULL, NULL};
  bool good = true;
  fresh_file();
  sqlite3_int64 memory = sqlite3_memory_used();
  sqlite3 *db = open_database();
  run(db, TABLES);
  run(db,
      "CREATE TABLE copy(key); CREATE VIRTUAL TABLE twin USING bloom(of='copy(key)');"
      "INSERT INTO copy VALUES (1), (2), (3); INSERT INTO keys VALUES (1), (2), ('key number 7'), "
      "(4)");
  if (in_transaction) run(db, "BEGIN; INSERT INTO keys VALUES ('not committed')");
  for (int i = 0; i < 2; i++) {
    unsigned which = i == 0 ? first : second;
    if (sqlite3_prepare_v2(db, OPEN[which], -1, &statements[i], NULL) != SQLITE_OK) {
      return test(false, "closing: %s: %s", OPEN[which], sqlite3_errmsg(db));
    }
    if (sqlite3_bind_parameter_count(statements[i]) > 0) {
      static const char find[] = "SELECT bloom_build(key, 50) FROM keys";
      sqlite3_stmt *build;
      sqlite3_prepare_v2(db, find, -1, &build, NULL);
      sqlite3_step(build);
      sqlite3_bind_value(statements[i], 1, sqlite3_column_value(build, 0));
      sqlite3_finalize(build);
    }
    if (sqlite3_step(statements[i]) != SQLITE_ROW)
      good = test(false, "closing: %s: %s", OPEN[which], sqlite3_errmsg(db));
  }
  if (sqlite3_close(db) != SQLITE_BUSY)
    good = test(false, "closing: sqlite3_close with open statements");
  if (finalize_first) sqlite3_finalize(statements[0]);
  sqlite3_close_v2(db);
  for (int i = 0; i < 4 && sqlite3_step(statements[1]) == SQLITE_ROW; i++)
    continue; /* it may go on */
  if (!finalize_first) sqlite3_finalize(statements[0]);
  sqlite3_finalize(statements[1]);
  if (sqlite3_memory_used() != memory) {
    good = test(false, "closing: %s and %s: %lld bytes are left", OPEN[first], OPEN[second],
                (long long)(sqlite3_memory_used() - memory));
  }
  return reopened_right("closing") && good;
}

static void closing(const void *argument) {
  unsigned wrong = 0, runs = 0;
  (void)argument;
  for (unsigned first = 0; first < COUNT(OPEN); first++) {
    for (unsigned second = 0; second < COUNT(OPEN); second += extent == QUICK ? 3 : 1) {
      now_running("closing: %s; %s", OPEN[first], OPEN[second]);
      wrong += !close_with(first, second, runs % 3 == 0, runs % 2 == 0);
      runs++;
    }
  }
  test(wrong == 0,
       "closing: %u pairs of statements in the middle: nothing leaks, nothing committed is lost",
       runs);
}

void suite_limits(void) {
  apart("hard_heap_limit", heap_limit, NULL);
  apart("SQLITE_LIMIT_LENGTH, functions", length_limit_functions, NULL);
  apart("SQLITE_LIMIT_LENGTH, tables", length_limit_tables, NULL);
  apart("interrupt", interrupts, NULL);
  apart("closing", closing, NULL);
}
