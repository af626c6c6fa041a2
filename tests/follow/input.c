/* input.c: what of= refuses, and random text for it: never a crash, nothing of it is run, nothing
** is left behind; and random expressions: triggers put in what a rebuild puts in, bit for bit. */
#include "follow.h"

#define SOURCE \
  "CREATE TABLE customers(id INTEGER PRIMARY KEY, tenant INT, email TEXT COLLATE NOCASE, tag " \
  "TEXT " \
  "COLLATE RTRIM, amount REAL, n NUMERIC, any, domain AS (substr(email, 3)), size AS " \
  "(length(email)) " \
  "STORED, \"odd \"\"name\" BLOB)"

/* ---- refused, in words ---- */

static const struct {
  const char *of;
  const char *words;
} refused[] = {{"", "of the form"},
               {"customers", "of the form"},
               {"customers(", "of the form"},
               {"customers)", "of the form"},
               {"customers()", "of the form"},
               {"(email)", "of the form"},
               {"customers(email", "of the form"},
               {"customers(email))", "of the form"},
               {"customers(email) WHERE id > 5", "of the form"},
               {"customers(email)(email)", "of the form"},
               {"customers(email);", "of the form"},
               {"customers(email); DROP TABLE canary", "of the form"},
               {"customers(email); DROP TABLE canary; SELECT (1)", "of the form"},
               {"customers(email /* comment */)", "of the form"},
               {"customers(email -- comment\n)", "of the form"},
               {"customers(\"email)", "of the form"},
               {"\"customers(email)", "of the form"},
               {"[customers(email)", "of the form"},
               {"customers(`email)", "of the form"},
               {"customers, canary(email)", "of the form"},
               {"'customers'(email)", "of the form"},
               {"?(email)", "of the form"},
               {"main.customers(email)", "own schema"},
               {"\"main\".\"customers\"(email)", "own schema"},
               {"nobody(email)", "no table nobody"},
               {"\"\"(email)", "no table"},
               {"customers(emial)", "names no column"},
               {"customers(1)", "names no column"},
               {"customers(*)", "names no column"},
               {"customers(\"emial\")", "column"},
               {"customers(email, \"emial\")", "no column emial"},
               {"customers(email, [emial])", "no column emial"},
               {"customers(email, emial)", "no such column: emial"},
               {"customers(email,)", "syntax error"},
               {"customers(,email)", "syntax error"},
               {"customers(email email)", "syntax error"},
               {"customers(email AS x)", "syntax error"},
               {"customers(email FROM customers)", "syntax error"},
               {"customers(email UNION SELECT 1)", "syntax error"},
               {"customers(email ORDER BY 1)", "syntax error"},
               {"customers(new.email)", "no such column"},
               {"customers(old.email)", "no such column"},
               {"customers(customers.email)", "no such column"},
               {"customers((SELECT email))", "subqueries prohibited"},
               {"customers(email || (SELECT secret FROM canary))", "subqueries prohibited"},
               {"customers(EXISTS (SELECT email))", "subqueries prohibited"},
               {"customers(email IN (SELECT secret FROM canary))", "subqueries prohibited"},
               {"customers(email IN canary)", "subqueries prohibited"},
               {"customers(max(email))", "misuse of aggregate"},
               {"customers(count(*) + id)", "misuse of aggregate"},
               {"customers(sum(id) OVER ())", "misuse of window"},
               {"customers(row_number() OVER (ORDER BY email))", "misuse of window"},
               {"customers(random() + id)", "non-deterministic"},
               {"customers(evil(email))", "non-deterministic"},
               {"customers(changes() + id)", "non-deterministic"},
               {"customers(email || datetime('now'))", "non-deterministic"},
               {"customers(email || CURRENT_TIMESTAMP)", "non-deterministic"},
               {"customers(email || date())", "non-deterministic"},
               {"customers(TIME() || email)", "non-deterministic"},
               {"customers(datetime() || email)", "non-deterministic"},
               {"customers(email || julianday())", "non-deterministic"},
               {"customers(email || date ( ))", "non-deterministic"},
               {"customers(email || date\t())", "non-deterministic"},
               {"customers(\"date\"() || email)", "non-deterministic"},
               {"customers(email || strftime(\xc3\xa9))", "non-deterministic"},
               {"customers(date)", "names no column"},
               {"customers(email || strftime('%s'))", "non-deterministic"},
               {"customers(email || strftime ('%s (,)' ))", "non-deterministic"},
               {"customers(email || strftime())", "non-deterministic"},
               {"customers(bloom_lookup('known', email))", "non-deterministic"},
               {"customers(nosuch(email))", "no such function"},
               {"customers(email || ?1)", "prohibited"},
               {"customers(email || :name)", "prohibited"},
               {"customers(raise(IGNORE) || email)", "RAISE"},
               {"view_of(email)", "view"},
               {"fts(a)", "virtual"},
               {"known(key)", "virtual"},
               {"known_data(id)", "shadow"},
               {"sqlite_master(name)", "system"},
               {"sqlite_schema(name)", "system"},
               {"sqlite_sequence(name)", "system"},
               {"sqlite_stat1(tbl)", "system"},
               {"pragma_table_info(name)", "virtual"},
               {"json_each(value)", "virtual"},
               {"fuzz(key)", ""},
               {"fuzz_data(id)", ""}};

