/* input: parameters, names, and statements that a bloom table takes or refuses. */
#include "table.h"

/* ---- CREATE VIRTUAL TABLE ---- */

static void test_parameters(sqlite3 *db) {
  static const struct {
    const char *arguments, *words;
  } bad[] = {{"", "n is missing"},
             {"p=0.01", "n is missing"},
             {"n", "is not one of"},
             {"1000", "is not one of"},
             {"n=1000, q=1", "is not one of"},
             {"n=1000, size=1", "is not one of"},
             {"n=1000, n=1000", "given twice"},
             {"n=1000, p=0.1, p=0.1", "given twice"},
             {"n=1000, kind=plain, KIND=plain", "given twice"},
             {"n=0", "at least 1"},
             {"n=-5", "at least 1"},
             {"n=1.5", "at least 1"},
             {"n=many", "at least 1"},
             {"n='1000 keys'", "at least 1"},
             {"n=", "at least 1"},
             {"n=NULL", "at least 1"},
             {"n=9223372036854775808", "at least 1"},
             {"n=1000, p=0", "from 1e-9 to below 1"},
             {"n=1000, p=1", "from 1e-9 to below 1"},
             {"n=1000, p=-0.1", "from 1e-9 to below 1"},
             {"n=1000, p=1%", "from 1e-9 to below 1"},
             {"n=1000, p=1e-10", "from 1e-9 to below 1"},
             {"n=1000, p=nan", "from 1e-9 to below 1"},
             {"n=0.01, p=1000", "swapped"},
             {"n=1000, kind=cuckoo", "'plain' or 'counting'"},
             {"n=1000, kind=", "'plain' or 'counting'"},
             {"n=1000, kind=1", "'plain' or 'counting'"},
             {"n=''", "n is the text '',"},
             {"n=1000, of=", "of"}};
  for (unsigned i = 0; i < COUNT(bad); i++) {
    char name[100];
    snprintf(name, sizeof name, "bloom(%s) is refused", bad[i].arguments);
    expect_error(db, name, SQLITE_ERROR, bad[i].words, "CREATE VIRTUAL TABLE bad USING bloom(%s)",
                 bad[i].arguments);
  }
  static const char *const large[] = {"1000000000000", "9223372036854775807"};
  for (unsigned i = 0; i < COUNT(large); i++) {
    expect_error(db, "a filter beyond SQLITE_LIMIT_LENGTH is refused", SQLITE_TOOBIG, "limit",
                 "CREATE VIRTUAL TABLE bad USING bloom(n=%s)", large[i]);
  }
  expect(db, "refused tables leave nothing behind", "0", "SELECT count(*) FROM sqlite_schema");
}

static void test_good_parameters(sqlite3 *db) {
  static const struct {
    const char *arguments, *sizes;
  } good[] = {{"n=1000", "1000"},
              {"n=1000, p=0.001", "1000, 0.001"},
              {"p=0.001, n=1000", "1000, 0.001"},
              {"  N  =  1e3 ,\t P = '0.001'", "1000, 0.001"},
              {"n=1000, kind=plain", "1000"},
              {"kind='counting', n=\"1000\"", "1000, 0.01, 'counting'"},
              {"n=1000.0, kind = COUNTING, p=.5", "1000, 0.5, 'counting'"},
              {"n=1, p=1e-9", "1, 1e-9"}};
  for (unsigned i = 0; i < COUNT(good); i++) {
    run(db, "CREATE VIRTUAL TABLE good USING bloom(%s); INSERT INTO good(key) VALUES ('a')",
        good[i].arguments);
    test(same_as_build(db, "good", "SELECT 'a' AS key", good[i].sizes),
         "bloom(%s) is bloom_build(key, %s)", good[i].arguments, good[i].sizes);
    run(db, "DROP TABLE good");
  }
  expect(db, "DROP TABLE takes the shadow table along", "0", "SELECT count(*) FROM sqlite_schema");
}

/* ---- names ---- */

