/* steps: a long row of random steps on two connections, against exact tables.
**
** Beside each bloom table T stands T_keys(id, key, times), changed in the same transaction; so
** SQLite itself says which keys T must hold at any moment. After every step some of them are asked
** for, by all ways and by statements that stay prepared. In the end the tables that never grew must
** be what bloom_build makes of the committed keys.
**
** The two connections are used in turn, by one thread: a step may meet SQLITE_BUSY, since the other
** connection holds a lock, and nothing else that is not expected. */
#include <stdarg.h>

#include "table.h"

enum {
  WAYS = 5,
  SAVEPOINTS = 4
};

/* The bloom tables. `range`: how many different keys there may be; below n, but for `grow`. */
typedef struct Spec {
  const char *schema, *name, *arguments, *sizes;
  unsigned range;
  double rate; /* documented: p, and 2p when it grows */
  bool counting, grows;
} Spec;
static const Spec specs[] = {
    {"main", "seen", "n=4000, p=0.01", "4000, 0.01", 3500, 0.01, false, false},
    {"main", "grow", "n=50, p=0.02", NULL, 3000, 0.04, false, true},
    {"main", "tally", "n=2500, p=0.01, kind=counting", "2500, 0.01, 'counting'", 2000, 0.01, true,
     false},
    {"aux", "far", "n=4000, p=0.001", "4000, 0.001", 3500, 0.001, false, false},
    {"temp", "own", "n=4000, p=0.01", "4000, 0.01", 3500, 0.01, false, false}};
enum {
  SEEN,
  GROW,
  TALLY,
  FAR,
  OWN,
  TABLES
};

typedef struct Connection {
  sqlite3 *db;
  sqlite3_stmt *pick[TABLES], *ask[TABLES][WAYS], *reader;
  int savepoints;
} Connection;

static Connection connections[2];
static const char *mode;
static uint64_t seed;
static unsigned step, asked, skipped, busy_commits;
static bool good;

static void fail(const char *what, sqlite3 *db, int code) {
  if (good)
    test(false, "steps in mode %s: step %u: %s: code %d, %s", mode, step, what, code,
         db ? sqlite3_errmsg(db) : "");
  good = false;
}

static unsigned below(unsigned limit) {
  return random_below(&seed, limit);
}

/* ---- statements that may meet a lock ---- */

/* With TRACE set in the environment each statement is shown, to find how an error came about. */
static void trace(const Connection *c, const char *sql, int code) {
  static const char *wanted = "";
  if (wanted && !*wanted) wanted = getenv("TRACE");
  if (wanted) printf("#  %u %d: %s; -- %d\n", step, (int)(c - connections), sql, code);
}

/* SQL that must succeed, or be stopped by a lock; true if it succeeded. */
static bool may(Connection *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  trace(c, sql, code);
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED) fail(sql, c->db, code);
  sqlite3_free(sql);
  if (sqlite3_get_autocommit(c->db)) c->savepoints = 0;
  return code == SQLITE_OK;
}

/* The same, also with an error that the statement was made to meet. */
static void may_fail(Connection *c, int expected, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  trace(c, sql, code);
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != expected) fail(sql, c->db, code);
  sqlite3_free(sql);
  if (sqlite3_get_autocommit(c->db)) c->savepoints = 0;
}

/* Ends the transaction, one way or the other. */
static void end(Connection *c, bool commit) {
  if (sqlite3_get_autocommit(c->db)) return;
  if (!commit || !may(c, "COMMIT")) {
    if (commit) busy_commits++;
    may(c, "ROLLBACK");
  }
}

/* ---- checks ---- */

static const char *const way_sql[WAYS] = {
    "SELECT 1 FROM %s.%s WHERE key = ?2", "SELECT EXISTS (SELECT 1 FROM %s.%s WHERE key = ?2)",
    "SELECT count(*) > 0 FROM %s.%s WHERE key IN (absent(?1), ?2, absent(?1 + 1))",
    "SELECT (SELECT count(*) FROM %s.%s_keys AS k CROSS JOIN %s.%s AS t ON t.key = k.key"
    "        WHERE k.id BETWEEN ?1 AND ?1 + 7)"
    "     = (SELECT count(*) FROM %s.%s_keys WHERE id BETWEEN ?1 AND ?1 + 7)",
    "SELECT bloom_lookup('%s.%s', ?2)"};

