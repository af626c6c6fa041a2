/* hostile.c: a database file whose schema somebody wrote by hand, opened with trusted_schema off
** (and on): no read, check or command runs a function that SQLite would not run for a view or a
** trigger there, none runs a second statement, and none crashes. */
#include "follow.h"

static unsigned ran;

static void evil_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  ran++;
  sqlite3_result_value(context, argv[0]);
}

/* evil may be called by an application's own SQL alone, and risky by a trusted schema too. */
static void add_functions(sqlite3 *db) {
  const int pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  sqlite3_create_function(db, "evil", 1, pure | SQLITE_DIRECTONLY, NULL, evil_function, NULL, NULL);
  sqlite3_create_function(db, "risky", 1, pure, NULL, evil_function, NULL, NULL);
  sqlite3_create_function(db, "regexp", 2, pure, NULL, evil_function, NULL, NULL);
}

/* What is written into the schema's table: each is an UPDATE of sqlite_master. */
#define IN_KEY(function) \
  "UPDATE sqlite_master SET sql = replace(sql, 'lower(email)', '" function \
  "(email)') WHERE " \
  "name GLOB 'known*'"
#define IN_OF(text) \
  "UPDATE sqlite_master SET sql = replace(sql, 'customers(lower(email))', '" text \
  "') WHERE name = 'known'"
#define IN_ROW(text) \
  "UPDATE sqlite_master SET sql = replace(sql, 'new.\"email\" AS \"email\"', '" text \
  "') WHERE type = 'trigger'"

static const char *const edits[] = {
    IN_KEY("evil"),
    IN_KEY("risky"),
    "UPDATE sqlite_master SET sql = replace(sql, 'lower(email)', '(email REGEXP 1)') WHERE name "
    "GLOB 'known*'",
    IN_OF("customers(evil(email))"),
    IN_OF("customers(risky(email))"),
    IN_OF("customers((SELECT secret FROM canary WHERE risky(1)))"),
    IN_OF("view_of(email)"),
    IN_OF("customers(lower(email)"),
    IN_OF(""),
    IN_OF("known(key)"),
    IN_OF("known_data(block)"),
    IN_OF("nobody(email)"),
    IN_OF("customers(email) FROM customers; DELETE FROM canary; SELECT (1)"),
    IN_ROW("evil(new.\"email\") AS \"email\""),
    IN_ROW("risky(new.\"email\") AS \"email\""),
    IN_ROW("new.\"email\" AS \"email\", (SELECT evil(secret) FROM canary) AS more"),
    IN_ROW("new.\"email\" AS \"email\" FROM canary WHERE risky(1)"),
    IN_ROW("new.\"email\" AS \"email\"); DELETE FROM canary; SELECT 1 FROM (SELECT 1"),
    IN_ROW("new.\"email\" AS \"email\"); END; DELETE FROM canary; SELECT (1"),
    IN_ROW(""),
    IN_ROW("''"),
    "UPDATE sqlite_master SET sql = replace(sql, 'AS \"email\"', 'AS \"email') WHERE type = "
    "'trigger'",
    "UPDATE sqlite_master SET sql = replace(sql, 'INSERT INTO \"known\"', 'INSERT INTO "
    "\"canary\"')",
    "UPDATE sqlite_master SET sql = 'CREATE TRIGGER ' WHERE type = 'trigger'",
    "UPDATE sqlite_master SET tbl_name = 'canary' WHERE type = 'trigger'",
    "UPDATE sqlite_master SET name = 'known_other' WHERE name = 'known_update'",
    "UPDATE sqlite_master SET sql = replace(sql, '0.001', '1e-9, n=5, kind=counting') WHERE name = "
    "'known'",
    "UPDATE sqlite_master SET sql = 'CREATE TABLE known_data(id INTEGER PRIMARY KEY, block AS "
    "(evil(id)))' WHERE name = 'known_data'",
    "UPDATE sqlite_master SET sql = 'CREATE TABLE customers(email, id AS (risky(email)))' WHERE "
    "name = "
    "'customers'"};

static void make_file(const char *path, const char *edit) {
  sqlite3 *db = open_database(path);
  add_functions(db);
  run(db,
      "CREATE TABLE customers(email); INSERT INTO customers VALUES('One'), ('Two');"
      "CREATE TABLE canary(secret); INSERT INTO canary VALUES('sings');"
      "CREATE VIEW view_of AS SELECT risky(email) AS email FROM customers;"
      "CREATE VIRTUAL TABLE known USING bloom(of='customers(lower(email))', p=0.001);"
      "PRAGMA writable_schema = ON; %s",
      edit);
  close_database(db);
}

