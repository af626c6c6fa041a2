/* keys: values of every type against the naive set.
**
** Input: a byte of sizes (n and p), the number of keys, the keys, and
** values to ask for. SQLite's own `=` says which of them are in the set: these must be found in
** every filter of the keys, however it was made. Random keys that are not in it must be found as
** often as bloom_fpr says, and at most at the documented rate, each within 6 sigma (a coin for each
** question; the documented rate also scatters by a third of itself for each small filter).
*/
#include "fuzz.h"

#include <math.h>

const char fuzz_name[] = "keys";

enum {
  MOST_KEYS = 40,
  MOST_ASKED = 20,
  ABSENT = 32,
  FILTERS = 6
};

/* Filters of the keys in the table `keys`, made in different ways; ?1 is n, ?2 is p. */
static const char *const makers[FILTERS] = {
    "SELECT bloom_build(key, ?1, ?2) FROM keys",
    "SELECT bloom_build(key, ?1, ?2, 'counting') FROM keys",
    ("SELECT bloom_union(f) FROM (SELECT bloom_build(key, ?1, ?2) AS f FROM keys GROUP BY id % 3"
     " UNION ALL SELECT bloom_build(NULL))"),
    ("SELECT bloom_union((SELECT bloom_build(key, ?1, ?2) FROM keys WHERE id % 2),"
     " (SELECT bloom_build(key, ?1, ?2) FROM keys WHERE NOT id % 2))"),
    "SELECT bloom_build(key, NULL, ?2) FROM keys",
    "SELECT bloom_snapshot('seen') WHERE ?1 AND ?2",
};

static const struct {
  int n;
  double p;
} sizes[] = {{1, 0.5}, {10, 0.1}, {20, 0.01}, {64, 0.01}, {100, 1e-4}, {5, 0.3}, {30, 1e-9}};

static sqlite3 *db;
static sqlite3_stmt *make[FILTERS], *insert, *find, *missing, *contains, *count, *add, *remove_keys,
    *fpr, *table_missing, *lookup, *equal, *key_of, *pair;

static void open_all(void) {
  db = open_bloom();
  run_sql(db,
          "CREATE TABLE keys(id INTEGER PRIMARY KEY, key);"
          "CREATE VIRTUAL TABLE seen USING bloom(n=10, p=0.1);"
          "CREATE VIRTUAL TABLE follow USING bloom(of='keys(key)', n=10)");
  for (unsigned i = 0; i < FILTERS; i++) make[i] = prepare(db, makers[i]);
  insert = prepare(db, "INSERT INTO keys(key) VALUES (?1)");
  find = prepare(db, "SELECT EXISTS (SELECT 1 FROM keys WHERE key = ?1)");
  missing = prepare(db,
                    "SELECT count(*) FROM keys WHERE NOT bloom_contains(?1, key)"
                    " AND (?2 IS NULL OR id % 2 = ?2)");
  table_missing = prepare(db,
                          "SELECT count(*) FROM keys WHERE NOT bloom_lookup('seen', key)"
                          " OR NOT bloom_lookup('follow', key)"
                          " OR (key IS NOT NULL AND NOT EXISTS"
                          " (SELECT 1 FROM seen WHERE seen.key = keys.key))");
  lookup = prepare(db, "SELECT bloom_lookup('seen', ?1) AND bloom_lookup('follow', ?1)");
  contains = prepare(db, "SELECT bloom_contains(?1, ?2)");
  count = prepare(db, "SELECT count(DISTINCT bloom_key(key)) FROM keys");
  add = prepare(db, "SELECT bloom_add(?1, ?2)");
  remove_keys = prepare(db, "SELECT bloom_remove(?1, ?2)");
  fpr = prepare(db, "SELECT bloom_fpr(?1)");
  equal = prepare(db, "SELECT ?1 = ?2");
  key_of = prepare(db, "SELECT bloom_key(?1) = bloom_key(?2)");
  pair = prepare(db, "SELECT bloom_key(?1, ?2) = bloom_key(?3, ?4)");
}

/* ---- filters as blobs ---- */

typedef struct Blob {
  uint8_t *bytes;
  size_t size;
} Blob;

