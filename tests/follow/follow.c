/* follow: tests of of=. See follow.h.
**
**   follow tiny | quick | short | long [suite ...]
**   follow run FILE SQL                            what another process does
*/
#include "follow.h"

#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

enum Extent extent;
static bool failed;
static char directory[64];
static const char *program;

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

/* ---- files and connections ---- */

const char *fresh(const char *name) {
  static const char *const suffixes[] = {"-journal", "-wal", "-shm", ""};
  static char paths[8][100];
  static unsigned next;
  char *path = paths[next++ % COUNT(paths)];
  for (unsigned i = 0; i < COUNT(suffixes); i++) {
    snprintf(path, sizeof paths[0], "%s/%s%s", directory, name, suffixes[i]);
    unlink(path);
  }
  return path;
}

static void remove_directory(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  if (system(command) != 0) printf("# %s is left\n", directory);
}

sqlite3 *open_bare(const char *path) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3 *db;
  if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) stop(path, sqlite3_errmsg(db));
  return db;
}

#ifdef SQLITE_CORE
int sqlite3_bloom_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *api);
#endif

sqlite3 *open_database(const char *path) {
  sqlite3 *db = open_bare(path);
#ifdef SQLITE_CORE
  if (sqlite3_bloom_init(db, NULL, NULL) != SQLITE_OK) stop("the extension", sqlite3_errmsg(db));
#else
  const char *bloom = getenv("BLOOM");
  char *error = NULL;
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  if (sqlite3_load_extension(db, bloom ? bloom : "build/bloom.so", NULL, &error) != SQLITE_OK) {
    stop("the extension", error);
  }
#endif
  return db;
}

void close_database(sqlite3 *db) {
  int code = sqlite3_close(db);
  if (code == SQLITE_OK) return;
  test(false, "sqlite3_close: code %d, %s", code, sqlite3_errmsg(db));
  sqlite3_close_v2(db);
}

int run_elsewhere(const char *path, const char *sql) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    execl(program, program, "run", path, sql, (char *)NULL);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) stop("fork", "no process");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int run_for_another(const char *path, const char *sql) {
  sqlite3 *db = open_database(path);
  int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
  if (code != SQLITE_OK) printf("# %s: %s\n", sql, sqlite3_errmsg(db));
  sqlite3_close(db);
  return code;
}

/* ---- SQL ---- */

static int execute(sqlite3 *db, const char *format, va_list arguments, bool must) {
  char *sql = sqlite3_vmprintf(format, arguments);
  int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
  if (must && code != SQLITE_OK) test(false, "%.300s: %s", sql, sqlite3_errmsg(db));
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

enum {
  ANSWER_BYTES = 20000
};

/* The text is freed. */
static const char *answer_of(sqlite3 *db, char *sql) {
  static char answers[8][ANSWER_BYTES];
  static unsigned next;
  char *answer = answers[next++ % COUNT(answers)];
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  snprintf(answer, ANSWER_BYTES, "(no row)");
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(answer, ANSWER_BYTES, "%s", text ? text : "NULL");
    while (code == SQLITE_ROW) code = sqlite3_step(statement);
  }
  if (code != SQLITE_OK && code != SQLITE_DONE) {
    snprintf(answer, ANSWER_BYTES, "code %d: %s", code, sqlite3_errmsg(db));
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return answer;
}

const char *ask(sqlite3 *db, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  return answer_of(db, sql);
}

void expect(sqlite3 *db, const char *name, const char *answer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  const char *got = answer_of(db, sqlite3_mprintf("%s", sql));
  if (!test(strcmp(got, answer) == 0, "%s", name)) {
    printf("#  %s\n#  gives    %s\n#  expected %s\n", sql, got, answer);
  }
  sqlite3_free(sql);
}

void expect_error(sqlite3 *db, const char *name, const char *words, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  const char *got = answer_of(db, sqlite3_mprintf("%s", sql));
  if (!test(strncmp(got, "code ", 5) == 0 && strstr(got, words), "%s", name)) {
    printf("#  %s\n#  gives    %s\n#  expected an error with: %s\n", sql, got, words);
  }
  sqlite3_free(sql);
}

const char *names_in(sqlite3 *db, const char *schema) {
  return ask(db,
             "SELECT coalesce(group_concat(name, ' '), '') FROM (SELECT name FROM "
             "\"%w\".sqlite_master WHERE name NOT LIKE 'sqlite_%%' ORDER BY name)",
             schema);
}

bool all_found(sqlite3 *db, const char *table, const char *keys, int absent) {
  char *lookup = sqlite3_mprintf("\"%w\"", table);
  const char *by_row = ask(db,
                           "SELECT count(*) FROM (%s) WHERE k IS NOT NULL AND NOT EXISTS "
                           "(SELECT 1 FROM \"%w\" WHERE key = k)",
                           keys, table);
  const char *by_call =
      ask(db, "SELECT count(*) FROM (%s) WHERE bloom_lookup(%Q, k) = 0", keys, lookup);
  const char *extra =
      ask(db,
          "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < "
          "2000) SELECT sum(bloom_lookup(%Q, 'absent ' || i)) FROM c",
          lookup);
  bool good = strcmp(by_row, "0") == 0 && strcmp(by_call, "0") == 0 && extra[0] >= '0' &&
              extra[0] <= '9' && atoi(extra) <= absent;
  if (!good) {
    printf("#  %s: missing by key = %s, by bloom_lookup %s; of 2000 absent found %s\n", table,
           by_row, by_call, extra);
  }
  sqlite3_free(lookup);
  return good;
}

/* ---- the suites ---- */

static const struct {
  const char *name;
  void (*run)(void);
} SUITES[] = {{"mix", test_mix},     {"detach", test_detach},   {"names", test_names},
              {"input", test_input}, {"hostile", test_hostile}, {"life", test_life}};

static bool is_wanted(const char *name, int argc, char **argv) {
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return argc <= 2;
}

int main(int argc, char **argv) {
  static const char *const extents[] = {"tiny", "quick", "short", "long"};
  const char *place = getenv("TMPDIR");
  program = argv[0];
  if (argc == 4 && strcmp(argv[1], "run") == 0) return run_for_another(argv[2], argv[3]);
  while (extent < COUNT(extents) && (argc < 2 || strcmp(argv[1], extents[extent]) != 0)) extent++;
  if (extent == COUNT(extents)) {
    fprintf(stderr, "usage: follow tiny | quick | short | long [suite ...]\n");
    return 2;
  }
  snprintf(directory, sizeof directory, "%.40s/bloom-follow-XXXXXX", place ? place : "/tmp");
  if (mkdtemp(directory) == NULL) stop(directory, "cannot be made");
  printf("# SQLite %s\n", sqlite3_libversion());
  for (unsigned i = 0; i < COUNT(SUITES); i++) {
    if (is_wanted(SUITES[i].name, argc, argv)) SUITES[i].run();
  }
  remove_directory();
  return failed;
}
