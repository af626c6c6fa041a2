/* Runs the SQL examples of README.md and compares what they say: readme-blocks README.md bloom.so
**
** Every block fenced ```sql runs, from the top of the file to its end, on one connection with the
** extension loaded: what an earlier block made is there. What a statement must give stands behind
** its semicolon:
**
**   SELECT 1, NULL UNION ALL SELECT 2, 'b';      -- => 1|NULL; 2|b
**   SELECT bloom_contains(NULL, 1);
**   -- => ERROR bloom_contains: the filter is NULL
**   --    and so on
**
** Columns are joined by |, rows by "; ". Lines that continue start with "--    ". Blanks are not
** compared, since lines may be broken anywhere. A statement without `=>` must only run. Of the
** shell's dot commands `.parameter set ?1 "SQL expression"` is carried out, `.load` and `.timer`
** are passed over, others are failures.
**
** Prints one TAP line a block. Then: every function whose name begins with bloom_ has its section
** `### bloom_...`, and every such section its function.
*/
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;
static sqlite3_value *parameter;   /* ?1 */
static sqlite3_stmt *parameter_of; /* keeps the statement that made it */
static int failures, blocks, examples;

static void fail(int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *message = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  printf("# line %d: %s\n", line, message);
  sqlite3_free(message);
  failures++;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  long size;
  char *text;
  if (file == NULL || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
    printf("not ok %s cannot be read\n", path);
    exit(1);
  }
  rewind(file);
  text = malloc((size_t)size + 1);
  if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size) exit(2);
  text[size] = 0;
  fclose(file);
  return text;
}

static const char *end_of_line(const char *at) {
  while (*at && *at != '\n') at++;
  return at;
}

static const char *next_line(const char *at) {
  at = end_of_line(at);
  return *at ? at + 1 : at;
}

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* The expectation behind a statement, in memory of sqlite3_malloc, or NULL. *at moves behind it. */
static char *expectation(const char **at) {
  const char *from = *at;
  sqlite3_str *text;
  while (*from == ' ' || *from == '\n') from++;
  if (!starts(from, "-- => ")) return NULL;
  text = sqlite3_str_new(NULL);
  from += strlen("-- => ");
  for (;;) {
    const char *end = end_of_line(from);
    sqlite3_str_append(text, from, (int)(end - from));
    from = *end ? end + 1 : end;
    if (!starts(from, "--    ")) break;
    from += strlen("--    ");
    sqlite3_str_appendchar(text, 1, ' ');
  }
  *at = from;
  return sqlite3_str_finish(text);
}

/* Equal but for blanks. */
static bool same(const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a == ' ') a++;
    while (*b == ' ') b++;
    if (*a != *b) return false;
    if (*a == 0) return true;
  }
}

static void append_row(sqlite3_str *text, sqlite3_stmt *statement, int row) {
  if (row > 0) sqlite3_str_appendall(text, "; ");
  for (int i = 0; i < sqlite3_column_count(statement); i++) {
    const char *value = (const char *)sqlite3_column_text(statement, i);
    if (i > 0) sqlite3_str_appendchar(text, 1, '|');
    sqlite3_str_appendall(text, value ? value : "NULL");
  }
}

/* Runs one statement to its end: its rows, or ERROR and the message. */
static char *run(sqlite3_stmt *statement) {
  sqlite3_str *text = sqlite3_str_new(NULL);
  int code, row = 0;
  if (sqlite3_bind_parameter_count(statement) > 0 && parameter) {
    sqlite3_bind_value(statement, 1, parameter);
  }
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) append_row(text, statement, row++);
  if (code != SQLITE_DONE) {
    sqlite3_str_reset(text);
    sqlite3_str_appendf(text, "ERROR %s", sqlite3_errmsg(db));
  }
  return sqlite3_str_finish(text);
}

static const char *statement(const char *at, const char *end, int line) {
  sqlite3_stmt *statement = NULL;
  const char *tail = at;
  char *got, *want;
  if (sqlite3_prepare_v2(db, at, (int)(end - at), &statement, &tail) != SQLITE_OK) {
    /* SQLite does not say where a statement ends that it cannot read: at the line's semicolon */
    got = sqlite3_mprintf("ERROR %s", sqlite3_errmsg(db));
    tail = strchr(at, ';');
    tail = tail ? tail + 1 : end;
  } else if (statement == NULL) {
    return end;
  } else {
    got = run(statement);
    sqlite3_finalize(statement);
  }
  want = expectation(&tail);
  if (want) examples++;
  if (want && !same(want, got ? got : "")) {
    fail(line, "expected %s\n#   got %s\n#   of %.*s", want, got, (int)(tail - at), at);
  } else if (want == NULL && got && starts(got, "ERROR ")) {
    fail(line, "%s\n#   of %.*s", got, (int)(tail - at), at);
  }
  sqlite3_free(want);
  sqlite3_free(got);
  return tail;
}

