/* growth: a table that grows while it is closed and opened, and 'optimize', which drops the layers
** at the end that hold nothing. */
#include "table.h"

#include "format.h"

#define KEYS \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT nth(i) " \
  "AS key FROM c"
#define LAYERS "SELECT json_extract(bloom_status('seen'), '$.layers')"

static sqlite3 *make_table(const char *name, int n) {
  sqlite3 *db = open_database(fresh(name));
  run(db,
      "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE seen USING bloom(n=%d, p=0.01); CREATE "
      "TABLE keys(key)",
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

/* The filter of a blob with `count` empty layers behind its own, of `keys` keys, one more, ... */
static uint8_t *with_empty_layers(const void *blob, int size, unsigned count, uint64_t keys,
                                  uint64_t *new_size) {
  BloomFilter filter;
  BloomGeometry geometry;
  char reason[BLOOM_REASON_BYTES];
  if (!bloom_decode(blob, (uint64_t)size, &filter, reason)) stop("decode", reason);
  uint64_t body = filter.body, cells = filter.size - body;
  for (unsigned i = 0; i < count; i++) {
    if (!bloom_geometry(keys + i, 0.002f, &geometry)) stop("geometry", "too large");
    bloom_append_layer(&filter, keys + i, 0.002f, &geometry);
  }
  uint8_t *bytes = calloc(1, filter.size);
  if (bytes == NULL) stop("calloc", "no memory");
  memcpy(bytes + filter.body, (const uint8_t *)blob + body, cells);
  filter.bytes = bytes;
  bloom_encode(&filter, bytes);
  *new_size = filter.size;
  return bytes;
}

/* Puts three empty layers of several chunks each behind the one of the table. */
static void add_empty_layers(sqlite3 *db) {
  sqlite3_stmt *read, *write;
  uint64_t size;
  sqlite3_prepare_v2(db, "SELECT bloom_snapshot('seen')", -1, &read, NULL);
  if (sqlite3_step(read) != SQLITE_ROW) stop("snapshot", sqlite3_errmsg(db));
  uint8_t *bytes = with_empty_layers(sqlite3_column_blob(read, 0), sqlite3_column_bytes(read, 0), 3,
                                     7000, &size);
  sqlite3_finalize(read);
  sqlite3_prepare_v2(db, "INSERT INTO seen(filter) VALUES (?1)", -1, &write, NULL);
  sqlite3_bind_blob64(write, 1, bytes, size, SQLITE_TRANSIENT);
  if (sqlite3_step(write) != SQLITE_DONE) stop("import", sqlite3_errmsg(db));
  sqlite3_finalize(write);
  free(bytes);
  expect(db, "optimize: before, four layers", "4", LAYERS);
}

static void has_keys(sqlite3 *db, int count, const char *name) {
  char *keys = sqlite3_mprintf(KEYS, count);
  test(has_all(db, "seen", keys), "optimize: %d keys are found %s", count, name);
  sqlite3_free(keys);
}

static void optimize(sqlite3 *db) {
  run(db, "INSERT INTO seen(seen) VALUES ('optimize')");
  expect(db, "optimize: afterwards one layer", "1", LAYERS);
  has_keys(db, 3000, "afterwards");
}

/* The empty layers are in the file, in memory too, or not yet written. */
static void test_optimize(void) {
  static const char *const ways[] = {"in memory", "read from the file", "not yet written",
                                     "rolled back", "in a savepoint"};
  const char *rows = "SELECT count(*) FROM seen_data";
  for (unsigned way = 0; way < COUNT(ways); way++) {
    sqlite3 *db = make_table("optimize", 3000);
    add_keys(db, 1, 3001);
    char before[20];
    snprintf(before, sizeof before, "%s", ask(db, "%s", rows));
    if (way >= 2) run(db, "BEGIN; INSERT INTO seen(key) VALUES (nth(7))");
    add_empty_layers(db);
    if (way == 1) {
      close_database(db);
      db = open_database(scratch("optimize"));
    }
    if (way == 4) run(db, "SAVEPOINT a");
    optimize(db);
    if (way == 4) {
      run(db, "ROLLBACK TO a");
      expect(db, "optimize: rolled back to before, four layers", "4", LAYERS);
      optimize(db);
    }
    if (way >= 2) run(db, way == 3 ? "ROLLBACK" : "COMMIT");
    has_keys(db, 3000, ways[way]);
    expect(db, "optimize: the shadow table has the rows of before", before, "%s", rows);
    close_database(db);
    db = open_database(scratch("optimize"));
    expect(db, "optimize: read again, one layer", "1", LAYERS);
    has_keys(db, 3000, "when read again");
    add_keys(db, 3001, 3101);
    has_keys(db, 3100, "with more of them");
    expect(db, "optimize: the layer has room as before", "1", LAYERS);
    absent_within(db, "seen", 0.0125, "optimize");
    close_database(db);
  }
}

/* What holds something stays, and the layers below it. */
static void test_nothing_to_drop(void) {
  sqlite3 *db = make_table("kept", 3000);
  add_keys(db, 1, 3001);
  add_empty_layers(db);
  run(db, "INSERT INTO seen(key) VALUES ('one'); INSERT INTO seen(seen) VALUES ('optimize')");
  expect(db, "optimize: the last layer has a key, and stays", "4", LAYERS);
  expect(db, "optimize: so does the key", "1", "SELECT bloom_lookup('seen', 'one')");
  has_keys(db, 3000, "beside it");
  close_database(db);
  db = make_table("empty", 3000);
  run(db, "INSERT INTO seen(seen) VALUES ('optimize')");
  expect(db, "optimize: an empty table keeps its layer", "1", LAYERS);
  add_keys(db, 1, 3001);
  has_keys(db, 3000, "that it takes afterwards");
  close_database(db);
}

void test_growth(void) {
  test_reopened();
  test_optimize();
  test_nothing_to_drop();
}
