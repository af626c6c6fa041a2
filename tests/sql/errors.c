/* errors: the exact text and code of every error of every function; nothing leaks.
**
** The sqlite3 command words errors differently by version, so they are asked for in C. Each case
** is SQL and its error message; SQLITE_ERROR unless the text is one of SQLite's own. Each case
** runs twice, and after the second time sqlite3_memory_used() is what it was after the first. */
#include "sqltest.h"

#include <dlfcn.h>

/* The struct of functions that SQLite hands to an extension, without the macros that call it. */
#ifdef SQLITE_CORE
#include <sqlite3ext.h>
#else
#define SQLITE_CORE
#include <sqlite3ext.h>
#undef SQLITE_CORE
#endif

typedef struct Case {
  const char *sql;   /* an expression; f, c, e, m, d are the filters of setup() */
  const char *error; /* the message */
} Case;

#define SWAPPED "the filter is the first argument and the key the second: swapped?"
#define IS_NULL \
  "the filter is NULL (a bloom_ref is lost unless it is the direct argument; for rows without a " \
  "filter write CASE WHEN filter IS NULL THEN 1 ELSE bloom_contains(filter, key) END)"
#define N_BUILD "it must be an integer of at least 1, or NULL to size the filter by its keys"
#define N_RULE "it must be an integer of at least 1"
#define P_RULE "it must be a number from 1e-9 to below 1"
#define BLOB_RULE "it must be a blob made by bloom_build"
#define KIND_RULE "it must be 'plain' or 'counting'"
#define HEADER_SUM "damaged filter: the header's checksum does not match"
#define BODY_SUM "damaged filter: the body's checksum does not match"
#define GROWN \
  "a filter that outgrew its n has a key in any of its layers, so two of them cannot be " \
  "intersected: build both with a larger n"
#define ORDER "are they swapped? n comes first"

/* Filters of n = 1 and 2, 3 ... keys, below `end` of them. */
#define OF_EACH_SIZE(end) \
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < " #end " - 1) " \
  "SELECT bloom_build(key.i, 1, 0.01) AS f FROM c AS size JOIN c AS key ON key.i <= size.i " \
  "WHERE size.i > 1 GROUP BY size.i"