/* What an application does with a file. Errors are as good as answers. */
static const char *const uses[] = {"SELECT bloom_lookup('known', 'one')",
                                   "SELECT count(*) FROM known WHERE key = 'one'",
                                   "SELECT bloom_status('known')",
                                   "SELECT length(bloom_snapshot('known'))",
                                   "INSERT INTO known(known) VALUES('rebuild')",
                                   "INSERT INTO known(known) VALUES('optimize')",
                                   "INSERT INTO known(key) VALUES('three')",
                                   "PRAGMA integrity_check",
                                   "PRAGMA quick_check",
                                   "ALTER TABLE known RENAME TO known2",
                                   "SELECT bloom_lookup('known2', 'one')",
                                   "INSERT INTO known2(known2) VALUES('rebuild')",
                                   "ALTER TABLE known2 RENAME TO known",
                                   "INSERT INTO customers(email) VALUES('new')",
                                   "UPDATE customers SET email = 'newer' WHERE email = 'Two'",
                                   "DROP TABLE known"};

static void use_file(const char *edit, bool trusted, unsigned number) {
  const char *path = fresh("hostile.db");
  unsigned evil_runs = 0;
  make_file(path, edit);
  sqlite3 *db = open_database(path);
  add_functions(db);
  run(db, "PRAGMA trusted_schema = %d", trusted);
  bool untouched = true;
  for (unsigned i = 0; i < COUNT(uses); i++) {
    ran = 0;
    try_sql(db, "%s", uses[i]);
    /* A trusted schema may call risky, so there no run is counted. */
    if (ran > 0 && !trusted) {
      evil_runs++;
      printf("#  %s\n#  runs a function that is not for schemas\n", uses[i]);
    }
    const char *canary = ask(db, "SELECT group_concat(secret) FROM canary");
    /* The user's own write may fire a trigger that says so: that is SQLite's. */
    if (strcmp(canary, "sings") != 0 && strstr(uses[i], "customers") == NULL && untouched &&
        strstr(edit, "canary") && strncmp(canary, "code", 4) != 0 && i < 13) {
      untouched = false;
      printf("#  %s\n#  changes another table: %s\n", uses[i], canary);
    }
  }
  test(evil_runs == 0 && untouched, "hostile schema %u, %s: nothing is run that may not be", number,
       trusted ? "trusted" : "not trusted");
  close_database(db);
}

/* Texts of known_insert (and known_delete) that are not what was made, seen by the connection that
** wrote them into the schema: without a doubt every read is an error, and rebuild mends it. */
static void test_texts(void) {
#define TEXT(text, name) "UPDATE sqlite_master SET sql = " text " WHERE name = '" name "'"
#define ROW(row) TEXT("replace(sql, '+new.\"email\" AS \"email\"', '" row "')", "known_insert")
  static const char *const texts[] = {
      TEXT("NULL", "known_insert"),
      TEXT("'CREATE TRIGGER'", "known_insert"),
      TEXT("substr(sql, 1, instr(sql, '(SELECT +') + 7)", "known_insert"),
      TEXT("substr(sql, 1, length(sql) - 1) || 'd'", "known_insert"),
      TEXT("replace(sql, 'AFTER', 'BEFORE')", "known_insert"),
      ROW("new.\"email\" AS \"email\""),
      ROW("+new.\"email AS email"),
      ROW("+new.\"email\" AS email"),
      ROW("+new.\"email\" AS \"email"),
      ROW("+new.\"email\" AS \"email\" FROM canary"),
      ROW("+new.\"email\" AS \"email\", "),
      ROW("+new.\"other\" AS \"email\""),
      ROW("+new.\"e\" AS \"email\""),
      ROW("+new.\"email\" AS \"mail\""),
      "UPDATE sqlite_master SET tbl_name = 'twin', sql = replace(sql, 'ON \"customers\"', "
      "'ON \"twin\"') WHERE name = 'known_update'",
      TEXT("replace(sql, '+old.\"email\"', '+old.\"other\"')", "known_delete"),
      TEXT("replace(sql, '+old.\"email\"', '+new.\"email\"')", "known_delete"),
      TEXT("replace(sql, '+old.\"email\"', '+new.\"email\"')", "known_forget")};
  for (unsigned i = 0; i < COUNT(texts); i++) {
    sqlite3 *db = open_database(fresh("texts.db"));
    char name[60];
    run(db,
        "CREATE TABLE customers(email, other); CREATE TABLE twin(email, other);"
        "INSERT INTO customers VALUES('one', 'x'), ('two', 'y');"
        "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001, kind=counting);"
        "PRAGMA writable_schema = ON; %s",
        texts[i]);
    snprintf(name, sizeof name, "a trigger's text that is not ours, %u", i);
    expect_error(db, name, "no longer kept in step", "SELECT bloom_lookup('known', 'one')");
    test(sqlite3_changes(db) == 1, "%s: it was written", name);
    run(db, "INSERT INTO known(known) VALUES('rebuild'); INSERT INTO customers VALUES('three', 0)");
    test(all_found(db, "known", "SELECT email AS k FROM customers", 12), "%s: rebuilt", name);
    close_database(db);
  }
#undef ROW
#undef TEXT
}

