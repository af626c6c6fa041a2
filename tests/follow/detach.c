/* detach.c: each way in which a bloom table loses its source. Every read is an error from then on,
** in the connection that did it, in another one, and when another process did it; 'rebuild' mends
** it. */
#include "follow.h"

static const char *const words = "no longer kept in step with";

#define CUSTOMERS "(id INTEGER PRIMARY KEY, email TEXT, name TEXT)"
#define FILL "INSERT INTO customers SELECT * FROM keep;"
#define KEEP "DROP TABLE IF EXISTS keep; CREATE TABLE keep AS SELECT * FROM customers;"
#define TWELVE \
  "PRAGMA foreign_keys = OFF; BEGIN; CREATE TABLE new_customers" CUSTOMERS \
  "; INSERT INTO new_customers SELECT * FROM customers; DROP TABLE customers; ALTER TABLE " \
  "new_customers RENAME TO customers; COMMIT"
#define AWAY \
  "ALTER TABLE customers RENAME TO old; CREATE TABLE customers" CUSTOMERS \
  "; INSERT INTO customers SELECT * FROM old; DROP TABLE old"
/* known_insert again, with a text of its own from the event on */
#define INSTEAD(text) "DROP TRIGGER known_insert; CREATE TRIGGER \"known_insert\" " text
#define INTO "INSERT INTO \"known\"(key) SELECT email FROM (SELECT "
#define ROW "+new.\"email\" AS \"email\""
#define SHORTER "+new.\"email\" email WHERE 0"

enum Mend {
  MENDS,       /* rebuild makes it right */
  MENDS_SOURCE /* so it does, after the source is made again */
};