static void test_names(sqlite3 *db) {
  static const char *const refused[] = {"key", "KEY", "filter", "rowid", "Filter"};
  for (unsigned i = 0; i < COUNT(refused); i++) {
    expect_error(db, "a table named like a column is refused", SQLITE_ERROR, "cannot be named",
                 "CREATE VIRTUAL TABLE \"%w\" USING bloom(n=10)", refused[i]);
  }
  char longest[601], longer[128];
  memset(longest, 'n', 600);
  longest[600] = 0;
  memset(longer, 'm', 127);
  longer[127] = 0;
  const char *const names[] = {
      "a b",    "a.b",   "a\"b", "a'b", "a`b",  "[a]",    "a%b",
      "select", "table", "of",   "n",   "data", "x_data", "\xc3\xa4\xe6\xbc\xa2",
      "1",      "%s%n",  "a;b",  "--",  "a\nb", longer,   longest};
  for (unsigned i = 0; i < COUNT(names); i++) {
    char *quoted = sqlite3_mprintf("\"%w\"", names[i]),
         *full = sqlite3_mprintf("main.\"%w\"", names[i]);
    char shown[40];
    snprintf(shown, sizeof shown, "%.20s", names[i]);
    for (char *c = shown; *c; c++) *c = *c == '\n' ? '_' : *c;
    run(db,
        "CREATE VIRTUAL TABLE %s USING bloom(n=100);"
        "INSERT INTO %s(key) VALUES (nth(1)), (nth(2));"
        "INSERT INTO %s(%s) VALUES ('optimize')",
        quoted, quoted, quoted, quoted);
    expect(db, "the name in a query", "1", "SELECT 1 FROM %s WHERE key = nth(2)", quoted);
    test(has_all(db, quoted, "SELECT nth(1) AS key"), "the name \"%s\" in bloom_lookup", shown);
    test(same_as_build(db, full, "SELECT nth(1) AS key UNION ALL SELECT nth(2)", "100"),
         "the name \"%s\" in bloom_snapshot, with its schema", shown);
    run(db, "ALTER TABLE %s RENAME TO renamed; ALTER TABLE renamed RENAME TO %s", quoted, quoted);
    expect(db, "the name renamed and back", "1", "SELECT bloom_lookup(%Q, nth(2))", full);
    run(db, "DROP TABLE %s", quoted);
    sqlite3_free(quoted);
    sqlite3_free(full);
  }
  expect(db, "all is dropped", "0", "SELECT count(*) FROM sqlite_schema");
}

static void test_not_ours(sqlite3 *db) {
  static const char *const names[] = {
      "nothing", "plain",      "plain_view",    "seen_data",   "main.plain",     "other.seen",
      "",        ".",          "main.",         ".seen",       "\"seen",         "main.main.seen",
      "seen ",   "json_each",  "sqlite_schema", "words",       "main.\"seen\"x", "[seen",
      "[]",      "main[seen]", "main.`",        "\"main\"seen"};
  static const char *const functions[] = {"bloom_lookup(%Q, 1)", "bloom_snapshot(%Q)",
                                          "bloom_status(%Q)"};
  run(db,
      "CREATE TABLE plain(key); CREATE VIEW plain_view AS SELECT 1 AS key;"
      "CREATE VIRTUAL TABLE words USING fts5(key); CREATE VIRTUAL TABLE seen USING bloom(n=9)");
  for (unsigned i = 0; i < COUNT(names); i++) {
    for (unsigned f = 0; f < COUNT(functions); f++) {
      char *call = sqlite3_mprintf(functions[f], names[i]), label[100];
      snprintf(label, sizeof label, "%s is refused", call);
      expect_error(db, label, SQLITE_ERROR, "no bloom table named", "SELECT %s", call);
      sqlite3_free(call);
    }
  }
  static const char *const values[] = {"NULL", "1", "1.5", "x'7365656e'"};
  for (unsigned i = 0; i < COUNT(values); i++) {
    expect_error(db, "a name that is no text is refused", SQLITE_ERROR, "named by a text",
                 "SELECT bloom_lookup(%s, 1)", values[i]);
    expect_error(db, "a name that is no text is refused", SQLITE_ERROR, "named by a text",
                 "SELECT bloom_snapshot(%s)", values[i]);
  }
  expect_error(db, "bloom_lookup needs its arguments", SQLITE_ERROR, "wrong number of arguments",
               "SELECT bloom_lookup('seen')");
  run(db, "CREATE VIRTUAL TABLE twin USING bloom(n=9); INSERT INTO seen(key) VALUES (5)");
  expect(db, "names in all of SQLite's quotes", "1 1 1 1",
         "SELECT bloom_lookup('[seen]', 5) || ' ' || bloom_lookup('`main`.[seen]', 5) || ' ' || "
         "bloom_lookup('\"seen\"', 5) || ' ' || bloom_lookup('[main].seen', 5)");
  expect(db, "the name may change from row to row", "1,0,1,0",
         "SELECT group_concat(bloom_lookup(column1, 5)) FROM "
         "(VALUES ('seen'), ('twin'), ('main.seen'), ('main.twin'))");
  run(db, "DROP TABLE twin");
  run(db, "DROP TABLE words; DROP VIEW plain_view; DROP TABLE plain; DROP TABLE seen");
}