static void prepare(Connection *c, sqlite3_stmt **statement, const char *sql, const Spec *spec) {
  char text[600];
  if (*statement) return;
  const char *s = spec->schema, *n = spec->name;
  snprintf(text, sizeof text, sql, s, n, s, n, s, n);
  int code = sqlite3_prepare_v2(c->db, text, -1, statement, NULL);
  if (code != SQLITE_OK && code != SQLITE_BUSY) fail(text, c->db, code);
}

/* Asks for a key by one way, with a statement that lives as long as the connection. */
static void ask_way(Connection *c, int table, int way, sqlite3_stmt *key) {
  sqlite3_stmt **kept = &c->ask[table][way];
  prepare(c, kept, way_sql[way], &specs[table]);
  if (*kept == NULL) return;
  sqlite3_bind_int64(*kept, 1, sqlite3_column_int64(key, 0));
  sqlite3_bind_value(*kept, 2, sqlite3_column_value(key, 1));
  int code = sqlite3_step(*kept);
  bool found = code == SQLITE_ROW && sqlite3_column_int(*kept, 0) == 1;
  if (code == SQLITE_BUSY) {
    skipped++;
  } else if (code != SQLITE_ROW && code != SQLITE_DONE) {
    fail(sqlite3_sql(*kept), c->db, code);
  } else if (!found) {
    printf("#  key %lld of %s\n", (long long)sqlite3_column_int64(key, 0), specs[table].name);
    fail("FALSE NEGATIVE", NULL, way);
  }
  asked++;
  sqlite3_reset(*kept);
}

static void check_some(Connection *c, int table) {
  sqlite3_stmt **pick = &c->pick[table];
  prepare(c, pick, "SELECT id, key FROM %s.%s_keys WHERE id >= ?1 ORDER BY id LIMIT 1",
          &specs[table]);
  if (*pick == NULL) return;
  sqlite3_bind_int64(*pick, 1, 1 + below(specs[table].range));
  int code = sqlite3_step(*pick), first = (int)below(WAYS);
  if (code == SQLITE_ROW) {
    for (int i = 0; i < 2; i++) ask_way(c, table, (first + i) % WAYS, *pick);
  } else if (code == SQLITE_BUSY) {
    asked++;
    skipped++;
  } else if (code != SQLITE_DONE) {
    fail(sqlite3_sql(*pick), c->db, code);
  }
  sqlite3_reset(*pick);
}

/* Every key. The tables are looked into within one read transaction. */
static void check_all(Connection *c, int table) {
  const Spec *spec = &specs[table];
  char name[40];
  snprintf(name, sizeof name, "%s.%s", spec->schema, spec->name);
  const char *missing =
      ask(c->db,
          "SELECT (SELECT count(*) FROM %s_keys WHERE bloom_lookup(%Q, key) IS NOT 1)"
          " + (SELECT count(*) FROM %s_keys AS k WHERE NOT EXISTS"
          "    (SELECT 1 FROM %s AS t WHERE t.key = k.key))",
          name, name, name, name);
  if (strncmp(missing, "code 5:", 7) == 0) return;
  if (strcmp(missing, "0") != 0) fail(missing, NULL, table);
}

/* ---- steps ---- */

