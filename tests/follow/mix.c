/* mix.c: random statements on a source with many bloom tables, two connections. After each (of the
** sampled) statements every key that the source has is found; counting tables hold at least what a
** fresh filter holds, and exactly that unless a REPLACE deleted rows without a trigger; absent keys
** are found at no more than the documented rate; a rebuilt table is the fresh filter, bit for bit.
*/
#include "follow.h"

#include <math.h>

enum {
  ID,
  TENANT,
  EMAIL,
  TAG,
  AMOUNT,
  PARENT,
  DOMAIN,
  COLUMNS,
  FILTERS = 8,
  NAME_BYTES = 80,
  COUNTING_N = 4000,
  MAX_ROWS = 200
};

/* In `key` and in the columns of a source, $0 .. $6 are the columns. n = 0: left out. */
static const struct {
  const char *of;
  const char *key;
  int n;
  bool counting;
  bool needs_rowid;
} filters[FILTERS] = {{"email", "$2", 40, false, false},
                      {"lower(EMAIL)", "lower($2)", 0, false, false},
                      {"tenant, email", "bloom_key($1, $2)", COUNTING_N, true, false},
                      {"id", "$0", COUNTING_N, true, false},
                      {"amount / 2", "$4 / 2", COUNTING_N, true, false},
                      {"\"domain\"", "$6", 0, false, false},
                      {"iif(tag = 'x', email, tenant)", "iif($3 = 'x', $2, $1)", 20, false, false},
                      {"id % 100", "$0 % 100", 0, false, false}};

#define COLUMNS_OF_SOURCE \
  "tenant INT, email TEXT COLLATE NOCASE %s, tag TEXT COLLATE RTRIM, amount REAL CHECK(amount " \
  "IS NULL OR typeof(amount) = 'text' OR amount < 1900), parent REFERENCES src(id) ON DELETE " \
  "CASCADE ON UPDATE CASCADE, domain AS (substr(email, instr(email, '@') + 1)) %s"

static const struct {
  const char *name;
  const char *before; /* the DDL around the columns */
  const char *unique;
  const char *generated;
  const char *after;
  bool has_rowid;
  bool has_self_trigger;
} sources[] = {
    {"autoincrement", "id INTEGER PRIMARY KEY AUTOINCREMENT", "UNIQUE", "VIRTUAL", ")", true, true},
    {"without rowid", "id INTEGER UNIQUE", "NOT NULL", "STORED",
     ", PRIMARY KEY(tenant, email)) WITHOUT ROWID", false, false},
    {"rowid alias, composite unique key", "id INTEGER PRIMARY KEY", "", "VIRTUAL",
     ", UNIQUE(tenant, email))", true, false}};

typedef struct Mix {
  sqlite3 *db[2];
  unsigned source;
  uint64_t random;
  bool recursive[2]; /* PRAGMA recursive_triggers */
  bool legacy;       /* renames of tables under legacy_alter_table too */
  bool exact;        /* no row was deleted without a trigger since all were rebuilt */
  bool never_exact;  /* another trigger, or a cascade, changes rows before ours see them */
  char table[NAME_BYTES];
  char columns[COLUMNS][NAME_BYTES];
  char extra[NAME_BYTES]; /* the last column that was added, or "" */
  char filter[FILTERS][NAME_BYTES];
  unsigned statements, refused, checks, rebuilds, skipped;
  double found[FILTERS], expected[FILTERS]; /* absent keys */
  bool good;
} Mix;

static unsigned below(Mix *mix, unsigned limit) {
  return random_below(&mix->random, limit);
}

static bool has_filter(const Mix *mix, unsigned i) {
  return sources[mix->source].has_rowid || !filters[i].needs_rowid;
}

static void bad(Mix *mix, const char *what, const char *sql, const char *message) {
  if (mix->good) {
    printf("# statement %u: %s\n#   %s\n#   %s\n", mix->statements, what, sql, message);
  }
  mix->good = false;
}

/* ---- names: read again after each statement, since rolling back undoes renames ---- */

static void copy_name(char *to, const unsigned char *name) {
  snprintf(to, NAME_BYTES, "%s", name ? (const char *)name : "");
}

