/* older.c: what SQLite 3.34 lacks and the tests need, linked into the library: functions that the
** shell, which is newer, calls for its messages and counts; and SQL's mathematical functions. */
#include <math.h>
#include <sqlite3.h>
#include <stddef.h>

int sqlite3_error_offset(sqlite3 *db) {
  (void)db;
  return -1;
}

int sqlite3_stmt_explain(sqlite3_stmt *statement, int mode) {
  (void)statement, (void)mode;
  return SQLITE_ERROR;
}

sqlite3_int64 sqlite3_changes64(sqlite3 *db) {
  return sqlite3_changes(db);
}

sqlite3_int64 sqlite3_total_changes64(sqlite3 *db) {
  return sqlite3_total_changes(db);
}

static void one_argument(sqlite3_context *context, int argc, sqlite3_value **argv) {
  double (*function)(double) = *(double (**)(double))sqlite3_user_data(context);
  (void)argc;
  sqlite3_result_double(context, function(sqlite3_value_double(argv[0])));
}

static void power(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  sqlite3_result_double(context, pow(sqlite3_value_double(argv[0]), sqlite3_value_double(argv[1])));
}

static int register_mathematics(sqlite3 *db) {
  static struct {
    const char *name;
    double (*function)(double);
  } functions[] = {{"ln", log},    {"log2", log2}, {"exp", exp},
                   {"sqrt", sqrt}, {"ceil", ceil}, {"floor", floor}};
  for (int i = 0; i < 6; i++) {
    sqlite3_create_function(db, functions[i].name, 1, SQLITE_UTF8, &functions[i].function,
                            one_argument, NULL, NULL);
  }
  return sqlite3_create_function(db, "pow", 2, SQLITE_UTF8, NULL, power, NULL, NULL);
}

/* The library calls this when it starts: -DSQLITE_EXTRA_INIT=more_functions. */
int more_functions(const char *unused) {
  (void)unused;
  return sqlite3_auto_extension((void (*)(void))register_mathematics);
}
