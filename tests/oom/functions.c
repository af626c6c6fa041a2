/* functions: every SQL function and aggregate, on each of its paths, and the entry point. */
#include "oom.h"

/* Keys of all types and filters of all kinds. */
#define DATA \
  "CREATE TABLE k(i INTEGER PRIMARY KEY, key);" \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 600) " \
  "INSERT INTO k SELECT i, CASE i % 5 WHEN 0 THEN i WHEN 1 THEN 'key number ' || i WHEN 2 THEN " \
  "i + 0.5 WHEN 3 THEN CAST('blob ' || i AS BLOB) ELSE '' || i END FROM c;" \
  "CREATE TABLE f(name PRIMARY KEY, filter);" \
  "INSERT INTO f SELECT 'a', bloom_build(key, 100) FROM k WHERE i <= 50;" \
  "INSERT INTO f SELECT 'b', bloom_build(key, 100) FROM k WHERE i BETWEEN 40 AND 90;" \
  "INSERT INTO f SELECT 'grown', bloom_build(key, 100) FROM k WHERE i <= 300;" \
  "INSERT INTO f SELECT 'lines', bloom_build(key, 20000) FROM k;" \
  "INSERT INTO f SELECT 'counting', bloom_build(key, 100, 0.01, 'counting') FROM k WHERE i < 50;" \
  "INSERT INTO f SELECT 'empty', bloom_new(100, 0.01);" \
  "INSERT INTO f SELECT 'unsized', bloom_build(NULL);" \
  "INSERT INTO f VALUES ('none', NULL);"

#define FILTER(name) "(SELECT filter FROM f WHERE name = '" name "')"
#define WARM "SELECT count(*) FROM f, k WHERE k.i = 1"