/* false when the other connection's lock forbids it: the names may be that one's then. */
static bool read_names(Mix *mix, sqlite3 *db) {
  sqlite3_stmt *read;
  if (sqlite3_prepare_v2(db,
                         "SELECT name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type = "
                         "'table' AND (sql LIKE 'CREATE VIRTUAL%' OR sql LIKE '%/*source*/%')",
                         -1, &read, NULL) != SQLITE_OK) {
    return false;
  }
  while (sqlite3_step(read) == SQLITE_ROW) {
    const unsigned char *name = sqlite3_column_text(read, 0);
    copy_name(sqlite3_column_int(read, 1) ? mix->filter[name[1] - '0'] : mix->table, name);
  }
  if (sqlite3_finalize(read) != SQLITE_OK ||
      sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_xinfo(?1)", -1, &read, NULL)) {
    return false;
  }
  sqlite3_bind_text(read, 1, mix->table, -1, SQLITE_STATIC);
  for (int i = 0; sqlite3_step(read) == SQLITE_ROW; i++) {
    if (i == 0) mix->extra[0] = 0;
    copy_name(i < COLUMNS ? mix->columns[i] : mix->extra, sqlite3_column_text(read, 0));
  }
  return sqlite3_finalize(read) == SQLITE_OK;
}

/* $0 -> "id", whatever it is called now; from sqlite3_malloc. */
static char *with_names(const Mix *mix, const char *text) {
  sqlite3_str *result = sqlite3_str_new(NULL);
  for (; *text; text++) {
    if (*text == '$') {
      sqlite3_str_appendf(result, "\"%w\"", mix->columns[*++text - '0']);
    } else {
      sqlite3_str_appendchar(result, 1, *text);
    }
  }
  return sqlite3_str_finish(result);
}

/* ---- random values and statements ---- */

static void add_email(Mix *mix, sqlite3_str *sql) {
  static const char *const forms[] = {"'user%u@host%u.example'", "'USER%u@Host%u.example'",
                                      "'User%u@HOST%u.example '"};
  unsigned kind = below(mix, 40), user = below(mix, 400), host = user % 7;
  switch (kind) {
    case 0:
      sqlite3_str_appendall(sql, "NULL");
      break;
    case 1:
      sqlite3_str_appendf(sql, "%u", user);
      break;
    case 2:
      sqlite3_str_appendf(sql, "'%u.0'", user);
      break;
    case 3:
      sqlite3_str_appendf(sql, "x'%04x'", user);
      break;
    default:
      sqlite3_str_appendf(sql, forms[kind % 3], user, host);
  }
}

static void add_amount(Mix *mix, sqlite3_str *sql) {
  switch (below(mix, 8)) {
    case 0:
      sqlite3_str_appendall(sql, "NULL");
      break;
    case 1:
      sqlite3_str_appendf(sql, "%u.25", below(mix, 300));
      break;
    case 2:
      sqlite3_str_appendf(sql, "'%u'", below(mix, 300));
      break;
    case 3:
      sqlite3_str_appendf(sql, "%u", 1000 + below(mix, 950));
      break;
    default:
      sqlite3_str_appendf(sql, "%u", below(mix, 300));
  }
}

static void add_tag(Mix *mix, sqlite3_str *sql) {
  static const char *const tags[] = {"'x'", "'x  '", "'X'", "'yyy'", "NULL"};
  sqlite3_str_appendall(sql, below(mix, 60) == 0   ? "'boom'"
                             : below(mix, 60) == 0 ? "'bang'"
                                                   : tags[below(mix, COUNT(tags))]);
}

static void add_row(Mix *mix, sqlite3_str *sql) {
  if (below(mix, 4) == 0 && mix->source != 1) {
    sqlite3_str_appendall(sql, "(NULL, ");
  } else {
    sqlite3_str_appendf(sql, "(%u, ", 1 + below(mix, MAX_ROWS));
  }
  sqlite3_str_appendf(sql, "%u, ", below(mix, 4));
  add_email(mix, sql);
  sqlite3_str_appendall(sql, ", ");
  add_tag(mix, sql);
  sqlite3_str_appendall(sql, ", ");
  add_amount(mix, sql);
  if (below(mix, 4) > 0) {
    sqlite3_str_appendall(sql, ", NULL)");
  } else {
    sqlite3_str_appendf(sql, ", %u)", 1 + below(mix, MAX_ROWS));
  }
}