/* The text of an argument: the quotes that are not in it, or none. */
static char *quoted(const char *of) {
  return strchr(of, '\'') == NULL  ? sqlite3_mprintf("of='%s'", of)
         : strchr(of, '"') == NULL ? sqlite3_mprintf("of=\"%s\"", of)
                                   : sqlite3_mprintf("of=%Q", of);
}

static unsigned ran;

static void evil_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  ran++;
  sqlite3_result_value(context, argv[0]);
}

/* Nobody writes to the canary, opens a file or loads a library. */
static int authorize(void *unused, int action, const char *first, const char *second,
                     const char *schema, const char *trigger) {
  (void)unused;
  (void)schema;
  (void)trigger;
  bool writes = action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE ||
                action == SQLITE_DROP_TABLE;
  if (writes && strcmp(first, "canary") == 0) ran++;
  if (action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_ALTER_TABLE) ran++;
  if (action == SQLITE_FUNCTION && strcmp(second, "load_extension") == 0) ran++;
  return SQLITE_OK;
}

static sqlite3 *open_input(const char *name) {
  sqlite3 *db = open_database(fresh(name));
  sqlite3_create_function(db, "evil", 1, SQLITE_UTF8, NULL, evil_function, NULL, NULL);
  run(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; " SOURCE
          "; CREATE TABLE canary(secret); INSERT INTO canary VALUES('sings');"
          "CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT); ANALYZE;"
          "CREATE VIEW view_of AS SELECT * FROM customers;"
          "CREATE VIRTUAL TABLE fts USING fts5(a);"
          "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001)");
  sqlite3_set_authorizer(db, authorize, NULL);
  return db;
}

static char *schema_of(sqlite3 *db) {
  return sqlite3_mprintf("%s %s",
                         ask(db, "SELECT count(*) || group_concat(name) FROM sqlite_master"),
                         ask(db, "SELECT count(*) FROM sqlite_temp_master"));
}

static void test_refused(void) {
  sqlite3 *db = open_input("refused.db");
  char *before = schema_of(db);
  for (unsigned i = 0; i < COUNT(refused); i++) {
    char name[160], *of = quoted(refused[i].of);
    snprintf(name, sizeof name, "refused: %.130s", refused[i].of);
    for (char *c = name; *c; c++) *c = *c == '\n' || *c == '#' ? ' ' : *c;
    if (i % 3 == 2) run(db, "BEGIN");
    expect_error(db, name, refused[i].words, "CREATE VIRTUAL TABLE fuzz USING bloom(%s)", of);
    if (i % 3 == 2) run(db, "COMMIT");
    char *after = schema_of(db);
    if (!test(strcmp(before, after) == 0, "and nothing is left: %.130s", name + 9)) {
      printf("#  %s\n#  %s\n", before, after);
      run(db, "DROP TABLE IF EXISTS fuzz");
    }
    sqlite3_free(after);
    sqlite3_free(of);
  }
  static const char *const others[][2] = {
      {"of='customers(email)', of='customers(id)'", "given twice"},
      {"of='customers(email)', n=0", "n is 0"},
      {"of='customers(email)', n=-5", "n is -5"},
      {"of='customers(email)', p=1", "p is 1"},
      {"of='customers(email)', p=0.01, n='many'", "n is"},
      {"of='customers(email)', kind=other", "kind"},
      {"of='customers(email)', on=1", "is not one of"},
      {"of", "is not one of"},
      {"of=", "of the form"}};
  for (unsigned i = 0; i < COUNT(others); i++) {
    expect_error(db, others[i][0], others[i][1], "CREATE VIRTUAL TABLE fuzz USING bloom(%s)",
                 others[i][0]);
  }
  char *after = schema_of(db);
  test(strcmp(before, after) == 0 && ran == 0, "refused: nothing is left, and nothing was run");
  sqlite3_free(after);
  sqlite3_free(before);
  close_database(db);
}

