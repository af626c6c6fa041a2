/* names.c: names that must be quoted, schemas, several bloom tables on one source, renames and
** drops: nothing of a table is left behind, and of a CREATE that fails. */
#include "follow.h"

/* ---- quoted names ---- */

static const char *const odd[] = {"plain",
                                  "with space",
                                  "it's",
                                  "quo\"te",
                                  "dot.ted",
                                  "select",
                                  "semi;colon",
                                  "par(en)s",
                                  "com,ma",
                                  "bra[ck]et",
                                  "back`tick",
                                  "-- comment",
                                  "/* comment */",
                                  "\xc3\xbcml\xc3\xa4ut.\xe2\x98\x83",
                                  "new",
                                  "old",
                                  "$dollar",
                                  "1digit",
                                  "percent%s%d",
                                  "\"\"",
                                  "''",
                                  "CASE"};

/* A value of an argument of CREATE VIRTUAL TABLE: between the quotes that are not in it, or between
** single ones, doubled in it. */
static char *argument(char *value) {
  char *text = strchr(value, '\'') == NULL  ? sqlite3_mprintf("'%s'", value)
               : strchr(value, '"') == NULL ? sqlite3_mprintf("\"%s\"", value)
                                            : sqlite3_mprintf("%Q", value);
  sqlite3_free(value);
  return text;
}

static void test_quoted(const char *table, const char *source, const char *column, bool legacy) {
  sqlite3 *db = open_database(fresh("names.db"));
  char *of = argument(sqlite3_mprintf("\"%w\"(\"%w\", \"%w x\")", source, column, column));
  char *keys = sqlite3_mprintf("SELECT bloom_key(\"%w\", \"%w x\") AS k FROM \"%w\"", column,
                               column, source);
  run(db, "PRAGMA legacy_alter_table = %d", legacy);
  run(db, "CREATE TABLE \"%w\"(\"%w\" TEXT, id INTEGER PRIMARY KEY, \"%w x\")", source, column,
      column);
  run(db, "INSERT INTO \"%w\" VALUES('one', 1, 'x'), ('two', 2, 'y')", source);
  if (try_sql(db, "CREATE VIRTUAL TABLE \"%w\" USING bloom(of=%s, p=0.001)", table, of) !=
      SQLITE_OK) {
    test(false, "table %s, of=%s: %s", table, of, sqlite3_errmsg(db));
    sqlite3_free(keys);
    sqlite3_free(of);
    close_database(db);
    return;
  }
  run(db, "INSERT INTO \"%w\" VALUES('three', 3, 'z')", source);
  run(db, "UPDATE \"%w\" SET \"%w\" = 'four' WHERE id = 1", source, column);
  test(all_found(db, table, keys, 12), "table %s of %s(%s): followed", table, source, column);
  run(db, "ALTER TABLE \"%w\" RENAME TO \"%w 2\"", table, table);
  run(db, "INSERT INTO \"%w\" VALUES('five', 5, 'f')", source);
  char *renamed = sqlite3_mprintf("%s 2", table);
  test(all_found(db, renamed, keys, 12), "table %s of %s(%s): renamed%s", table, source, column,
       legacy ? ", legacy" : "");
  run(db, "ALTER TABLE \"%w\" RENAME TO \"%w s\"", source, source);
  run(db, "ALTER TABLE \"%w s\" RENAME COLUMN \"%w\" TO \"%w c\"", source, column, column);
  run(db, "INSERT INTO \"%w s\" VALUES('six', 6, 's')", source);
  sqlite3_free(keys);
  keys = sqlite3_mprintf("SELECT bloom_key(\"%w c\", \"%w x\") AS k FROM \"%w s\"", column, column,
                         source);
  test(all_found(db, renamed, keys, 12), "table %s of %s(%s): source and column renamed%s", table,
       source, column, legacy ? ", legacy" : "");
  run(db, "INSERT INTO \"%w\"(\"%w\") VALUES('rebuild')", renamed, renamed);
  test(all_found(db, renamed, keys, 12), "table %s of %s(%s): rebuilt", table, source, column);
  run(db, "DROP TABLE \"%w\"", renamed);
  char *left = sqlite3_mprintf("%s s", source);
  test(strcmp(names_in(db, "main"), left) == 0, "table %s of %s(%s): nothing is left", table,
       source, column);
  sqlite3_free(left);
  sqlite3_free(renamed);
  sqlite3_free(keys);
  sqlite3_free(of);
  close_database(db);
}

/* ---- schemas ---- */