static const Case parameter_cases[] = {
    {"bloom_build(1, 0)", "bloom_build: n is 0, " N_BUILD},
    {"bloom_build(1, -1)", "bloom_build: n is -1, " N_BUILD},
    {"bloom_build(1, 1.5)", "bloom_build: n is 1.5, " N_BUILD},
    {"bloom_build(1, 0.5)", "bloom_build: n is 0.5, " N_BUILD},
    {"bloom_build(1, 1, 2)", "bloom_build: p is 2, " P_RULE},
    {"bloom_build(1, 1.5, 2)", "bloom_build: n is 1.5, " N_BUILD},
    {"bloom_build(1, -2.5)", "bloom_build: n is -2.5, " N_BUILD},
    {"bloom_build(1, 9e999)", "bloom_build: n is Inf, " N_BUILD},
    {"bloom_build(1, 1e19)", "bloom_build: n is 1e+19, " N_BUILD},
    {"bloom_build(1, 9223372036854775808.0)", "bloom_build: n is 9.22337203685478e+18, " N_BUILD},
    {"bloom_build(1, 100, 9.999999999985e-10)", "bloom_build: p is 9.999999999985e-10, " P_RULE},
    {"bloom_build(1, 'abc')", "bloom_build: n is the text 'abc', " N_BUILD},
    {"bloom_build(1, '100')", "bloom_build: n is the text '100', " N_BUILD},
    {"bloom_build(1, 'a' || char(127))", "bloom_build: n is a text of 2 bytes, " N_BUILD},
    {"bloom_build(1, char(10))", "bloom_build: n is a text of 1 bytes, " N_BUILD},
    {"bloom_build(1, x'00')", "bloom_build: n is a blob of 1 bytes, " N_BUILD},
    {"bloom_build(NULL, 0)", "bloom_build: n is 0, " N_BUILD},
    {"bloom_build(1, 100, 0)", "bloom_build: p is 0, " P_RULE},
    {"bloom_build(1, 100, 0.0)", "bloom_build: p is 0, " P_RULE},
    {"bloom_build(1, 100, 1)", "bloom_build: p is 1, " P_RULE},
    {"bloom_build(1, 100, 1.0)", "bloom_build: p is 1, " P_RULE},
    {"bloom_build(1, 100, 2)", "bloom_build: p is 2, " P_RULE},
    {"bloom_build(1, 100, -1)", "bloom_build: p is -1, " P_RULE},
    {"bloom_build(1, 100, -0.1)", "bloom_build: p is -0.1, " P_RULE},
    {"bloom_build(1, 100, 9e999)", "bloom_build: p is Inf, " P_RULE},
    {"bloom_build(1, 100, 1e-30)", "bloom_build: p is 1e-30, " P_RULE},
    {"bloom_build(1, 100, 9.9e-10)", "bloom_build: p is 9.9e-10, " P_RULE},
    {"bloom_build(1, 100, 0.99999999)", "bloom_build: p is 0.99999999, " P_RULE},
    {"bloom_build(1, 100, 'abc')", "bloom_build: p is the text 'abc', " P_RULE},
    {"bloom_build(1, 100, '0.01')", "bloom_build: p is the text '0.01', " P_RULE},
    {"bloom_build(1, 100, x'00ff')", "bloom_build: p is a blob of 2 bytes, " P_RULE},
    {"bloom_build(1, 0.01, 1000)", "bloom_build: n is 0.01 and p is 1000: " ORDER},
    {"bloom_build(1, 0.5, 1)", "bloom_build: n is 0.5 and p is 1: " ORDER},
    {"bloom_build(1, 9, 0.1, 'x')", "bloom_build: kind is the text 'x', " KIND_RULE},
    {"bloom_build(1, 9, 0.1, NULL)", "bloom_build: kind is NULL, " KIND_RULE},
    {"bloom_build(1, 9, 0.1, 1)", "bloom_build: kind is 1, " KIND_RULE},
    {"bloom_new(0, 0.1)", "bloom_new: n is 0, " N_RULE},
    {"bloom_new(-5, 0.1)", "bloom_new: n is -5, " N_RULE},
    {"bloom_new(NULL, 0.1)", "bloom_new: n is NULL, " N_RULE},
    {"bloom_new('9', 0.1)", "bloom_new: n is the text '9', " N_RULE},
    {"bloom_new(0.5, 0.5)", "bloom_new: n is 0.5, " N_RULE},
    {"bloom_new(9, 1)", "bloom_new: p is 1, " P_RULE},
    {"bloom_new(0.1, 9)", "bloom_new: n is 0.1 and p is 9: " ORDER},
    {"bloom_new(9, 0.1, 'x')", "bloom_new: kind is the text 'x', " KIND_RULE},
    {"bloom_size(0, 0.1)", "bloom_size: n is 0, " N_RULE},
    {"bloom_size(NULL, 0.1)", "bloom_size: n is NULL, " N_RULE},
    {"bloom_size(1.5, 0.1)", "bloom_size: n is 1.5, " N_RULE},
    {"bloom_size(9, 1e-10)", "bloom_size: p is 1e-10, " P_RULE},
    {"bloom_size(0.1, 9)", "bloom_size: n is 0.1 and p is 9: " ORDER},
    /* within a group */
    {"bloom_build(v, v * 100) FROM two", "bloom_build: n changes within a group: 100 and 200"},
    {"bloom_build(v, 9, v / 10.0) FROM two", "bloom_build: p changes within a group: 0.1 and 0.2"},
    {"bloom_build(v, 9, 0.1, iif(v = 1, 'plain', 'counting')) FROM two",
     "bloom_build: kind changes within a group"},
    {"bloom_build(v, iif(v = 1, 5, NULL)) FROM two",
     "bloom_build: n changes within a group: 5 and NULL"},
    {"bloom_build(v, iif(v = 1, NULL, 5)) FROM two",
     "bloom_build: n changes within a group: NULL and 5"},
    {"bloom_build(v, iif(v = 1, 5, 0)) FROM two", "bloom_build: n is 0, " N_BUILD},
    {"bloom_build(v, iif(v = 1, NULL, 0)) FROM two", "bloom_build: n is 0, " N_BUILD},
    {"bloom_build(v, 9, iif(v = 1, NULL, 0.0)) FROM two", "bloom_build: p is 0, " P_RULE},
    {"bloom_build(v, 9, iif(v = 1, NULL, 0.1)) FROM two",
     "bloom_build: p changes within a group: 0.01 and 0.1"},
    {"bloom_build(NULL, v) FROM two", "bloom_build: n changes within a group: 1 and 2"},
    {NULL, NULL}};

/* Every function that takes a filter, with %s as the filter. */
static const char *const filter_calls[][2] = {{"bloom_contains", "bloom_contains(%s, 1)"},
                                              {"bloom_ref", "bloom_ref(%s)"},
                                              {"bloom_add", "bloom_add(%s, 1)"},
                                              {"bloom_remove", "bloom_remove(%s, 1)"},
                                              {"bloom_union", "bloom_union(%s, f)"},
                                              {"bloom_union", "bloom_union(f, %s)"},
                                              {"bloom_union", "bloom_union(%s)"},
                                              {"bloom_intersect", "bloom_intersect(%s, f)"},
                                              {"bloom_intersect", "bloom_intersect(f, %s)"},
                                              {"bloom_intersect", "bloom_intersect(%s)"},
                                              {"bloom_count", "bloom_count(%s)"},
                                              {"bloom_fpr", "bloom_fpr(%s)"},
                                              {"bloom_info", "bloom_info(%s)"},
                                              {"bloom_explain", "bloom_explain(%s, 1)"}};