/* A trigger under one of our names before there is a table: a stranger's is not touched; one that a
** restored dump left is ours again. */
static void test_left_triggers(void) {
  sqlite3 *db = open_database(fresh("left.db"));
  run(db,
      "CREATE TABLE customers(email); INSERT INTO customers VALUES('one');"
      "CREATE TRIGGER known_update AFTER UPDATE ON customers BEGIN SELECT 1; END");
  expect_error(db, "a stranger's trigger", "there is a trigger known_update already",
               "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)')");
  expect(db, "is left, and nothing else", "2", "SELECT count(*) FROM sqlite_master");
  run(db,
      "DROP TRIGGER known_update;"
      "CREATE TRIGGER \"known_update\" AFTER UPDATE ON \"customers\" BEGIN INSERT INTO \"known\""
      "(key) SELECT email FROM (SELECT +new.\"email\" AS \"email\"); END;"
      "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001);"
      "UPDATE customers SET email = 'two'");
  test(all_found(db, "known", "SELECT email AS k FROM customers", 12), "one of ours is taken over");
  close_database(db);
}

static void not_a_filter(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, "not a filter", -1, SQLITE_STATIC);
}

/* The application has a function of its own under the name of one of ours. */
static void test_other_function(void) {
  sqlite3 *db = open_database(fresh("other.db"));
  sqlite3_create_function(db, "bloom_union", 2, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, not_a_filter,
                          NULL, NULL);
  run(db, "CREATE TABLE customers(email)");
  expect_error(db, "a bloom_union that is not ours", "not a bloom filter",
               "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)')");
  expect(db, "a bloom_union that is not ours: nothing is left", "customers",
         "SELECT group_concat(name) FROM sqlite_master");
  close_database(db);
}

/* An honest expression with a function of the application works where SQLite lets it: while the
** schema is trusted; without, every way in is an error that says so. */
static void test_application_function(void) {
  const char *path = fresh("application.db");
  sqlite3 *db = open_database(path);
  add_functions(db);
  run(db,
      "CREATE TABLE customers(email); INSERT INTO customers VALUES('one');"
      "CREATE VIRTUAL TABLE known USING bloom(of='customers(risky(email))', p=0.001);"
      "INSERT INTO customers VALUES('two')");
  test(all_found(db, "known", "SELECT email AS k FROM customers", 12),
       "a function of the application, trusted");
  close_database(db);
  db = open_database(path);
  add_functions(db);
  run(db, "PRAGMA trusted_schema = OFF");
  expect_error(db, "a function of the application, not trusted: rebuild", "unsafe use of risky",
               "INSERT INTO known(known) VALUES('rebuild')");
  expect_error(db, "a function of the application, not trusted: insert", "unsafe use of risky",
               "INSERT INTO customers VALUES('three')");
  expect_error(db, "a function of the application, not trusted: create", "unsafe use of risky",
               "CREATE VIRTUAL TABLE more USING bloom(of='customers(risky(email))')");
  expect(db, "and nothing is left", "0",
         "SELECT count(*) FROM sqlite_master WHERE name GLOB 'more*'");
  expect_error(db, "a function for direct calls only", "unsafe use of evil",
               "CREATE VIRTUAL TABLE more USING bloom(of='customers(evil(email))')");
  close_database(db);
}

/* Random damage to the texts in the schema: bytes changed, cut or doubled. */
static void test_random_edits(void) {
  static const unsigned rounds[] = {4, 25, 200, 4000};
  uint64_t random = 42;
  unsigned opened = 0, runs = 0;
  for (unsigned i = 0; i < rounds[extent]; i++) {
    static const char *const pieces[] = {"\"", "'", "(",     ")", ",",   ";",
                                         "x",  "",  "email", " ", "\x80"};
    unsigned at = 8 + random_below(&random, 120);
    char *edit = sqlite3_mprintf(
        "UPDATE sqlite_master SET sql = substr(sql, 1, %u) || %Q || substr(sql, %u) WHERE name = "
        "'%s'",
        at, pieces[random_below(&random, COUNT(pieces))], at + random_below(&random, 3),
        random_below(&random, 3) == 0   ? "known"
        : random_below(&random, 2) == 0 ? "known_insert"
                                        : "known_update");
    const char *path = fresh("hostile-random.db");
    make_file(path, edit);
    sqlite3 *db = open_database(path);
    add_functions(db);
    run(db, "PRAGMA trusted_schema = OFF");
    opened += try_sql(db, "SELECT 1 FROM sqlite_master") == SQLITE_OK;
    ran = 0;
    for (unsigned j = 0; j < COUNT(uses); j++) try_sql(db, "%s", uses[j]);
    runs += ran;
    close_database(db);
    sqlite3_free(edit);
  }
  test(runs == 0 && opened > 0, "%u schemas with random damage, %u of them readable",
       rounds[extent], opened);
}

void test_hostile(void) {
  for (unsigned i = 0; i < COUNT(edits); i++) {
    if (extent == TINY && i % 5) continue;
    use_file(edits[i], false, i);
    if (extent > QUICK) use_file(edits[i], true, i);
  }
  test_texts();
  test_left_triggers();
  test_other_function();
  test_application_function();
  test_random_edits();
}