/* One key into a table and its exact one; by two statements in a transaction of their own, if there
** is none. */
static void add_key(Connection *c, int table, unsigned key) {
  const Spec *s = &specs[table];
  bool own = sqlite3_get_autocommit(c->db);
  if (own && !may(c, "BEGIN IMMEDIATE")) return;
  if (may(c,
          "INSERT INTO %s.%s(key) SELECT nth(%u) WHERE NOT EXISTS"
          " (SELECT 1 FROM %s.%s_keys WHERE id = %u AND times > 1)",
          s->schema, s->name, key, s->schema, s->name, key)) {
    if (!may(c,
             "INSERT INTO %s.%s_keys(id, key, times) VALUES (%u, nth(%u), 1) ON CONFLICT (id) DO"
             " UPDATE SET times = min(times + 1, 2)",
             s->schema, s->name, key, key)) {
      fail("the exact table is locked", NULL, SQLITE_BUSY);
    }
  }
  if (own) end(c, true);
}

static void remove_key(Connection *c, unsigned key) {
  bool own = sqlite3_get_autocommit(c->db);
  if (own && !may(c, "BEGIN IMMEDIATE")) return;
  if (may(c, "DELETE FROM tally WHERE key IN (SELECT key FROM tally_keys WHERE id = %u)", key)) {
    if (!may(c,
             "UPDATE tally_keys SET times = times - 1 WHERE id = %u;"
             "DELETE FROM tally_keys WHERE times = 0",
             key)) {
      fail("the exact table is locked", NULL, SQLITE_BUSY);
    }
  }
  if (own) end(c, true);
}

/* Rows into NAME_source, whose trigger keeps the filter and the exact table; perhaps with a row
** that fails. */
static void add_rows(Connection *c, int table) {
  static const char *const clauses[] = {"",          "",           "OR ABORT",   "OR FAIL",
                                        "OR IGNORE", "OR REPLACE", "OR ROLLBACK"};
  static const char *const notes[] = {"NULL",   "NULL",       "NULL",     "'abort'",
                                      "'fail'", "'rollback'", "'ignore'", "'check'"};
  const char *name = specs[table].name;
  may_fail(c, SQLITE_CONSTRAINT,
           "INSERT %s INTO %s_source(id, note) SELECT (%u + column1) %% %u,"
           " CASE column1 WHEN 3 THEN %s END FROM (VALUES (0), (1), (2), (3), (%d))",
           clauses[below(COUNT(clauses))], name, below(specs[table].range), specs[table].range,
           notes[below(COUNT(notes))], below(3) == 0 ? 1 : 4);
  if (below(4) == 0) may(c, "DELETE FROM %s_source", name);
}

static void open_savepoint(Connection *c) {
  if (c->savepoints == SAVEPOINTS) return;
  if (may(c, "SAVEPOINT s%d", c->savepoints + 1)) c->savepoints++;
}

static void close_savepoint(Connection *c) {
  if (c->savepoints == 0) return;
  int which = 1 + (int)below((unsigned)c->savepoints);
  if (below(2) == 0) {
    if (may(c, "RELEASE s%d", which))
      c->savepoints = c->savepoints > which - 1 ? which - 1 : c->savepoints;
  } else if (may(c, "ROLLBACK TO s%d", which)) {
    c->savepoints = which;
  }
}

static void transaction_step(Connection *c) {
  if (sqlite3_get_autocommit(c->db)) {
    may(c, "%s", below(2) == 0 ? "BEGIN" : "BEGIN IMMEDIATE");
  } else if (below(3) == 0) {
    may(c, "ROLLBACK");
  } else if (!may(c, "COMMIT")) {
    busy_commits++; /* the transaction stays: the next steps go on with it, or roll it back */
  }
}

/* A read transaction that makes commits of the other connection fail in the rollback journal. */
static void reader_step(Connection *c) {
  if (c->reader == NULL) {
    prepare(c, &c->reader, "SELECT id FROM %s.%s_keys", &specs[SEEN]);
    if (c->reader && sqlite3_step(c->reader) == SQLITE_ROW) return;
  }
  sqlite3_finalize(c->reader);
  c->reader = NULL;
}