/* Filters that are none, and the reason that each of these functions gives. f is of n = 10,
** p = 0.01: 32 bytes, a layer of 32, 8 of checksum, 13 of cells. Header bytes are patched with the
** checksum made right again, so that each field's own check is reached. */
static const Case filter_cases[] = {
    {"'text'", "the filter is the text 'text', " BLOB_RULE},
    {"''", "the filter is the text '', " BLOB_RULE},
    {"hex(f)", "the filter is a text of 170 bytes, " BLOB_RULE},
    {"CAST('a long text of over forty bytes, not a filter at all' AS TEXT)",
     "the filter is a text of 52 bytes, " BLOB_RULE},
    {"12345", "the filter is 12345, " BLOB_RULE},
    {"1.5", "the filter is 1.5, " BLOB_RULE},
    {"x''", "not a bloom filter"},
    {"x'010A7FFFFFFF'", "not a bloom filter"},
    {"zeroblob(64)", "not a bloom filter"},
    {"zeroblob(1000000)", "not a bloom filter"},
    {"randomblob(100)", "not a bloom filter"},
    {"substr(f, 1, 3)", "not a bloom filter"},
    {"substr(f, 1, 4)", "damaged filter: only 4 bytes of a header"},
    {"substr(f, 1, 39)", "damaged filter: only 39 bytes of a header"},
    {"substr(f, 1, 71)", "damaged filter: 1 layers in 71 bytes"},
    {"substr(f, 1, 72)", "damaged filter: 72 bytes where its header says 85"},
    {"substr(f, 1, 84)", "damaged filter: 84 bytes where its header says 85"},
    {"longer(f)", "damaged filter: 86 bytes where its header says 85"},
    {"longer(e)", "damaged filter: 41 bytes where its header says 40"},
    {"patch(f, 4, x'02')", "unsupported filter version 2 (this build reads version 1)"},
    {"patch(f, 4, x'00')", "unsupported filter version 0 (this build reads version 1)"},
    {"reseal(patch(f, 6, x'02'))", "unsupported hash scheme 2 (this build reads scheme 1)"},
    {"patch(f, 5, x'02')", HEADER_SUM},
    {"patch(f, 8, x'00')", HEADER_SUM},
    {"patch(f, 12, x'00')", HEADER_SUM},
    {"patch(f, 16, x'0b')", HEADER_SUM},
    {"patch(f, 31, x'00')", HEADER_SUM},
    {"patch(f, 32, x'ff')", HEADER_SUM},
    {"patch(f, 64, x'0000000000000000')", HEADER_SUM},
    {"patch(f, 9, x'41')", "damaged filter: 65 layers in 85 bytes"},
    {"patch(f, 9, x'02')", "damaged filter: 2 layers in 85 bytes"},
    {"patch(f, 9, x'ff')", "damaged filter: 255 layers in 85 bytes"},
    {"reseal(patch(f, 9, x'00'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 5, x'00'))", "unsupported filter kind 0"},
    {"reseal(patch(f, 5, x'03'))", "unsupported filter kind 3"},
    {"reseal(patch(f, 5, x'02'))", "damaged filter: 85 bytes where its header says 122"},
    {"reseal(patch(f, 7, x'10'))", "damaged filter: reserved bits are set"},
    {"reseal(patch(f, 8, x'10'))", "damaged filter: reserved bits are set"},
    {"reseal(patch(f, 10, x'01'))", "damaged filter: reserved bits are set"},
    {"reseal(patch(f, 11, x'80'))", "damaged filter: reserved bits are set"},
    {"reseal(patch(f, 12, x'00000000'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 12, x'0000803f'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 12, x'0000c07f'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 12, x'0000807f'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 12, x'0ad723bc'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 12, x'ffffffff'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 12, x'0bd7233c'))", "damaged filter: its first layer is not one of n and p"},
    {"reseal(patch(f, 16, x'0000000000000000'))", "damaged filter: n or p is out of range"},
    {"reseal(patch(f, 16, x'0b'))", "damaged filter: its first layer is not one of n and p"},
    {"reseal(patch(f, 16, x'ffffffffffffffff'))",
     "damaged filter: its first layer is not one of n and p"},
    {"reseal(patch(f, 32, x'0000000000000000'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 32, x'ffffffffffffffff'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 40, x'0000000000000000'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 40, x'0200000000000000'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 40, x'ffffffffffffffff'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 48, x'0000000000000000'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 48, x'0100000000000000'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 48, x'ffffffffffffffff'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 48, x'8100000000000000'))",
     "damaged filter: 85 bytes where its header says 89"},
    {"reseal(patch(f, 48, x'4000000000000000'))",
     "damaged filter: 85 bytes where its header says 80"},
    {"reseal(patch(f, 48, x'0000000000000100'))",
     "damaged filter: 85 bytes where its header says 35184372088904"},
    {"reseal(patch(f, 56, x'00000000'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 56, x'0000c07f'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 56, x'0000803f'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 60, x'00'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 60, x'41'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 60, x'ff'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 61, x'00'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 61, x'02'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 62, x'01'))", "damaged filter: layer 0 is out of range"},
    {"reseal(patch(f, 63, x'01'))", "damaged filter: layer 0 is out of range"},
    {NULL, NULL}};