/* {name, SQL, words of its error} */
static const struct {
  const char *name;
  const char *sql;
  const char *words;
} calls[] = {
    {"bloom_contains, a subquery",
     "SELECT bloom_contains(" FILTER("a") ", key) FROM k WHERE i <= 60", NULL},
    {"bloom_contains, a column",
     "SELECT name, bloom_contains(filter, 'key number 6') FROM f "
     "WHERE filter IS NOT NULL",
     NULL},
    {"bloom_contains, the filter is NULL", "SELECT bloom_contains(NULL, 1)", "the filter is NULL"},
    {"bloom_contains, swapped", "SELECT bloom_contains('x', " FILTER("a") ")", "swapped"},
    {"bloom_contains, a zeroblob as key", "SELECT bloom_contains('x', zeroblob(5000))",
     "must be a blob made by"},
    {"bloom_contains, a zeroblob", "SELECT bloom_contains(zeroblob(5000), 1)", "bloom_contains: "},
    {"bloom_contains, a zeroblob key", "SELECT bloom_contains(" FILTER("a") ", zeroblob(5000))",
     NULL},
    {"bloom_contains, a text", "SELECT bloom_contains('not a filter', 1)",
     "the text 'not a filter'"},
    {"bloom_ref",
     "SELECT sum(bloom_contains((SELECT bloom_ref(filter) FROM f WHERE name = 'grown'), "
     "key)) FROM k",
     NULL},
    {"bloom_new", "SELECT bloom_new(100, 0.01), bloom_new(100, 0.01, 'counting')", NULL},
    {"bloom_new, bad n", "SELECT bloom_new('many', 0.01)", "n is the text 'many'"},
    {"bloom_new, bad kind", "SELECT bloom_new(10, 0.01, 'round')", "kind is the text 'round'"},
    {"bloom_new, too large", "SELECT bloom_new(1e15, 0.01)", "bytes, the limit is"},
    {"bloom_size", "SELECT bloom_size(1000, 0.01)", NULL},
    {"bloom_size, swapped", "SELECT bloom_size(0.01, 1000)", "swapped"},
    {"bloom_add", "SELECT bloom_add(" FILTER("a") ", 1, 'two', x'03', 4.5, NULL)", NULL},
    {"bloom_add, growing",
     "SELECT bloom_add(bloom_new(2, 0.01), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)",
     NULL},
    {"bloom_add, unsized", "SELECT bloom_add(" FILTER("unsized") ", 1)", "has no size"},
    {"bloom_remove", "SELECT bloom_remove(" FILTER("counting") ", 'key number 1', 5)", NULL},
    {"bloom_remove, plain", "SELECT bloom_remove(" FILTER("a") ", 5)", "cannot forget"},
    {"bloom_union(f, g, ...)",
     "SELECT bloom_union(" FILTER("a") ", " FILTER("b") ", " FILTER("grown") ")", NULL},
    {"bloom_union, of unsized", "SELECT bloom_union(" FILTER("unsized") ", " FILTER("b") ")", NULL},
    {"bloom_union, of unlike ones", "SELECT bloom_union(" FILTER("a") ", " FILTER("lines") ")",
     "n differs"},
    {"bloom_intersect(f, g, ...)", "SELECT bloom_intersect(" FILTER("a") ", " FILTER("b") ")",
     NULL},
    {"bloom_intersect, with unsized",
     "SELECT bloom_intersect(" FILTER("a") ", " FILTER("unsized") ")", NULL},
    {"bloom_count", "SELECT bloom_count(filter) FROM f WHERE filter IS NOT NULL", NULL},
    {"bloom_fpr", "SELECT bloom_fpr(filter) FROM f WHERE filter IS NOT NULL", NULL},
    {"bloom_info", "SELECT bloom_info(filter) FROM f WHERE filter IS NOT NULL", NULL},
    {"bloom_explain",
     "SELECT bloom_explain(filter, 'key number 6') FROM f WHERE filter IS NOT NULL", NULL},
    {"bloom_key", "SELECT bloom_key(1, 'two', x'03', 4.5, zeroblob(3000)), bloom_key(1, NULL)",
     NULL},
    {"bloom_version", "SELECT bloom_version()", NULL},
    {"bloom_build(key)", "SELECT bloom_build(key) FROM k", NULL},
    {"bloom_build, n is NULL", "SELECT bloom_build(key, NULL, 0.001) FROM k", NULL},
    {"bloom_build, no rows", "SELECT bloom_build(key, 10) FROM k WHERE i < 0", NULL},
    {"bloom_build, within n", "SELECT bloom_build(key, 700, 0.01) FROM k", NULL},
    {"bloom_build, the tail", "SELECT bloom_build(key, 600, 0.01) FROM k", NULL},
    {"bloom_build, grown", "SELECT bloom_build(key, 90, 0.01) FROM k", NULL},
    {"bloom_build, grown from 1", "SELECT bloom_build(key, 1, 0.01) FROM k", NULL},
    {"bloom_build, counting", "SELECT bloom_build(key, 600, 0.01, 'counting') FROM k", NULL},
    {"bloom_build, counting, n is NULL",
     "SELECT bloom_build(i % 40, NULL, 0.01, 'counting') FROM k", NULL},
    {"bloom_build, groups", "SELECT i % 7, bloom_build(key, 60, 0.01) FROM k GROUP BY 1", NULL},
    {"bloom_build, n changes", "SELECT bloom_build(key, i) FROM k", "n changes within a group"},
    {"bloom_build, zeroblobs", "SELECT bloom_build(zeroblob(i * 9), 600) FROM k WHERE i < 20",
     NULL},
    {"bloom_union(f)",
     "SELECT bloom_union(filter) FROM f WHERE name IN ('a', 'b', 'grown', 'none')", NULL},
    {"bloom_union, no rows", "SELECT bloom_union(filter) FROM f WHERE name = '?'", NULL},
    {"bloom_union, all NULL", "SELECT bloom_union(filter) FROM f WHERE name = 'none'",
     "every filter is NULL"},
    {"bloom_union, unlike", "SELECT bloom_union(filter) FROM f WHERE name IN ('a', 'counting')",
     "kind differs"},
    {"bloom_intersect(f)", "SELECT bloom_intersect(filter) FROM f WHERE name IN ('a', 'b')", NULL},
    {"bloom_intersect, no rows", "SELECT bloom_intersect(filter) FROM f WHERE name = '?'",
     "no filters"},
    {"bloom_lookup, no table", "SELECT bloom_lookup('nothing', 1)", "no bloom table named"}};