static const char *conflict(Mix *mix, bool *replaces) {
  static const char *const words[] = {
      "", "", "OR ABORT", "OR FAIL", "OR IGNORE", "OR ROLLBACK", "OR REPLACE", "OR REPLACE"};
  unsigned which = below(mix, COUNT(words));
  /* When another AFTER trigger fails under OR FAIL, the row stays, and ours do not run. */
  if (which == 3 && sources[mix->source].has_self_trigger) which = 2;
  *replaces = which >= 6;
  return words[which];
}

static void add_insert(Mix *mix, sqlite3_str *sql, bool *replaces) {
  unsigned rows = below(mix, 3) ? 1 : 2 + below(mix, 5);
  char *columns = with_names(mix, "$0, $1, $2, $3, $4, $5");
  sqlite3_str_appendf(sql, "INSERT %s INTO \"%w\"(%s) VALUES ", conflict(mix, replaces), mix->table,
                      columns);
  for (unsigned i = 0; i < rows; i++) {
    if (i > 0) sqlite3_str_appendall(sql, ", ");
    add_row(mix, sql);
  }
  sqlite3_free(columns);
}

static void add_upsert(Mix *mix, sqlite3_str *sql) {
  char *columns = with_names(mix, "$0, $1, $2, $3, $4, $5");
  char *update = with_names(mix,
                            "ON CONFLICT DO UPDATE SET $2 = excluded.$2, $1 = $1 + 1, "
                            "$4 = excluded.$4 WHERE excluded.$4 IS NOT 7");
  sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(%s) VALUES ", mix->table, columns);
  add_row(mix, sql);
  sqlite3_str_appendall(sql, ", ");
  add_row(mix, sql);
  /* Before SQLite 3.35 DO UPDATE names the columns of one index. */
  bool updates = below(mix, 5) != 0 && sqlite3_libversion_number() >= 3035000;
  sqlite3_str_appendf(sql, " %s", updates ? update : "ON CONFLICT DO NOTHING");
  sqlite3_free(columns);
  sqlite3_free(update);
}

static void add_update(Mix *mix, sqlite3_str *sql, bool *replaces) {
  unsigned which = below(mix, 7), from = below(mix, MAX_ROWS);
  sqlite3_str_appendf(sql, "UPDATE %s \"%w\" SET ", conflict(mix, replaces), mix->table);
  char *set = with_names(mix, which == 0   ? "$0 = $0 + 3"
                              : which == 1 ? "$1 = ($1 + 1) % 4"
                              : which == 2 ? "$2 = upper($2)"
                              : which == 3 ? "$4 = $4 * 1.5, $3 = $3 || 'x'"
                              : which == 4 ? "$5 = NULL, $0 = -$0"
                              : which == 5 ? "$3 = "
                                           : "$2 = ");
  sqlite3_str_appendall(sql, set);
  if (which == 5) add_tag(mix, sql);
  if (which == 6) add_email(mix, sql);
  char *where = with_names(mix, " WHERE $0 BETWEEN ");
  sqlite3_str_appendf(sql, "%s%u AND %u", where, from, from + below(mix, 5));
  sqlite3_free(set);
  sqlite3_free(where);
}

static void add_delete(Mix *mix, sqlite3_str *sql, unsigned width) {
  unsigned from = below(mix, MAX_ROWS);
  char *where = with_names(mix, " WHERE abs($0) BETWEEN ");
  sqlite3_str_appendf(sql, "DELETE FROM \"%w\"%s%u AND %u", mix->table, where, from,
                      from + below(mix, width));
  sqlite3_free(where);
}

/* None when it has that name already. */
static void add_rename(sqlite3_str *sql, const char *name, const char *to) {
  if (sqlite3_stricmp(name, to) != 0) {
    sqlite3_str_appendf(sql, "ALTER TABLE \"%w\" RENAME TO \"%w\"", name, to);
  }
}