static const struct {
  const char *name;
  const char *sql;
  enum Mend mend;
} ways[] = {
    {"source dropped and created",
     KEEP "DROP TABLE customers; CREATE TABLE customers" CUSTOMERS ";" FILL, MENDS},
    {"12-step ALTER", TWELVE, MENDS},
    {"12-step ALTER, legacy", "PRAGMA legacy_alter_table = ON; " TWELVE, MENDS},
    {"source renamed away and dropped", AWAY, MENDS},
    {"source renamed away and dropped, legacy", "PRAGMA legacy_alter_table = ON; " AWAY, MENDS},
    {"DROP TRIGGER known_insert", "DROP TRIGGER known_insert", MENDS},
    {"DROP TRIGGER known_update", "DROP TRIGGER known_update", MENDS},
    {"both triggers dropped", "DROP TRIGGER known_insert; DROP TRIGGER known_update", MENDS},
    {"another body", INSTEAD("AFTER INSERT ON \"customers\" BEGIN SELECT 1; END"), MENDS},
    {"a condition in its row",
     INSTEAD("AFTER INSERT ON \"customers\" BEGIN " INTO ROW " WHERE 0); END"), MENDS},
    {"a constant for its row",
     INSTEAD("AFTER INSERT ON \"customers\" BEGIN " INTO "'x' AS \"email\"); END"), MENDS},
    {"another column for its row",
     INSTEAD("AFTER INSERT ON \"customers\" BEGIN " INTO "+new.\"name\" AS \"email\"); END"),
     MENDS},
    {"a second statement",
     INSTEAD("AFTER INSERT ON \"customers\" BEGIN " INTO ROW
             "); UPDATE customers SET name = (SELECT 1); END"),
     MENDS},
    {"a WHEN", INSTEAD("AFTER INSERT ON \"customers\" WHEN 0 BEGIN " INTO ROW "); END"), MENDS},
    {"a BEFORE", INSTEAD("BEFORE INSERT ON \"customers\" BEGIN " INTO ROW "); END"), MENDS},
    {"another event", INSTEAD("AFTER DELETE ON \"customers\" BEGIN SELECT 1; END"), MENDS},
    {"on another table",
     "CREATE TABLE other" CUSTOMERS
     "; " INSTEAD("AFTER INSERT ON \"other\" BEGIN " INTO ROW "); END"),
     MENDS},
    {"UPDATE OF",
     "DROP TRIGGER known_update; CREATE TRIGGER \"known_update\" AFTER UPDATE OF id ON "
     "\"customers\" BEGIN " INTO ROW "); END",
     MENDS},
    {"another column in the second trigger",
     "DROP TRIGGER known_update; CREATE TRIGGER \"known_update\" AFTER UPDATE ON \"customers\" "
     "BEGIN " INTO "+new.\"name\" AS \"email\"); END",
     MENDS},
    {"a condition and no AS in both triggers",
     INSTEAD("AFTER INSERT ON \"customers\" BEGIN " INTO SHORTER
             "); END; DROP TRIGGER known_update; CREATE TRIGGER \"known_update\" AFTER UPDATE ON "
             "\"customers\" BEGIN " INTO SHORTER "); END"),
     MENDS},
    {"one more column in the second trigger",
     "DROP TRIGGER known_update; CREATE TRIGGER \"known_update\" AFTER UPDATE ON \"customers\" "
     "BEGIN " INTO ROW ", +new.\"name\" AS \"name\"); END",
     MENDS},
    {"the second trigger on another table",
     "CREATE TABLE other" CUSTOMERS
     "; DROP TRIGGER known_update; CREATE TRIGGER \"known_update\" AFTER UPDATE ON \"other\" "
     "BEGIN " INTO ROW "); END",
     MENDS},
    {"source dropped", KEEP "DROP TABLE customers", MENDS_SOURCE},
    {"source is a view now",
     KEEP "DROP TABLE customers; CREATE VIEW customers AS SELECT * FROM keep", MENDS_SOURCE},
    {"column gone",
     KEEP "DROP TABLE customers; CREATE TABLE customers(id INTEGER PRIMARY KEY, name); "
          "INSERT INTO customers SELECT id, email FROM keep",
     MENDS_SOURCE},
    {"triggers dropped, then the source renamed",
     "DROP TRIGGER known_insert; ALTER TABLE customers RENAME TO c2; ALTER TABLE c2 RENAME TO "
     "customers",
     MENDS},
    {"a trigger dropped and another column renamed",
     "DROP TRIGGER known_update; ALTER TABLE customers RENAME COLUMN name TO \"n a\"", MENDS}};

/* The reads of a connection: prepared before the loss, and prepared after it. */
static const char *const reads[] = {
    "SELECT bloom_lookup('known', 'user 7')",
    "SELECT bloom_lookup('main.known', 'user 7')",
    "SELECT count(*) FROM known WHERE key = 'user 7'",
    "SELECT key FROM known WHERE key = 'user 7'",
    "SELECT EXISTS (SELECT 1 FROM known WHERE key = 'user 7')",
    "SELECT count(*) FROM (SELECT 'user 7' AS e UNION ALL SELECT 'nobody') JOIN known ON key = e",
    "SELECT count(*) FROM known WHERE key IN ('user 7', 'nobody')",
    "SELECT length(bloom_snapshot('known'))",
    "SELECT bloom_status('known')"};

typedef struct Reader {
  sqlite3 *db;
  sqlite3_stmt *prepared[COUNT(reads)];
} Reader;

static void open_reader(Reader *reader, const char *path) {
  reader->db = open_database(path);
  sqlite3_busy_timeout(reader->db, 10000);
}

static void prepare_reads(Reader *reader) {
  for (unsigned i = 0; i < COUNT(reads); i++) {
    if (sqlite3_prepare_v2(reader->db, reads[i], -1, &reader->prepared[i], NULL) != SQLITE_OK ||
        sqlite3_step(reader->prepared[i]) != SQLITE_ROW) {
      test(false, "%s: %s", reads[i], sqlite3_errmsg(reader->db));
    }
    sqlite3_reset(reader->prepared[i]);
  }
}