static void take_blob(sqlite3_stmt *statement, Blob *blob) {
  if (!first_row(statement)) finding("%s: %s", sqlite3_sql(statement), sqlite3_errmsg(db));
  free(blob->bytes);
  blob->size = (size_t)sqlite3_column_bytes(statement, 0);
  blob->bytes = malloc(blob->size + 1);
  if (blob->bytes == NULL) abort();
  memcpy(blob->bytes, sqlite3_column_blob(statement, 0), blob->size);
  sqlite3_reset(statement);
}

static void bind_blob(sqlite3_stmt *statement, const Blob *blob) {
  sqlite3_bind_blob64(statement, 1, blob->bytes, blob->size, SQLITE_STATIC);
}

static void do_step(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) finding("%s", sqlite3_errmsg(db));
  sqlite3_reset(statement);
}

static bool is_in(const Blob *filter, const Value *value) {
  bind_blob(contains, filter);
  bind_value(contains, 2, value);
  return ask(contains) != 0;
}

/* ---- what is told of all inputs together ---- */

static struct {
  double asked, found;
  double expected, variance;  /* by bloom_fpr */
  double held, rate, scatter; /* found and expected by p, of filters within n */
} sum;

static void check_sums(void) {
  if (fabs(sum.found - sum.expected) > 6 * sqrt(sum.variance) + 6) {
    finding("%.0f of %.0f absent keys are found, bloom_fpr expects %.1f", sum.found, sum.asked,
            sum.expected);
  }
  if (sum.held > sum.rate + 6 * sqrt(sum.scatter) + 6) {
    finding("%.0f absent keys are found, the documented rate is %.1f", sum.held, sum.rate);
  }
}

static void ask_absent(const Blob *filter, double p, bool within) {
  bind_blob(fpr, filter);
  if (!first_row(fpr)) finding("%s", sqlite3_errmsg(db));
  double rate = sqlite3_column_double(fpr, 0), found = 0;
  sqlite3_reset(fpr);
  uint64_t seed = filter->size;
  for (size_t i = 0; i < filter->size; i++) seed = seed * 31 + filter->bytes[i];
  for (unsigned i = 0; i < ABSENT; i++) {
    Value value = {SQLITE_TEXT, 0, 0, 0, ""};
    uint64_t number = next_random(&seed);
    value.size = (size_t)snprintf(value.bytes, sizeof value.bytes, "absent %llx",
                                  (unsigned long long)number);
    if (i % 3 == 1) value.type = SQLITE_BLOB;
    if (i % 3 == 2) value.type = SQLITE_INTEGER;
    value.integer = (int64_t)number;
    found += is_in(filter, &value);
  }
  sum.asked += ABSENT;
  sum.found += found;
  sum.expected += ABSENT * rate;
  sum.variance += ABSENT * rate * (1 - rate);
  if (!within) return;
  sum.held += found;
  sum.rate += ABSENT * p;
  sum.scatter += ABSENT * p * (1 - p) + ABSENT * p / 3 * ABSENT * p / 3;
}

/* ---- one set ---- */

static void check_filter(const Blob *filter, unsigned how, const Value *asked,
                         unsigned asked_count) {
  bind_blob(missing, filter);
  if (ask(missing) != 0) finding("%s misses a key", makers[how]);
  for (unsigned i = 0; i < asked_count; i++) {
    bind_value(find, 1, &asked[i]);
    if (ask(find) && !is_in(filter, &asked[i])) finding("%s misses what is equal", makers[how]);
  }
}

/* The table's memory and its own question. */
static void check_tables(const Value *asked, unsigned asked_count) {
  if (ask(table_missing) != 0) finding("a table misses a key");
  for (unsigned i = 0; i < asked_count; i++) {
    bind_value(find, 1, &asked[i]);
    bind_value(lookup, 1, &asked[i]);
    if (ask(find) && !ask(lookup)) finding("a table misses what is equal");
  }
}