static void add_alter(Mix *mix, sqlite3_str *sql) {
  static const char *const tables[] = {"src", "the \"source\".x", "select", "qu'elle \xc3\xa9"};
  static const char *const names[] = {"c%u", "c %u.", "gr\"oup%u", "SEL'ECT%u", "\xc3\xbc%u"};
  unsigned column = below(mix, COLUMNS), filter = below(mix, mix->source == 1 ? 7 : FILTERS);
  char name[40];
  snprintf(name, sizeof name, names[below(mix, COUNT(names))], column);
  switch (below(mix, 6)) {
    case 0:
      add_rename(sql, mix->table, tables[below(mix, COUNT(tables))]);
      break;
    case 1:
    case 2:
      sqlite3_str_appendf(sql, "ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO \"%w\"", mix->table,
                          mix->columns[column], name);
      break;
    case 3:
      snprintf(name, sizeof name, "f%u%s", filter, below(mix, 2) ? " re'n.a\"med" : "");
      add_rename(sql, mix->filter[filter], name);
      break;
    case 4:
      if (mix->extra[0]) break;
      sqlite3_str_appendf(sql, "ALTER TABLE \"%w\" ADD COLUMN \"ex tra\" DEFAULT 5", mix->table);
      break;
    default:
      if (mix->extra[0] == 0) break;
      sqlite3_str_appendf(sql, "ALTER TABLE \"%w\" DROP COLUMN \"%w\"", mix->table, mix->extra);
  }
}

static void add_transaction(Mix *mix, sqlite3_str *sql, bool inside) {
  static const char *const outside_words[] = {"BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"};
  static const char *const inside_words[] = {"COMMIT",      "COMMIT",       "ROLLBACK",
                                             "SAVEPOINT s", "SAVEPOINT s",  "ROLLBACK TO s",
                                             "RELEASE s",   "ROLLBACK TO s"};
  sqlite3_str_appendall(sql, inside ? inside_words[below(mix, COUNT(inside_words))]
                                    : outside_words[below(mix, COUNT(outside_words))]);
}

/* PRAGMAs that change what a statement does. */
static void change_pragmas(Mix *mix, unsigned which) {
  sqlite3 *db = mix->db[which];
  if (mix->random & 1) {
    mix->recursive[which] = below(mix, 2);
    run(db, "PRAGMA recursive_triggers = %d", mix->recursive[which]);
  }
  if (mix->legacy) run(db, "PRAGMA legacy_alter_table = %d", below(mix, 2));
}

/* ---- checks ---- */

/* The integer that a query gives; -1 when the database is locked, or after bad(). */
static sqlite3_int64 number(Mix *mix, sqlite3 *db, char *sql) {
  sqlite3_stmt *statement = NULL;
  sqlite3_int64 result = -1;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    result = sqlite3_column_int64(statement, 0);
  } else if (code == SQLITE_BUSY) {
    mix->skipped++;
  } else {
    bad(mix, "a check failed", sql, sqlite3_errmsg(db));
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return result;
}

static void check_found(Mix *mix, sqlite3 *db, unsigned i) {
  char *key = with_names(mix, filters[i].key);
  sqlite3_int64 missing = number(
      mix, db,
      below(mix, 2)
          ? sqlite3_mprintf("SELECT count(*) FROM (SELECT %s AS k FROM \"%w\") WHERE k IS NOT NULL "
                            "AND NOT EXISTS (SELECT 1 FROM \"%w\" WHERE key = k)",
                            key, mix->table, mix->filter[i])
          : sqlite3_mprintf("SELECT count(*) FROM \"%w\" WHERE bloom_lookup('\"' || "
                            "replace(%Q, '\"', '\"\"') || '\"', %s) = 0",
                            mix->table, mix->filter[i], key));
  if (missing > 0) bad(mix, "keys are missing", filters[i].key, mix->filter[i]);
  mix->checks += missing == 0;
  sqlite3_free(key);
}