/* A bound filter: decoded once a statement, and remembered. */
static void bound_filter(const void *argument) {
  bool good = true;
  unsigned n = 1;
  (void)argument;
  fresh_file();
  sqlite3 *db = open_database();
  run(db, DATA);
  for (bool stays = false;; stays = true) {
    bool met = true;
    for (n = 1; met; n++) {
      sqlite3_stmt *find, *probe;
      now_running("bloom_contains, bound: allocation %u", n);
      sqlite3_prepare_v2(db, "SELECT filter FROM f WHERE name = 'a'", -1, &find, NULL);
      sqlite3_step(find);
      fault_arm(FAULT_MEMORY, n, stays);
      int found = 0,
          code = sqlite3_prepare_v2(db, "SELECT bloom_contains(?1, key) FROM k WHERE i <= 50", -1,
                                    &probe, NULL);
      if (code == SQLITE_OK) code = sqlite3_bind_value(probe, 1, sqlite3_column_value(find, 0));
      if (code == SQLITE_OK) {
        while ((code = sqlite3_step(probe)) == SQLITE_ROW) found += sqlite3_column_int(probe, 0);
      }
      met = fault_disarm();
      if (code == SQLITE_DONE ? found != 50 : code != SQLITE_NOMEM) {
        good =
            test(false, "bloom_contains, bound: allocation %u: code %d, found %d", n, code, found);
      }
      sqlite3_finalize(probe);
      sqlite3_finalize(find);
    }
    if (stays) break;
  }
  test(sqlite3_close(db) == SQLITE_OK && sqlite3_memory_used() == 0,
       "bloom_contains, bound: %lld bytes are left", (long long)sqlite3_memory_used());
  test(good && n > 10,
       "bloom_contains, bound: each of %u allocations fails: right or out of memory", n - 1);
}

void suite_functions(void) {
  for (unsigned i = 0; i < COUNT(calls); i++) {
    Scenario scenario = {.name = calls[i].name,
                         .setup = DATA,
                         .before = WARM,
                         .steps = {calls[i].sql},
                         .words = calls[i].words};
    scenario_loops(&scenario);
  }
  apart("bloom_contains, bound", bound_filter, NULL);
}

/* ---- the entry point ---- */

