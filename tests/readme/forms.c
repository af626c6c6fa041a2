/* What a probed row costs in each form in which a filter can reach bloom_contains:
**
**   readme-forms build/bloom.so
**
** Prints the rows of a table for README.md, "How the filter reaches the function": nanoseconds of
** CPU per row, with filters of 1.2 MB and 12 MB, for the SQLite that this program runs with. No
** test: times differ from machine to machine. It does check that every form lets the same rows
** through.
*/
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MOST_ROWS = 300000
};

static const double ENOUGH = 0.3; /* seconds that a measurement takes at least */

typedef struct Form {
  const char *name;
  const char *sql; /* ?1 is the filter, ?2 its name, ?3 how many rows to probe */
} Form;

#define PROBES "(SELECT key FROM probes WHERE id <= ?3) AS p"   /* absent keys */
#define PRESENT "(SELECT key FROM present WHERE id <= ?3) AS p" /* each is let through */

static const Form forms[] = {
    {"bound parameter", "SELECT count(*) FROM " PROBES " WHERE bloom_contains(?1, key)"},
    {"`(SELECT bloom_ref(filter) ...)` as the direct argument",
     "SELECT count(*) FROM " PROBES
     " WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = ?2), key)"},
    {"`(SELECT filter ...)` as the argument",
     "SELECT count(*) FROM " PROBES
     " WHERE bloom_contains((SELECT filter FROM filters WHERE name = ?2), key)"},
    {"join with the filter's row, counted", "SELECT count(*) FROM filters CROSS JOIN " PROBES
                                            " WHERE name = ?2 AND bloom_contains(filter, key)"},
    {"join with the filter's row, every row returned",
     "SELECT key FROM filters CROSS JOIN " PRESENT
     " WHERE name = ?2 AND bloom_contains(filter, key)"},
    {"`(SELECT bloom_ref(filter) ...)`, every row returned",
     "SELECT key FROM " PRESENT
     " WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = ?2), key)"},
    {"join with the filter's row inside",
     "SELECT count(*) FROM " PROBES
     " CROSS JOIN filters WHERE name = ?2 AND bloom_contains(filter, key)"},
    {"materialized CTE",
     "WITH f AS MATERIALIZED (SELECT filter FROM filters WHERE name = ?2) SELECT count(*) FROM "
     "f CROSS JOIN " PROBES " WHERE bloom_contains(filter, key)"},
    {"correlated subquery",
     "SELECT count(*) FROM " PROBES
     " WHERE bloom_contains((SELECT filter FROM filters WHERE name = ?2 AND p.key > ''), key)"},
    {"correlated subquery with `bloom_ref`",
     "SELECT count(*) FROM " PROBES " WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters "
     "WHERE name = ?2 AND p.key > ''), key)"},
    {"filter in a WITHOUT ROWID table, joined",
     "SELECT count(*) FROM " PROBES
     " CROSS JOIN filters_without_rowid WHERE name = ?2 AND bloom_contains(filter, key)"},
    {"`WHEN` of a BEFORE INSERT trigger", "INSERT INTO sink SELECT ?2, key FROM " PROBES},
    {"the lookup in a text index that is saved (1,000,000 keys)",
     "SELECT count(*) FROM " PROBES
     " WHERE EXISTS (SELECT 1 FROM members WHERE members.key = p.key)"}};

enum {
  FORMS = sizeof forms / sizeof forms[0]
};

static const char *const setup =
    "CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);"
    "CREATE TABLE filters_without_rowid(name TEXT PRIMARY KEY, filter BLOB) WITHOUT ROWID;"
    "CREATE TABLE members(key TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TABLE probes(id INTEGER PRIMARY KEY, key TEXT);"
    "CREATE TABLE present(id INTEGER PRIMARY KEY, key TEXT);"
    /* 20 hex digits in no order; members are of even, probes of odd numbers */
    "CREATE TEMP VIEW numbers AS WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c"
    " WHERE v < 10000000) SELECT v FROM c;"
    "INSERT INTO members SELECT printf('%08x%012x', v * 2 * 2654435761 & 0xffffffff, v * 2)"
    " FROM numbers LIMIT 1000000;"
    "INSERT INTO present SELECT v, printf('%08x%012x', v * 2 * 2654435761 & 0xffffffff, v * 2)"
    " FROM numbers LIMIT 300000;"
    "INSERT INTO probes SELECT v,"
    " printf('%08x%012x', (v * 2 + 1) * 2654435761 & 0xffffffff, v * 2 + 1)"
    " FROM numbers LIMIT 300000;"
    "INSERT INTO filters SELECT '1.2 MB', bloom_build(key, 1000000, 0.01) FROM members;"
    "INSERT INTO filters SELECT '12 MB', bloom_build("
    " printf('%08x%012x', v * 2 * 2654435761 & 0xffffffff, v * 2), 10000000, 0.01) FROM numbers;"
    "INSERT INTO filters_without_rowid SELECT * FROM filters;"
    "CREATE TABLE sink(filter TEXT, key TEXT);"
    "CREATE TRIGGER sink_filter BEFORE INSERT ON sink WHEN NOT bloom_contains("
    "(SELECT bloom_ref(filter) FROM filters WHERE name = new.filter), new.key)"
    " BEGIN SELECT RAISE(IGNORE); END;"
    "ANALYZE;";