/* .parameter set ?1 "expression" */
static void set_parameter(const char *at, int line) {
  const char *open = strchr(at, '"'), *end = end_of_line(at);
  char *sql;
  if (!starts(at, ".parameter set ?1 \"") || end[-1] != '"') {
    fail(line, "not understood: %.*s", (int)(end - at), at);
    return;
  }
  sql = sqlite3_mprintf("SELECT %.*s", (int)(end - open - 2), open + 1);
  sqlite3_finalize(parameter_of);
  sqlite3_value_free(parameter);
  parameter = NULL;
  parameter_of = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &parameter_of, NULL) == SQLITE_OK &&
      sqlite3_step(parameter_of) == SQLITE_ROW) {
    parameter = sqlite3_value_dup(sqlite3_column_value(parameter_of, 0));
  } else {
    fail(line, "%s\n#   of %s", sqlite3_errmsg(db), sql);
  }
  sqlite3_reset(parameter_of);
  sqlite3_free(sql);
}

static int line_of(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

static void block(const char *text, const char *at, const char *end, const char *heading) {
  int before = failures, from = line_of(text, at);
  while (at < end) {
    int line;
    while (at < end && (*at == '\n' || *at == ' ')) at++;
    if (at == end) break;
    line = line_of(text, at);
    if (*at != '.') {
      at = statement(at, end, line);
      continue;
    }
    if (starts(at, ".parameter set ")) {
      set_parameter(at, line);
    } else if (!starts(at, ".load ") && !starts(at, ".timer ")) {
      fail(line, "a dot command that this test does not know");
    }
    at = next_line(at);
  }
  blocks++;
  printf("%s README.md:%d %.*s\n", failures == before ? "ok" : "not ok", from,
         (int)(end_of_line(heading) - heading), heading);
  fflush(stdout);
}

static void run_blocks(const char *text) {
  const char *heading = "";
  for (const char *at = text; *at; at = next_line(at)) {
    if (*at == '#') heading = at;
    if (!starts(at, "```")) continue;
    bool sql = starts(at, "```sql\n");
    const char *from = at = next_line(at);
    while (*at && !starts(at, "```")) at = next_line(at);
    if (sql) block(text, from, at, heading);
  }
}

static void exec(const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail(0, "%s", sqlite3_errmsg(db));
}

/* `### bloom_name` into the table sections. */
static void collect_sections(const char *text) {
  sqlite3_stmt *insert;
  exec("CREATE TEMP TABLE sections(name)");
  if (sqlite3_prepare_v2(db, "INSERT INTO sections VALUES(?1)", -1, &insert, NULL)) exit(2);
  for (; *text; text = next_line(text)) {
    if (!starts(text, "### bloom_")) continue;
    sqlite3_bind_text(insert, 1, text + 4, (int)strspn(text + 4, "abcdefghijklmnopqrstuvwxyz_"),
                      SQLITE_TRANSIENT);
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
}

static void check_none(const char *name, const char *sql) {
  sqlite3_stmt *query;
  int rows = 0;
  if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK) {
    printf("not ok %s: %s\n", name, sqlite3_errmsg(db));
    failures++;
    return;
  }
  while (sqlite3_step(query) == SQLITE_ROW) {
    printf("# %s\n", sqlite3_column_text(query, 0));
    rows++;
  }
  sqlite3_finalize(query);
  printf("%s %s\n", rows == 0 ? "ok" : "not ok", name);
  failures += rows;
}

static void check_sections(const char *text) {
  collect_sections(text);
  check_none(
      "every function has its section",
      "SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE 'bloom\\_%' ESCAPE '\\'"
      " EXCEPT SELECT name FROM sections");
  check_none("every section has its function",
             "SELECT name FROM sections EXCEPT SELECT name FROM pragma_function_list");
  check_none("no section comes twice", "SELECT name FROM sections GROUP BY 1 HAVING count(*) > 1");
}

int main(int argc, char **argv) {
  char *text, *error = NULL;
  if (argc != 3) return 2;
  text = read_file(argv[1]);
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_enable_load_extension(db, 1) != SQLITE_OK ||
      sqlite3_load_extension(db, argv[2], NULL, &error) != SQLITE_OK) {
    printf("not ok %s: %s\n", argv[2], error ? error : sqlite3_errmsg(db));
    return 1;
  }
  run_blocks(text);
  check_sections(text);
  /* A fence that is spelt otherwise must not empty the test. */
  printf("%s at least 45 blocks and 110 examples ran (%d and %d)\n",
         blocks >= 45 && examples >= 110 ? "ok" : "not ok", blocks, examples);
  failures += blocks < 45 || examples < 110;
  sqlite3_value_free(parameter);
  sqlite3_finalize(parameter_of);
  sqlite3_close(db);
  free(text);
  return failures > 0;
}