/* Calls everything; each call is right or says that it is not there. */
static const char *call_all(sqlite3 *db) {
  static const struct {
    const char *sql;
    const char *answer;
  } uses[] = {
      {"SELECT bloom_contains(bloom_new(10, 0.01), 1)", "0|"},
      {"SELECT bloom_contains(bloom_ref(bloom_add(bloom_new(10, 0.01), 1)), 1)", "1|"},
      {"SELECT bloom_count(bloom_union(bloom_new(10, 0.01), bloom_add(bloom_new(10, 0.01), 1)))",
       "1|"},
      {"SELECT bloom_count(bloom_intersect(bloom_new(10, 0.01), bloom_new(10, 0.01)))", "0|"},
      {"SELECT bloom_count(bloom_remove(bloom_new(10, 0.01, 'counting'), 1))", "0|"},
      {"SELECT bloom_fpr(bloom_new(10, 0.01)) || length(bloom_version())", "0.05|"},
      {"SELECT bloom_info(bloom_new(10, 0.01)) LIKE '{%'", "1|"},
      {"SELECT bloom_explain(bloom_new(10, 0.01), 1) LIKE '{%'", "1|"},
      {"SELECT bloom_size(10, 0.01) = length(bloom_new(10, 0.01))", "1|"},
      {"SELECT bloom_key(1, 2) = bloom_key(1, 2.0)", "1|"},
      {"SELECT bloom_contains(bloom_build(1), 1), bloom_contains(bloom_build(1, 9), 1)", "1|1|"},
      {"SELECT bloom_contains(bloom_build(1, 9, 0.1), 1)", "1|"},
      {"SELECT bloom_contains(bloom_build(1, 9, 0.1, 'counting'), 1)", "1|"},
      {"SELECT bloom_count(bloom_union(x)), bloom_count(bloom_intersect(x)) FROM "
       "(SELECT bloom_new(10, 0.01) AS x)",
       "0|0|"},
      {"CREATE VIRTUAL TABLE temp.seen USING bloom(n=10); INSERT INTO seen(key) VALUES (1); "
       "SELECT 1 FROM seen WHERE key = 1; SELECT 1 FROM seen WHERE key = 2",
       "1|"},
      {"SELECT bloom_lookup('seen', 1), bloom_lookup('seen', 2)", "1|0|"},
      {"SELECT bloom_count(bloom_snapshot('seen'))", "1|"},
      {"SELECT bloom_status('seen') LIKE '{%'", "1|"},
      {"DROP TABLE IF EXISTS seen", ""}};
  for (unsigned i = 0; i < COUNT(uses); i++) {
    const char *answer = ask(db, "%s", uses[i].sql);
    if (strcmp(answer, uses[i].answer) == 0) continue;
    if (strstr(answer, "no such function") || strstr(answer, "no such module") ||
        strstr(answer, "no such table") || strstr(answer, "wrong number of arguments") ||
        strstr(answer, "no bloom table named")) {
      continue;
    }
    return answer;
  }
  return NULL;
}

static void entry_point(const void *argument) {
  bool stays = *(const bool *)argument, met = true;
  unsigned n = 1, wrong = 0;
  for (; met && wrong < 5; n++) {
    char *error = NULL;
    now_running("sqlite3_bloom_init: allocation %u%s", n, stays ? " and all others" : "");
    sqlite3 *db = open_bare(":memory:");
    fault_arm(FAULT_MEMORY, n, stays);
    int code = sqlite3_bloom_init(db, &error, NULL);
    met = fault_disarm();
    if (code != SQLITE_NOMEM && !(code == SQLITE_OK && !met)) {
      wrong += !test(false, "%s: code %d", "sqlite3_bloom_init", code);
    }
    sqlite3_free(error);
    const char *answer = call_all(db);
    if (answer) wrong += !test(false, "%u: a half-registered function: %s", n, answer);
    /* The second try is complete. */
    if (sqlite3_bloom_init(db, NULL, NULL) != SQLITE_OK) wrong += !test(false, "%u: not again", n);
    answer = ask(db,
                 "CREATE VIRTUAL TABLE s USING bloom(n=9); INSERT INTO s(key) VALUES (7); "
                 "SELECT bloom_lookup('s', 7), bloom_lookup('s', 8), bloom_contains("
                 "bloom_snapshot('s'), 7), bloom_contains(bloom_build(7, 9, 0.1, 'counting'), 7)");
    if (strcmp(answer, "1|0|1|1|") != 0)
      wrong += !test(false, "%u: after the second try: %s", n, answer);
    if (sqlite3_close(db) != SQLITE_OK || sqlite3_memory_used() != 0) {
      wrong += !test(false, "%u: %lld bytes are left", n, (long long)sqlite3_memory_used());
      exit(1);
    }
  }
  test(wrong == 0 && n > 40, "sqlite3_bloom_init: each of %u allocations fails%s", n - 2,
       stays ? " with all that follow" : " once");
}

void suite_entry(void) {
  static const bool stays[] = {false, true};
  for (int i = 0; i < 2; i++) apart("sqlite3_bloom_init", entry_point, &stays[i]);
}