/* ---- random text ---- */

static const char *const fragments[] = {"customers",
                                        "email",
                                        "(",
                                        ")",
                                        "((",
                                        "))",
                                        ",",
                                        " ",
                                        "\"",
                                        "'",
                                        "`",
                                        "[",
                                        "]",
                                        "''",
                                        "\"\"",
                                        ";",
                                        "--",
                                        "/*",
                                        "*/",
                                        "\n",
                                        "DROP TABLE canary",
                                        "DELETE FROM canary",
                                        "lower(",
                                        "evil(",
                                        "SELECT",
                                        "FROM canary",
                                        "new.",
                                        "END;",
                                        "BEGIN",
                                        "\"email\"",
                                        "customers(",
                                        "customers(email)",
                                        "AS",
                                        "||",
                                        "1e5",
                                        "0x1F",
                                        "\xc3\xa9",
                                        "\xff",
                                        "\xe2\x98\x83",
                                        "rowid",
                                        "id",
                                        ".",
                                        "?1",
                                        "@a",
                                        "$x",
                                        "#1",
                                        "COLLATE NOCASE",
                                        "x'00'",
                                        "CASE WHEN",
                                        "INSERT INTO canary VALUES(1)",
                                        "); DELETE FROM canary; SELECT (1",
                                        "\"customers\"",
                                        "\"odd \"\"name\"",
                                        "known",
                                        "fuzz",
                                        "\\",
                                        "%s",
                                        "\x01",
                                        "|",
                                        "tenant"};

static void test_garbage(void) {
  static const unsigned rounds[] = {60, 400, 4000, 100000};
  uint64_t random = 20261130;
  sqlite3 *db = open_input("garbage.db");
  char *before = schema_of(db);
  unsigned made = 0, changed = 0;
  for (unsigned i = 0; i < rounds[extent]; i++) {
    sqlite3_str *text = sqlite3_str_new(db);
    unsigned parts = random_below(&random, 9);
    if (random_below(&random, 2)) sqlite3_str_appendall(text, "customers(");
    for (unsigned j = 0; j < parts; j++) {
      sqlite3_str_appendall(text, fragments[random_below(&random, COUNT(fragments))]);
    }
    if (random_below(&random, 2)) sqlite3_str_appendall(text, "email)");
    char *of = sqlite3_str_finish(text);
    static const char *const forms[] = {"CREATE VIRTUAL TABLE fuzz USING bloom(of='%s')",
                                        "CREATE VIRTUAL TABLE fuzz USING bloom(of=\"%s\")",
                                        "CREATE VIRTUAL TABLE fuzz USING bloom(of=%Q)",
                                        "CREATE VIRTUAL TABLE fuzz USING bloom(of=%s)"};
    unsigned form = random_below(&random, COUNT(forms));
    char *sql = sqlite3_mprintf(forms[form], of ? of : "");
    sqlite3_stmt *create;
    const char *tail = NULL;
    /* Only the first statement: what stands behind it is the test's own. */
    if (sqlite3_prepare_v2(db, sql, -1, &create, &tail) == SQLITE_OK) {
      sqlite3_step(create);
      if (sqlite3_finalize(create) == SQLITE_OK && try_sql(db, "SELECT 1 FROM fuzz WHERE 0") == 0) {
        made++;
        run(db, "INSERT INTO customers(tenant, email) VALUES(%u, 'mail %u')", i, i);
        run(db, "INSERT INTO fuzz(fuzz) VALUES('rebuild')");
        run(db, "DROP TABLE fuzz");
      }
    }
    if (i % 16 == 0) {
      char *after = schema_of(db);
      changed += strcmp(before, after) != 0;
      sqlite3_free(after);
    }
    sqlite3_free(sql);
    sqlite3_free(of);
  }
  expect(db, "the canary sings", "sings", "SELECT group_concat(secret) FROM canary");
  test(ran == 0 && changed == 0 && made > 0,
       "%u random texts for of=, %u of them good: nothing was run, nothing is left", rounds[extent],
       made);
  sqlite3_free(before);
  close_database(db);
}