static void test_schemas(void) {
  sqlite3 *db = open_database(fresh("schemas.db"));
  const char *other = fresh("schemas-other.db");
  static const char *const schemas[] = {"main", "temp", "o'th\"er"};
  run(db, "ATTACH %Q AS \"o'th\"\"er\"", other);
  for (unsigned i = 0; i < COUNT(schemas); i++) {
    char table[20], keys[60];
    snprintf(table, sizeof table, "known%u", i);
    snprintf(keys, sizeof keys, "SELECT email AS k FROM customers%u", i);
    run(db, "CREATE TABLE \"%w\".customers%u(id INTEGER PRIMARY KEY, email)", schemas[i], i);
    run(db, "INSERT INTO customers%u(email) VALUES('one'), ('two')", i);
    run(db, "CREATE VIRTUAL TABLE \"%w\".known%u USING bloom(of='customers%u(email)', p=0.001)",
        schemas[i], i, i);
    run(db, "INSERT INTO customers%u(email) VALUES('three')", i);
    test(all_found(db, table, keys, 12), "schema %s: followed", schemas[i]);
    run(db, "DROP TRIGGER known%u_update", i);
    expect_error(db, "a trigger is gone, in any schema", "no longer kept in step",
                 "SELECT bloom_lookup('known%u', 'one')", i);
    run(db,
        "INSERT INTO known%u(known%u) VALUES('rebuild'); UPDATE customers%u SET email = 'two' "
        "WHERE id = 1",
        i, i, i);
    test(all_found(db, table, keys, 12), "schema %s: rebuilt", schemas[i]);
  }
  for (unsigned i = 0; i < COUNT(schemas); i++) {
    for (unsigned j = 0; j < COUNT(schemas); j++) {
      if (i == j) continue;
      expect_error(db, "a source in another schema is refused", "schema",
                   "CREATE VIRTUAL TABLE \"%w\".crossed USING bloom(of='customers%u(email)')",
                   schemas[i], j);
    }
  }
  expect_error(db, "a source with its schema is refused in words", "own schema",
               "CREATE VIRTUAL TABLE temp.crossed USING bloom(of='main.customers0(email)')");
  for (unsigned i = 0; i < COUNT(schemas); i++) {
    char left[60];
    snprintf(left, sizeof left, "customers%u known%u known%u_data known%u_insert known%u_update", i,
             i, i, i, i);
    test(strcmp(names_in(db, schemas[i]), left) == 0, "schema %s: the refused tables leave nothing",
         schemas[i]);
    run(db, "DROP TABLE known%u", i);
    snprintf(left, sizeof left, "customers%u", i);
    test(strcmp(names_in(db, schemas[i]), left) == 0, "schema %s: a dropped table leaves nothing",
         schemas[i]);
  }
  /* The same name in two schemas: of= is of its own one. */
  run(db,
      "CREATE TABLE main.both(email); CREATE TABLE temp.both(email);"
      "INSERT INTO main.both VALUES('in main'); INSERT INTO temp.both VALUES('in temp');"
      "CREATE VIRTUAL TABLE main.b USING bloom(of='both(email)', p=0.001);"
      "CREATE VIRTUAL TABLE temp.b USING bloom(of='both(email)', p=0.001);"
      "INSERT INTO main.both VALUES('more main'); INSERT INTO temp.both VALUES('more temp')");
  expect(
      db, "one name in two schemas", "1 1 0 0 0 0 1 1",
      "SELECT bloom_lookup('main.b', 'in main') || ' ' || bloom_lookup('main.b', 'more main') || ' "
      "' || "
      "bloom_lookup('main.b', 'in temp') || ' ' || bloom_lookup('main.b', 'more temp') || ' ' || "
      "bloom_lookup('temp.b', 'in main') || ' ' || bloom_lookup('temp.b', 'more main') || ' ' || "
      "bloom_lookup('temp.b', 'in temp') || ' ' || bloom_lookup('temp.b', 'more temp')");
  close_database(db);
}

/* ---- several tables on one source ---- */

static void test_several(void) {
  sqlite3 *db = open_database(fresh("several.db"));
  run(db, "CREATE TABLE customers(tenant, email COLLATE NOCASE)");
  for (unsigned i = 0; i < 20; i++) {
    run(db, "CREATE VIRTUAL TABLE known%u USING bloom(of='customers(%s)', p=0.001%s)", i,
        i % 3 ? "lower(email)" : "tenant, email", i % 2 ? ", kind=counting" : "");
  }
  run(db,
      "INSERT INTO customers VALUES(1, 'A@x'), (2, 'B@x'); UPDATE customers SET email = 'C@x' "
      "WHERE "
      "tenant = 2");
  for (unsigned i = 0; i < 20; i++) {
    char table[20];
    snprintf(table, sizeof table, "known%u", i);
    test(all_found(db, table,
                   i % 3 ? "SELECT lower(email) AS k FROM customers"
                         : "SELECT bloom_key(tenant, email) AS k FROM customers",
                   12),
         "table %u of one source", i);
    if (i % 2) run(db, "DROP TABLE known%u", i);
  }
  run(db, "INSERT INTO customers VALUES(3, 'D@x')");
  test(all_found(db, "known4", "SELECT lower(email) AS k FROM customers", 12),
       "a table whose neighbours were dropped");
  close_database(db);
}

