/* functions: the list of functions against pragma_function_list, both ways; the result types. */
#include "sqltest.h"

typedef struct Function {
  const char *name;
  int arguments;
  char kind; /* 's' scalar, 'a' aggregate that is no window function */
} Function;

static const Function functions[] = {
    {"bloom_add", -1, 's'},      {"bloom_build", 1, 'a'},     {"bloom_build", 2, 'a'},
    {"bloom_build", 3, 'a'},     {"bloom_build", 4, 'a'},     {"bloom_contains", 2, 's'},
    {"bloom_count", 1, 's'},     {"bloom_explain", 2, 's'},   {"bloom_fpr", 1, 's'},
    {"bloom_info", 1, 's'},      {"bloom_intersect", -1, 's'}, {"bloom_intersect", 1, 'a'},
    {"bloom_key", -1, 's'},      {"bloom_new", 2, 's'},       {"bloom_new", 3, 's'},
    {"bloom_ref", 1, 's'},       {"bloom_remove", -1, 's'},   {"bloom_size", 2, 's'},
    {"bloom_union", -1, 's'},    {"bloom_union", 1, 'a'},     {"bloom_version", 0, 's'}};

/* What reads a bloom table, and so is neither deterministic nor innocuous: not in this list. */
#define OF_TABLES "'bloom_lookup', 'bloom_snapshot', 'bloom_status'"

enum {
  FLAGS = 0x800 | 0x200000 | 0x80000 | 0x1000000,
  PURE = 0x800 | 0x200000, /* SQLITE_DETERMINISTIC, SQLITE_INNOCUOUS */
  INNOCUOUS = 0x200000
};

typedef struct Typed {
  const char *sql;
  const char *type;
} Typed;

static const Typed types[] = {
    {"bloom_build('a')", "blob"},
    {"bloom_build(NULL)", "blob"},
    {"bloom_build(1, 9, 0.1, 'counting')", "blob"},
    {"bloom_contains(bloom_new(9, 0.1), 1)", "integer"},
    {"bloom_contains(bloom_new(9, 0.1), NULL)", "null"},
    {"bloom_ref(bloom_new(9, 0.1))", "null"},
    {"bloom_new(9, 0.1)", "blob"},
    {"bloom_add(bloom_new(9, 0.1), 1)", "blob"},
    {"bloom_remove(bloom_new(9, 0.1, 'counting'), 1)", "blob"},
    {"bloom_union(bloom_new(9, 0.1))", "blob"},
    {"bloom_union(bloom_new(9, 0.1), bloom_new(9, 0.1))", "blob"},
    {"bloom_intersect(bloom_new(9, 0.1))", "blob"},
    {"bloom_intersect(bloom_new(9, 0.1), bloom_new(9, 0.1))", "blob"},
    {"bloom_count(bloom_new(9, 0.1))", "integer"},
    {"bloom_fpr(bloom_new(9, 0.1))", "real"},
    {"bloom_info(bloom_new(9, 0.1))", "text"},
    {"bloom_explain(bloom_new(9, 0.1), 1)", "text"},
    {"bloom_explain(bloom_new(9, 0.1), NULL)", "null"},
    {"bloom_size(9, 0.1)", "integer"},
    {"bloom_key(1)", "blob"},
    {"bloom_key(NULL)", "null"},
    {"bloom_version()", "text"}};

int main(void) {
  sqlite3 *db = open_bloom(":memory:");
  int count = (int)(sizeof functions / sizeof *functions), row = 0;
  sqlite3_stmt *list;
  char number[20];
  sqlite3_prepare_v2(db,
                     "SELECT name, narg, type, flags, enc FROM pragma_function_list "
                     "WHERE name GLOB 'bloom*' AND name NOT IN (" OF_TABLES ") ORDER BY 1, 2",
                     -1, &list, NULL);
  for (; sqlite3_step(list) == SQLITE_ROW; row++) {
    const char *name = (const char *)sqlite3_column_text(list, 0);
    const char *type = (const char *)sqlite3_column_text(list, 2);
    const Function *f = row < count ? &functions[row] : &functions[count - 1];
    int arguments = sqlite3_column_int(list, 1), flags = sqlite3_column_int(list, 3) & FLAGS;
    ok(strcmp(name, f->name) == 0 && arguments == f->arguments && type[0] == f->kind &&
           type[1] == 0 && flags == (f->kind == 's' ? PURE : INNOCUOUS) &&
           strcmp((const char *)sqlite3_column_text(list, 4), "utf8") == 0,
       "function %s with %d arguments, %s, flags %x", name, arguments, type, (unsigned)flags);
  }
  sqlite3_finalize(list);
  ok(row == count, "%d functions of %d", row, count);
  snprintf(number, sizeof number, "%d", 0);
  expect(db, "functions that read a table are neither deterministic nor innocuous",
         "SELECT count(*) FROM pragma_function_list WHERE name IN (" OF_TABLES
         ") AND flags & 0x200800 <> 0", number);
  expect(db, "nothing else is registered",
         "SELECT count(*) FROM pragma_function_list WHERE name LIKE '%bloom%' AND name NOT GLOB "
         "'bloom_*'", number);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char *sql = sqlite3_mprintf("SELECT typeof(%s)", types[i].sql);
    expect(db, types[i].sql, sql, types[i].type);
    sqlite3_free(sql);
  }
  sqlite3_close(db);
  return tests_failed > 0;
}