/* NULL and a damaged body: not the same in every function. */
static const Case other_cases[] = {
    {"bloom_contains(NULL, 'a')", "bloom_contains: " IS_NULL},
    {"bloom_contains(NULL, NULL)", "bloom_contains: " IS_NULL},
    {"bloom_ref(NULL)", "bloom_ref: " IS_NULL},
    {"bloom_add(NULL, 1)", "bloom_add: " IS_NULL},
    {"bloom_remove(NULL, 1)", "bloom_remove: " IS_NULL},
    {"bloom_union(f, NULL)", "bloom_union: " IS_NULL},
    {"bloom_union(NULL, f)", "bloom_union: " IS_NULL},
    {"bloom_intersect(f, NULL)", "bloom_intersect: " IS_NULL},
    {"bloom_count(NULL)", "bloom_count: " IS_NULL},
    {"bloom_fpr(NULL)", "bloom_fpr: " IS_NULL},
    {"bloom_info(NULL)", "bloom_info: " IS_NULL},
    {"bloom_explain(NULL, 1)", "bloom_explain: " IS_NULL},
    {"bloom_contains('a', f)", "bloom_contains: " SWAPPED},
    {"bloom_contains(1, f)", "bloom_contains: " SWAPPED},
    {"bloom_contains(x'00', f)", "bloom_contains: " SWAPPED},
    {"bloom_explain('a', f)", "bloom_explain: " SWAPPED},
    {"bloom_add('a', f)", "bloom_add: " SWAPPED},
    {"bloom_remove('a', c)", "bloom_remove: " SWAPPED},
    {"bloom_ref(d)", "bloom_ref: " BODY_SUM},
    {"bloom_add(d, 1)", "bloom_add: " BODY_SUM},
    {"bloom_remove(d, 1)", "bloom_remove: " BODY_SUM},
    {"bloom_union(f, d)", "bloom_union: " BODY_SUM},
    {"bloom_union(d)", "bloom_union: " BODY_SUM},
    {"bloom_intersect(d, f)", "bloom_intersect: " BODY_SUM},
    {"bloom_union(e, d)", "bloom_union: " BODY_SUM},
    {"bloom_union(f, reseal(patch(e, 24, x'00')))", "bloom_union: " BODY_SUM},
    {"bloom_union(m, patch(m, -1, x'ff'))", "bloom_union: " BODY_SUM},
    {"bloom_union(f, patch(m, -1, x'ff'))", "bloom_union: " BODY_SUM},
    {"bloom_intersect(m, f)", "bloom_intersect: " GROWN},
    {"bloom_intersect(f, m)", "bloom_intersect: " GROWN},
    {"bloom_intersect(f, bloom_ref(m))", "bloom_intersect: " GROWN},
    {"bloom_count(d)", "bloom_count: " BODY_SUM},
    {"bloom_fpr(d)", "bloom_fpr: " BODY_SUM},
    {"bloom_info(d)", "bloom_info: " BODY_SUM},
    {"bloom_explain(d, 1)", "bloom_explain: " BODY_SUM},
    /* filters of 2, 3 ... keys, each with a second layer of its own size: 63 are not too many */
    {"bloom_union(f) FROM (" OF_EACH_SIZE(66) ")",
     "bloom_union: the filter would have more than 64 layers: rebuild it with a larger n"},
    {"iif(json_extract(bloom_info(bloom_union(f)), '$.layers') = 64, bloom_ref(1), 0) FROM ("
     OF_EACH_SIZE(65) ")", "bloom_ref: the filter is 1, " BLOB_RULE},
    {"bloom_add(e, 1)",
     "bloom_add: this filter was built from no keys and has no size: start from bloom_new(n, p)"},
    {"bloom_add()", "bloom_add: 0 arguments given, the call is bloom_add(filter, key, ...)"},
    {"bloom_add(f)", "bloom_add: 1 arguments given, the call is bloom_add(filter, key, ...)"},
    {"bloom_remove()",
     "bloom_remove: 0 arguments given, the call is bloom_remove(filter, key, ...)"},
    {"bloom_remove(c)",
     "bloom_remove: 1 arguments given, the call is bloom_remove(filter, key, ...)"},
    {"bloom_union()", "bloom_union: 0 arguments given, the call is with one or more filters"},
    {"bloom_intersect()",
     "bloom_intersect: 0 arguments given, the call is with one or more filters"},
    {"bloom_key()", "bloom_key: 0 arguments given, the call is bloom_key(a, b, ...)"},
    {"bloom_remove(f, 1)",
     "bloom_remove: a plain filter cannot forget a key, since its bits belong to other keys too: "
     "build it with kind 'counting', or rebuild it without the key"},
    {"bloom_union(NULL) FROM two", "bloom_union: every filter is NULL"},
    {"bloom_intersect(NULL) FROM two", "bloom_intersect: every filter is NULL"},
    {"bloom_intersect(v) FROM two WHERE 0",
     "bloom_intersect: no filters: the intersection of none would contain every key"},
    {NULL, NULL}};

