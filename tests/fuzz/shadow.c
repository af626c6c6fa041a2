/* shadow: what is in the shadow table of a bloom table is not what the extension wrote.
**
** Input: the table (a byte), then edits of its rows, each an operation (bits 0-2; bit 3: checksums
** repaired), a row's number, and what the operation needs. They are made by a connection without
** the extension. Then:
**   - without a repair, every answer is the one before, or an error in words;
**   - with one, the answers may be others, but lookup, EXISTS and snapshot agree with each other,
**     and keys that are then taken are found, also by the next connection.
*/
#include "fuzz.h"

#include "hash.h"

const char fuzz_name[] = "shadow";

enum {
  KEYS = 30, /* the integers 0 .. 29; the even ones are in */
  REPAIRED = 8,
  CHUNK_SUM = 8, /* bytes of a chunk's checksum, in front */
  MOST_EDITS = 8
};

static const struct {
  const char *name;
  const char *options;
  int keys; /* further ones, from 1000 on */
} tables[] = {{"small", "n=20, p=0.01", 0},
              {"tally", "n=20, p=0.1, kind=counting", 0},
              {"grown", "n=10, p=0.1", 60},
              {"large", "n=8000, p=0.01", 0}, /* three chunks */
              {"lines", "n=20000, p=0.01", 100}};

static unsigned char *images[COUNT(tables)];
static sqlite3_int64 sizes[COUNT(tables)];
static uint32_t answers[COUNT(tables)];     /* bit i: of key i */
static unsigned char *whole[COUNT(tables)]; /* the snapshots */
static int whole_size[COUNT(tables)];

/* Every table is named t, so that the statements are the same. */
static void make_image(unsigned number) {
  char sql[200];
  sqlite3 *db = open_bloom();
  snprintf(sql, sizeof sql, "CREATE VIRTUAL TABLE t USING bloom(%s)", tables[number].options);
  run_sql(db, sql);
  snprintf(
      sql, sizeof sql,
      "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 10000)"
      "INSERT INTO t(key) SELECT i FROM c WHERE i %% 2 = 0 AND i < %d OR i BETWEEN 1000 AND %d",
      KEYS, 999 + tables[number].keys);
  run_sql(db, sql);
  sqlite3_stmt *ask_key = prepare(db, "SELECT bloom_lookup('t', ?1)");
  for (int key = 0; key < KEYS; key++) {
    sqlite3_bind_int(ask_key, 1, key);
    answers[number] |= (uint32_t)ask(ask_key) << key;
  }
  sqlite3_finalize(ask_key);
  sqlite3_stmt *snapshot = prepare(db, "SELECT bloom_snapshot('t')");
  ask(snapshot);
  first_row(snapshot);
  whole_size[number] = sqlite3_column_bytes(snapshot, 0);
  whole[number] = malloc((size_t)whole_size[number]);
  if (whole[number] == NULL) abort();
  memcpy(whole[number], sqlite3_column_blob(snapshot, 0), (size_t)whole_size[number]);
  sqlite3_finalize(snapshot);
  images[number] = sqlite3_serialize(db, "main", &sizes[number], 0);
  if (images[number] == NULL) abort();
  sqlite3_close(db);
}

/* ---- edits ---- */

static void seal_block(uint8_t *block, size_t size, sqlite3_int64 id) {
  if (id == 0) {
    seal_header(block, size);
  } else if (size > CHUNK_SUM) {
    uint64_t sum = XXH3_64bits_withSeed(block + CHUNK_SUM, size - CHUNK_SUM, (uint64_t)id);
    for (unsigned i = 0; i < 8; i++) block[i] = (uint8_t)(sum >> 8 * i);
  }
}

/* The id of a row: one of those that are there or near, or of another layer. */
static sqlite3_int64 take_id(Input *input) {
  uint8_t row = take_byte(input);
  return (sqlite3_int64)(row & 15) + ((sqlite3_int64)(row >> 4) << 32);
}

static void put_block(sqlite3 *db, sqlite3_int64 id, const uint8_t *block, size_t size) {
  sqlite3_stmt *put = prepare(db, "REPLACE INTO t_data(id, block) VALUES (?1, ?2)");
  sqlite3_bind_int64(put, 1, id);
  sqlite3_bind_blob(put, 2, block, (int)size, SQLITE_STATIC);
  sqlite3_step(put);
  sqlite3_finalize(put);
}