/* A fresh filter of the keys that the source has, as bloom_build makes it; its table's n as SQL. */
static char *fresh_filter(Mix *mix, unsigned i) {
  char *key = with_names(mix, filters[i].key);
  const char *kind = filters[i].counting ? ", 'counting'" : "";
  char *n =
      filters[i].n
          ? sqlite3_mprintf("%d", filters[i].n)
          : sqlite3_mprintf("(SELECT max(1000, count(*) + count(*) / 4) FROM \"%w\")", mix->table);
  char *sql = sqlite3_mprintf(
      "(SELECT iif(count(%s), bloom_build(%s, %s, 0.02%s), bloom_new(%s, 0.02%s)) FROM \"%w\")",
      key, key, n, kind, n, kind, mix->table);
  sqlite3_free(n);
  sqlite3_free(key);
  return sql;
}

static void compare_counters(Mix *mix, const uint8_t *have, const uint8_t *want, int size) {
  for (int i = 72; i < 2 * size - 72; i++) { /* header and layer table are 72 bytes */
    unsigned shift = i & 1 ? 4 : 0;
    unsigned has = have[72 + (i - 72) / 2] >> shift & 15,
             fresh = want[72 + (i - 72) / 2] >> shift & 15;
    if (has < fresh) bad(mix, "a counter is too small", "", "");
    if (has > fresh && has < 15 && mix->exact) bad(mix, "a counter is too large", "", "");
  }
}

static void check_counters(Mix *mix, sqlite3 *db, unsigned i) {
  char *want = fresh_filter(mix, i);
  char *sql = sqlite3_mprintf(
      "SELECT bloom_snapshot('\"' || replace(%Q, '\"', '\"\"') || '\"'), %s", mix->filter[i], want);
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW &&
      sqlite3_column_bytes(statement, 0) == sqlite3_column_bytes(statement, 1)) {
    compare_counters(mix, sqlite3_column_blob(statement, 0), sqlite3_column_blob(statement, 1),
                     sqlite3_column_bytes(statement, 0));
    mix->checks++;
  } else if (code != SQLITE_BUSY) {
    bad(mix, "a snapshot cannot be compared", sql, sqlite3_errmsg(db));
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  sqlite3_free(want);
}

/* Rows go without a trigger only where REPLACE deletes them, so `exact` lasts until then; rebuilt
** outside a transaction, all tables are exact again. */
static void check_rebuild(Mix *mix, unsigned which, unsigned first, unsigned end) {
  sqlite3 *db = mix->db[which];
  bool all = end - first >= 7 && sqlite3_get_autocommit(db);
  for (unsigned i = first; i < end; i++) {
    if (!has_filter(mix, i)) continue;
    int code =
        try_sql(db, "INSERT INTO \"%w\"(\"%w\") VALUES('rebuild')", mix->filter[i], mix->filter[i]);
    if (code == SQLITE_OK) {
      char *want = fresh_filter(mix, i);
      sqlite3_int64 same = number(mix, db,
                                  sqlite3_mprintf("SELECT bloom_snapshot('\"' || replace(%Q, '\"', "
                                                  "'\"\"') || '\"') = %s",
                                                  mix->filter[i], want));
      if (same == 0) bad(mix, "rebuilt, it is not the fresh filter", want, mix->filter[i]);
      mix->rebuilds += same == 1;
      sqlite3_free(want);
    } else {
      all = false;
      if (code != SQLITE_BUSY) bad(mix, "rebuild", mix->filter[i], sqlite3_errmsg(db));
    }
  }
  mix->exact = (mix->exact || all) && !mix->never_exact;
}

/* Absent keys: at most 2p for a plain table, which grows, and p for a counting one within its n. */
static void check_absent(Mix *mix, sqlite3 *db, unsigned i) {
  const int keys = 3000;
  sqlite3_int64 found =
      number(mix, db,
             sqlite3_mprintf(
                 "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) "
                 "SELECT sum(bloom_lookup('\"' || replace(%Q, '\"', '\"\"') || '\"', 'absent ' || "
                 "(i + %u))) FROM c",
                 keys, mix->filter[i], below(mix, 1000000000)));
  if (found < 0) return;
  mix->found[i] += (double)found;
  mix->expected[i] += keys * (filters[i].counting ? 0.02 : 0.04);
}

static void check(Mix *mix, sqlite3 *db) {
  if (!read_names(mix, db)) return;
  unsigned i = below(mix, FILTERS);
  if (!has_filter(mix, i)) i = 0;
  check_found(mix, db, i);
  if (filters[i].counting && below(mix, 4) == 0) check_counters(mix, db, i);
}