/* Schema changes of other tables. */
static void schema_step(Connection *c) {
  switch (below(6)) {
    case 0:
      may(c, "CREATE TABLE IF NOT EXISTS extra(x)");
      break;
    case 1:
      may(c, "DROP TABLE IF EXISTS extra");
      break;
    case 2:
      if (may(c, "CREATE TABLE IF NOT EXISTS other(x)")) {
        may(c, "DROP TABLE IF EXISTS another; ALTER TABLE other RENAME TO another");
      }
      break;
    case 3:
      may(c,
          "CREATE TABLE IF NOT EXISTS extra(x); ALTER TABLE extra RENAME x TO y;"
          "ALTER TABLE extra RENAME y TO x");
      break;
    case 4:
      may(c, "CREATE INDEX IF NOT EXISTS main.i ON seen_source(note); DROP INDEX main.i");
      break;
    default:
      may(c, "CREATE TABLE IF NOT EXISTS temp.private(x); DROP TABLE temp.private");
  }
}

/* Something in a savepoint that is rolled back in the end, or released. */
static void nested_step(Connection *c) {
  static const int tables[] = {SEEN, GROW, TALLY, OWN};
  int table = tables[below(COUNT(tables))];
  const Spec *s = &specs[table];
  bool keep = false;
  if (!may(c, "SAVEPOINT n")) return;
  if (below(2) == 0) add_key(c, table, below(s->range));
  switch (below(5)) {
    case 0: /* another table of the name */
      if (may(c, "DROP TABLE %s.%s", s->schema, s->name) && below(2) == 0) {
        if (may(c, "CREATE VIRTUAL TABLE %s.%s USING bloom(%s)", s->schema, s->name,
                s->arguments)) {
          may(c, "INSERT INTO %s.%s(key) VALUES (nth(1))", s->schema, s->name);
        }
      }
      break;
    case 1: /* renamed, and back or rolled back */
      keep = may(c, "ALTER TABLE %s.%s RENAME TO r", s->schema, s->name);
      if (keep)
        may(c, "INSERT INTO r(key) SELECT key FROM %s.%s_keys LIMIT %d", s->schema, s->name,
            table == TALLY ? 0 : 3);
      if (keep) keep = below(2) == 0 && may(c, "ALTER TABLE %s.r RENAME TO %s", s->schema, s->name);
      break;
    case 2: /* made here and rolled back, or dropped */
      if (may(c, "CREATE VIRTUAL TABLE fresh USING bloom(n=%u)", 10 + below(1000))) {
        may(c, "INSERT INTO fresh(key) VALUES (nth(%u))", below(1000));
        keep = below(2) == 0 && may(c, "DROP TABLE fresh");
      }
      break;
    case 3:
      if (may(c, "INSERT INTO %s.%s(%s) VALUES ('clear')", s->schema, s->name, s->name)) {
        may(c, "INSERT INTO %s.%s(key) VALUES (nth(7))", s->schema, s->name);
      }
      break;
    default:
      may(c, "CREATE TABLE passing(x)");
  }
  if (!sqlite3_get_autocommit(c->db) && !keep) may(c, "ROLLBACK TO n");
  if (!sqlite3_get_autocommit(c->db) && !may(c, "RELEASE n")) may(c, "ROLLBACK");
}

/* All keys go, and some come back. */
static void clear_step(Connection *c) {
  int table = (int)below(FAR);
  const char *name = specs[table].name;
  end(c, true);
  if (!may(c, "BEGIN IMMEDIATE")) return;
  if (may(c, "INSERT INTO %s(%s) VALUES ('clear')", name, name)) {
    if (!may(c, "DELETE FROM %s_keys", name)) fail("the exact table is locked", NULL, SQLITE_BUSY);
  }
  end(c, below(4) > 0);
}

/* A filter of a few keys is merged. */
static void merge_step(Connection *c) {
  bool own = sqlite3_get_autocommit(c->db);
  unsigned key = below(specs[SEEN].range - 4);
  if (own && !may(c, "BEGIN IMMEDIATE")) return;
  if (may(c,
          "INSERT INTO seen(filter) SELECT bloom_build(nth(%u + column1), 4000, 0.01)"
          " FROM (VALUES (0), (1), (2))",
          key)) {
    may(c,
        "INSERT OR IGNORE INTO seen_keys(id, key, times) SELECT %u + column1,"
        " nth(%u + column1), 1 FROM (VALUES (0), (1), (2))",
        key, key);
  }
  if (own) end(c, true);
}