/* Bytes of a block overwritten, cut off or appended. */
static void edit_block(sqlite3 *db, Input *input, unsigned operation, sqlite3_int64 id) {
  sqlite3_stmt *get = prepare(db, "SELECT block FROM t_data WHERE id = ?1");
  uint8_t block[10000] = {0};
  sqlite3_bind_int64(get, 1, id);
  size_t size = first_row(get) ? (size_t)sqlite3_column_bytes(get, 0) : 0;
  if (size > 5000) size = 5000;
  if (size > 0 && sqlite3_column_blob(get, 0)) memcpy(block, sqlite3_column_blob(get, 0), size);
  sqlite3_finalize(get);
  size_t at = take_number(input, 2) % 5000, count = take_byte(input);
  if ((operation & 7) == 1) {
    size = at;
  } else {
    const uint8_t *bytes = take_bytes(input, &count);
    if ((operation & 7) == 2) at = size;
    if (count > 0) memcpy(block + at, bytes, count);
    if (at + count > size && count > 0) size = at + count;
  }
  if (operation & REPAIRED) seal_block(block, size, id);
  put_block(db, id, block, size);
}

static void edit(sqlite3 *db, Input *input) {
  static const char *const statements[] = {
      "DELETE FROM t_data WHERE id = ?1",
      "UPDATE t_data SET block = (SELECT block FROM t_data WHERE id = ?2) WHERE id = ?1",
      "UPDATE t_data SET id = ?2 WHERE id = ?1",
      ("UPDATE t_data SET block = CASE ?2 & 3 WHEN 0 THEN NULL WHEN 1 THEN 5 WHEN 2 THEN 'text'"
       " ELSE 1.5 END WHERE id = ?1")};
  unsigned operation = take_byte(input);
  sqlite3_int64 id = take_id(input);
  if ((operation & 7) < 4) {
    edit_block(db, input, operation, id);
    return;
  }
  sqlite3_stmt *statement = prepare(db, statements[operation & 3]);
  sqlite3_bind_int64(statement, 1, id);
  if (sqlite3_bind_parameter_count(statement) > 1) {
    sqlite3_bind_int64(statement, 2, take_id(input));
  }
  sqlite3_step(statement);
  sqlite3_finalize(statement);
}

/* ---- answers ---- */

/* 0, 1, or -1 for an error in words. */
static int try_ask(sqlite3 *db, sqlite3_stmt *statement, int key, const char *name) {
  sqlite3_bind_int(statement, 1, key);
  int answer = -1;
  if (first_row(statement)) {
    answer = sqlite3_column_int(statement, 0);
  } else {
    check_error(db, name);
  }
  sqlite3_reset(statement);
  return answer;
}

static void check_unrepaired(unsigned table, int key, int answer) {
  if (answer >= 0 && answer != (int)(answers[table] >> key & 1)) {
    finding("%s: key %d gives %d", tables[table].name, key, answer);
  }
}

static void check_answers(sqlite3 *db, unsigned table, bool repaired) {
  sqlite3_stmt *lookup = prepare(db, "SELECT bloom_lookup('t', ?1)");
  sqlite3_stmt *exists = prepare(db, "SELECT EXISTS (SELECT 1 FROM t WHERE key = ?1)");
  sqlite3_stmt *snapshot = prepare(db, "SELECT bloom_contains((SELECT bloom_snapshot('t')), ?1)");
  for (int key = 0; key < KEYS; key++) {
    int one = try_ask(db, lookup, key, "bloom_lookup"), two = try_ask(db, exists, key, "bloom");
    if (one != two) finding("%s: key %d: %d and %d", tables[table].name, key, one, two);
    if (!repaired) check_unrepaired(table, key, one);
    if (key >= 3) continue;
    int three = try_ask(db, snapshot, key, "bloom_snapshot");
    if (one >= 0 && three >= 0 && one != three) finding("the snapshot says %d, not %d", three, one);
    if (!repaired) check_unrepaired(table, key, three);
  }
  sqlite3_finalize(lookup);
  sqlite3_finalize(exists);
  sqlite3_finalize(snapshot);
}

