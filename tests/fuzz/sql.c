/* sql: any SQL text, with the functions and bloom tables.
**
** Input: SQL. It runs on a copy of the database that schema_sql makes, in defensive mode and within
** limits. Afterwards:
**   - no key of the table `keys` is missing from `follow`, while its triggers are as they were;
**   - what bloom_lookup says agrees with the snapshot, and what this connection says with what a
**     second one says that reads the file;
**   - the connection closes, and no memory is left.
** An input whose first byte is odd rolls back what it left open, the others commit it.
*/
#include "fuzz.h"

const char fuzz_name[] = "sql";

enum {
  STATEMENTS = 60,
  ROWS = 200,
  INSTRUCTIONS = 40 /* thousands, for an input */
};

static const char *const schema_sql =
    "CREATE TABLE keys(id INTEGER PRIMARY KEY, key, name TEXT);"
    "CREATE VIRTUAL TABLE follow USING bloom(of='keys(key)', n=20, p=0.05);"
    "CREATE VIRTUAL TABLE names USING bloom(of='keys(lower(name))', n=20, kind=counting);"
    "CREATE VIRTUAL TABLE seen USING bloom(n=20, p=0.01);"
    "CREATE VIRTUAL TABLE tally USING bloom(n=20, p=0.1, kind=counting);"
    "INSERT INTO keys(key, name) VALUES (1, 'One'), ('two', 'Two'), (3.5, 'b'), (x'04', NULL);"
    "INSERT INTO seen(key) SELECT key FROM keys;"
    "INSERT INTO tally(key) SELECT key FROM keys;"
    "CREATE TABLE f(name TEXT PRIMARY KEY, filter BLOB);"
    "INSERT INTO f SELECT 'plain', bloom_build(key, 20, 0.01) FROM keys;"
    "INSERT INTO f SELECT 'counting', bloom_build(key, 20, 0.01, 'counting') FROM keys;"
    "INSERT INTO f SELECT 'grown', bloom_build(value, 3) FROM json_each('[1,2,3,4,5,6,7,8,9]');"
    "INSERT INTO f SELECT 'empty', bloom_build(NULL);";

static unsigned char *image; /* of the database */
static sqlite3_int64 image_size;
static char *trigger_sql; /* of follow_insert, then of follow_update */
static unsigned thousands;

/* ---- the database ---- */

static int progress(void *unused) {
  (void)unused;
  return ++thousands > INSTRUCTIONS;
}

/* Nothing outside the database, and nothing that outlives the connection. */
static int authorize(void *unused, int action, const char *a, const char *b, const char *c,
                     const char *d) {
  static const char *const pragmas[] = {"hard_heap_limit",
                                        "soft_heap_limit",
                                        "temp_store_directory",
                                        "data_store_directory",
                                        "mmap_size",
                                        "threads",
                                        "cache_size",
                                        "vdbe_trace",
                                        "vdbe_debug",
                                        "vdbe_listing",
                                        "vdbe_addoptrace",
                                        "parser_trace",
                                        "lock_status",
                                        "stats"};
  (void)unused;
  (void)b;
  (void)c;
  (void)d;
  if (action == SQLITE_ATTACH && a && a[0] && strcmp(a, ":memory:") != 0) return SQLITE_DENY;
  if (action != SQLITE_PRAGMA) return SQLITE_OK;
  for (unsigned i = 0; i < COUNT(pragmas); i++) {
    if (sqlite3_stricmp(a, pragmas[i]) == 0) return SQLITE_DENY;
  }
  return SQLITE_OK;
}

static char *text_of(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  char *text = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && first_row(statement) &&
      sqlite3_column_type(statement, 0) != SQLITE_NULL) {
    text = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
  return text;
}

static const char *const triggers =
    "SELECT group_concat(sql) FROM (SELECT sql FROM main.sqlite_master WHERE"
    " name IN ('follow_insert', 'follow_update') ORDER BY name)";

static void make_image(void) {
  sqlite3 *db = open_bloom();
  run_sql(db, schema_sql);
  unsigned char *made = sqlite3_serialize(db, "main", &image_size, 0);
  image = malloc((size_t)image_size);
  if (made == NULL || image == NULL) abort();
  memcpy(image, made, (size_t)image_size);
  sqlite3_free(made);
  char *text = text_of(db, triggers);
  trigger_sql = strdup(text);
  sqlite3_free(text);
  sqlite3_close(db);
}

static void limit(sqlite3 *db) {
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 200000);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
  sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_set_authorizer(db, authorize, NULL);
  sqlite3_progress_handler(db, 1000, progress, NULL);
  thousands = 0;
}

/* ---- running ---- */