static void finalize(Connection *c) {
  for (int table = 0; table < TABLES; table++) {
    sqlite3_finalize(c->pick[table]);
    for (int way = 0; way < WAYS; way++) sqlite3_finalize(c->ask[table][way]);
  }
  sqlite3_finalize(c->reader);
  sqlite3 *db = c->db;
  memset(c, 0, sizeof *c);
  c->db = db;
}

static const char *const source_sql =
    "CREATE TABLE %s_source(id UNIQUE, note CHECK (note IS NOT 'check'));"
    "CREATE TRIGGER %s_keep AFTER INSERT ON %s_source BEGIN"
    " INSERT INTO %s(key) VALUES (nth(new.id));"
    " INSERT INTO %s_keys(id, key, times) SELECT new.id, nth(new.id), 1"
    "  WHERE NOT EXISTS (SELECT 1 FROM %s_keys WHERE id = new.id);"
    " SELECT RAISE(ABORT, 'no') WHERE new.note = 'abort';"
    " SELECT RAISE(FAIL, 'no') WHERE new.note = 'fail';"
    " SELECT RAISE(ROLLBACK, 'no') WHERE new.note = 'rollback';"
    " SELECT RAISE(IGNORE) WHERE new.note = 'ignore'; END";

static void make_table(sqlite3 *db, int table) {
  const Spec *s = &specs[table];
  run(db,
      "CREATE VIRTUAL TABLE %s.%s USING bloom(%s);"
      "CREATE TABLE %s.%s_keys(id INTEGER PRIMARY KEY, key UNIQUE, times)",
      s->schema, s->name, s->arguments, s->schema, s->name);
}

/* The attached file: one of two, under the same name. */
static void attach(Connection *c, unsigned which) {
  run(c->db, "ATTACH %Q AS aux", scratch(which == 0 ? "far1" : "far2"));
}

static void start(Connection *c) {
  c->db = open_database(scratch("steps"));
  run(c->db, "PRAGMA synchronous = OFF; PRAGMA cache_size = %d", below(2) == 0 ? 20 : -2000);
  attach(c, 0);
  make_table(c->db, OWN);
}

/* No transaction and no reader on either connection. */
static void rest(void) {
  for (unsigned i = 0; i < 2; i++) {
    sqlite3_finalize(connections[i].reader);
    connections[i].reader = NULL;
  }
  for (unsigned i = 0; i < 2; i++) end(&connections[i], true);
}

/* Perhaps with a transaction that is open. */
static void reopen(Connection *c) {
  Connection *other = &connections[c == connections];
  sqlite3_finalize(other->reader);
  other->reader = NULL;
  end(other, true);
  finalize(c);
  close_database(c->db);
  c->savepoints = 0;
  start(c);
}

static void attach_step(Connection *c) {
  rest();
  run(c->db, "DETACH aux");
  attach(c, below(2));
}

static void house_step(Connection *c) {
  end(c, true);
  sqlite3_finalize(c->reader);
  c->reader = NULL;
  switch (below(4)) {
    case 0:
      may(c, "VACUUM");
      break;
    case 1:
      may(c, "PRAGMA wal_checkpoint(TRUNCATE)");
      break;
    case 2:
      may(c, "INSERT INTO grow(grow) VALUES ('optimize')");
      break;
    default: {
      const char *answer = ask(c->db, "PRAGMA integrity_check");
      if (strcmp(answer, "ok") != 0 && strncmp(answer, "code 5:", 7) != 0) fail(answer, NULL, 0);
    }
  }
}

