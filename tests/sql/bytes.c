/* bytes: the checksum of a fixed list of filters, one a line, for bytes.sh to compare between
** compilers and SQLite versions. The list has every kind and layout, many p, growth and merges.
** Real keys are exact in binary, or decimals of few digits: there the last bit that SQLite reads,
** which depends on its build, does not count. */
#include "sqltest.h"

static const char *const setup[] = {
    "CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < "
    "30000) SELECT i, i * 37 / 64.0 AS r, 'key ' || i AS s, CAST(i || 'x' AS BLOB) AS b FROM c",
    "CREATE TABLE p(p)",
    "INSERT INTO p VALUES (0.9), (0.5), (0.3), (0.1), (0.05), (0.01), (0.003), (0.001), (1e-4), "
    "(1e-5), (1e-6), (1e-7), (1e-9)",
    "CREATE TABLE sizes(n)",
    "INSERT INTO sizes VALUES (1), (2), (3), (10), (63), (64), (100), (1000), (5000), (20000)",
    NULL};

static const char *const builds[] = {
    "SELECT bloom_build(i, n, p) FROM p, sizes, t WHERE i <= n GROUP BY p, n",
    "SELECT bloom_build(s, n, p, 'counting') FROM p, sizes, t WHERE i <= n AND n <= 1000 "
    "GROUP BY p, n",
    "SELECT bloom_build(r, n / 7 + 1, p) FROM p, sizes, t WHERE i <= n GROUP BY p, n",
    "SELECT bloom_build(r, NULL, p) FROM p, t GROUP BY p",
    "SELECT bloom_build(b) FROM t",
    "SELECT bloom_build(value, 100, 0.01) "
    "FROM json_each('[1,-1,2.5,\"a\",\"\",\"5\",\" 5.0\",1e300]')",
    "SELECT bloom_build((i * 1103515245 % 2147483647 * 1000 + i % 1000) || 'e-' || (i % 17), 300, "
    "1e-4) FROM t GROUP BY i / 300",
    "SELECT bloom_build(CAST(i * 7919 % 1000003 || 'e-' || i % 40 AS REAL), 300, 1e-4) FROM t "
    "GROUP BY "
    "i / 3000",
    "SELECT bloom_new(n, p) FROM p, (SELECT 1 AS n UNION ALL SELECT 12345 UNION ALL SELECT "
    "1000000)",
    "SELECT bloom_union(bloom_build(i, 2000, p), bloom_build(s, 2000, p)) FROM p, t WHERE i <= "
    "2000 "
    "GROUP BY p",
    "SELECT bloom_intersect(bloom_build(i, 2000, p), bloom_build(i + 1000, 2000, p)) FROM p, t "
    "WHERE i "
    "<= 2000 GROUP BY p",
    "WITH RECURSIVE c(i, f) AS (SELECT 0, bloom_new(10, 0.01) UNION ALL SELECT i + 1, bloom_add(f, "
    "i) "
    "FROM c WHERE i < 2000) SELECT f FROM c WHERE i % 500 = 0",
    "SELECT bloom_key(i, r, s, b) FROM t WHERE i <= 100",
    "SELECT bloom_info(bloom_build(i, 5000, 0.01)) FROM t",
    NULL};

int main(void) {
  sqlite3 *db = open_bloom(":memory:");
  for (int i = 0; setup[i]; i++) run_sql(db, setup[i]);
  for (int i = 0; builds[i]; i++) {
    sqlite3_stmt *statement = NULL;
    int rows = 0;
    sqlite3_prepare_v2(db, builds[i], -1, &statement, NULL);
    for (; statement && sqlite3_step(statement) == SQLITE_ROW; rows++) {
      int size = sqlite3_column_bytes(statement, 0);
      printf("%d.%d %d %016llx\n", i, rows, size,
             (unsigned long long)XXH3_64bits(sqlite3_column_blob(statement, 0), (size_t)size));
    }
    if (sqlite3_finalize(statement) != SQLITE_OK || rows == 0) {
      printf("%d failed: %s\n", i, sqlite3_errmsg(db));
      return 1;
    }
  }
  sqlite3_close(db);
  return 0;
}
