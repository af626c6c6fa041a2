/* library.c: bloom.h's functions beside SQL's, in one program with bloom.c compiled in. TAP.
**
** For keys of every type, builds of every kind and unions, the bytes must be those that SQL makes.
*/
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloom.h"

static sqlite3 *db;
static int failed;

static void ok(bool good, const char *format, ...) {
  va_list arguments;
  printf(good ? "ok " : "not ok ");
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  failed += !good;
}

static void die(const char *what) {
  printf("not ok %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) die(sql);
  return statement;
}

/* ---- keys ---- */

typedef struct Value {
  int type; /* SQLITE_INTEGER ... */
  int64_t integer;
  double real;
  const char *bytes;
  size_t size;
} Value;

#define INTEGER(number) \
  { SQLITE_INTEGER, number, 0, NULL, 0 }
#define REAL(number) \
  { SQLITE_FLOAT, 0, number, NULL, 0 }
#define TEXT(literal) \
  { SQLITE_TEXT, 0, 0, literal, sizeof literal - 1 }
#define BLOB(literal) \
  { SQLITE_BLOB, 0, 0, literal, sizeof literal - 1 }

static const Value values[] = {INTEGER(0),
                               INTEGER(-1),
                               INTEGER(INT64_MAX),
                               INTEGER(INT64_MIN),
                               INTEGER(9007199254740993),
                               REAL(-0.0),
                               REAL(0.1),
                               REAL(0.30000000000000004),
                               REAL(1e15),
                               REAL(-2.5e-300),
                               REAL(1e300),
                               REAL(9223372036854775808.0),
                               REAL(5e-324),
                               REAL(INFINITY),
                               REAL(-INFINITY),
                               TEXT(""),
                               TEXT("a"),
                               TEXT("apple"),
                               TEXT("gr\xc3\xbc\xc3\x9f dich, \xe6\x9d\xb1\xe4\xba\xac"),
                               TEXT("5"),
                               TEXT(" 05.0 "),
                               TEXT("5e0"),
                               TEXT("-0.1"),
                               TEXT("9007199254740993"),
                               TEXT("340e2740"),
                               TEXT("12345678901234567890123"),
                               TEXT("5\0abc"),
                               TEXT("abc\0def"),
                               TEXT("\0"),
                               BLOB(""),
                               BLOB("5"),
                               BLOB("apple"),
                               BLOB("\0\xff\x01")};

enum {
  VALUES = sizeof values / sizeof *values
};

static uint64_t hash_of(const Value *value, unsigned *types) {
  switch (value->type) {
    case SQLITE_INTEGER:
      return bloom_hash_integer(value->integer, types);
    case SQLITE_FLOAT:
      return bloom_hash_real(value->real, types);
    case SQLITE_TEXT:
      return bloom_hash_text(value->bytes, value->size, types);
    default:
      return bloom_hash_blob(value->bytes, value->size, types);
  }
}

static void bind(sqlite3_stmt *statement, int at, const Value *value) {
  switch (value->type) {
    case SQLITE_INTEGER:
      sqlite3_bind_int64(statement, at, value->integer);
      break;
    case SQLITE_FLOAT:
      sqlite3_bind_double(statement, at, value->real);
      break;
    case SQLITE_TEXT:
      sqlite3_bind_text(statement, at, value->bytes, (int)value->size, SQLITE_STATIC);
      break;
    default:
      sqlite3_bind_blob(statement, at, value->bytes, (int)value->size, SQLITE_STATIC);
  }
}

/* Steps a statement of one row and one column, and compares it with the blob. */
static bool same(sqlite3_stmt *statement, const BloomBlob *blob) {
  if (sqlite3_step(statement) != SQLITE_ROW) die(sqlite3_sql(statement));
  size_t size = (size_t)sqlite3_column_bytes(statement, 0);
  bool equal =
      size == blob->size && memcmp(sqlite3_column_blob(statement, 0), blob->bytes, size) == 0;
  if (!equal) printf("# SQL makes %zu bytes, the library %zu\n", size, blob->size);
  sqlite3_reset(statement);
  return equal;
}

static void keys_of_each_type(void) {
  sqlite3_stmt *statement = prepared("SELECT bloom_build(?1, 10, 1e-6)");
  for (unsigned i = 0; i < VALUES; i++) {
    unsigned types = 0;
    uint64_t hash = hash_of(&values[i], &types);
    BloomBlob blob;
    if (!bloom_blob_build(&blob, &hash, 1, types, 10, 1e-6, false, NULL)) die("a key");
    bind(statement, 1, &values[i]);
    ok(same(statement, &blob), "key %u is SQL's", i);
    bloom_blob_free(&blob);
  }
  sqlite3_finalize(statement);
}

/* ---- builds ---- */

/* Key number i: integers, texts and blobs in turn; none of them equals another. */
static Value key_number(unsigned i, char room[24]) {
  Value key = {SQLITE_INTEGER, (int64_t)i * 1000003 - 500, 0, room, 0};
  if (i % 3 == 0) return key;
  key.type = i % 3 == 1 ? SQLITE_TEXT : SQLITE_BLOB;
  key.size = (size_t)snprintf(room, 24, "key-%u", i);
  return key;
}

/* Rows first .. last - 1 of the table, every seventh of them twice. */
static void fill_table(unsigned first, unsigned last) {
  sqlite3_stmt *insert = prepared("INSERT INTO keys(key) VALUES (?1)");
  char room[24];
  sqlite3_exec(db, "DELETE FROM keys; BEGIN", NULL, NULL, NULL);
  for (unsigned i = first; i < last; i++) {
    Value key = key_number(i, room);
    bind(insert, 1, &key);
    for (int copies = i % 7 == 0 ? 2 : 1; copies > 0; copies--) {
      if (sqlite3_step(insert) != SQLITE_DONE) die("a row");
      sqlite3_reset(insert);
    }
  }
  sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  sqlite3_finalize(insert);
}

static BloomBlob built(unsigned first, unsigned last, uint64_t n, double p, bool counting) {
  uint64_t *hashes = malloc(2 * (last - first + 1) * sizeof *hashes);
  size_t count = 0;
  unsigned types = 0;
  char room[24], error[BLOOM_ERROR_BYTES];
  BloomBlob blob;
  for (unsigned i = first; hashes && i < last; i++) {
    Value key = key_number(i, room);
    uint64_t hash = hash_of(&key, &types);
    for (int copies = i % 7 == 0 ? 2 : 1; copies > 0; copies--) hashes[count++] = hash;
  }
  if (!bloom_blob_build(&blob, hashes, count, types, n, p, counting, error)) die(error);
  free(hashes);
  return blob;
}

static void build_is_sql(unsigned keys, uint64_t n, double p, bool counting) {
  sqlite3_stmt *statement = prepared(
      "SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT key FROM keys ORDER BY id LIMIT -1)");
  BloomBlob blob = built(0, keys, n, p, counting);
  fill_table(0, keys);
  if (n > 0) sqlite3_bind_int64(statement, 1, (sqlite3_int64)n);
  sqlite3_bind_double(statement, 2, p);
  sqlite3_bind_text(statement, 3, counting ? "counting" : "plain", -1, SQLITE_STATIC);
  ok(same(statement, &blob), "build of %u keys, n = %llu, p = %g%s", keys, (unsigned long long)n, p,
     counting ? ", counting" : "");
  bloom_blob_free(&blob);
  sqlite3_finalize(statement);
}

static void builds(void) {
  static const unsigned sizes[] = {0, 1, 50, 63, 64, 65, 1000, 20000};
  static const double rates[] = {0.9, 0.01, 1e-9};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (unsigned r = 0; r < 3; r++) {
      unsigned keys = sizes[s];
      build_is_sql(keys, 0, rates[r], false);
      build_is_sql(keys, keys + (keys == 0), rates[r], false);
      build_is_sql(keys, 2 * keys + 1, rates[r], false);
      build_is_sql(keys, keys / 20 + 1, rates[r], false); /* outgrown, if there are two */
    }
    build_is_sql(sizes[s], 0, 0.01, true);
    build_is_sql(sizes[s], sizes[s] / 2 + 1, 0.01, true);
  }
  build_is_sql(20000, 19000, 0.01, false);
  build_is_sql(20000, 100, 0.001, false);
}