/* op is bloom_union and bloom_intersect: refused merges, with two %s. */
static const Case merge_cases[] = {
    {"(f, bloom_new(20, 0.01))",
     "n differs (10 and 20): filters sized by their own keys do not merge, give the shards the "
     "same n"},
    {"(f, bloom_new(10, 0.1))", "p differs (0.01 and 0.1)"},
    {"(f, c)", "kind differs (plain and counting)"},
    {"(c, f)", "kind differs (counting and plain)"},
    {"(f, f, bloom_new(11, 0.01))",
     "n differs (10 and 11): filters sized by their own keys do not merge, give the shards the "
     "same n"},
    {"(column1) FROM (SELECT f AS column1 UNION ALL SELECT c)",
     "kind differs (plain and counting)"},
    {"(f, reseal(patch(f, 60, x'06')))",
     "the first layer's geometry differs (k 7 and 6, cells 99 and 99)"},
    {"(f, reseal(patch(f, 48, x'64')))",
     "the first layer's geometry differs (k 7 and 7, cells 99 and 100)"},
    {NULL, NULL}};

static void longer_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  int size = sqlite3_value_bytes(argv[0]);
  unsigned char *bytes = sqlite3_malloc(size + 1);
  (void)argc;
  memcpy(bytes, sqlite3_value_blob(argv[0]), (size_t)size);
  bytes[size] = 0;
  sqlite3_result_blob(context, bytes, size + 1, sqlite3_free);
}

static sqlite3 *setup(void) {
  sqlite3 *db = open_bloom(":memory:");
  sqlite3_create_function(db, "longer", 1, SQLITE_UTF8, NULL, longer_function, NULL, NULL);
  run_sql(db,
          "CREATE TABLE two(v);"
          "INSERT INTO two VALUES (1), (2);"
          "CREATE TABLE filters AS SELECT bloom_build('abc', 10, 0.01) AS f,"
          "  bloom_build('abc', 10, 0.01, 'counting') AS c, bloom_build(NULL) AS e,"
          "  (SELECT bloom_build(value, 10, 0.01)"
          "    FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')) AS m;"
          "ALTER TABLE filters ADD COLUMN d;"
          "UPDATE filters SET d = patch(f, -13, x'ff')");
  return db;
}