static void random_step(Connection *c) {
  int table = (int)below(TABLES);
  unsigned what = below(1000), key = below(specs[table].range);
  if (what < 250)
    add_key(c, table, key);
  else if (what < 330)
    remove_key(c, below(specs[TALLY].range));
  else if (what < 430)
    add_rows(c, SEEN);
  else if (what < 500)
    add_rows(c, GROW);
  else if (what < 640)
    open_savepoint(c);
  else if (what < 760)
    close_savepoint(c);
  else if (what < 860)
    transaction_step(c);
  else if (what < 900)
    reader_step(c);
  else if (what < 930)
    schema_step(c);
  else if (what < 965)
    nested_step(c);
  else if (what < 980)
    merge_step(c);
  else if (what < 986)
    house_step(c);
  else if (what < 991)
    attach_step(c);
  else if (what < 994)
    reopen(c);
  else if (what < 995)
    clear_step(c);
  else
    check_all(c, table);
}

/* ---- the whole ---- */

static void check_end(int table, sqlite3 *db) {
  const Spec *s = &specs[table];
  char name[40], keys[300], label[80];
  snprintf(name, sizeof name, "%s.%s", s->schema, s->name);
  /* as many rows as times, which is at most 2 */
  snprintf(keys, sizeof keys,
           s->counting ? "SELECT key FROM %s_keys UNION ALL SELECT key FROM %s_keys"
                         " WHERE times > 1"
                       : "SELECT key FROM %s_keys",
           name, name);
  snprintf(label, sizeof label, "steps in mode %s, %s with %s keys", mode, name,
           ask(db, "SELECT count(*) FROM %s_keys", name));
  test(has_all(db, name, keys), "%s: nothing is missing", label);
  if (!s->grows)
    test(same_as_build(db, name, keys, s->sizes), "%s: exactly the committed keys", label);
  absent_within(db, name, s->rate, label);
}

static void run_mode(const char *journal_mode, unsigned page_size, unsigned steps) {
  good = true;
  asked = skipped = busy_commits = 0;
  seed = page_size + (uint64_t)journal_mode[0];
  mode = journal_mode;
  for (int i = 0; i < 3; i++) {
    sqlite3 *db = open_database(fresh(i == 0 ? "steps" : i == 1 ? "far1" : "far2"));
    run(db, "PRAGMA page_size = %u; PRAGMA synchronous = OFF", page_size);
    run(db, "PRAGMA journal_mode = %s", journal_mode);
    if (i == 0) {
      for (int table = SEEN; table <= TALLY; table++) make_table(db, table);
      for (int table = SEEN; table <= GROW; table++) {
        const char *n = specs[table].name;
        run(db, source_sql, n, n, n, n, n, n);
      }
    } else {
      run(db,
          "CREATE VIRTUAL TABLE far USING bloom(%s);"
          "CREATE TABLE far_keys(id INTEGER PRIMARY KEY, key UNIQUE, times)",
          specs[FAR].arguments);
    }
    close_database(db);
  }
  for (unsigned i = 0; i < 2; i++) start(&connections[i]);
  for (step = 1; step <= steps && good; step++) {
    unsigned which = below(3) == 0;
    random_step(&connections[which]);
    if (below(6) == 0) end(&connections[below(2)], true);
    for (unsigned i = 0; i < 2 && good; i++) check_some(&connections[below(2)], (int)below(TABLES));
  }
  rest();
  test(good && asked - skipped > steps,
       "steps in mode %s, pages of %u: %u steps, %u checks, %u of them "
       "met a lock, %u commits failed",
       mode, page_size, steps, asked, skipped, busy_commits);
  for (int table = 0; table < TABLES && good; table++) check_end(table, connections[0].db);
  for (unsigned i = 0; i < 2; i++) {
    finalize(&connections[i]);
    close_database(connections[i].db);
  }
}

void test_steps(void) {
  unsigned steps = extent == QUICK ? 2000 : extent == SHORT ? 8000 : 30000;
  run_mode("delete", 4096, steps);
  run_mode("wal", 4096, steps);
  if (extent == QUICK) return;
  run_mode("persist", 1024, steps);
  run_mode("wal", 65536, steps);
}