/* ---- random expressions ---- */

static const char *const leaves[] = {
    "id",   "rowid", "tenant",           "email", "tag",   "amount", "n",   "any", "domain",
    "size", "EMAIL", "\"odd \"\"name\"", "[tag]", "`any`", "5",      "0.5", "''",  "'user 3'",
    "NULL", "x'61'"};
static const char *const unary[][2] = {{"lower(", ")"},
                                       {"upper(", ")"},
                                       {"typeof(", ")"},
                                       {"trim(", ")"},
                                       {"length(", ")"},
                                       {"hex(", ")"},
                                       {"abs(", ")"},
                                       {"-(", ")"},
                                       {"NOT (", ")"},
                                       {"CAST(", " AS NUMERIC)"},
                                       {"round(", ")"},
                                       {"quote(", ")"},
                                       {"(", " ISNULL)"},
                                       {"bloom_key(1, ", ")"},
                                       {"date ( (", "), '+1 day')"},
                                       {"strftime('%d', ", ")"}};
static const char *const binary[] = {" || ", " + ", " - ", " / ", " AND ", " OR ", " % ", " LIKE "};
static const char *const comparing[] = {
    " = ", " < ", " IS ", " == ", " <> ", " >= ", " COLLATE BINARY = ", " COLLATE RTRIM = "};
static const char *const three[][4] = {{"iif(", ", ", ", ", ")"},
                                       {"(CASE WHEN ", " THEN ", " ELSE ", " END)"},
                                       {"coalesce(", ", ", ", ", ")"}};
static const char *const comparing_three[][4] = {
    {"(", " IN (", ", ", "))"},
    {"(", " BETWEEN ", " AND ", ")"},
    {"(CASE ", " WHEN ", " THEN 'same' ELSE ", " END)"}};

/* With or without operators that compare, which have affinities and collations. */
static void add_expression(sqlite3_str *text, uint64_t *random, unsigned depth, bool compares) {
  unsigned kind = depth == 0 ? 0 : random_below(random, 6), operands = kind / 2 + 1;
  const char *const *around = unary[random_below(random, COUNT(unary))];
  const char *infix[3] = {"(", binary[random_below(random, COUNT(binary))], ")"};
  if (kind <= 1) {
    sqlite3_str_appendall(text, leaves[random_below(random, COUNT(leaves))]);
    return;
  }
  if (kind == 2) operands = 1;
  if (operands == 2) {
    if (compares && random_below(random, 2))
      infix[1] = comparing[random_below(random, COUNT(comparing))];
    around = infix;
  } else if (operands == 3) {
    around = compares && random_below(random, 2) ? comparing_three[random_below(random, 3)]
                                                 : three[random_below(random, COUNT(three))];
  }
  for (unsigned i = 0; i < operands; i++) {
    sqlite3_str_appendall(text, around[i]);
    add_expression(text, random, depth - 1, compares);
  }
  sqlite3_str_appendall(text, around[operands]);
}

/* Rows of all types in all columns. */
static void add_rows(sqlite3 *db, uint64_t *random) {
  static const char *const values[] = {
      "NULL",  "0",     "1",        "3.0",       "-7.25",
      "'5'",   "'5.0'", "'user 3'", "'USER 3 '", "'x'",
      "'X  '", "x'61'", "'a'",      "1e20",      "9223372036854775807"};
  for (unsigned i = 0; i < 8; i++) {
    const char *value[7];
    for (unsigned j = 0; j < COUNT(value); j++)
      value[j] = values[random_below(random, COUNT(values))];
    run(db,
        "INSERT INTO customers(tenant, email, tag, amount, n, any, \"odd \"\"name\") "
        "VALUES(%s, %s, %s, %s, %s, %s, %s)",
        value[0], value[1], value[2], value[3], value[4], value[5], value[6]);
  }
}

/* Between the quotes that are not in it; with both in it, it is left out. */
static bool create_with(sqlite3 *db, const char *key, const char *kind) {
  if (strchr(key, '\'') && strchr(key, '"')) return false;
  char quote = strchr(key, '\'') ? '"' : '\'';
  return try_sql(db,
                 "CREATE VIRTUAL TABLE fuzz USING bloom(of=%ccustomers(%s)%c, n=1000, p=0.001, "
                 "kind=%s)",
                 quote, key, quote, kind) == SQLITE_OK;
}

