/* helpers.c: the SQL functions of the bench: keys, floors and checks. See bench.h. */
#define _DEFAULT_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hash.h"
#include "platform.h"

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

/* Different for every pair of i and seed. */
static uint64_t mixed_pair(sqlite3_value **argv) {
  uint64_t number = (uint64_t)sqlite3_value_int64(argv[0]);
  return mixed(number + ((uint64_t)sqlite3_value_int64(argv[1]) << 40));
}

static void hex_key(sqlite3_context *context, int argc, sqlite3_value **argv) {
  static const char digits[] = "0123456789abcdef";
  uint64_t low = mixed_pair(argv), high = mixed(~low);
  char key[20];
  (void)argc;
  for (int i = 0; i < 16; i++) key[i] = digits[low >> (4 * i) & 15];
  for (int i = 16; i < 20; i++) key[i] = digits[high >> (4 * i - 64) & 15];
  mark_as_text(key, sizeof key);
  sqlite3_result_text(context, key, sizeof key, SQLITE_TRANSIENT);
}

/* 16 digits, different for every pair of i below 2^40 and seed below 2^10: a bijection of 50 bits.
*/
static uint64_t sixteen_digits(sqlite3_value **argv) {
  const uint64_t bits = (UINT64_C(1) << 50) - 1;
  uint64_t x =
      (uint64_t)sqlite3_value_int64(argv[0]) + ((uint64_t)sqlite3_value_int64(argv[1]) << 40);
  for (int round = 0; round < 2; round++) {
    x = (x ^ x >> 25) * UINT64_C(0xbf58476d1ce4e5b9) & bits;
  }
  return UINT64_C(1000000000000000) + (x ^ x >> 25);
}

static void number_key(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  sqlite3_result_int64(context, (sqlite3_int64)sixteen_digits(argv));
}

static void digit_key(sqlite3_context *context, int argc, sqlite3_value **argv) {
  char *key = sqlite3_mprintf("%llu", sixteen_digits(argv));
  (void)argc;
  sqlite3_result_text(context, key, -1, sqlite3_free);
}

static void blob_key(sqlite3_context *context, int argc, sqlite3_value **argv) {
  uint64_t key[2] = {mixed_pair(argv), 0};
  (void)argc;
  key[1] = mixed(~key[0]);
  sqlite3_result_blob(context, key, sizeof key, SQLITE_TRANSIENT);
}

static void url_key(sqlite3_context *context, int argc, sqlite3_value **argv) {
  char *key = sqlite3_mprintf("https://www.example.com/articles/%016llx.html", mixed_pair(argv));
  (void)argc;
  sqlite3_result_text(context, key, -1, sqlite3_free);
}

static void hash64(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const void *key = sqlite3_value_text(argv[0]);
  (void)argc;
  sqlite3_result_int64(context,
                       (sqlite3_int64)XXH3_64bits(key, (size_t)sqlite3_value_bytes(argv[0])));
}

static void no_work(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_int(context, 0);
}

/* The first argument's bytes, as lines of the cache in large pages, kept for a statement. */
typedef struct Lines {
  uint64_t count;
  unsigned char *first;
} Lines;

static void free_lines(void *memory) {
  Lines *lines = memory;
  munmap(lines->first, lines->count * 64);
  sqlite3_free(lines);
}

static void keep_lines(sqlite3_context *context, sqlite3_value *bytes) {
  Lines *lines = sqlite3_malloc(sizeof *lines);
  uint64_t size = (uint64_t)sqlite3_value_bytes(bytes) / 64 * 64;
  /* Pages that the heap has used before stay small. */
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (lines == NULL || memory == MAP_FAILED) abort();
  large_pages(memory, size);
  memcpy(memory, sqlite3_value_blob(bytes), size);
  lines->count = size / 64;
  lines->first = memory;
  sqlite3_set_auxdata(context, 0, lines, free_lines);
}

/* The line's place depends on the key's bytes, of which there are 8 at least, and the answer on the
** line's. */
static void line_read(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Lines *lines = sqlite3_get_auxdata(context, 0);
  uint64_t key, word = 0;
  (void)argc;
  memcpy(&key, sqlite3_value_text(argv[1]), sizeof key);
  if (lines) {
    memcpy(&word, lines->first + ((mixed(key) >> 32) * lines->count >> 32) * 64, sizeof word);
  } else {
    keep_lines(context, argv[0]);
  }
  sqlite3_result_int(context, word == UINT64_MAX);
}