/* ---- what was there before ---- */

static void test_taken_names(void) {
  static const char *const taken[] = {
      "CREATE TABLE known_data(q)",
      "CREATE TABLE known_keys(q)",
      "CREATE VIEW known_keys AS SELECT 1",
      "CREATE TRIGGER known_insert AFTER INSERT ON t BEGIN SELECT 1; END",
      "CREATE TRIGGER known_insert AFTER INSERT ON customers BEGIN SELECT 1; END",
      "CREATE TRIGGER known_update AFTER DELETE ON t BEGIN SELECT 1; END",
      "CREATE TRIGGER known_delete AFTER DELETE ON t BEGIN SELECT 1; END"};
  for (unsigned i = 0; i < 2 * COUNT(taken); i += extent == TINY ? 5 : 1) {
    bool inside = i & 1;
    sqlite3 *db = open_database(fresh("taken.db"));
    run(db,
        "CREATE TABLE customers(email); CREATE TABLE t(a); INSERT INTO customers VALUES('one'); %s",
        taken[i / 2]);
    if (strstr(taken[i / 2], "TABLE")) {
      run(db, "INSERT INTO \"%w\" VALUES(42)",
          strstr(taken[i / 2], "keys") ? "known_keys" : "known_data");
    }
    char *before = sqlite3_mprintf("%s", ask(db, "SELECT group_concat(sql) FROM sqlite_master"));
    if (inside) run(db, "BEGIN; INSERT INTO customers VALUES('two')");
    /* It may work, if it needs that name for no trigger; what was there stays in any case. */
    int code = try_sql(db, "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', kind=%s)",
                       strstr(taken[i / 2], "delete") ? "counting" : "plain");
    test(code == SQLITE_ERROR, "a taken name is refused%s: %s", inside ? " in a transaction" : "",
         taken[i / 2]);
    if (inside) {
      expect(db, "what the transaction did is still there", "2", "SELECT count(*) FROM customers");
      run(db, "COMMIT");
    }
    test(strcmp(ask(db, "SELECT group_concat(sql) FROM sqlite_master"), before) == 0,
         "and stays as it was%s: %s", inside ? ", in a transaction" : "", taken[i / 2]);
    if (strstr(taken[i / 2], "TABLE")) {
      expect(db, "with what is in it", "42", "SELECT q FROM \"%w\"",
             strstr(taken[i / 2], "keys") ? "known_keys" : "known_data");
    }
    sqlite3_free(before);
    close_database(db);
  }
}

/* Its triggers would be taken by the name of a table that is renamed. */
static void test_rename_onto(void) {
  sqlite3 *db = open_database(fresh("onto.db"));
  run(db,
      "CREATE TABLE customers(email); CREATE TABLE t(a);"
      "CREATE TRIGGER other_insert AFTER INSERT ON t BEGIN SELECT 'mine'; END;"
      "CREATE TABLE third_data(q);"
      "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001)");
  static const char *const names[] = {"other", "third", "key", "filter", "rowid"};
  for (unsigned i = 0; i < COUNT(names); i++) {
    bool refused = try_sql(db, "ALTER TABLE known RENAME TO \"%w\"", names[i]) != SQLITE_OK;
    test(refused, "a rename to %s, which is taken, is refused", names[i]);
    run(db, "INSERT INTO customers VALUES('after %w')", names[i]);
    test(all_found(db, refused ? "known" : names[i], "SELECT email AS k FROM customers", 12),
         "after a rename to %s", names[i]);
    if (!refused) break;
  }
  expect(db, "the other's trigger is still there", "1",
         "SELECT count(*) FROM sqlite_master WHERE name = 'other_insert' AND sql LIKE '%%mine%%'");
  close_database(db);
}

void test_names(void) {
  unsigned step = extent == TINY ? 13 : extent == QUICK ? 3 : 1;
  for (unsigned i = 0; i < COUNT(odd); i += step) {
    test_quoted(odd[i], "customers", "email", i & 1);
    test_quoted("known", odd[i], "email", i & 1);
    test_quoted("known", "customers", odd[i], i & 1);
    test_quoted(odd[i], odd[(i + 1) % COUNT(odd)], odd[(i + 2) % COUNT(odd)], !(i & 1));
  }
  test_schemas();
  test_several();
  test_taken_names();
  test_rename_onto();
}