static void check_all(Mix *mix, unsigned which) {
  if (!read_names(mix, mix->db[which])) return;
  for (unsigned i = 0; i < FILTERS; i++) {
    if (has_filter(mix, i)) check_absent(mix, mix->db[which], i);
  }
  if (sqlite3_get_autocommit(mix->db[which])) check_rebuild(mix, which, 0, FILTERS);
}

/* ---- the run ---- */

static bool is_allowed(int code, const char *sql) {
  if ((code & 255) == SQLITE_CONSTRAINT || (code & 255) == SQLITE_BUSY) return true;
  /* ROLLBACK TO and RELEASE of a savepoint that is not there */
  return code == SQLITE_ERROR && strstr(sql, " s") && strlen(sql) < 14;
}

static void step(Mix *mix, unsigned which) {
  sqlite3 *db = mix->db[which];
  sqlite3_str *text = sqlite3_str_new(NULL);
  bool replaces = false;
  unsigned kind = below(mix, 100);
  if (kind < 35) {
    add_insert(mix, text, &replaces);
  } else if (kind < 43) {
    add_upsert(mix, text);
  } else if (kind < 63) {
    add_update(mix, text, &replaces);
  } else if (kind < 75) {
    add_delete(mix, text, kind == 74 ? 100 : 6);
  } else if (kind < 82) {
    add_alter(mix, text);
  } else if (kind < 98) {
    add_transaction(mix, text, !sqlite3_get_autocommit(db));
  } else if (kind == 98) {
    unsigned i = below(mix, FILTERS);
    check_rebuild(mix, which, i, i + 1);
  } else {
    sqlite3_str_appendall(text, below(mix, 8) == 0 && sqlite3_get_autocommit(db) ? "VACUUM" : "");
  }
  char *sql = sqlite3_str_finish(text);
  if (sql) {
    if (replaces && !mix->recursive[which]) mix->exact = false;
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK && !is_allowed(code, sql)) {
      bad(mix, "an error that should not be", sql, sqlite3_errmsg(db));
    }
    mix->refused += code != SQLITE_OK;
  }
  mix->statements++;
  sqlite3_free(sql);
}

/* It changes the source itself. SQLite runs it before our triggers or after them. */
static void make_self_trigger(Mix *mix) {
  if (!sources[mix->source].has_self_trigger) return;
  run(mix->db[0],
      "CREATE TRIGGER self AFTER INSERT ON src WHEN new.tag = 'yyy' BEGIN "
      "UPDATE src SET email = email || '.added' WHERE id = new.id AND typeof(email) = 'text'; "
      "DELETE FROM src WHERE id = new.id + 1; END");
}

static void make_source(Mix *mix) {
  sqlite3 *db = mix->db[0];
  sqlite3_str *sql = sqlite3_str_new(db);
  sqlite3_str_appendf(sql, "CREATE TABLE src(/*source*/ %s, ", sources[mix->source].before);
  sqlite3_str_appendf(sql, COLUMNS_OF_SOURCE, sources[mix->source].unique,
                      sources[mix->source].generated);
  sqlite3_str_appendall(sql, sources[mix->source].after);
  char *text = sqlite3_str_finish(sql);
  run(db, "%s", text);
  sqlite3_free(text);
  run(db, "CREATE TABLE log(what, id)");
  if (mix->random & 1) make_self_trigger(mix);
  /* Before and between the bloom tables, so that theirs run before and after these. */
  run(db,
      "CREATE TRIGGER bang BEFORE UPDATE ON src WHEN new.tag = 'bang' BEGIN "
      "INSERT INTO log VALUES('bang', old.id); SELECT raise(FAIL, 'bang'); END;"
      "CREATE TRIGGER boom AFTER INSERT ON src WHEN new.tag = 'boom' BEGIN "
      "INSERT INTO log VALUES('boom', new.id); SELECT raise(ABORT, 'boom'); END");
  for (unsigned i = 0; i < FILTERS; i++) {
    char n[20] = "";
    if (!has_filter(mix, i)) continue;
    if (filters[i].n) snprintf(n, sizeof n, ", n=%d", filters[i].n);
    run(db, "CREATE VIRTUAL TABLE f%u USING bloom(of=%c%s(%s)%c, p=0.02%s%s)", i,
        strchr(filters[i].of, '"') ? '\'' : '"', "src", filters[i].of,
        strchr(filters[i].of, '"') ? '\'' : '"', n, filters[i].counting ? ", kind=counting" : "");
    if (i == 3) {
      run(db,
          "CREATE TRIGGER nope AFTER DELETE ON src WHEN old.amount = 11 BEGIN "
          "INSERT INTO log VALUES('nope', old.id); SELECT raise(ROLLBACK, 'nope'); END;"
          "CREATE TRIGGER skip BEFORE INSERT ON src WHEN new.amount = 13 BEGIN "
          "SELECT raise(IGNORE); END");
    }
  }
  if (!(mix->random & 1)) make_self_trigger(mix);
}