/* ---- statements ---- */

static void test_reads(sqlite3 *db) {
  run(db,
      "CREATE VIRTUAL TABLE seen USING bloom(n=1000);"
      "CREATE TABLE keys(key); INSERT INTO keys SELECT nth(value) FROM "
      "json_each('[1,2,3,4,5,6,7,8]');"
      "INSERT INTO seen(key) SELECT key FROM keys WHERE rowid <= 6");
  expect_error(db, "a scan is refused", SQLITE_ERROR, "cannot list its keys", "SELECT * FROM seen");
  expect_error(db, "count(*) is refused", SQLITE_ERROR, "cannot list its keys",
               "SELECT count(*) FROM seen");
  expect_error(db, "a range is refused", SQLITE_ERROR, "cannot list its keys",
               "SELECT 1 FROM seen WHERE key > 'a'");
  expect_error(db, "LIKE is refused", SQLITE_ERROR, "cannot list its keys",
               "SELECT 1 FROM seen WHERE key LIKE 'a%%'");
  expect_error(db, "a rowid is refused", SQLITE_ERROR, "cannot list its keys",
               "SELECT 1 FROM seen WHERE rowid = 5");
  expect_error(db, "key IS NOT NULL is refused", SQLITE_ERROR, "cannot list its keys",
               "SELECT 1 FROM seen WHERE key IS NOT NULL");
  expect(db, "the key's own value is given back", "blob",
         "SELECT typeof(key) FROM seen WHERE key = nth(3)");
  expect(db, "filter and command column are NULL", "null null",
         "SELECT typeof(filter) || ' ' || typeof(seen) FROM seen WHERE key = nth(3)");
  expect(db, "a key IS a key", "1", "SELECT 1 FROM seen WHERE key IS nth(3)");
  expect(db, "key = NULL is no row", "(no row)", "SELECT 1 FROM seen WHERE key = NULL");
  expect(db, "key IS a parameter that is NULL is no row", "(no row)",
         "SELECT 1 FROM seen WHERE key IS ?1");
  expect_error(db, "key IS NULL is refused", SQLITE_ERROR, "cannot list its keys",
               "SELECT 1 FROM seen WHERE key IS NULL");
  expect(db, "a NULL key: bloom_lookup is NULL", "NULL", "SELECT bloom_lookup('seen', NULL)");
  expect(db, "two demands on the key", "(no row)",
         "SELECT 1 FROM seen WHERE key = nth(3) AND key = nth(4)");
  expect(db, "OR", "2", "SELECT count(*) FROM seen WHERE key = nth(3) OR key = nth(4)");
  expect(db, "IN (list)", "3",
         "SELECT count(*) FROM seen WHERE key IN (nth(1), nth(2), nth(3), nth(3), NULL)");
  expect(db, "IN (select)", "6", "SELECT count(*) FROM seen WHERE key IN (SELECT key FROM keys)");
  expect(db, "IN (nothing)", "0", "SELECT count(*) FROM seen WHERE key IN ()");
  expect(db, "NOT IN", "2",
         "SELECT count(*) FROM keys AS k WHERE NOT EXISTS (SELECT 1 FROM seen WHERE key = k.key)");
  expect(db, "JOIN", "6", "SELECT count(*) FROM keys JOIN seen USING (key)");
  expect(db, "JOIN, the table in front", "6", "SELECT count(*) FROM seen JOIN keys USING (key)");
  expect(db, "LEFT JOIN", "8 6",
         "SELECT count(*) || ' ' || count(s.key) FROM keys LEFT JOIN seen AS s USING (key)");
  expect(db, "a window over a join", "6",
         "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY s.key) AS n "
         "FROM keys JOIN seen AS s USING (key))");
  expect(db, "aggregates and GROUP BY", "1",
         "SELECT max(c) FROM (SELECT count(*) AS c FROM keys JOIN seen AS s "
         "USING (key) GROUP BY s.key)");
  expect(db, "a compound SELECT", "1",
         "SELECT count(*) FROM (SELECT key FROM seen WHERE key = nth(1) UNION "
         "SELECT key FROM seen WHERE key = nth(1))");
  expect(db, "a view over it", "6",
         "SELECT count(*) FROM keys JOIN (SELECT * FROM seen) AS v ON v.key = keys.key");
}