/* ---- readers ---- */

static void readers(void) {
  enum {
    KEYS = 20000
  };
  BloomBlob blob = built(0, KEYS, KEYS, 0.01, false);
  BloomReader *reader = bloom_reader_open(blob.bytes, blob.size, NULL);
  sqlite3_stmt *ask = prepared("SELECT bloom_contains(?1, ?2)");
  unsigned present = 0, absent = 0, differ = 0;
  char room[24];
  sqlite3_bind_blob64(ask, 1, blob.bytes, blob.size, SQLITE_STATIC);
  for (unsigned i = 0; reader && i < 6 * KEYS; i++) {
    Value key = key_number(i, room);
    bool found = bloom_reader_contains(reader, hash_of(&key, NULL));
    bind(ask, 2, &key);
    if (sqlite3_step(ask) != SQLITE_ROW) die("ask");
    differ += found != sqlite3_column_int(ask, 0);
    sqlite3_reset(ask);
    *(i < KEYS ? &present : &absent) += found;
  }
  ok(present == KEYS, "all %d keys are in (%u)", KEYS, present);
  /* 100,000 draws at 1 %: 1000, sigma 31.5, and the filter's own scatter; 5 sigma are 170. */
  ok(absent > 830 && absent < 1170, "of 100000 absent keys %u are let through, 1000 expected",
     absent);
  ok(differ == 0, "bloom_contains answers the same (%u do not)", differ);
  bloom_reader_close(reader);
  bloom_reader_close(NULL);
  bloom_blob_free(&blob);
  sqlite3_finalize(ask);
}