/* `FROM filters` comes first, so that columns f, c, e, d are known, unless the case says FROM. */
static int run_case(sqlite3 *db, const char *call, const char *error, int expected) {
  char *sql = strstr(call, "FROM") && !strstr(call, "FROM (SELECT f")
                  ? sqlite3_mprintf("SELECT %s", call)
              : strstr(call, "FROM (SELECT f")
                  ? sqlite3_mprintf("WITH filters AS (SELECT * FROM main.filters) SELECT %.*s FROM "
                                    "(SELECT f AS column1 FROM filters UNION ALL SELECT c FROM "
                                    "filters)",
                                    (int)(strstr(call, " FROM") - call), call)
                  : sqlite3_mprintf("SELECT %s FROM filters", call);
  sqlite3_stmt *statement = NULL;
  sqlite3_int64 before;
  int code, good;
  ask(db, sql); /* what SQLite itself allocates at a first time */
  ask(db, "SELECT 1 FROM filters");
  sqlite3_db_release_memory(db);
  before = sqlite3_memory_used();
  code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  good = code == expected && (strcmp(sqlite3_errmsg(db), error) == 0);
  ok(good, "error %s", call);
  if (!good) {
    printf("#  gives    %d %s\n#  expected %d %s\n", code, sqlite3_errmsg(db), expected, error);
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  ask(db, "SELECT 1 FROM filters");
  sqlite3_db_release_memory(db);
  return sqlite3_memory_used() <= before;
}

static void run_table(sqlite3 *db, const char *name, const Case *cases) {
  int kept = 0, count = 0;
  for (; cases->sql; cases++, count++) {
    if (!run_case(db, cases->sql, cases->error, SQLITE_ERROR)) {
      printf("#  memory is left after %s\n", cases->sql);
      kept++;
    }
  }
  ok(kept == 0, "memory after %d %s errors is what it was", count, name);
}

static void run_filter_cases(sqlite3 *db) {
  int kept = 0;
  for (size_t call = 0; call < sizeof filter_calls / sizeof *filter_calls; call++) {
    for (const Case *a = filter_cases; a->sql; a++) {
      char *sql = sqlite3_mprintf(filter_calls[call][1], a->sql);
      char *error = sqlite3_mprintf("%s: %s", filter_calls[call][0], a->error);
      kept += !run_case(db, sql, error, SQLITE_ERROR);
      sqlite3_free(sql);
      sqlite3_free(error);
    }
  }
  ok(kept == 0, "memory after the errors of damaged filters is what it was");
}

static void run_merge_cases(sqlite3 *db) {
  static const char *const names[] = {"bloom_union", "bloom_intersect"};
  int kept = 0;
  for (int i = 0; i < 2; i++) {
    for (const Case *a = merge_cases; a->sql; a++) {
      char *sql = sqlite3_mprintf("%s%s", names[i], a->sql);
      char *error = sqlite3_mprintf("%s: %s", names[i], a->error);
      kept += !run_case(db, sql, error, SQLITE_ERROR);
      sqlite3_free(sql);
      sqlite3_free(error);
    }
  }
  ok(kept == 0, "memory after the errors of merges is what it was");
}

/* Every single bit of a filter flipped: an error in a function that reads it whole, and in
** bloom_contains either an error (the header) or an answer (the body, in a single row). */
static void flip_bits(sqlite3 *db) {
  const char *const whole[] = {"bloom_count", "bloom_info", "bloom_ref"};
  sqlite3_stmt *get, *probe;
  int missed = 0, header_missed = 0, wrong = 0, size;
  unsigned char filter[300];
  sqlite3_prepare_v2(db, "SELECT f FROM filters", -1, &get, NULL);
  sqlite3_step(get);
  size = sqlite3_column_bytes(get, 0);
  memcpy(filter, sqlite3_column_blob(get, 0), (size_t)size);
  sqlite3_finalize(get);
  for (int i = 0; i < 4; i++) {
    char *sql = i < 3 ? sqlite3_mprintf("SELECT %s(?1)", whole[i])
                      : sqlite3_mprintf("SELECT bloom_contains(?1, 'abc')");
    sqlite3_prepare_v2(db, sql, -1, &probe, NULL);
    for (int bit = 0; bit < size * 8; bit++) {
      int code;
      filter[bit / 8] ^= (unsigned char)(1 << bit % 8);
      sqlite3_bind_blob(probe, 1, filter, size, SQLITE_STATIC);
      code = sqlite3_step(probe);
      if (i < 3) missed += code != SQLITE_ERROR;
      if (i == 3 && bit < 72 * 8) header_missed += code != SQLITE_ERROR;
      if (i == 3 && bit >= 72 * 8) wrong += code != SQLITE_ROW;
      sqlite3_reset(probe);
      filter[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    sqlite3_finalize(probe);
    sqlite3_free(sql);
  }
  ok(size == 85 && missed == 0, "each flipped bit is found by bloom_count, bloom_info, bloom_ref");
  ok(header_missed == 0, "each flipped bit of the header is found by bloom_contains");
  ok(wrong == 0, "a single row of bloom_contains does not read the body's checksum");
}

static void limits(sqlite3 *db) {
  static const Case cases[] = {
      {"bloom_new(1000000000000000000, 0.01)", "*bloom_new: n = 1000000000000000000 at p = 0.01 "},
      {"bloom_build(1, 9223372036854775807, 0.0001)",
       "*bloom_build: n = 9223372036854775807 at p = 0.0001 needs "},
      {"bloom_build(1, 1e18)",
       "*bloom_build: n = 1000000000000000000 at p = 0.01 needs 1207468032836"},
      {"bloom_build(1, 9.2e18)", "*bloom_build: n = 9200000000000000000 at p = 0.01 needs "},
      {"bloom_size(1e18, 0.01)", "*bloom_size: n = 1000000000000000000 at p = 0.01 needs "},
      {"bloom_size(1000000000000, 0.01)", "*bloom_size: n = 1000000000000 at p = 0.01 needs "},
      {"bloom_new(1000000, 0.01)", "*bloom_new: n = 1000000 at p = 0.01 needs "},
      {"bloom_new(30000, 0.01, 'counting')", "*bloom_new: n = 30000 at p = 0.01 needs "},
      {"bloom_build(1, 1000000, 0.01)", "*bloom_build: n = 1000000 at p = 0.01 needs "},
      {"bloom_build(1, 30000, 0.01, 'counting')", "*bloom_build: n = 30000 at p = 0.01 needs "},
      {NULL, NULL}};
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100000);
  for (const Case *a = cases; a->sql; a++) {
    char *sql = sqlite3_mprintf("SELECT %s", a->sql);
    char answer[600], *at, *fits;
    long long n = 0, peak;
    sqlite3_memory_highwater(1);
    peak = sqlite3_memory_used();
    snprintf(answer, sizeof answer, "%s", ask(db, sql));
    peak = sqlite3_memory_highwater(0) - peak;
    ok(strncmp(answer, "code 1: ", 8) == 0 &&
           strncmp(answer + 8, a->error + 1, strlen(a->error + 1)) == 0 &&
           strstr(answer, ", the limit is 100000: n of at most ") && peak < 50000,
       "over SQLITE_LIMIT_LENGTH, with nothing allocated: %s", a->sql);
    /* the n and the p that the message offers do fit */
    at = strstr(answer, "n of at most ");
    if (at) n = atoll(at + 13);
    fits = sqlite3_mprintf("SELECT length(bloom_new(%lld, 0.01%s)) <= 100000", n,
                           strstr(a->sql, "counting") ? ", 'counting'" : "");
    if (!strstr(a->sql, "0.0001")) expect(db, "the n that the message offers fits", fits, "1");
    sqlite3_free(fits);
    at = strstr(answer, "p of at least ");
    ok(at != NULL || (!strstr(a->sql, "1000000,") && !strstr(a->sql, "30000,")),
       "a p is offered where one fits: %s", a->sql);
    if (at && strstr(a->sql, "1000000,")) {
      fits = sqlite3_mprintf("SELECT length(bloom_new(1000000, %s)) <= 100000", at + 14);
      expect(db, "the p that the message offers fits", fits, "1");
      sqlite3_free(fits);
    }
    sqlite3_free(sql);
  }
  /* under a limit of a few bytes, where nothing fits, nothing is offered */
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 73);
  expect(db, "a small limit: nothing is offered", "SELECT bloom_new(100, 0.01)",
         "code 1: bloom_new: n = 100 at p = 0.01 needs 193 bytes, the limit is 73");
  /* filters of exactly the limit, flat and of lines, and of a byte more */
  for (int lines = 0; lines < 2; lines++) {
    int n = lines ? 53500 : 100, size = lines ? 64712 : 193;
    char expected[40];
    char *sql =
        sqlite3_mprintf("SELECT bloom_size(%d, 0.01) || ' ' || length(bloom_new(%d, 0.01))", n, n);
    char *message = sqlite3_mprintf(
        "code 1: bloom_size: n = %d at p = 0.01 needs %d bytes, the limit is %d: ", n, size,
        size - 1);
    snprintf(expected, sizeof expected, "%d %d", size, size);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, size);
    expect(db, "a filter of exactly the limit", sql, expected);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, size - 1);
    const char *got = ask(db, sql);
    ok(strncmp(got, message, strlen(message)) == 0, "and one of a byte more: %s", got);
    sqlite3_free(message);
    sqlite3_free(sql);
  }
  /* a union that would pass it, growth by additions */
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000000000);
  run_sql(db, "CREATE TABLE few AS SELECT bloom_build(1, 100, 0.01) AS a");
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 3000);
  expect(db, "additions past the limit",
         "WITH RECURSIVE c(i, f) AS (SELECT 0, a FROM few UNION ALL SELECT i + 1, bloom_add(f, i) "
         "FROM c WHERE i < 3000) SELECT max(i) FROM c",
         "code 1: bloom_add: the filter outgrew its n of 100 at p = 0.01 and would pass the limit "
         "of 3000 bytes");
  expect(db, "a build past the limit",
         "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) SELECT "
         "length(bloom_build(i, 100, 0.01)) FROM c",
         "code 1: bloom_build: the filter outgrew its n of 100 at p = 0.01 and would pass the "
         "limit of 3000 bytes");
  expect(db, "bloom_key past the limit: SQLITE_TOOBIG",
         "SELECT length(bloom_key(zeroblob(2000), zeroblob(2000)))",
         "code 18: string or blob too big");
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000000000);
}

