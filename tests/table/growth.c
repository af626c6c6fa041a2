/* growth: a table that grows while it is closed and opened. */
#include "table.h"

#define LAYERS "SELECT json_extract(bloom_status('seen'), '$.layers')"

static sqlite3 *make_table(const char *name, int n) {
  sqlite3 *db = open_database(fresh(name));
  run(db,
      "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE seen USING bloom(n=%d, p=0.01)",
      n);
  return db;
}

static void add_keys(sqlite3 *db, int from, int end) {
  run(db,
      "BEGIN; WITH RECURSIVE c(i) AS (VALUES(%d) UNION ALL SELECT i + 1 FROM c WHERE i + 1 < %d) "
      "INSERT INTO seen(key) SELECT nth(i) FROM c; COMMIT",
      from, end);
}

/* How full the last layer is must be known before the first key is added, whatever is in memory:
** the layers are those of a table that stayed open. Its first one has seven chunks. */
static void test_reopened(void) {
  enum {
    KEY_COUNT = 45000,
    STEP = 1500
  };
  sqlite3 *db = make_table("reopened", 20000), *other = make_table("open", 20000);
  add_keys(other, 0, KEY_COUNT);
  for (int i = 0; i < KEY_COUNT; i += STEP) {
    add_keys(db, i, i + STEP);
    close_database(db);
    db = open_database(scratch("reopened"));
    run(db, "PRAGMA synchronous = OFF");
  }
  const char *layers = ask(db, LAYERS);
  test(atoi(layers) > 1, "reopened: the table has grown: %s layers", layers);
  run(other, "ATTACH %Q AS reopened", scratch("reopened"));
  expect(other, "reopened: the bytes are those of a table that stayed open", "1",
         "SELECT bloom_snapshot('main.seen') = bloom_snapshot('reopened.seen')");
  absent_within(db, "seen", 0.02, "reopened");
  close_database(db);
  close_database(other);
}

void test_growth(void) {
  test_reopened();
}