/* Whether the plan of a statement has this instruction. */
static bool has_opcode(sqlite3 *db, const char *opcode, const char *sql) {
  sqlite3_stmt *explain;
  bool found = false;
  sqlite3_prepare_v2(db, sql, -1, &explain, NULL);
  while (sqlite3_step(explain) == SQLITE_ROW) {
    found = found || strcmp((const char *)sqlite3_column_text(explain, 1), opcode) == 0;
  }
  sqlite3_finalize(explain);
  return found;
}

/* key IN (...) gives the rows that a loop over the different values of the list gives; at least
** `sure` of them, and as many more as absent keys may answer 1. */
static void test_in_list(sqlite3 *db, const char *name, const char *list, int sure, int more) {
  run(db, "DELETE FROM list; INSERT INTO list %s", list);
  run(db,
      "DELETE FROM looped; INSERT INTO looped"
      " SELECT key FROM (SELECT DISTINCT x FROM list) CROSS JOIN many WHERE key = x");
  int rows = atoi(ask(db, "SELECT count(*) FROM looped"));
  test(rows >= sure && rows <= sure + more, "IN: %s: %d rows of a loop", name, rows);
  const char *const ways[] = {"SELECT key FROM many WHERE key IN (SELECT x FROM list)",
                              "SELECT many.key FROM many JOIN one WHERE many.key IN list",
                              "SELECT key FROM many WHERE key IN (%s)"};
  for (unsigned i = 0; i < COUNT(ways); i++) {
    char *in = sqlite3_mprintf(ways[i], list);
    const char *differ =
        ask(db,
            "SELECT abs((SELECT count(*) FROM (%s)) - %d)"
            " + (SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM looped))"
            " + (SELECT count(*) FROM (SELECT * FROM looped EXCEPT SELECT * FROM (%s)))",
            in, rows, in, in);
    test(strcmp(differ, "0") == 0, "IN: %s: way %u gives the same rows (%s)", name, i, differ);
    sqlite3_free(in);
  }
}

static void test_in(sqlite3 *db) {
#define NUMBERS(to) \
  "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < " #to ")"
  run(db,
      "CREATE TEMP TABLE list(x); CREATE TEMP TABLE looped(x); CREATE TEMP TABLE one(x);"
      "INSERT INTO one VALUES (1); CREATE VIRTUAL TABLE many USING bloom(n=1000, p=0.001)");
  run(db, NUMBERS(500) "INSERT INTO many(key) SELECT nth(2 * i) FROM c");
  test_in_list(db, "nothing", "SELECT nth(2) WHERE 0", 0, 0);
  test_in_list(db, "only NULL", "VALUES (NULL)", 0, 0);
  test_in_list(db, "NULLs and duplicates",
               "VALUES (nth(2)), (NULL), (nth(4)), (nth(2)), (NULL), (absent(1)), (nth(4))", 2, 1);
  test_in_list(db, "mixed types",
               "VALUES (4), ('4'), (4.0), (x'34'), ('4.00'), (nth(2)), (8.0), (1e300), ('')", 5, 1);
  /* absent: 1,000 keys at a rate of 0.001 give 1, and 4 sigma are 4 */
  test_in_list(db, "1,500 keys", NUMBERS(1500) "SELECT nth(i) FROM c", 500, 5);
  test_in_list(db, "5,000 keys and NULL, shuffled",
               NUMBERS(5000) "SELECT nth(i * 2654435761 % 5000 + 1) FROM c UNION ALL SELECT NULL",
               500, 14);
  expect(db, "IN: beside another demand", "1",
         "SELECT count(*) FROM many WHERE key IN (nth(2), nth(4), nth(6)) AND key = nth(4)");
  run(db, "DELETE FROM list; INSERT INTO list VALUES (nth(2)), (nth(4)), ('x'), (nth(6))");
  expect(db, "IN: a list of each row's own", "1,2,2,3",
         "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM list AS l JOIN many AS m ON m.key "
         "IN (SELECT x FROM list WHERE rowid <= l.rowid) GROUP BY l.rowid)");
  int version = sqlite3_libversion_number();
  pretended_version = 3037000; /* where the extension is compiled in, it asks this program */
  test_in_list(db, "one by one", NUMBERS(1500) "SELECT nth(i) FROM c", 500, 5);
  pretended_version = 0;
  const char *sql = "EXPLAIN SELECT key FROM many WHERE key IN (1, 2, 3)";
  test(has_opcode(db, "VInitIn", sql) == (version >= 3038000),
       "IN: all values at once from SQLite 3.38 on");
  run(db, "DROP TABLE many; DROP TABLE list; DROP TABLE looped; DROP TABLE one");
#undef NUMBERS
}