static void argument_counts(sqlite3 *db) {
  static const Case cases[] = {
      {"bloom_contains()", "wrong number of arguments to function bloom_contains()"},
      {"bloom_contains(1)", "wrong number of arguments to function bloom_contains()"},
      {"bloom_contains(1, 2, 3)", "wrong number of arguments to function bloom_contains()"},
      {"bloom_build()", "wrong number of arguments to function bloom_build()"},
      {"bloom_build(1, 2, 0.1, 'plain', 5)", "wrong number of arguments to function bloom_build()"},
      {"bloom_ref()", "wrong number of arguments to function bloom_ref()"},
      {"bloom_new(1)", "wrong number of arguments to function bloom_new()"},
      {"bloom_version(1)", "wrong number of arguments to function bloom_version()"},
      {"bloom_build(v, 10, 0.1) OVER () FROM two",
       "bloom_build() may not be used as a window function"},
      {"bloom_build(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) FROM two",
       "bloom_build() may not be used as a window function"},
      {"bloom_union(v) OVER () FROM two", "bloom_union() may not be used as a window function"},
      {"bloom_contains(v, v) OVER () FROM two",
       "bloom_contains() may not be used as a window function"},
      {"bloom_build(DISTINCT v, 100) FROM two",
       "DISTINCT aggregates must have exactly one argument"},
      {NULL, NULL}};
  sqlite3_str *text;
  char *sql;
  int most = sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, -1);
  run_table(db, "argument count", cases);
  text = sqlite3_str_new(db);
  sqlite3_str_appendf(text, "SELECT bloom_contains(bloom_add(f");
  for (int i = 1; i < most; i++) sqlite3_str_appendf(text, ", %d", i % 10);
  sqlite3_str_appendf(text, "), 9), bloom_count(bloom_union(f");
  for (int i = 1; i < most; i++) sqlite3_str_appendf(text, ", f");
  sqlite3_str_appendf(text, ")), length(bloom_key(0");
  for (int i = 1; i < most; i++) sqlite3_str_appendf(text, ", %d", i % 10);
  sqlite3_str_appendf(text, ")) FROM filters");
  sql = sqlite3_str_finish(text);
  expect(db, "as many arguments as SQLite allows", sql, "1");
  sqlite3_free(sql);
  text = sqlite3_str_new(db);
  sqlite3_str_appendf(text, "SELECT bloom_add(f");
  for (int i = 0; i < 2000; i++) sqlite3_str_appendf(text, ", 1");
  sqlite3_str_appendf(text, ") FROM filters");
  sql = sqlite3_str_finish(text);
  if (most < 2000) {
    expect(db, "thousands of arguments", sql, "code 1: too many arguments on function bloom_add");
  } else {
    ok(strncmp(ask(db, sql), "code", 4) != 0, "thousands of arguments");
  }
  sqlite3_free(sql);
}