static void close_reader(Reader *reader) {
  for (unsigned i = 0; i < COUNT(reads); i++) sqlite3_finalize(reader->prepared[i]);
  close_database(reader->db);
}

/* How many of all reads, old and new, give a row, and how many give our error. */
static void count_reads(Reader *reader, unsigned *rows, unsigned *errors, bool shown) {
  *rows = *errors = 0;
  for (unsigned i = 0; i < 2 * COUNT(reads); i++) {
    sqlite3_stmt *read = i & 1 ? NULL : reader->prepared[i / 2];
    sqlite3_stmt *fresh_read = NULL;
    if (read == NULL) sqlite3_prepare_v2(reader->db, reads[i / 2], -1, &fresh_read, NULL);
    int code = sqlite3_step(read ? read : fresh_read);
    const char *message = sqlite3_errmsg(reader->db);
    if (code == SQLITE_ROW) {
      if (++*rows > 2) shown = false;
      if (shown) printf("#  a row from %s%s\n", reads[i / 2], read ? ", prepared before" : "");
    } else if (strstr(message, words)) {
      ++*errors;
    } else if (shown) {
      printf("#  %s%s: code %d, %s\n", reads[i / 2], read ? ", prepared before" : "", code,
             message);
    }
    if (read) sqlite3_reset(read);
    sqlite3_finalize(fresh_read);
  }
}

static void all_fail(Reader *reader, const char *way, const char *where) {
  unsigned rows, errors;
  count_reads(reader, &rows, &errors, false);
  if (!test(errors == 2 * COUNT(reads), "%s: every read %s is an error", way, where)) {
    count_reads(reader, &rows, &errors, true);
  }
}

static void all_answer(Reader *reader, const char *way, const char *where) {
  unsigned rows, errors;
  count_reads(reader, &rows, &errors, false);
  bool answered = rows == 2 * COUNT(reads);
  bool right = all_found(reader->db, "known", "SELECT email AS k FROM customers", 12);
  if (!test(answered && right, "%s: every read %s is right", way, where) && !answered) {
    printf("#  %u rows and %u of our errors from %u reads\n", rows, errors,
           2 * (unsigned)COUNT(reads));
  }
}

static void make_customers(sqlite3 *db, const char *more) {
  run(db,
      "CREATE TABLE customers" CUSTOMERS
      "; WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
      "FROM c WHERE i < 40) INSERT INTO customers SELECT i, 'user ' || i, 'name ' || i FROM c; "
      "CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001%s)",
      more);
}

/* Three readers: the one that does it, one that knew the table, and a later one. */
static void lose(unsigned i, unsigned by, const char *more) {
  static const char *const who[] = {"the connection", "another connection", "another process"};
  const char *path = fresh("detach.db");
  Reader one = {0}, two = {0};
  char name[120];
  snprintf(name, sizeof name, "%s%s, by %s", ways[i].name, more, who[by]);
  open_reader(&one, path);
  make_customers(one.db, more);
  open_reader(&two, path);
  prepare_reads(&one);
  prepare_reads(&two);
  if (by == 2) {
    if (run_elsewhere(path, ways[i].sql) != 0) test(false, "%s: it cannot", name);
  } else {
    run(by ? two.db : one.db, "%s", ways[i].sql);
  }
  all_fail(&one, name, "in the first connection");
  all_fail(&two, name, "in the second connection");
  if (ways[i].mend == MENDS_SOURCE) {
    expect_error(two.db, "rebuild without the source says what is missing", "",
                 "INSERT INTO known(known) VALUES('rebuild')");
    all_fail(&one, name, "after a vain rebuild");
    run(one.db, "DROP %s customers; CREATE TABLE customers" CUSTOMERS "; " FILL,
        strcmp(ask(one.db, "SELECT max(type) FROM sqlite_master WHERE name = 'customers'"), "view")
            ? "TABLE IF EXISTS"
            : "VIEW");
    all_fail(&two, name, "after the source is back");
  }
  run(two.db, "INSERT INTO customers(email) VALUES('late')");
  run(one.db, "INSERT INTO known(known) VALUES('rebuild')");
  run(two.db,
      "INSERT INTO customers(email) VALUES('later'); UPDATE customers SET email = 'changed' "
      "WHERE id = 3");
  all_answer(&one, name, "in the first connection after rebuild");
  all_answer(&two, name, "in the second connection after rebuild");
  close_reader(&one);
  close_reader(&two);
}