/* The columns as of= sees them: without affinity, as a trigger does. */
#define BARE_COLUMNS \
  "(SELECT +id AS id, +tenant AS tenant, +email AS email, +tag AS tag, +amount AS amount, " \
  "+n AS n, +\"any\" AS \"any\", +domain AS domain, +size AS size, " \
  "+\"odd \"\"name\" AS \"odd \"\"name\" FROM customers)"

/* A table that was kept in step, rebuilt, and made in SQL has the same bits: a plain table into
** which nothing but inserts went, and a counting one. */
static bool agree(sqlite3 *db, uint64_t *random, const char *key, const char *kind) {
  static const char snapshot[] =
      "SELECT hex(substr(bloom_snapshot('fuzz'), 73))"; /* but the header */
  add_rows(db, random);
  if (kind[0] == 'c') {
    run(db,
        "UPDATE customers SET tenant = tenant + 1, email = tag WHERE id %% 3 = 0;"
        "DELETE FROM customers WHERE id %% 3 = 1");
  }
  const char *kept = ask(db, "%s", snapshot);
  run(db, "INSERT INTO fuzz(fuzz) VALUES('rebuild')");
  const char *rebuilt = ask(db, "%s", snapshot);
  const char *wanted =
      ask(db,
          "SELECT iif(count(k), hex(substr(bloom_build(k, 1000, 0.001, '%s'), 73)), "
          "hex(substr(bloom_new(1000, 0.001, '%s'), 73))) FROM (SELECT %s AS k "
          "FROM " BARE_COLUMNS ")",
          kind, kind, key);
  bool same =
      strncmp(kept, "code", 4) != 0 && strcmp(kept, rebuilt) == 0 && strcmp(kept, wanted) == 0;
  if (!same) {
    printf("#  %s %s: triggers and rebuild %s, rebuild and SQL %s\n", kind, key,
           strcmp(kept, rebuilt) ? "differ" : "agree",
           strcmp(rebuilt, wanted) ? "differ" : "agree");
  }
  return same;
}

static void test_expressions(bool compares) {
  static const unsigned rounds[] = {12, 100, 1500, 20000};
  uint64_t random = 815;
  sqlite3 *db = open_input("expressions.db");
  unsigned made = 0, differ = 0;
  for (unsigned i = 0; i < rounds[extent] && differ < 3; i++) {
    sqlite3_str *text = sqlite3_str_new(db);
    add_expression(text, &random, 1 + random_below(&random, 3), compares);
    char *key = sqlite3_str_finish(text);
    const char *kind = random_below(&random, 2) ? "plain" : "counting";
    run(db, "DELETE FROM customers");
    if (create_with(db, key, kind)) {
      made++;
      differ += !agree(db, &random, key, kind);
      run(db, "DROP TABLE fuzz");
    }
    sqlite3_free(key);
  }
  test(differ == 0 && made > rounds[extent] / 4,
       "random expressions%s, %u of %u good: triggers, rebuild and SQL agree",
       compares ? " that compare" : "", made, rounds[extent]);
  sqlite3_set_authorizer(db, NULL, NULL);
  close_database(db);
}

/* The functions of the time ask for it only when they are not given one. */
static void test_given_times(void) {
  static const char *const keys[] = {"date(day)",      "time(day)", "datetime(day)",
                                     "julianday(day)", "day, id",   "strftime('%Y', day)",
                                     "unixepoch(day)"};
  sqlite3 *db = open_database(fresh("times.db"));
  run(db, "CREATE TABLE visits(id INTEGER PRIMARY KEY, day TEXT)");
  run(db, "INSERT INTO visits(day) VALUES ('2024-02-29 12:00:00'), ('2023-01-01')");
  for (unsigned i = 0; i < COUNT(keys); i++) {
    if (sqlite3_libversion_number() < 3038000 && strncmp(keys[i], "unix", 4) == 0) continue;
    bool pair = strcmp(keys[i], "day, id") == 0;
    run(db, "CREATE VIRTUAL TABLE given USING bloom(of='visits(%q)', n=10, p=1e-6)", keys[i]);
    expect(db, keys[i], "2", "SELECT sum(bloom_lookup('given', %s%s%s)) FROM visits",
           pair ? "bloom_key(" : "", keys[i], pair ? ")" : "");
    run(db, "DROP TABLE given");
  }
  close_database(db);
}

void test_input(void) {
  test_refused();
  test_given_times();
  test_garbage();
  test_expressions(false);
  test_expressions(true);
}
