/* placement: where in a query plan the precheck runs, by the order of the opcodes of EXPLAIN.
**
** In each query bloom_contains should run before the table `big` is searched. Within a loop the
** opcodes stand in the order in which they run, so the first search of big (or of its index) behind
** the function means that rows which the filter excludes cost no search. Each query is also run,
** and must give the rows that it gives without the precheck. */
#include "sqltest.h"

typedef struct Query {
  const char *name;
  const char *sql;
  int before; /* 1: the filter is asked first; 0: big is searched first */
} Query;

#define F "(SELECT bloom_ref(f) FROM filters)"

static const Query queries[] = {
    {"inner join, the outer table's column",
     "SELECT count(*) FROM probe JOIN big ON big.k = probe.k WHERE bloom_contains(" F ", probe.k)", 1},
    {"inner join, in ON",
     "SELECT count(*) FROM probe JOIN big ON bloom_contains(" F ", probe.k) AND big.k = probe.k", 1},
    {"inner join, the inner table's column",
     "SELECT count(*) FROM probe CROSS JOIN big ON big.k = probe.k WHERE bloom_contains(" F ", big.k)",
     0},
    {"CROSS JOIN fixes the order",
     "SELECT count(*) FROM probe CROSS JOIN big WHERE big.k = probe.k AND bloom_contains(" F
     ", probe.k)", 1},
    {"rowid lookup",
     "SELECT count(*) FROM probe CROSS JOIN big ON big.id = probe.id WHERE bloom_contains(" F
     ", probe.id)", 1},
    {"EXISTS, the filter first",
     "SELECT count(*) FROM probe WHERE bloom_contains(" F ", k) AND EXISTS (SELECT 1 FROM big WHERE "
     "big.k = probe.k)", 1},
    {"EXISTS, the filter last",
     "SELECT count(*) FROM probe WHERE EXISTS (SELECT 1 FROM big WHERE big.k = probe.k) AND "
     "bloom_contains(" F ", k)", 1},
    {"IN, the filter first",
     "SELECT count(*) FROM probe WHERE bloom_contains(" F ", k) AND k IN (SELECT k FROM big)", 1},
    {"IN, the filter last",
     "SELECT count(*) FROM probe WHERE k IN (SELECT k FROM big) AND bloom_contains(" F ", k)", 0},
    {"LEFT JOIN, AND in ON",
     "SELECT count(big.id) FROM probe LEFT JOIN big ON big.k = probe.k AND bloom_contains(" F
     ", probe.k)", 0},
    {"LEFT JOIN, CASE in ON",
     "SELECT count(big.id) FROM probe LEFT JOIN big ON big.k = CASE WHEN bloom_contains(" F
     ", probe.k) THEN probe.k END", 1},
    {"anti-join, CASE",
     "SELECT count(*) FROM probe WHERE CASE WHEN bloom_contains(" F ", k) THEN NOT EXISTS (SELECT 1 "
     "FROM big WHERE big.k = probe.k) ELSE 1 END", 1},
    {"scalar subquery, CASE",
     "SELECT sum(CASE WHEN bloom_contains(" F ", k) THEN (SELECT 1 FROM big WHERE big.k = probe.k) "
     "ELSE 0 END) FROM probe", 1},
    {"UPDATE",
     "UPDATE probe SET hit = 1 WHERE bloom_contains(" F ", k) AND EXISTS (SELECT 1 FROM big WHERE "
     "big.k = probe.k)", 1},
    {"DELETE",
     "DELETE FROM probe WHERE bloom_contains(" F ", k) AND EXISTS (SELECT 1 FROM big WHERE big.k = "
     "probe.k)", 1},
    {"INSERT SELECT",
     "INSERT INTO hits SELECT probe.k FROM probe CROSS JOIN big ON big.k = probe.k WHERE "
     "bloom_contains(" F ", probe.k)", 1},
    {"INSERT SELECT, NOT EXISTS",
     "INSERT INTO hits SELECT k FROM probe WHERE CASE WHEN bloom_contains(" F ", k) THEN NOT EXISTS "
     "(SELECT 1 FROM big WHERE big.k = probe.k) ELSE 1 END", 1}};

static sqlite3 *setup(void) {
  sqlite3 *db = open_bloom(":memory:");
  run_sql(db,
          "CREATE TABLE big(id INTEGER PRIMARY KEY, k TEXT, filler TEXT);"
          "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)"
          "  INSERT INTO big SELECT i, 'key-' || i, 'x' FROM c;"
          "CREATE INDEX big_k ON big(k);"
          "CREATE TABLE probe(id INTEGER, k TEXT, hit INTEGER);"
          "INSERT INTO probe SELECT id * 50, 'key-' || (id * 50), 0 FROM big;"
          "CREATE TABLE hits(k TEXT);"
          "CREATE TABLE filters AS SELECT bloom_build(k, 4000, 1e-6) AS f FROM"
          "  (SELECT k FROM big UNION ALL SELECT id FROM big);"
          "ANALYZE");
  return db;
}