static void test_writes(sqlite3 *db) {
  run(db, "CREATE TABLE before AS SELECT bloom_snapshot('seen') AS filter");
  run(db, "BEGIN; CREATE TABLE marks(x); INSERT INTO marks VALUES (1)");
  expect_error(db, "UPDATE of a key is refused", SQLITE_ERROR, "cannot be changed",
               "UPDATE seen SET key = 'x' WHERE key = nth(1)");
  expect_error(db, "DELETE from a plain table is refused", SQLITE_ERROR,
               "bloom: a plain filter cannot forget a key", "DELETE FROM seen WHERE key = nth(1)");
  expect_error(db, "DELETE of everything is refused", SQLITE_ERROR, "cannot list its keys",
               "DELETE FROM seen");
  expect(db, "DELETE of an absent key is nothing", "(no row)",
         "DELETE FROM seen WHERE key = absent(1)");
  expect_error(db, "a rowid cannot be given", SQLITE_ERROR, "rowid",
               "INSERT INTO seen(rowid, key) VALUES (5, 1)");
  expect_error(db, "UPSERT is refused by SQLite", SQLITE_ERROR, "UPSERT",
               "INSERT INTO seen(key) VALUES (1) ON CONFLICT DO NOTHING");
  expect_error(db, "an unknown command is refused", SQLITE_ERROR, "the commands are",
               "INSERT INTO seen(seen) VALUES ('explode')");
  expect_error(db, "'rebuild' without a source is refused", SQLITE_ERROR, "clear it and insert",
               "INSERT INTO seen(seen) VALUES ('rebuild')");
  expect_error(db, "a command that is no text is refused", SQLITE_ERROR, "the commands are",
               "INSERT INTO seen(seen) VALUES (17)");
  expect_error(db, "a filter that is no blob is refused", SQLITE_ERROR, "must be a blob",
               "INSERT INTO seen(filter) VALUES ('text')");
  expect_error(db, "a blob that is no filter is refused", SQLITE_ERROR, "filter",
               "INSERT INTO seen(filter) VALUES (zeroblob(500))");
  expect_error(db, "a filter of another n is refused", SQLITE_ERROR, "n",
               "INSERT INTO seen(filter) SELECT bloom_build(1, 2000)");
  expect_error(db, "a filter of another kind is refused", SQLITE_ERROR, "counting",
               "INSERT INTO seen(filter) SELECT bloom_build(1, 1000, 0.01, 'counting')");
  expect_error(
      db, "a damaged filter is refused", SQLITE_ERROR, "checksum",
      "INSERT INTO seen(filter) SELECT CAST(substr(f, 1, 200) || x'ff' || substr(f, 202) AS BLOB) "
      "FROM (SELECT bloom_build(1, 1000) AS f)");
  expect(db, "a NULL key is no key", "(no row)", "INSERT INTO seen(key) VALUES (NULL)");
  expect(db, "no value at all is no key", "(no row)", "INSERT INTO seen DEFAULT VALUES");
  expect(db, "the unsized empty filter adds nothing", "(no row)",
         "INSERT INTO seen(filter) SELECT bloom_build(1, 1000) WHERE 0 UNION ALL SELECT "
         "bloom_build(NULL)");
  expect(db, "after all of these the transaction is intact", "1", "SELECT x FROM marks");
  run(db, "COMMIT");
  expect(db, "and the table is as it was", "1",
         "SELECT filter IS bloom_snapshot('seen') FROM before");
  expect(db, "INSERT OR REPLACE is an insert", "(no row)",
         "INSERT OR REPLACE INTO seen(key) VALUES ('r')");
  expect(db, "REPLACE too", "(no row)", "REPLACE INTO seen(key) VALUES ('s')");
  expect(db, "INSERT OR IGNORE too", "(no row)", "INSERT OR IGNORE INTO seen VALUES ('t')");
  expect(db, "RETURNING gives the key", "u", "INSERT INTO seen(key) VALUES ('u') RETURNING key");
  expect(db, "all of them are in", "4",
         "SELECT count(*) FROM seen WHERE key IN ('r', 's', 't', 'u')");
  expect(db, "key and filter in one row", "(no row)",
         "INSERT INTO seen(key, filter) SELECT 'v', bloom_build('w', 1000)");
  expect(db, "both are in", "2", "SELECT count(*) FROM seen WHERE key IN ('v', 'w')");
  expect(db, "dedupe: only what is new", "3",
         "WITH stream(x) AS (VALUES ('d1'), ('d2'), ('r'), ('d3')) "
         "SELECT count(*) FROM stream WHERE bloom_lookup('seen', x) = 0");
  run(db,
      "CREATE TABLE news(x); CREATE TRIGGER only_new BEFORE INSERT ON news BEGIN "
      "SELECT RAISE(IGNORE) WHERE EXISTS (SELECT 1 FROM seen WHERE key = new.x); "
      "INSERT INTO seen(key) VALUES (new.x); END;"
      "INSERT INTO news VALUES ('d1'), ('d2'), ('d1'), ('d2'), ('d3')");
  expect(db, "a trigger that keeps the first of each", "d1,d2,d3",
         "SELECT group_concat(x) FROM news");
}