/* The snapshot is a filter, and without repairs the one before. */
static void check_snapshot(sqlite3 *db, unsigned table, bool repaired) {
  sqlite3_stmt *snapshot = prepare(db, "SELECT bloom_snapshot('t')");
  sqlite3_stmt *same = prepare(db, "SELECT bloom_info(bloom_snapshot('t')) = bloom_status('t')");
  if (first_row(snapshot)) {
    Filter filter;
    int size = sqlite3_column_bytes(snapshot, 0);
    const void *bytes = sqlite3_column_blob(snapshot, 0);
    if (read_filter(bytes, (uint64_t)size, &filter) != SOUND) finding("the snapshot is no filter");
    if (!repaired &&
        (size != whole_size[table] || memcmp(bytes, whole[table], (size_t)size) != 0)) {
      finding("the snapshot is another one");
    }
    if (ask(same) != 1) finding("bloom_status differs from bloom_info");
  } else {
    check_error(db, "bloom_snapshot");
  }
  sqlite3_finalize(snapshot);
  sqlite3_finalize(same);
}

/* Keys that are taken are found: here and in the next connection. Before: not lost. */
static void check_writes(sqlite3 *db, unsigned table) {
  static const char *const commands[] = {"INSERT INTO t(t) VALUES ('optimize')",
                                         "INSERT INTO t(t) VALUES ('clear')",
                                         "INSERT INTO t(key) VALUES (21)"};
  sqlite3_stmt *insert = prepare(db, "INSERT INTO t(key) VALUES (?1)");
  uint32_t taken = 0;
  int size = 0;
  for (int key = 1; key < KEYS; key += 2) {
    sqlite3_bind_int(insert, 1, key);
    if (sqlite3_step(insert) == SQLITE_DONE)
      taken |= UINT32_C(1) << key;
    else
      check_error(db, "bloom");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  sqlite3_int64 bytes = 0;
  unsigned char *now = sqlite3_serialize(db, "main", &bytes, 0);
  sqlite3 *second = now ? open_image(now, bytes) : open_bare();
  load_bloom(second);
  sqlite3 *both[] = {db, second};
  for (unsigned i = 0; now && i < 2; i++) {
    sqlite3_stmt *lookup = prepare(both[i], "SELECT bloom_lookup('t', ?1)");
    for (int key = 1; key < KEYS; key += 2) {
      if (taken >> key & 1 && try_ask(both[i], lookup, key, "bloom_lookup") == 0) {
        finding("%s: the key %d was taken and is lost", tables[table].name, key);
      }
    }
    sqlite3_finalize(lookup);
  }
  sqlite3_free(now);
  for (unsigned i = 0; i < COUNT(commands); i++) {
    if (sqlite3_exec(db, commands[i], NULL, NULL, NULL) != SQLITE_OK)
      check_error(db, "bloom");
    else
      size++;
  }
  sqlite3_stmt *lookup = prepare(db, "SELECT bloom_lookup('t', ?1)");
  if (size == (int)COUNT(commands) && try_ask(db, lookup, 21, "bloom_lookup") != 1) {
    finding("%s: after clear a key is lost", tables[table].name);
  }
  sqlite3_finalize(lookup);
  sqlite3_close(second);
}

void fuzz_one(Input input) {
  unsigned table = take_byte(&input) % COUNT(tables);
  bool repaired = false;
  if (images[table] == NULL) make_image(table);
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3 *db = open_image(images[table], sizes[table]);
  for (unsigned i = 0; left(&input) > 0 && i < MOST_EDITS; i++) {
    repaired = repaired || (*input.at & REPAIRED);
    edit(db, &input);
  }
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 * MOST_BYTES);
  load_bloom(db);
  check_answers(db, table, repaired);
  check_snapshot(db, table, repaired);
  sqlite3_exec(db, "PRAGMA integrity_check", NULL, NULL, NULL);
  check_writes(db, table);
  if (sqlite3_close(db) != SQLITE_OK) finding("the connection does not close");
  if (sqlite3_memory_used() != before) finding("memory is left");
}

void fuzz_end(void) {}