/* ---- loading ---- */

static sqlite3_api_routines older;

static int version_of_older(void) {
  return 3033000;
}

static int take_api(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  (void)db;
  (void)error;
  older = *api;
  return SQLITE_OK;
}

/* A SQLite that says that it is 3.33.0 gets an error and no function. */
static void old_sqlite(void) {
  int (*init)(sqlite3 *, char **, const sqlite3_api_routines *) = NULL;
  const char *bloom = getenv("BLOOM");
  void *library = dlopen(bloom ? bloom : "build/bloom.so", RTLD_NOW);
  void *symbol = library ? dlsym(library, "sqlite3_bloom_init") : NULL;
  char *error = NULL;
  sqlite3 *db;
  memcpy(&init, &symbol, sizeof init);
  sqlite3_auto_extension((void (*)(void))take_api);
  sqlite3_open(":memory:", &db);
  sqlite3_cancel_auto_extension((void (*)(void))take_api);
  older.libversion_number = version_of_older;
  ok(init && init(db, &error, &older) == SQLITE_ERROR && error &&
         strncmp(error, "bloom needs SQLite 3.34.0 or later, this is 3.", 46) == 0,
     "an older SQLite: %s", error ? error : "no error");
  sqlite3_free(error);
  ok(init && init(db, NULL, &older) == SQLITE_ERROR, "and without a place for the error");
  expect(db, "it has no function", "SELECT bloom_version()",
         "code 1: no such function: bloom_version");
  sqlite3_close(db);
  if (library) dlclose(library);
}

int main(void) {
  sqlite3 *db;
  sqlite3_int64 start = (sqlite3_initialize(), sqlite3_memory_used());
  db = setup();
  run_table(db, "parameter", parameter_cases);
  run_filter_cases(db);
  run_table(db, "other", other_cases);
  run_merge_cases(db);
  flip_bits(db);
  argument_counts(db);
  limits(db);
  sqlite3_close(db);
  old_sqlite();
  ok(sqlite3_memory_used() - start < 4096, "all memory is back at the end");
  return tests_failed > 0;
}