/* ---- unions ---- */

static BloomBlob copied(const BloomBlob *from) {
  BloomBlob copy = {NULL, 0};
  if (!bloom_blob_union(&copy, from->bytes, from->size, NULL)) die("a copy");
  return copy;
}

static void union_is_sql(const char *name, const BloomBlob *a, const BloomBlob *b) {
  sqlite3_stmt *statement = prepared("SELECT bloom_union(?1, ?2)");
  BloomBlob sum = copied(a);
  ok(sum.size == a->size && memcmp(sum.bytes, a->bytes, a->size) == 0, "union: a copy, %s", name);
  bool made = bloom_blob_union(&sum, b->bytes, b->size, NULL);
  sqlite3_bind_blob64(statement, 1, a->bytes, a->size, SQLITE_STATIC);
  sqlite3_bind_blob64(statement, 2, b->bytes, b->size, SQLITE_STATIC);
  ok(made && same(statement, &sum), "union: %s", name);
  bloom_blob_free(&sum);
  sqlite3_finalize(statement);
}

static void unions(void) {
  BloomBlob shard = built(0, 900, 1000, 0.01, false), other = built(800, 1500, 1000, 0.01, false);
  BloomBlob grown = built(0, 5000, 1000, 0.01, false), more = built(4000, 9000, 1000, 0.01, false);
  BloomBlob counts = built(0, 900, 1000, 0.01, true), none = built(0, 0, 0, 0.01, false);
  union_is_sql("two shards", &shard, &other);
  union_is_sql("one that outgrew its n", &shard, &grown);
  union_is_sql("the other way round", &grown, &shard);
  union_is_sql("two that outgrew it", &grown, &more);
  union_is_sql("counting", &counts, &counts);
  union_is_sql("with an empty one", &shard, &none);
  union_is_sql("of an empty one", &none, &shard);

  char error[BLOOM_ERROR_BYTES] = "";
  BloomBlob kept = copied(&shard);
  ok(!bloom_blob_union(&kept, counts.bytes, counts.size, error) &&
         strcmp(error, "the filters differ in n, p or kind") == 0,
     "union: other kinds are refused: %s", error);
  other.bytes[other.size - 1] ^= 1;
  ok(!bloom_blob_union(&kept, other.bytes, other.size, error) &&
         strcmp(error, "damaged filter: the body's checksum does not match") == 0,
     "union: damage is refused: %s", error);
  ok(kept.size == shard.size && memcmp(kept.bytes, shard.bytes, kept.size) == 0,
     "union: what is refused changes nothing");
  kept.bytes[kept.size - 1] ^= 1;
  ok(!bloom_blob_union(&kept, shard.bytes, shard.size, error) &&
         strcmp(error, "damaged filter: the body's checksum does not match") == 0,
     "union: damage of the first is refused: %s", error);
  bloom_blob_free(&kept);
  bloom_blob_free(&shard);
  bloom_blob_free(&other);
  bloom_blob_free(&grown);
  bloom_blob_free(&more);
  bloom_blob_free(&counts);
  bloom_blob_free(&none);
}

/* Filters of n = 1 and 2, 3 ... keys: each brings a second layer of a size of its own. */
static void too_many_layers(void) {
  char error[BLOOM_ERROR_BYTES] = "";
  BloomBlob sum = built(0, 2, 1, 0.01, false);
  unsigned keys = 3;
  for (bool good = true; good && keys < 100; keys += good) {
    BloomBlob next = built(0, keys, 1, 0.01, false);
    good = bloom_blob_union(&sum, next.bytes, next.size, error);
    bloom_blob_free(&next);
  }
  ok(keys == 65 &&
         strcmp(error, "the filter would have too many layers: build it with a larger n") == 0,
     "union: of filters of 2 ... %u keys: %s", keys, error);
  bloom_blob_free(&sum);
}

/* ---- bad input ---- */

static void build_says(const char *want, uint64_t n, double p) {
  char error[BLOOM_ERROR_BYTES] = "";
  uint64_t hash = 1;
  BloomBlob blob = {NULL, 7};
  bool refused = !bloom_blob_build(&blob, &hash, 1, 0, n, p, false, error);
  ok(refused && strcmp(error, want) == 0 && blob.size == 7, "build: %s", error);
  ok(!bloom_blob_build(&blob, &hash, 1, 0, n, p, false, NULL), "build: without words");
}