/* ---- inside transactions ---- */

static void test_transactions(void) {
  const char *path = fresh("detach-transaction.db");
  Reader one = {0}, two = {0};
  open_reader(&one, path);
  run(one.db, "PRAGMA journal_mode = WAL");
  make_customers(one.db, "");
  open_reader(&two, path);
  prepare_reads(&one);
  prepare_reads(&two);
  run(one.db, "BEGIN; DROP TRIGGER known_insert");
  all_fail(&one, "dropped in this transaction", "in it");
  all_answer(&two, "dropped in this transaction", "of another connection");
  run(one.db, "ROLLBACK");
  all_answer(&one, "dropped and rolled back", "afterwards");
  run(one.db,
      "BEGIN; SAVEPOINT s; DROP TRIGGER known_update; INSERT INTO customers(email) VALUES('s')");
  all_fail(&one, "dropped in a savepoint", "in it");
  run(one.db, "ROLLBACK TO s");
  all_answer(&one, "dropped and rolled back to a savepoint", "afterwards");
  /* The schema's version is the same again, but not the schema. */
  run(one.db, "CREATE TABLE z(a)");
  all_answer(&one, "another table created in a savepoint", "afterwards");
  run(one.db, "ROLLBACK TO s; DROP TRIGGER known_insert");
  all_fail(&one, "dropped at the version of a schema that was rolled back", "in the transaction");
  run(one.db, "ROLLBACK; DROP TRIGGER known_insert");
  all_fail(&one, "dropped at the version of a schema that was rolled back", "afterwards");
  run(one.db, "BEGIN; CREATE TRIGGER \"known_insert\" AFTER INSERT ON \"customers\" BEGIN " INTO ROW
              "); END");
  all_answer(&one, "made again by hand, with our text", "in the transaction");
  run(one.db, "ROLLBACK");
  all_fail(&one, "made again by hand and rolled back", "afterwards");
  run(one.db, "BEGIN; INSERT INTO known(known) VALUES('rebuild')");
  all_answer(&one, "rebuilt in a transaction", "in it");
  run(one.db, "ROLLBACK");
  all_fail(&one, "rebuilt and rolled back", "afterwards");
  run(two.db, "BEGIN");
  all_fail(&two, "in an older snapshot", "before another connection rebuilds");
  run(one.db, "INSERT INTO known(known) VALUES('rebuild')");
  all_fail(&two, "in an older snapshot", "after another connection rebuilt");
  run(two.db, "COMMIT");
  all_answer(&two, "in a newer snapshot", "after another connection rebuilt");
  run(two.db, "BEGIN; SELECT count(*) FROM customers");
  run(one.db, "DROP TRIGGER known_insert");
  all_answer(&two, "in the snapshot before another connection dropped", "still");
  run(two.db, "COMMIT");
  all_fail(&two, "in the snapshot after another connection dropped", "afterwards");
  close_reader(&one);
  close_reader(&two);
}

/* ---- a trigger changed by hand in the schema's table: seen by who reads the schema ---- */

