/* tails: builds of far more keys than n, until the tail is full and layers are opened at once.
**
** The extension is compiled in with a tail of 2^10 hashes instead of 2^24 (BLOOM_LATE_KEYS is half
** of that), which few keys fill.
** The absent keys are fixed, and so is what they answer; 4 sigma of their number are allowed. */
#include "sqltest.h"

#define COUNTED "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) "
#define CAPACITY "json_extract(value, '$.capacity')"

/* A table `name` of one row: the filter that `build` makes of c.i = 1 .. rows. */
static void make(sqlite3 *db, const char *name, int rows, const char *build) {
  char *sql =
      sqlite3_mprintf("CREATE TABLE %s AS " COUNTED "SELECT %s AS f FROM c", name, rows, build);
  run_sql(db, sql);
  sqlite3_free(sql);
}

/* Each of the keys 1 .. keys is found; of 100,000 absent ones as many as bloom_fpr says, which is
** at most p and the scatter of small layers, a twentieth. */
static void keeps_its_promises(sqlite3 *db, const char *name, int keys, double p) {
  char expected[20];
  char *sql = sqlite3_mprintf(
      COUNTED "SELECT sum(bloom_contains((SELECT bloom_ref(f) FROM %s), i)) FROM c", keys, name);
  snprintf(expected, sizeof expected, "%d", keys);
  expect(db, "every key is found", sql, expected);
  sqlite3_free(sql);
  sql = sqlite3_mprintf(
      COUNTED
      "SELECT abs(found - 100000 * rate) <= 4 * sqrt(100000 * rate * (1 - rate)) AND "
      "rate <= 1.05 * %f AND rate > 0.8 * %f FROM (SELECT bloom_fpr(f) AS rate, (SELECT "
      "sum(bloom_contains((SELECT bloom_ref(f) FROM %s), -i)) FROM c) AS found FROM %s)",
      100000, p, p, name, name);
  expect(db, "absent keys pass at the documented rate", sql, "1");
  sqlite3_free(sql);
}

static void overflow(sqlite3 *db) {
  make(db, "grown", 60000, "bloom_build(i, 2000, 0.02)");
  keeps_its_promises(db, "grown", 60000, 0.02);
  expect(db, "the tail was a layer when more than half of it was different keys",
         "SELECT " CAPACITY
         " BETWEEN 513 AND 1024 FROM grown, "
         "json_each(bloom_info(f), '$.layer_table') WHERE key = 1",
         "1");
  /* 1,700 keys in layer 0, then some 1,000 (1 + 2 + ... + 32) */
  expect(db, "behind it capacities double",
         "SELECT group_concat(" CAPACITY
         " * 1.0 / json_extract(bloom_info(f), "
         "'$.layer_table[1].capacity')) FROM grown, json_each(bloom_info(f), '$.layer_table') "
         "WHERE key > 1",
         "2.0,4.0,8.0,16.0,32.0");
  expect(db, "and rates halve",
         "SELECT group_concat(printf('%.2f', json_extract(value, '$.rate') / "
         "json_extract(bloom_info(f), '$.layer_table[' || (key - 1) || '].rate'))) FROM grown, "
         "json_each(bloom_info(f), '$.layer_table') WHERE key > 1",
         "0.50,0.50,0.50,0.50,0.50");
  make(db, "twice", 120000, "bloom_build(abs(i - 60000), 2000, 0.02)");
  expect(db, "a key that comes again, however late, changes nothing",
         "SELECT bloom_count(twice.f) BETWEEN 59000 AND 61000 AND "
         "json_extract(bloom_info(twice.f), '$.layers') = json_extract(bloom_info(grown.f), "
         "'$.layers') "
         "FROM grown, twice",
         "1");
}

/* Few different keys in many rows: the tail is looked through, and never full. */
static void duplicates(sqlite3 *db) {
  make(db, "few", 50000, "bloom_build(1 + i % 1300, 1000, 0.02)");
  keeps_its_promises(db, "few", 1300, 0.02);
  expect(db, "few different keys: one layer behind the first",
         "SELECT json_extract(bloom_info(f), '$.layers') FROM few", "2");
  make(db, "sized", 50000, "bloom_build(1 + i % 600)");
  expect(db, "sized by few different keys", "SELECT json_extract(bloom_info(f), '$.n') FROM sized",
         "600");
}

/* At most n keys in any order: one layer, the same bytes. */
static void within_n(sqlite3 *db) {
  make(db, "up", 20000, "bloom_build(i % 4000, 4000, 0.02)");
  make(db, "down", 4000, "bloom_build(4000 - i, 4000, 0.02)");
  expect(db, "at most n keys: one layer, in any order of rows",
         "SELECT up.f = down.f AND json_extract(bloom_info(up.f), '$.layers') = 1 FROM up, down",
         "1");
}

static void limits(sqlite3 *db) {
  static const char *const builds[] = {"bloom_build(i, 2000, 0.02)", "bloom_build(i, 10, 0.001)"};
  for (int i = 0; i < 2; i++) {
    char *sql = sqlite3_mprintf(COUNTED "SELECT %s FROM c", 60000, builds[i]);
    for (int limit = 3000; limit < 100000; limit *= 3) {
      sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
      ok(strstr(ask(db, sql), "would pass the limit of") != NULL, "over a limit of %d: %s", limit,
         sql);
    }
    sqlite3_free(sql);
  }
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000000000);
}

int main(void) {
  sqlite3 *db = open_bloom(":memory:");
  overflow(db);
  duplicates(db);
  within_n(db);
  limits(db);
  sqlite3_close(db);
  ok(sqlite3_memory_used() == 0, "all memory is back at the end");
  return tests_failed > 0;
}