static int is_search(const char *opcode) {
  static const char *const names[] = {"Seek", "Found", "NotFound", "NotExists", "NoConflict",
                                      "Rewind", "Last"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strncmp(opcode, names[i], strlen(names[i])) == 0) return 1;
  }
  return 0;
}

/* 1: bloom_contains stands before the first search of big, 0: behind it, -1: one is missing.
** Cursors are told by the root page that they opened. */
static int filter_first(sqlite3 *db, const char *query, const char *searched) {
  sqlite3_stmt *explain = NULL, *roots = NULL;
  char *sql = sqlite3_mprintf("EXPLAIN %s", query);
  int cursors[64] = {0}, at_function = -1, at_search = -1, root[4], root_count = 0;
  sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?1", -1, &roots, NULL);
  sqlite3_bind_text(roots, 1, searched, -1, SQLITE_STATIC);
  while (sqlite3_step(roots) == SQLITE_ROW && root_count < 4) {
    root[root_count++] = sqlite3_column_int(roots, 0);
  }
  sqlite3_finalize(roots);
  sqlite3_prepare_v2(db, sql, -1, &explain, NULL);
  while (explain && sqlite3_step(explain) == SQLITE_ROW) {
    int address = sqlite3_column_int(explain, 0), p1 = sqlite3_column_int(explain, 2);
    const char *opcode = (const char *)sqlite3_column_text(explain, 1);
    const char *p4 = (const char *)sqlite3_column_text(explain, 5);
    for (int i = 0; i < root_count && p1 < 64; i++) {
      if (strcmp(opcode, "OpenRead") == 0 && sqlite3_column_int(explain, 3) == root[i]) {
        cursors[p1] = 1;
      }
    }
    if (at_function < 0 && p4 && strncmp(p4, "bloom_contains", 14) == 0) at_function = address;
    if (at_search < 0 && p1 >= 0 && p1 < 64 && cursors[p1] && is_search(opcode)) at_search = address;
  }
  sqlite3_finalize(explain);
  sqlite3_free(sql);
  if (at_function < 0 || at_search < 0) return -1;
  return at_function < at_search;
}

/* Rows of the answer, or changed; everything is rolled back. */
static void result_of(sqlite3 *db, const char *sql, char result[100]) {
  int total;
  run_sql(db, "BEGIN");
  total = sqlite3_total_changes(db);
  snprintf(result, 80, "%s", ask(db, sql));
  sprintf(result + strlen(result), " %d", sqlite3_total_changes(db) - total);
  run_sql(db, "ROLLBACK");
}

/* The same query with `1` (or NOT NULL, in a CASE) for the precheck. */
static char *without_precheck(const char *sql) {
  const char *start = strstr(sql, "bloom_contains(");
  const char *key = start + strlen("bloom_contains(" F ", ");
  const char *end = strchr(key, ')');
  return sqlite3_mprintf("%.*s%.*s IS NOT NULL%s", (int)(start - sql), sql, (int)(end - key), key,
                         end + 1);
}

static void trigger_refuses(sqlite3 *db) {
  /* Refuse what is certainly no member, without a search of big. */
  run_sql(db,
          "CREATE TABLE orders(k TEXT);"
          "CREATE TRIGGER known BEFORE INSERT ON orders WHEN CASE WHEN bloom_contains(" F
          ", NEW.k) THEN NOT EXISTS (SELECT 1 FROM big WHERE k = NEW.k) ELSE 1 END "
          "BEGIN SELECT RAISE(ABORT, 'no such key'); END");
  expect(db, "BEFORE INSERT trigger with RAISE: refused", "INSERT INTO orders VALUES ('nobody')",
         "code 19: no such key");
  expect(db, "BEFORE INSERT trigger with RAISE: taken", "INSERT INTO orders VALUES ('key-7')",
         "(no row)");
  ok(filter_first(db, "INSERT INTO orders VALUES ('nobody')", "big") == 1,
     "BEFORE INSERT trigger: the filter is asked before big is searched");
}

int main(void) {
  sqlite3 *db = setup();
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    const Query *q = &queries[i];
    char with[100], without[100], *plain = without_precheck(q->sql);
    int first = filter_first(db, q->sql, "big");
    ok(first == q->before, "%s: %s", q->name,
       q->before ? "the filter before the search" : "the search before the filter");
    if (first != q->before) printf("#  found %d in %s (SQLite %s)\n", first, q->sql, sqlite3_libversion());
    result_of(db, q->sql, with);
    result_of(db, plain, without);
    ok(strcmp(with, without) == 0, "%s: the same rows (%s, %s)", q->name, with, without);
    sqlite3_free(plain);
  }
  trigger_refuses(db);
  sqlite3_close(db);
  return tests_failed > 0;
}
