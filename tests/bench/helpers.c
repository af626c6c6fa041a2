/* helpers.c: the SQL functions of the bench: keys, floors and checks. See bench.h. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "hash.h"

/* A bijection of 64-bit numbers (Stafford's variant 13 of MurmurHash3's finalizer), so that
** different numbers give different keys, in no order. */
static uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Digits around one e spell a number, and most such numbers are infinite, so that they are one key:
** the e of these, one in 6,600, becomes an f. */
static void mark_as_text(char *key, size_t size) {
  char *e = NULL;
  for (size_t i = 0; i < size; i++) {
    if (key[i] <= '9') continue;
    if (key[i] != 'e' || e) return;
    e = key + i;
  }
  if (e) *e = 'f';
}

static void hex_key(sqlite3_context *context, int argc, sqlite3_value **argv) {
  static const char digits[] = "0123456789abcdef";
  uint64_t number = (uint64_t)sqlite3_value_int64(argv[0]);
  uint64_t low = mixed(number + ((uint64_t)sqlite3_value_int64(argv[1]) << 40));
  uint64_t high = mixed(~low);
  char key[20];
  (void)argc;
  for (int i = 0; i < 16; i++) key[i] = digits[low >> (4 * i) & 15];
  for (int i = 16; i < 20; i++) key[i] = digits[high >> (4 * i - 64) & 15];
  mark_as_text(key, sizeof key);
  sqlite3_result_text(context, key, sizeof key, SQLITE_TRANSIENT);
}

/* The checksum is stored into the copy, so that it cannot be left out. */
static void copied(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const void *from = sqlite3_value_blob(argv[0]);
  size_t size = (size_t)sqlite3_value_bytes(argv[0]);
  unsigned char *copy = size < sizeof(uint64_t) ? NULL : sqlite3_malloc64(size);
  uint64_t checksum;
  (void)argc;
  if (copy == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  memcpy(copy, from, size);
  checksum = XXH3_64bits(copy, size);
  memcpy(copy, &checksum, sizeof checksum);
  sqlite3_result_blob64(context, copy, size, sqlite3_free);
}

static void checksums_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  uint64_t *sum = sqlite3_aggregate_context(context, sizeof *sum);
  const void *bytes = sqlite3_value_blob(argv[0]);
  (void)argc;
  if (sum) *sum ^= XXH3_64bits(bytes, (size_t)sqlite3_value_bytes(argv[0]));
}

static void checksums_final(sqlite3_context *context) {
  uint64_t *sum = sqlite3_aggregate_context(context, sizeof *sum);
  if (sum) sqlite3_result_int64(context, (sqlite3_int64)*sum);
}

static void formula_bytes(sqlite3_context *context, int argc, sqlite3_value **argv) {
  double n = sqlite3_value_double(argv[0]), p = sqlite3_value_double(argv[1]);
  (void)argc;
  sqlite3_result_double(context, -n * log(p) / (log(2) * log(2)) / 8);
}

/* sigma^2 is that of the count, e = rows p, and of the filter's own rate, whose relative deviation
** is `scatter`. Filters here are at most 20 % better than p: below that, less 5 sigma, one would
*not
** be full. */
static void rate_holds(sqlite3_context *context, int argc, sqlite3_value **argv) {
  double count = sqlite3_value_double(argv[0]), p = sqlite3_value_double(argv[2]);
  double e = sqlite3_value_double(argv[1]) * p, scatter = e * sqlite3_value_double(argv[3]);
  double sigma = sqrt(e + scatter * scatter);
  (void)argc;
  sqlite3_result_int(context, count > 0.8 * e - 5 * sigma && count < e + 5 * sigma);
}

int bench_register(sqlite3 *db) {
  static const struct {
    const char *name;
    int arguments;
    void (*scalar)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
  } functions[] = {{"hex_key", 2, hex_key, NULL, NULL},
                   {"copied", 1, copied, NULL, NULL},
                   {"checksums", 1, NULL, checksums_step, checksums_final},
                   {"formula_bytes", 2, formula_bytes, NULL, NULL},
                   {"rate_holds", 4, rate_holds, NULL, NULL}};
  int code = SQLITE_OK;
  for (size_t i = 0; i < sizeof functions / sizeof *functions && code == SQLITE_OK; i++) {
    code = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, functions[i].scalar,
                                      functions[i].step, functions[i].final, NULL);
  }
  return code;
}