static void test_edited_schema(void) {
  static const char *const edits[] = {
      "DELETE FROM sqlite_master WHERE name = 'known_insert'",
      "UPDATE sqlite_master SET sql = replace(sql, 'new.\"email\"', '''x''') WHERE name = "
      "'known_insert'",
      "UPDATE sqlite_master SET sql = replace(sql, 'BEGIN', 'WHEN new.id > 5 BEGIN') WHERE name = "
      "'known_update'"};
  for (unsigned i = 0; i < COUNT(edits); i++) {
    const char *path = fresh("detach-edited.db");
    Reader one = {0};
    sqlite3 *db = open_database(path);
    make_customers(db, "");
    run(db, "PRAGMA writable_schema = ON; %s", edits[i]);
    close_database(db);
    open_reader(&one, path);
    unsigned rows, errors;
    count_reads(&one, &rows, &errors, false);
    test(errors == 2 * COUNT(reads), "edited schema %u: every read is an error", i);
    run(one.db, "INSERT INTO known(known) VALUES('rebuild')");
    run(one.db, "INSERT INTO customers(email) VALUES('later')");
    test(all_found(one.db, "known", "SELECT email AS k FROM customers", 12),
         "edited schema %u: right after rebuild", i);
    close_reader(&one);
  }
}

/* While the source keeps its old name in of=, a rename is followed even when a trigger is lost. */
static void test_renamed_source(void) {
  sqlite3 *db = open_database(fresh("detach-renamed.db"));
  static const char *const dropped[] = {"known_insert", "known_update"};
  make_customers(db, "");
  run(db,
      "ALTER TABLE customers RENAME TO clients; ALTER TABLE clients RENAME COLUMN email TO mail");
  for (unsigned i = 0; i < 2; i++) {
    run(db, "DROP TRIGGER %s; INSERT INTO clients(mail) VALUES('late %u')", dropped[i], i);
    expect_error(db, "renamed, and one trigger dropped: a read is an error", words,
                 "SELECT bloom_lookup('known', 'user 7')");
    run(db, "INSERT INTO known(known) VALUES('rebuild')");
    run(db, "INSERT INTO clients(mail) VALUES('later %u')", i);
    test(all_found(db, "known", "SELECT mail AS k FROM clients", 12),
         "renamed, and %s dropped: right after rebuild", dropped[i]);
  }
  close_database(db);
}

static void test_counting(void) {
  static const char *const triggers[] = {"insert", "update", "delete", "forget"};
  for (unsigned i = 0; i < COUNT(triggers); i++) {
    Reader one = {0};
    char name[60];
    open_reader(&one, fresh("detach-counting.db"));
    make_customers(one.db, ", n=500, kind=counting");
    prepare_reads(&one);
    run(one.db, "DROP TRIGGER known_%s", triggers[i]);
    /* The triggers that are left may refuse this, in words. */
    bool deleted = try_sql(one.db, "DELETE FROM customers WHERE id = 9") == SQLITE_OK;
    test(deleted || strstr(sqlite3_errmsg(one.db), words), "counting without known_%s: DELETE",
         triggers[i]);
    snprintf(name, sizeof name, "counting without known_%s", triggers[i]);
    all_fail(&one, name, "afterwards");
    run(one.db, "INSERT INTO known(known) VALUES('rebuild'); DELETE FROM customers WHERE id = 10");
    all_answer(&one, name, "after rebuild");
    expect(one.db, "deleted keys are forgotten", deleted ? "0 0" : "1 0",
           "SELECT bloom_lookup('known', 'user 9') || ' ' || bloom_lookup('known', 'user 10')");
    close_reader(&one);
  }
}

void test_detach(void) {
  for (unsigned i = 0; i < COUNT(ways); i++) {
    for (unsigned by = 0; by < 3; by++) {
      if (extent == TINY && (i % 6 || by != i % 2)) continue;
      if (extent == QUICK && by != i % 3) continue;
      lose(i, by, "");
    }
  }
  for (unsigned i = 0; i < COUNT(ways) && extent > TINY; i += 5)
    lose(i, 0, ", kind=counting, n=500");
  test_transactions();
  test_edited_schema();
  test_renamed_source();
  test_counting();
}
