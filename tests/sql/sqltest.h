/* sqltest.h: what the C drivers of this folder share. TAP on stdout, one connection at a time.
**
** BLOOM names the extension to load; with -DSQLITE_CORE it is compiled in. The SQL functions
**   patch(blob, offset, bytes)   the blob with bytes replaced
**   reseal(filter)               the filter with a right header checksum
** make the damaged filters. */
#ifndef SQLTEST_H
#define SQLTEST_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static int tests_failed;

static void ok(int good, const char *format, ...) {
  va_list arguments;
  printf(good ? "ok " : "not ok ");
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  if (!good) tests_failed++;
}

static inline void patch_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  int size = sqlite3_value_bytes(argv[0]), at = sqlite3_value_int(argv[1]);
  int count = sqlite3_value_bytes(argv[2]);
  unsigned char *bytes = sqlite3_malloc(size + 1);
  (void)argc;
  if (at < 0) at += size;
  if (at < 0 || at + count > size) abort();
  memcpy(bytes, sqlite3_value_blob(argv[0]), (size_t)size);
  memcpy(bytes + at, sqlite3_value_blob(argv[2]), (size_t)count);
  sqlite3_result_blob(context, bytes, size, sqlite3_free);
}

static inline void reseal_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  int size = sqlite3_value_bytes(argv[0]);
  unsigned char *bytes = sqlite3_malloc(size + 1);
  size_t covered;
  unsigned long long hash;
  (void)argc;
  memcpy(bytes, sqlite3_value_blob(argv[0]), (size_t)size);
  covered = 32 + 32u * bytes[9];
  if (covered + 8 > (size_t)size) abort();
  hash = XXH3_64bits(bytes, covered);
  for (int i = 0; i < 8; i++) bytes[covered + (size_t)i] = (unsigned char)(hash >> 8 * i);
  sqlite3_result_blob(context, bytes, size, sqlite3_free);
}

#ifdef SQLITE_CORE
int sqlite3_bloom_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *api);
#endif

static inline int load_bloom(sqlite3 *db) {
#ifdef SQLITE_CORE
  return sqlite3_bloom_init(db, NULL, NULL);
#else
  const char *bloom = getenv("BLOOM");
  char *error = NULL;
  int code;
  sqlite3_enable_load_extension(db, 1);
  code = sqlite3_load_extension(db, bloom ? bloom : "build/bloom.so", NULL, &error);
  if (code != SQLITE_OK) {
    printf("not ok loading the extension: %s\n", error);
    sqlite3_free(error);
    exit(1);
  }
  return code;
#endif
}

static inline sqlite3 *open_bloom(const char *file) {
  sqlite3 *db;
  if (sqlite3_open(file, &db) != SQLITE_OK) exit(2);
  load_bloom(db);
  sqlite3_create_function(db, "patch", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, patch_function,
                          NULL, NULL);
  sqlite3_create_function(db, "reseal", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                          reseal_function, NULL, NULL);
  return db;
}

/* Runs SQL that must succeed. */
static inline void run_sql(sqlite3 *db, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK) return;
  ok(0, "%s: %s", sql, error);
  sqlite3_free(error);
}

/* First column of the first row as text, "NULL" for NULL, "(no row)", or "code N: message". The
** result is valid until the next call. */
static inline const char *ask(sqlite3 *db, const char *sql) {
  static char answer[2000];
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  strcpy(answer, "(no row)");
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(answer, sizeof answer, "%s", text ? text : "NULL");
    while (code == SQLITE_ROW) code = sqlite3_step(statement);
  }
  if (code != SQLITE_DONE) {
    snprintf(answer, sizeof answer, "code %d: %s", code, sqlite3_errmsg(db));
  }
  sqlite3_finalize(statement);
  return answer;
}

static inline void expect(sqlite3 *db, const char *name, const char *sql, const char *answer) {
  const char *got = ask(db, sql);
  int same = strcmp(got, answer) == 0;
  ok(same, "%s", name);
  if (!same) printf("#  %s\n#  gives    %s\n#  expected %s\n", sql, got, answer);
}

#endif
