/* table: tests of the bloom table. See table.h.
**
**   table quick | short | long [suite ...]
*/
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <unistd.h>

int sqlite3_bloom_init(sqlite3 *db, char **error, const void *api);

enum Extent extent;
static bool failed;
static char directory[64];

bool test(bool good, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf(good ? "ok " : "not ok ");
  vprintf(format, arguments);
  printf("\n");
  fflush(stdout);
  va_end(arguments);
  failed = failed || !good;
  return good;
}

void stop(const char *what, const char *why) {
  printf("not ok %s: %s\n", what, why);
  fflush(stdout);
  _exit(1);
}

/* Sebastiano Vigna's splitmix64. */
uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

unsigned random_below(uint64_t *state, unsigned limit) {
  return (unsigned)(next_random(state) >> 32) % limit;
}

/* ---- an older SQLite ---- */

int pretended_version;

int sqlite3_libversion_number(void) {
  int major, minor, patch;
  if (pretended_version) return pretended_version;
  if (sscanf(sqlite3_libversion(), "%d.%d.%d", &major, &minor, &patch) != 3) return 0;
  return (major * 1000 + minor) * 1000 + patch;
}

/* ---- files ---- */

const char *scratch(const char *name) {
  static char paths[16][160];
  static unsigned next;
  char *path = paths[next++ % COUNT(paths)];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

const char *fresh(const char *name) {
  static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
  for (unsigned i = 0; i < COUNT(suffixes); i++) {
    char path[200];
    snprintf(path, sizeof path, "%s%s", scratch(name), suffixes[i]);
    unlink(path);
  }
  return scratch(name);
}

static void remove_directory(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  if (directory[0] && system(command) != 0) printf("# %s is left\n", directory);
}

/* ---- connections ---- */

static void nth_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  sqlite3_int64 i = sqlite3_value_int64(argv[0]);
  char text[40];
  int length = snprintf(text, sizeof text, "key %lld", (long long)i);
  (void)argc;
  switch (i & 3) {
    case 0:
      sqlite3_result_int64(context, i);
      break;
    case 1:
      sqlite3_result_text(context, text, length, SQLITE_TRANSIENT);
      break;
    case 2:
      sqlite3_result_double(context, (double)i + 0.5);
      break;
    default:
      sqlite3_result_blob(context, text, length, SQLITE_TRANSIENT);
  }
}

static void absent_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  char text[40];
  (void)argc;
  int length = snprintf(text, sizeof text, "absent %lld", (long long)sqlite3_value_int64(argv[0]));
  sqlite3_result_text(context, text, length, SQLITE_TRANSIENT);
}

static void load_bloom(sqlite3 *db) {
  const char *bloom = getenv("BLOOM");
  char *error = NULL;
  int code;
  if (bloom) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    code = sqlite3_load_extension(db, bloom, NULL, &error);
  } else {
    code = sqlite3_bloom_init(db, &error, NULL);
  }
  if (code != SQLITE_OK) stop("the extension", error ? error : sqlite3_errmsg(db));
}

static sqlite3 *open_with_keys(const char *path, int flags, const char *vfs) {
  const int pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3 *db;
  if (sqlite3_open_v2(path, &db, flags, vfs) != SQLITE_OK) stop(path, sqlite3_errmsg(db));
  sqlite3_create_function(db, "nth", 1, pure, NULL, nth_function, NULL, NULL);
  sqlite3_create_function(db, "absent", 1, pure, NULL, absent_function, NULL, NULL);
  return db;
}

sqlite3 *open_flags(const char *path, int flags, const char *vfs) {
  sqlite3 *db = open_with_keys(path, flags, vfs);
  load_bloom(db);
  return db;
}