static void read_rows(sqlite3_stmt *statement) {
  unsigned rows = 0;
  while (sqlite3_step(statement) == SQLITE_ROW && ++rows < ROWS) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      sqlite3_column_blob(statement, i);
      sqlite3_column_text(statement, i);
    }
  }
}

static void check_code(sqlite3 *db, int code) {
  if (code == SQLITE_CORRUPT || code == SQLITE_INTERNAL || code == SQLITE_MISUSE) {
    finding("code %d: %s", code, sqlite3_errmsg(db));
  }
}

static void run_text(sqlite3 *db, const char *sql) {
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 7, NULL); /* random() repeats */
  for (unsigned i = 0; i < STATEMENTS && sql[0]; i++) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, &sql) != SQLITE_OK) {
      check_code(db, sqlite3_errcode(db) & 0xff);
      /* The next statement begins on the next line. */
      sql = strchr(sql, '\n');
      if (sql == NULL) break;
      sql++;
      continue;
    }
    read_rows(statement);
    if (statement) check_code(db, sqlite3_finalize(statement) & 0xff);
  }
}

/* ---- checks ---- */

/* An integer, or -1 when the question cannot be put. */
static int64_t try_ask(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  int64_t answer = -1;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && first_row(statement)) {
    answer = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return answer;
}

/* Triggers as they were, and none with RAISE(IGNORE), which may end ours: the README excepts it. */
static bool is_followed(sqlite3 *db, const char *input) {
  for (const char *at = input; (at = strchr(at, '(')) != NULL; at++) {
    size_t spaces = 1 + strspn(at + 1, " \t\n\f\r");
    if (sqlite3_strnicmp(at + spaces, "ignore", 6) == 0) return false;
  }
  char *now = text_of(db, triggers);
  bool same = now && strcmp(now, trigger_sql) == 0;
  sqlite3_free(now);
  return same;
}

static void check_keys(sqlite3 *db, const char *input) {
  if (!is_followed(db, input)) return;
  if (try_ask(db, "SELECT count(*) FROM main.keys WHERE NOT bloom_lookup('main.follow', key)") >
      0) {
    finding("follow misses a key");
  }
}

static void check_tables(sqlite3 *db, sqlite3 *second) {
  static const char *const tables[] = {"follow", "names", "seen", "tally"};
  for (unsigned i = 0; i < COUNT(tables); i++) {
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM main.keys WHERE bloom_lookup('main.%s', key) IS NOT"
             " bloom_contains(bloom_snapshot('main.%s'), key)",
             tables[i], tables[i]);
    if (try_ask(db, sql) > 0) finding("%s differs from its snapshot", tables[i]);
    if (second == NULL) continue;
    snprintf(sql, sizeof sql, "SELECT hex(bloom_snapshot('main.%s'))", tables[i]);
    char *one = text_of(db, sql), *two = text_of(second, sql);
    if ((one == NULL) != (two == NULL) || (one && strcmp(one, two) != 0)) {
      finding("%s is another one in a second connection: %.40s, %.40s", tables[i],
              one ? one : sqlite3_errmsg(db), two ? two : sqlite3_errmsg(second));
    }
    sqlite3_free(one);
    sqlite3_free(two);
  }
}

static void check_all(sqlite3 *db, const char *input) {
  sqlite3_int64 size;
  unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
  sqlite3 *second = bytes ? open_image(bytes, size) : NULL;
  if (second) load_bloom(second);
  check_keys(db, input);
  check_tables(db, second);
  if (second) {
    check_keys(second, input);
    sqlite3_free(text_of(second, "PRAGMA integrity_check"));
    sqlite3_close(second);
  }
  sqlite3_free(bytes);
}

void fuzz_one(Input input) {
  if (image == NULL) make_image();
  sqlite3_int64 before = sqlite3_memory_used();
  size_t size = left(&input);
  char *sql = malloc(size + 1);
  if (sql == NULL) abort();
  memcpy(sql, input.at, size);
  sql[size] = 0;
  sqlite3 *db = open_image(image, image_size);
  load_bloom(db);
  limit(db);
  run_text(db, sql);
  sqlite3_progress_handler(db, 0, NULL, NULL);
  sqlite3_set_authorizer(db, NULL, NULL);
  if (!sqlite3_get_autocommit(db)) {
    bool roll_back = size > 0 && sql[0] & 1;
    if (roll_back || sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
      sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
  }
  check_all(db, sql);
  if (sqlite3_close(db) != SQLITE_OK) finding("the connection does not close");
  if (sqlite3_memory_used() != before) {
    finding("%d bytes are left", (int)(sqlite3_memory_used() - before));
  }
  free(sql);
}

void fuzz_end(void) {}