static void fail(sqlite3 *db, const char *what) {
  printf("not ok forms: %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static sqlite3_int64 probe(sqlite3 *db, const char *sql, const char *filter, int rows,
                           double *seconds) {
  sqlite3_stmt *load, *query;
  sqlite3_int64 count;
  if (sqlite3_prepare_v2(db, "SELECT filter FROM filters WHERE name = ?1", -1, &load, NULL) ||
      sqlite3_bind_text(load, 1, filter, -1, SQLITE_STATIC) || sqlite3_step(load) != SQLITE_ROW ||
      sqlite3_prepare_v2(db, sql, -1, &query, NULL)) {
    fail(db, sql);
  }
  if (strstr(sql, "?1")) sqlite3_bind_value(query, 1, sqlite3_column_value(load, 0));
  if (strstr(sql, "?2")) sqlite3_bind_text(query, 2, filter, -1, SQLITE_STATIC);
  sqlite3_bind_int(query, 3, rows);
  clock_t start = clock();
  bool counts = strstr(sql, "count(*)") != NULL;
  int code;
  for (count = 0; (code = sqlite3_step(query)) == SQLITE_ROW; count++) {
    if (counts) count = sqlite3_column_int64(query, 0) - 1;
  }
  *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  if (code != SQLITE_DONE) fail(db, sql);
  if (!sqlite3_stmt_readonly(query)) count = sqlite3_changes(db);
  sqlite3_finalize(query);
  sqlite3_finalize(load);
  return count;
}

/* Nanoseconds a row: more and more rows, until they take long enough. Loading the filter is in it,
** once per statement, so it is divided by all rows; the last runs are repeated and the fastest
** taken. */
static double measure(sqlite3 *db, const Form *form, const char *filter) {
  double seconds = 0, best;
  int rows = 100;
  for (;;) {
    probe(db, form->sql, filter, rows, &seconds);
    if (seconds >= ENOUGH || rows == MOST_ROWS) break;
    rows = rows * 4 < MOST_ROWS ? rows * 4 : MOST_ROWS;
  }
  best = seconds;
  for (int i = 0; i < 2 && best < 2; i++) {
    probe(db, form->sql, filter, rows, &seconds);
    if (seconds < best) best = seconds;
  }
  return best / rows * 1e9;
}

/* Every form must let the same absent keys through, and all present ones; the lookup finds none. */
static void check_counts(sqlite3 *db, const char *filter) {
  double seconds;
  sqlite3_int64 expected = probe(db, forms[0].sql, filter, 1000, &seconds);
  for (int i = 1; i < FORMS; i++) {
    sqlite3_int64 want = expected;
    if (strstr(forms[i].sql, "members")) want = 0;
    if (strstr(forms[i].sql, PRESENT)) want = 1000;
    if (probe(db, forms[i].sql, filter, 1000, &seconds) != want) fail(db, forms[i].name);
  }
}

int main(int argc, char **argv) {
  sqlite3 *db;
  char *error = NULL;
  if (argc != 2) return 2;
  if (sqlite3_open(":memory:", &db) || sqlite3_enable_load_extension(db, 1) ||
      sqlite3_load_extension(db, argv[1], NULL, &error) ||
      sqlite3_exec(db, setup, NULL, NULL, &error)) {
    fail(db, error ? error : "open");
  }
  check_counts(db, "1.2 MB");
  printf("| form | SQLite %s: 1.2 MB | 12 MB |\n|---|---|---|\n", sqlite3_libversion());
  for (int i = 0; i < FORMS; i++) {
    double small = measure(db, &forms[i], "1.2 MB");
    printf("| %s | %.0f |", forms[i].name, small);
    fflush(stdout);
    printf(" %.0f |\n", measure(db, &forms[i], "12 MB"));
    fflush(stdout);
  }
  sqlite3_close(db);
  return 0;
}