static void run_mix(unsigned source, const char *journal, bool recursive, bool foreign_keys,
                    uint64_t seed, unsigned statements) {
  Mix *mix = calloc(1, sizeof *mix);
  const char *path = fresh("mix.db");
  unsigned which = 0;
  mix->source = source;
  mix->random = seed;
  mix->good = true;
  mix->never_exact = foreign_keys || sources[source].has_self_trigger;
  mix->exact = !mix->never_exact;
  mix->legacy = foreign_keys && !sources[source].has_self_trigger;
  for (unsigned i = 0; i < 2; i++) {
    mix->db[i] = open_database(path);
    mix->recursive[i] = recursive;
    run(mix->db[i],
        "PRAGMA journal_mode = %s; PRAGMA synchronous = OFF; PRAGMA foreign_keys = %d; "
        "PRAGMA recursive_triggers = %d",
        journal, foreign_keys, recursive);
  }
  make_source(mix);
  for (unsigned i = 1; i <= statements && mix->good; i++) {
    if (sqlite3_get_autocommit(mix->db[which]) ? below(mix, 3) == 0 : below(mix, 12) == 0) {
      which = !which;
    }
    if (below(mix, 50) == 0 && !recursive) change_pragmas(mix, which);
    if (read_names(mix, mix->db[which])) step(mix, which);
    if (below(mix, 2) == 0) check(mix, mix->db[which]);
    if (below(mix, 16) == 0) check(mix, mix->db[!which]);
    if (i % 300 == 0) check_all(mix, which);
  }
  for (unsigned i = 0; i < 2; i++) try_sql(mix->db[i], "ROLLBACK");
  read_names(mix, mix->db[0]);
  for (unsigned i = 0; i < FILTERS && mix->good; i++) {
    if (has_filter(mix, i)) check_found(mix, mix->db[1], i);
  }
  check_rebuild(mix, 0, 0, FILTERS);
  test(mix->good && mix->checks > statements / 4 && mix->rebuilds >= 7,
       "mix on %s, %s%s%s, seed %llu: %u statements, %u refused, %u checks, %u rebuilds",
       sources[source].name, journal, recursive ? ", recursive triggers" : "",
       foreign_keys ? ", foreign keys" : "", (unsigned long long)seed, mix->statements,
       mix->refused, mix->checks, mix->rebuilds);
  for (unsigned i = 0; i < FILTERS; i++) {
    if (!has_filter(mix, i) || mix->expected[i] == 0) continue;
    test(mix->found[i] <= mix->expected[i] + 4 * sqrt(mix->expected[i]),
         "of=src(%s), %s, seed %llu: %.0f absent keys found, at most %.0f and 4 sigma of %.1f",
         filters[i].of, sources[source].name, (unsigned long long)seed, mix->found[i],
         mix->expected[i], sqrt(mix->expected[i]));
  }
  for (unsigned i = 0; i < 2; i++) close_database(mix->db[i]);
  free(mix);
}

void test_mix(void) {
  static const unsigned statements[] = {330, 700, 2500, 8400};
  unsigned runs = extent == TINY ? 1 : 12;
  for (unsigned i = 0; i < runs; i++) {
    run_mix(i % COUNT(sources), i % 2 ? "WAL" : "DELETE", i / 2 % 2, i % 4 != 2, 4711 + i,
            statements[extent]);
  }
}