static void plan(sqlite3_context *context, int argc, sqlite3_value **argv) {
  char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sqlite3_value_text(argv[0]));
  sqlite3_str *text = sqlite3_str_new(NULL);
  sqlite3_stmt *statement = NULL;
  (void)argc;
  sqlite3_prepare_v2(sqlite3_context_db_handle(context), sql, -1, &statement, NULL);
  while (statement && sqlite3_step(statement) == SQLITE_ROW) {
    sqlite3_str_appendf(text, "%s; ", sqlite3_column_text(statement, 3));
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  sqlite3_result_text(context, sqlite3_str_finish(text), -1, sqlite3_free);
}

/* The next query reads the database from the disk. */
static void forget_pages(sqlite3_context *context, int argc, sqlite3_value **argv) {
  sqlite3 *db = sqlite3_context_db_handle(context);
  int file = open(sqlite3_db_filename(db, "main"), O_RDWR);
  bool ok = file >= 0 && fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
  (void)argc;
  (void)argv;
  if (file >= 0) close(file);
  sqlite3_db_release_memory(db);
  if (!ok) sqlite3_result_error(context, "cannot drop the pages of the file", -1);
}

/* The number that a Python script prints. */
static void python(sqlite3_context *context, int argc, sqlite3_value **argv) {
  char *command = sqlite3_mprintf("/usr/bin/python3 %s %lld", sqlite3_value_text(argv[0]),
                                  sqlite3_value_int64(argv[1]));
  FILE *output = popen(command, "r");
  char line[100] = "";
  bool ok = output && fgets(line, sizeof line, output);
  (void)argc;
  sqlite3_free(command);
  if (output && pclose(output) != 0) ok = false;
  if (ok) {
    sqlite3_result_double(context, strtod(line, NULL));
  } else {
    sqlite3_result_error(context, "the script failed", -1);
  }
}

/* Milliseconds from before a connection is opened until it is ready, `library` loaded unless NULL;
** less than 0: it could not be loaded. */
static double opening(const char *library) {
  struct timespec start, end;
  sqlite3 *db;
  clock_gettime(CLOCK_MONOTONIC, &start);
  bool ok = sqlite3_open(":memory:", &db) == SQLITE_OK;
  if (ok && library) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    ok = sqlite3_load_extension(db, library, "sqlite3_bloom_init", NULL) == SQLITE_OK;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  sqlite3_close(db);
  if (!ok) return -1;
  return (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
}

static int compare_doubles(const void *a, const void *b) {
  double first = *(const double *)a, second = *(const double *)b;
  return (first > second) - (first < second);
}

/* The bench has the library in memory already, so a copy is loaded: for each connection anew. */
static void loading(sqlite3_context *context, int argc, sqlite3_value **argv) {
  enum {
    RUNS = 101
  };
  const char *build = getenv("B") ? getenv("B") : "build";
  char *copy = sqlite3_mprintf("%s/bench-loaded.so", build);
  char *command = sqlite3_mprintf("cp '%s/bloom.so' '%s'", build, copy);
  double more[RUNS] = {-1};
  bool ok = system(command) == 0;
  (void)argc, (void)argv;
  for (int i = 0; i < RUNS && ok; i++) {
    double without = opening(NULL), with = opening(copy);
    more[i] = with - without;
    ok = without >= 0 && with >= 0;
  }
  unlink(copy);
  sqlite3_free(copy);
  sqlite3_free(command);
  qsort(more, RUNS, sizeof *more, compare_doubles);
  if (ok) {
    sqlite3_result_double(context, more[RUNS / 2]);
  } else {
    sqlite3_result_error(context, "the library could not be loaded", -1);
  }
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
** not be full. */
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
                   {"number_key", 2, number_key, NULL, NULL},
                   {"digit_key", 2, digit_key, NULL, NULL},
                   {"blob_key", 2, blob_key, NULL, NULL},
                   {"url_key", 2, url_key, NULL, NULL},
                   {"hash64", 1, hash64, NULL, NULL},
                   {"no_work", 2, no_work, NULL, NULL},
                   {"line_read", 2, line_read, NULL, NULL},
                   {"plan", 1, plan, NULL, NULL},
                   {"forget_pages", 0, forget_pages, NULL, NULL},
                   {"python", 2, python, NULL, NULL},
                   {"loading", 0, loading, NULL, NULL},
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