sqlite3 *open_database(const char *path) {
  return open_flags(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
}

sqlite3 *open_bare(const char *path) {
  return open_with_keys(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
}

void close_database(sqlite3 *db) {
  int code = sqlite3_close(db);
  if (code == SQLITE_OK) return;
  test(false, "sqlite3_close: code %d, %s", code, sqlite3_errmsg(db));
  sqlite3_close_v2(db);
}

static int execute(sqlite3 *db, const char *format, va_list arguments, bool must) {
  char *sql = sqlite3_vmprintf(format, arguments);
  int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
  if (must && code != SQLITE_OK) test(false, "%.200s: %s", sql, sqlite3_errmsg(db));
  sqlite3_free(sql);
  return code;
}

int try_sql(sqlite3 *db, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int code = execute(db, format, arguments, false);
  va_end(arguments);
  return code;
}

void run(sqlite3 *db, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  execute(db, format, arguments, true);
  va_end(arguments);
}

static int query(sqlite3 *db, const char *sql, char *answer, size_t room) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  snprintf(answer, room, "(no row)");
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(answer, room, "%s", text ? text : "NULL");
    while (code == SQLITE_ROW) code = sqlite3_step(statement);
  }
  if (code != SQLITE_DONE) snprintf(answer, room, "code %d: %s", code, sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  return code;
}

enum {
  ANSWER_BYTES = 4000 /* a small filter in hex fits */
};

static const char *answer_of(sqlite3 *db, const char *sql, int *code) {
  static char answers[8][ANSWER_BYTES];
  static unsigned next;
  char *answer = answers[next++ % COUNT(answers)];
  *code = query(db, sql, answer, ANSWER_BYTES);
  return answer;
}

const char *ask(sqlite3 *db, const char *format, ...) {
  va_list arguments;
  int code;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  const char *answer = answer_of(db, sql, &code);
  sqlite3_free(sql);
  return answer;
}

void expect(sqlite3 *db, const char *name, const char *answer, const char *format, ...) {
  va_list arguments;
  int code;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  const char *got = answer_of(db, sql, &code);
  if (!test(strcmp(got, answer) == 0, "%s", name)) {
    printf("#  %.300s\n#  gives    %s\n#  expected %s\n", sql, got, answer);
  }
  sqlite3_free(sql);
}

void expect_error(sqlite3 *db, const char *name, int code, const char *words, const char *format,
                  ...) {
  va_list arguments;
  int got_code;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  const char *got = answer_of(db, sql, &got_code);
  if (!test((got_code & 0xff) == code && strstr(got, words), "%s", name)) {
    printf("#  %.300s\n#  gives    %s\n#  expected code %d with: %s\n", sql, got, code, words);
  }
  sqlite3_free(sql);
}

/* ---- what holds for a filter and its keys ---- */

bool has_all(sqlite3 *db, const char *table, const char *keys) {
  const char *by_function =
      ask(db, "SELECT count(*) FROM (%s) WHERE bloom_lookup(%Q, key) IS NOT 1", keys, table);
  const char *by_exists = ask(
      db,
      "SELECT count(*) FROM (%s) AS k WHERE NOT EXISTS (SELECT 1 FROM %s AS t WHERE t.key = k.key)",
      keys, table);
  if (strcmp(by_function, "0") == 0 && strcmp(by_exists, "0") == 0) return true;
  printf("#  %s misses by bloom_lookup %s, by EXISTS %s\n", table, by_function, by_exists);
  return false;
}

bool same_as_build(sqlite3 *db, const char *table, const char *keys, const char *sizes) {
  const char *same = ask(db, "SELECT bloom_snapshot(%Q) IS (SELECT bloom_build(key, %s) FROM (%s))",
                         table, sizes, keys);
  if (strcmp(same, "1") == 0) return true;
  printf("#  snapshot against bloom_build: %s\n", same);
  printf("#  %.150s\n#  %.150s\n", ask(db, "SELECT bloom_info(bloom_snapshot(%Q))", table),
         ask(db, "SELECT bloom_info(bloom_build(key, %s)) FROM (%s)", sizes, keys));
  return false;
}

bool absent_within(sqlite3 *db, const char *table, double rate, const char *name) {
  const int asked = 100000;
  const char *answer =
      ask(db,
          "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
          "SELECT sum(bloom_lookup(%Q, absent(i))) FROM c",
          asked, table);
  int passed = answer[0] == 'c' ? asked : atoi(answer);
  double limit = asked * rate + 4 * sqrt(asked * rate * (1 - rate));
  return test(passed <= limit,
              "%s: of %d absent keys %d answer 1, at most %.0f (rate %g and 4 sigma)", name, asked,
              passed, limit, rate);
}

/* ---- suites ---- */

static const struct {
  const char *name;
  void (*run)(void);
} suites[] = {{"input", test_input},   {"damage", test_damage}, {"transactions", test_transactions},
              {"nested", test_nested}, {"house", test_house},   {"growth", test_growth},
              {"faults", test_faults}, {"steps", test_steps},   {"kill", test_kill},
              {"processes", test_processes}};

int main(int argc, char **argv) {
  const char *place = getenv("TMPDIR");
  if (argc < 2) stop("usage", "table quick|short|long [suite ...]");
  extent = argv[1][0] == 'q' ? QUICK : argv[1][0] == 's' ? SHORT : LONG;
  snprintf(directory, sizeof directory, "%s/bloom-table-XXXXXX",
           place && strlen(place) < 30 ? place : "/tmp");
  if (mkdtemp(directory) == NULL) stop(directory, "cannot be made");
  printf("# SQLite %s, %s form\n", sqlite3_libversion(), argv[1]);
  for (unsigned i = 0; i < COUNT(suites); i++) {
    bool wanted = argc == 2;
    for (int j = 2; j < argc; j++) wanted = wanted || strcmp(argv[j], suites[i].name) == 0;
    if (wanted) suites[i].run();
  }
  remove_directory();
  return failed;
}