static void test_counting(sqlite3 *db) {
  run(db,
      "CREATE VIRTUAL TABLE tally USING bloom(n=1000, p=0.001, kind=counting);"
      "INSERT INTO tally(key) SELECT key FROM keys; INSERT INTO tally(key) VALUES (nth(1))");
  test(same_as_build(db, "tally", "SELECT key FROM keys UNION ALL SELECT nth(1)",
                     "1000, 0.001, 'counting'"),
       "counting: every insert counts, as in bloom_build");
  run(db, "DELETE FROM tally WHERE key = nth(1)");
  expect(db, "counting: twice in, once deleted, is in", "1",
         "SELECT bloom_lookup('tally', nth(1))");
  run(db, "DELETE FROM tally WHERE key IN (SELECT key FROM keys WHERE rowid < 8)");
  expect(db, "counting: the cells are those of the key that is left", "1",
         "SELECT substr(bloom_snapshot('tally'), 73) = substr(bloom_build(nth(8), 1000, 0.001, "
         "'counting'), 73)");
  expect(db, "counting: and answer 0", "0",
         "SELECT sum(bloom_lookup('tally', key)) FROM keys WHERE rowid < 8");
  expect(db, "counting: DELETE of an absent key is nothing", "(no row)",
         "DELETE FROM tally WHERE key = absent(1)");
  expect_error(db, "counting: DELETE of everything is refused", SQLITE_ERROR,
               "cannot list its keys", "DELETE FROM tally");
  expect_error(db, "counting: UPDATE is refused", SQLITE_ERROR, "cannot be changed",
               "UPDATE tally SET key = 1 WHERE key = nth(8)");
  expect_error(db, "counting: a plain filter is refused", SQLITE_ERROR, "plain",
               "INSERT INTO tally(filter) SELECT bloom_build(1, 1000, 0.001)");
  run(db,
      "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 5000)"
      "INSERT INTO tally(key) SELECT absent(-i) FROM c");
  expect(db, "counting: does not grow", "1", "SELECT bloom_status('tally') ->> 'layers'");
  expect(db, "counting: and loses nothing beyond n", "5000",
         "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 5000)"
         "SELECT sum(bloom_lookup('tally', absent(-i))) FROM c");
  run(db, "INSERT INTO tally(tally) VALUES ('clear')");
  expect(db, "counting: 'clear'", "0", "SELECT bloom_status('tally') ->> 'count'");
}

void test_input(void) {
  sqlite3 *db = open_database(fresh("input"));
  test_parameters(db);
  test_good_parameters(db);
  test_names(db);
  test_not_ours(db);
  test_reads(db);
  test_in(db);
  test_writes(db);
  test_counting(db);
  close_database(db);
}
