/* shell FILE: runs the SQL of a file against a new database in memory, with the extension loaded,
** and prints what the sqlite3 command prints in list mode with `.nullvalue NULL`.
**
** It exists because the sqlite3 command refuses a library of another version: this program runs
** with any libsqlite3.so.0 that LD_LIBRARY_PATH finds. BLOOM names the extension. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *name) {
  FILE *file = fopen(name, "rb");
  char *text;
  long size;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return NULL;
  size = ftell(file);
  rewind(file);
  text = calloc((size_t)size + 1, 1);
  if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = 0;
  fclose(file);
  return text;
}

static int run_statement(sqlite3 *db, const char **sql) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, *sql, -1, &statement, sql);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    if (statement == NULL) return SQLITE_OK;
    code = sqlite3_step(statement);
    for (int i = 0; code == SQLITE_ROW && i < sqlite3_column_count(statement); i++) {
      const char *text = (const char *)sqlite3_column_text(statement, i);
      printf("%s%s", i > 0 ? "|" : "", text ? text : "NULL");
    }
    if (code == SQLITE_ROW) printf("\n");
  }
  code = code == SQLITE_DONE ? SQLITE_OK : code;
  if (code != SQLITE_OK) fprintf(stderr, "Error: %s\n", sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  return code;
}

int main(int argc, char **argv) {
  sqlite3 *db;
  char *error = NULL, *text = argc > 1 ? read_file(argv[1]) : NULL;
  const char *sql = text, *bloom = getenv("BLOOM");
  int failed = 0;
  if (text == NULL || sqlite3_open(":memory:", &db) != SQLITE_OK) return 2;
  sqlite3_enable_load_extension(db, 1);
  if (sqlite3_load_extension(db, bloom ? bloom : "build/bloom.so", NULL, &error) != SQLITE_OK) {
    fprintf(stderr, "%s\n", error);
    return 2;
  }
  while (*sql && !failed) failed = run_statement(db, &sql) != SQLITE_OK;
  sqlite3_close(db);
  free(text);
  return failed;
}