/* Keys one by one; then, from a counting filter, every second row's key taken out. */
static void check_changes(const Value *keys, unsigned key_count, const Blob *counting, int n,
                          double p) {
  Blob filter = {NULL, 0};
  sqlite3_stmt *empty = prepare(db, "SELECT bloom_new(?1, ?2)");
  sqlite3_bind_int(empty, 1, n);
  sqlite3_bind_double(empty, 2, p);
  take_blob(empty, &filter);
  sqlite3_finalize(empty);
  for (unsigned i = 0; i < key_count; i++) {
    bind_blob(add, &filter);
    bind_value(add, 2, &keys[i]);
    take_blob(add, &filter);
  }
  bind_blob(missing, &filter);
  if (ask(missing) != 0) finding("bloom_add misses a key");
  free(filter.bytes);
  filter.size = counting->size;
  filter.bytes = malloc(filter.size + 1);
  if (filter.bytes == NULL) abort();
  memcpy(filter.bytes, counting->bytes, filter.size);
  for (unsigned i = 1; i < key_count; i += 2) { /* rows are numbered from 1 */
    bind_blob(remove_keys, &filter);
    bind_value(remove_keys, 2, &keys[i]);
    take_blob(remove_keys, &filter);
  }
  bind_blob(missing, &filter);
  sqlite3_bind_int(missing, 2, 1);
  if (ask(missing) != 0) finding("bloom_remove takes another key along");
  sqlite3_bind_null(missing, 2);
  free(filter.bytes);
}

/* bloom_key: equal values are equal keys, and equal tuples are those of equal parts. */
static void check_composite(const Value *values, unsigned value_count) {
  bool same[4][4];
  if (value_count > 4) value_count = 4;
  for (unsigned i = 0; i < value_count; i++) {
    if (values[i].type == SQLITE_NULL) return;
    for (unsigned j = 0; j < value_count; j++) {
      bind_value(key_of, 1, &values[i]);
      bind_value(key_of, 2, &values[j]);
      bind_value(equal, 1, &values[i]);
      bind_value(equal, 2, &values[j]);
      same[i][j] = ask(key_of) != 0;
      if (ask(equal) && !same[i][j]) finding("bloom_key parts what is equal");
    }
  }
  if (value_count < 4) return;
  for (int at = 1; at <= 4; at++) bind_value(pair, at, &values[at - 1]);
  if ((ask(pair) != 0) != (same[0][2] && same[1][3])) finding("bloom_key of pairs");
}

static bool is_nan(const Value *value) {
  return value->type == SQLITE_FLOAT && value->real != value->real;
}

void fuzz_one(Input input) {
  static uint64_t inputs;
  static Value keys[MOST_KEYS], asked[MOST_ASKED];
  Blob filter = {NULL, 0}, counting = {NULL, 0};
  unsigned key_count, asked_count = 0, size;
  if (db == NULL) open_all();
  size = take_byte(&input) % COUNT(sizes);
  key_count = take_byte(&input) % (MOST_KEYS + 1);
  run_sql(db, "BEGIN");
  for (unsigned i = 0; i < key_count; i++) {
    take_value(&input, &keys[i]);
    if (is_nan(&keys[i])) keys[i].type = SQLITE_NULL; /* as SQLite does */
    bind_value(insert, 1, &keys[i]);
    do_step(insert);
  }
  while (left(&input) > 0 && asked_count < MOST_ASKED) take_value(&input, &asked[asked_count++]);
  run_sql(db, "INSERT INTO seen(key) SELECT key FROM keys");
  int64_t distinct = ask(count);
  for (unsigned i = 0; i < FILTERS; i++) {
    sqlite3_bind_int(make[i], 1, sizes[size].n);
    sqlite3_bind_double(make[i], 2, sizes[size].p);
    take_blob(make[i], i == 1 ? &counting : &filter);
    check_filter(i == 1 ? &counting : &filter, i, asked, asked_count);
    if (i == 0) ask_absent(&filter, sizes[size].p, distinct <= sizes[size].n);
  }
  check_tables(asked, asked_count);
  check_changes(keys, key_count, &counting, sizes[size].n, sizes[size].p);
  check_composite(keys, key_count);
  run_sql(db, "ROLLBACK");
  free(filter.bytes);
  free(counting.bytes);
  if (++inputs % 4096 == 0) check_sums();
}

void fuzz_end(void) {
  if (sum.asked == 0) finding("no absent key was asked for");
  check_sums();
  printf(
      "# of %.0f absent keys %.0f are found, bloom_fpr expects %.1f; within n %.0f, at most %.1f\n",
      sum.asked, sum.found, sum.expected, sum.held, sum.rate);
}