static void open_says(const char *want, const void *bytes, size_t size) {
  char error[BLOOM_ERROR_BYTES] = "";
  ok(bloom_reader_open(bytes, size, error) == NULL && strcmp(error, want) == 0, "open: %s", error);
}

static void bad_input(void) {
  BloomBlob blob = built(0, 20, 20, 0.01, false);
  unsigned opened = 0;
  build_says("n is more than 2^63-1", (uint64_t)INT64_MAX + 1, 0.01);
  build_says("the filter would be too large for this n and p", INT64_MAX, 0.01);
  build_says("p is not from 1e-9 to below 1", 10, 0);
  build_says("p is not from 1e-9 to below 1", 10, 1);
  build_says("p is not from 1e-9 to below 1", 10, NAN);
  open_says("not a bloom filter", "", 0);
  open_says("not a bloom filter", "apple", 5);
  open_says("damaged filter: only 10 bytes of a header", blob.bytes, 10);
  for (size_t size = 0; size < blob.size; size++) {
    opened += bloom_reader_open(blob.bytes, size, NULL) != NULL;
  }
  for (size_t bit = 0; bit < 8 * blob.size; bit++) {
    blob.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    BloomReader *reader = bloom_reader_open(blob.bytes, blob.size, NULL);
    opened += reader != NULL;
    bloom_reader_close(reader);
    blob.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  ok(opened == 0, "open: no prefix, and no filter with one wrong bit, is a filter (%u are)",
     opened);
  bloom_blob_free(&blob);
  ok(blob.bytes == NULL && blob.size == 0, "free: leaves an empty blob");
}

/* ---- no memory: in place of malloc and realloc, which fail at a call that is chosen ---- */

static long calls, failing; /* the number of the call that fails; 0: none */

void *__real_malloc(size_t size);
void *__real_realloc(void *bytes, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *bytes, size_t size);

void *__wrap_malloc(size_t size) {
  return ++calls == failing ? NULL : __real_malloc(size);
}

/* Of 0 bytes it would be free in one C library and an allocation in another. */
void *__wrap_realloc(void *bytes, size_t size) {
  if (size == 0) abort();
  return ++calls == failing ? NULL : __real_realloc(bytes, size);
}

/* Build, union and open, with the failure at every call in turn, until none is left to fail. */
static void no_memory(void) {
  BloomBlob grown = built(0, 3000, 1000, 0.01, false), more = built(2000, 4000, 1000, 0.01, false);
  unsigned long failures = 0, unsaid = 0, changed = 0;
  bool done = false;
  for (long at = 1; !done; at++) {
    uint64_t hashes[300];
    char error[BLOOM_ERROR_BYTES] = "";
    BloomBlob blob = {NULL, 0}, sum = copied(&grown);
    BloomReader *reader = NULL;
    for (unsigned i = 0; i < 300; i++) hashes[i] = bloom_hash_integer(i, NULL);
    calls = 0;
    failing = at;
    bool made = bloom_blob_build(&blob, hashes, 300, 1, 10, 0.01, false, error);
    bool merged = made && bloom_blob_union(&sum, more.bytes, more.size, error);
    reader = merged ? bloom_reader_open(sum.bytes, sum.size, error) : NULL;
    failing = 0;
    done = reader != NULL;
    if (!done) {
      failures++;
      unsaid += strcmp(error, "out of memory") != 0;
      changed += !made && blob.bytes != NULL;
      changed += !merged && (sum.size != grown.size || memcmp(sum.bytes, grown.bytes, sum.size));
    }
    bloom_reader_close(reader);
    bloom_blob_free(&blob);
    bloom_blob_free(&sum);
  }
  ok(failures >= 5, "no memory: %lu calls fail in turn", failures);
  ok(unsaid == 0, "no memory: each is said (%lu are not)", unsaid);
  ok(changed == 0, "no memory: and changes nothing (%lu do)", changed);
  bloom_blob_free(&grown);
  bloom_blob_free(&more);
}

int main(void) {
  if (sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init) != SQLITE_OK ||
      sqlite3_open(":memory:", &db) != SQLITE_OK) {
    die("open");
  }
  sqlite3_exec(db, "CREATE TABLE keys(id INTEGER PRIMARY KEY, key)", NULL, NULL, NULL);
  sqlite3_stmt *version = prepared("SELECT bloom_version()");
  if (sqlite3_step(version) != SQLITE_ROW) die("version");
  ok(strcmp((const char *)sqlite3_column_text(version, 0), BLOOM_VERSION) == 0,
     "bloom_version() is the header's");
  sqlite3_finalize(version);
  keys_of_each_type();
  builds();
  readers();
  unions();
  too_many_layers();
  bad_input();
  no_memory();
  sqlite3_close(db);
  return failed > 0;
}
