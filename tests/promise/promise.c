/* promise: does a filter do what it promises? Statistical tests; see promise.h.
**
**   promise quick | short | long [suite ...]
*/
#include "promise.h"

#include <stdarg.h>

#include "format.h"
#include "key.h"

enum Extent extent;
sqlite3 *db;
static bool failed;

int sqlite3_bloom_init(sqlite3 *connection, char **error, const void *api);

void test(bool good, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf(good ? "ok " : "not ok ");
  vprintf(format, arguments);
  printf("\n");
  fflush(stdout);
  va_end(arguments);
  failed = failed || !good;
}

void stop(const char *what) {
  printf("not ok %s: %s\n", what, db ? sqlite3_errmsg(db) : "");
  exit(1);
}

/* Sebastiano Vigna's splitmix64. */
static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

uint64_t next_random(uint64_t *state) {
  return mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* ---- keys ---- */

const char *const key_names[KEY_KINDS] = {"integers", "hex", "urls"};

enum {
  KEY_BYTES = 80
};

static char *put_hex(char *to, uint64_t number, unsigned digits) {
  for (unsigned i = 0; i < digits; i++) {
    *to++ = "0123456789abcdef"[number >> 60];
    number <<= 4;
  }
  return to;
}

static char *put_decimal(char *to, uint64_t number) {
  char digits[20];
  unsigned count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

/* The text of a key; its length. */
static uint64_t key_text(enum KeyKind kind, uint64_t i, char text[KEY_BYTES]) {
  char *end = text;
  if (kind == HEX) {
    *end++ = 'f'; /* so that none of them spells a number, which would be another key */
    end = put_hex(end, mix(i), 16); /* mix is a bijection */
    end = put_hex(end, mix(~i), 3);
  } else {
    memcpy(end, "https://www.", 12);
    end = put_decimal(end + 12, i % 7);
    memcpy(end, ".example.org/articles/2024/", 27);
    end = put_decimal(end + 27, i);
    memcpy(end, "/index.html", 11);
    end += 11;
  }
  return (uint64_t)(end - text);
}

uint64_t key_hash(enum KeyKind kind, uint64_t i) {
  char text[KEY_BYTES];
  BloomKey key = {BLOOM_TYPE_INTEGER, (int64_t)i, 0, NULL, 0};
  if (kind != INTEGERS) {
    key.type = BLOOM_TYPE_TEXT;
    key.size = key_text(kind, i, text);
    key.bytes = (const uint8_t *)text;
  }
  return bloom_key_hash(&key);
}

/* test_key(kind, i): the same key as an SQL value. */
static void key_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  char text[KEY_BYTES];
  enum KeyKind kind = (enum KeyKind)sqlite3_value_int(argv[0]);
  uint64_t i = (uint64_t)sqlite3_value_int64(argv[1]);
  (void)argc;
  if (kind == INTEGERS) {
    sqlite3_result_int64(context, (sqlite3_int64)i);
  } else {
    sqlite3_result_text(context, text, (int)key_text(kind, i, text), SQLITE_TRANSIENT);
  }
}

/* ---- filters ---- */

sqlite3_stmt *statement(const char *sql) {
  static struct {
    const char *sql;
    sqlite3_stmt *statement;
  } made[64];
  unsigned i = 0;
  if (sql == NULL) {
    for (; i < COUNT(made); i++) sqlite3_finalize(made[i].statement);
    return NULL;
  }
  while (made[i].sql && strcmp(made[i].sql, sql) != 0) {
    if (++i == COUNT(made)) stop("too many statements");
  }
  if (made[i].sql == NULL) {
    made[i].sql = sql;
    if (sqlite3_prepare_v2(db, sql, -1, &made[i].statement, NULL) != SQLITE_OK) stop(sql);
  }
  return made[i].statement;
}

Filter take_filter(sqlite3_stmt *query) {
  Filter filter;
  char reason[BLOOM_REASON_BYTES];
  if (sqlite3_step(query) != SQLITE_ROW) stop(sqlite3_sql(query));
  if (sqlite3_column_type(query, 0) != SQLITE_BLOB) stop("not a blob");
  filter.size = (uint64_t)sqlite3_column_bytes(query, 0);
  filter.bytes = malloc(filter.size);
  if (filter.bytes == NULL) stop("out of memory");
  memcpy(filter.bytes, sqlite3_column_blob(query, 0), filter.size);
  sqlite3_reset(query);
  if (!bloom_decode(filter.bytes, filter.size, &filter.view, reason)) stop(reason);
  if (!bloom_intact(&filter.view)) stop("body not intact");
  return filter;
}

void free_filter(Filter *filter) {
  free(filter->bytes);
  filter->bytes = NULL;
}

Filter build(enum KeyKind kind, uint64_t first, uint64_t count, uint64_t n, double p) {
  sqlite3_stmt *query = statement(
      "WITH RECURSIVE numbers(i) AS (VALUES(?1) UNION ALL SELECT i + 1 FROM numbers WHERE i < ?2) "
      "SELECT bloom_build(test_key(?3, i), ?4, ?5) FROM numbers");
  sqlite3_bind_int64(query, 1, (sqlite3_int64)first);
  sqlite3_bind_int64(query, 2, (sqlite3_int64)(first + count - 1));
  sqlite3_bind_int(query, 3, kind);
  sqlite3_bind_null(query, 4);
  if (n > 0) sqlite3_bind_int64(query, 4, (sqlite3_int64)n);
  sqlite3_bind_double(query, 5, p);
  return take_filter(query);
}

uint64_t ask(const Filter *filter, enum KeyKind kind, uint64_t first, uint64_t count) {
  uint64_t passed = 0;
  for (uint64_t i = 0; i < count; i++) {
    passed += bloom_contains(&filter->view, key_hash(kind, first + i));
  }
  return passed;
}

/* Each of the key's lines is one of `lines`, with t of line_bits cells. From the chances that one
** cell, two cells of one line, and two cells of different lines are free. */
double occupied_variance(const BloomGeometry *g, double keys) {
  long double cells = (long double)bloom_cells(g), size = (long double)g->line_bits;
  long double lines = (long double)g->lines, one = 0, same = 0, apart = 0;
  for (unsigned l = 0; l < g->L; l++) {
    unsigned t = bloom_cells_in_line(g->k, g->L, l);
    long double hit = 1 - powl(1 - 1 / size, t), hit2 = 1 - powl(1 - 2 / size, t);
    one += log1pl(-hit / lines);
    same += log1pl(-hit2 / lines);
    if (lines > 1) apart += log1pl(-2 * hit / lines);
  }
  long double free1 = expl(one * keys), square = free1 * free1;
  long double of_same = square * expm1l((same - 2 * one) * keys);
  long double of_apart = lines > 1 ? square * expm1l((apart - 2 * one) * keys) : 0;
  return (double)(cells * (free1 - square) + cells * (size - 1) * of_same +
                  cells * (cells - size) * of_apart);
}

/* ---- suites ---- */

static const struct {
  const char *name;
  void (*run)(void);
} suites[] = {{"laws", test_laws},           {"properties", test_properties},
              {"rates", test_rates},         {"growth", test_growth},
              {"additions", test_additions}, {"estimates", test_estimates},
              {"dedupe", test_dedupe},       {"memory", test_memory}};

static void open_database(void) {
  if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_bloom_init(db, NULL, NULL) ||
      sqlite3_create_function(db, "test_key", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                              key_function, NULL, NULL)) {
    stop("cannot start");
  }
}

int main(int argc, char **argv) {
  if (argc < 2) stop("usage: promise quick|short|long [suite ...]");
  extent = argv[1][0] == 'q' ? QUICK : argv[1][0] == 's' ? SHORT : LONG;
  printf("# SQLite %s, %s form\n", sqlite3_libversion(), argv[1]);
  open_database();
  for (unsigned i = 0; i < COUNT(suites); i++) {
    bool wanted = argc == 2;
    for (int j = 2; j < argc; j++) wanted = wanted || strcmp(argv[j], suites[i].name) == 0;
    if (wanted) suites[i].run();
  }
  statement(NULL);
  if (sqlite3_close(db) != SQLITE_OK) stop("close");
  return failed;
}
