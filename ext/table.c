/* table.c: the bloom virtual table, a filter that follows its transactions.
**
**   CREATE VIRTUAL TABLE seen USING bloom(n=1000000, p=0.001, kind=counting);
**   INSERT INTO seen(key) VALUES ('a');            NULL is ignored
**   SELECT 1 FROM seen WHERE key = 'a';            one row: perhaps in; none: certainly not
**   SELECT key FROM seen WHERE key IN (...);       those of the list that are perhaps in
**   DELETE FROM seen WHERE key = 'a';              kind=counting only
**   INSERT INTO seen(filter) VALUES (?);           adds all keys of a filter of the same n and p
**   INSERT INTO seen(seen) VALUES ('clear');       or 'optimize', 'rebuild'
**
**   CREATE VIRTUAL TABLE known USING bloom(of='customers(email)', p=0.001);
**                                                  keeps itself in step, see follow.h
**
**   bloom_lookup('seen', key)    as bloom_contains, without a row in between
**   bloom_snapshot('seen')       the filter as a BLOB
**   bloom_status('seen')         its facts, as bloom_info
**
** Declared as (key, filter HIDDEN, <the table's name> HIDDEN). rowid is the key's hash, which is
** all that xUpdate is handed of a row to delete.
*/
#include "args.h"
#include "describe.h"
#include "extension.h"
#include "follow.h"
#include "format.h"

enum {
  COLUMN_KEY,
  COLUMN_FILTER,
  COLUMN_COMMAND
};
enum {
  PLAN_SCAN,
  PLAN_KEY,
  PLAN_KEYS /* key IN (...), all at once */
};

typedef struct Table {
  sqlite3_vtab base;
  BloomStore *store;
} Table;

/* A key that is perhaps in, as the query gave it. */
typedef struct Row {
  sqlite3_value *key;
  uint64_t hash;
} Row;

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  Row *rows; /* of this query: 0 .. count - 1 */
  uint64_t count;
  uint64_t room;
  uint64_t at;
  Row first; /* where rows points to before it is more than one */
} Cursor;

static BloomStore *store_of(sqlite3_vtab *table) {
  return ((Table *)table)->store;
}

/* ---- the arguments of CREATE VIRTUAL TABLE ---- */

/* 'it''s' -> it's, in place; text without quotes around it stays. */
static void unquote(char *text, size_t length) {
  char quote = text[0], *to = text;
  if (length < 2 || (quote != '\'' && quote != '"') || text[length - 1] != quote) return;
  for (size_t i = 1; i + 1 < length; i++) {
    if (text[i] == quote && text[i + 1] == quote && i + 2 < length) i++;
    *to++ = text[i];
  }
  *to = 0;
}

/* "name = value" of one argument: its value, unquoted and from sqlite3_malloc, if it has this name.
** SQLite has cut off what is around it. */
static bool argument_value(const char *argument, const char *name, char **value) {
  static const char spaces[] = " \t\r\n\f";
  size_t length = strlen(name);
  if (sqlite3_strnicmp(argument, name, (int)length) != 0) return false;
  argument += length;
  argument += strspn(argument, spaces);
  if (*argument++ != '=') return false;
  argument += strspn(argument, spaces);
  *value = sqlite3_mprintf("%s", argument);
  if (*value) unquote(*value, strlen(*value));
  return true;
}

enum {
  ARGUMENT_N,
  ARGUMENT_P,
  ARGUMENT_KIND,
  ARGUMENT_OF,
  ARGUMENTS
};
static const char *const ARGUMENT_NAMES[ARGUMENTS] = {"n", "p", "kind", "of"};

/* Sorts the arguments by name into texts; false with *error. */
static bool sort_arguments(int argc, const char *const *argv, char *texts[ARGUMENTS],
                           char **error) {
  for (int i = 0; i < argc; i++) {
    char *value = NULL;
    int which = 0;
    while (which < ARGUMENTS && !argument_value(argv[i], ARGUMENT_NAMES[which], &value)) which++;
    if (which == ARGUMENTS) {
      *error = sqlite3_mprintf("bloom: '%s' is not one of n=, p=, kind= and of=", argv[i]);
      return false;
    }
    if (texts[which]) {
      *error = sqlite3_mprintf("bloom: %s is given twice", ARGUMENT_NAMES[which]);
      sqlite3_free(value);
      return false;
    }
    texts[which] = value;
    if (value == NULL) return false;
  }
  return true;
}

/* n, p and kind as SQL values: numbers where they spell numbers, NULL where they are missing. */
static int text_values(sqlite3 *db, char *texts[ARGUMENTS], sqlite3_value *values[ARGUMENTS]) {
  sqlite3_stmt *echo = NULL;
  char *sql = sqlite3_mprintf("SELECT %Q, %Q, %Q", texts[ARGUMENT_N], texts[ARGUMENT_P],
                              texts[ARGUMENT_KIND]);
  int code = sql ? sqlite3_prepare_v2(db, sql, -1, &echo, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if (code == SQLITE_OK) code = sqlite3_step(echo);
  for (int i = 0; i < ARGUMENT_OF && code == SQLITE_ROW; i++) {
    sqlite3_value *value = sqlite3_column_value(echo, i);
    if (i != ARGUMENT_KIND) sqlite3_value_numeric_type(value);
    values[i] = sqlite3_value_dup(value);
    if (values[i] == NULL || (texts[i] && sqlite3_value_text(value) == NULL)) code = SQLITE_NOMEM;
  }
  sqlite3_finalize(echo);
  return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* n, p and kind; n may be missing where *of, from sqlite3_malloc, is there. */
static int read_arguments(sqlite3 *db, int argc, const char *const *argv, BloomParams *params,
                          char **of, char **error) {
  char *texts[ARGUMENTS] = {NULL}, *reason = NULL;
  sqlite3_value *values[ARGUMENTS] = {NULL};
  int code = SQLITE_ERROR;
  if (sort_arguments(argc, argv, texts, error)) {
    code = text_values(db, texts, values);
    if (code == SQLITE_OK && texts[ARGUMENT_N] == NULL && texts[ARGUMENT_OF] == NULL) {
      *error = sqlite3_mprintf("bloom: n is missing, the number of keys that are expected");
      code = SQLITE_ERROR;
    } else if (code == SQLITE_OK &&
               !bloom_read_params(texts[ARGUMENT_KIND] ? 3 : 2, values, texts[ARGUMENT_OF] != NULL,
                                  params, &reason)) {
      *error = reason ? sqlite3_mprintf("bloom: %z", reason) : NULL;
      code = SQLITE_ERROR;
    }
  }
  if (code == SQLITE_OK) {
    *of = texts[ARGUMENT_OF];
    texts[ARGUMENT_OF] = NULL;
  }
  for (int i = 0; i < ARGUMENTS; i++) {
    sqlite3_free(texts[i]);
    sqlite3_value_free(values[i]);
  }
  return code == SQLITE_ERROR && *error == NULL ? SQLITE_NOMEM : code;
}

/* ---- life of a table ---- */

static bool is_taken(const char *name) {
  return sqlite3_stricmp(name, "key") == 0 || sqlite3_stricmp(name, "filter") == 0 ||
         sqlite3_stricmp(name, "rowid") == 0;
}

/* The column of the commands has the table's name, so that a command cannot be meant as a key. */
static int declare(sqlite3 *db, const char *name, char **error) {
  char *sql;
  int code;
  if (is_taken(name)) {
    *error = sqlite3_mprintf(
        "bloom: a table cannot be named %s, its columns are key, filter and its own name", name);
    return SQLITE_ERROR;
  }
  sql = sqlite3_mprintf("CREATE TABLE x(key, filter HIDDEN, \"%w\" HIDDEN)", name);
  if (sql == NULL) return SQLITE_NOMEM;
  code = sqlite3_declare_vtab(db, sql);
  sqlite3_free(sql);
  /* It reads and writes nothing but its own shadow table: triggers of an untrusted schema may. */
  if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if (code != SQLITE_OK) *error = sqlite3_mprintf("bloom: %s", sqlite3_errmsg(db));
  return code;
}

static int open_table(sqlite3 *db, BloomStores *stores, int argc, const char *const *argv,
                      bool create, Table **result, char **error) {
  BloomParams params;
  char *of = NULL;
  Table *table = NULL;
  int code = read_arguments(db, argc - 3, argv + 3, &params, &of, error);
  if (code == SQLITE_OK) code = declare(db, argv[2], error);
  if (code == SQLITE_OK) {
    table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) code = SQLITE_NOMEM;
  }
  if (code == SQLITE_OK) {
    memset(table, 0, sizeof *table);
    code = bloom_store_open(stores, argv[1], argv[2], &params, &of, create, &table->store);
  }
  sqlite3_free(of);
  if (code == SQLITE_OK) {
    *result = table;
  } else {
    sqlite3_free(table);
  }
  return code;
}

static int connect_table(sqlite3 *db, void *stores, int argc, const char *const *argv,
                         sqlite3_vtab **result, char **error) {
  return open_table(db, stores, argc, argv, false, (Table **)result, error);
}

/* The shadow table, and what of= asks for; when that fails nothing is left behind. */
static int make_table(BloomStore *store, char **error) {
  const BloomParams *asked = &store->asked;
  int code = bloom_follow_prepare(store);
  if (code == SQLITE_OK) code = bloom_store_make(store);
  if (code == SQLITE_OK && store->of) {
    code = bloom_follow_build(store, asked->n, asked->p, asked->kind);
  }
  if (*store->error) *error = sqlite3_mprintf("bloom: %s", store->error);
  if (code != SQLITE_OK && store->fresh) { /* its shadow table and triggers are its own */
    bloom_follow_stop(store);
    bloom_store_drop(store);
  }
  store->error[0] = 0;
  return code;
}

static int create_table(sqlite3 *db, void *stores, int argc, const char *const *argv,
                        sqlite3_vtab **result, char **error) {
  Table *table;
  int code = open_table(db, stores, argc, argv, true, &table, error);
  if (code != SQLITE_OK) return code;
  code = make_table(table->store, error);
  if (code == SQLITE_OK) {
    *result = &table->base;
  } else {
    bloom_store_release(table->store);
    sqlite3_free(table);
  }
  return code;
}

static int disconnect_table(sqlite3_vtab *table) {
  bloom_store_release(store_of(table));
  sqlite3_free(table->zErrMsg);
  sqlite3_free(table);
  return SQLITE_OK;
}

/* Hands a store's error to SQLite as the table's. */
static int tell(sqlite3_vtab *table, int code) {
  if (code != SQLITE_OK && code != SQLITE_NOMEM && *store_of(table)->error) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("bloom: %s", store_of(table)->error);
  }
  store_of(table)->error[0] = 0;
  return code;
}

static int refuse_write(sqlite3_vtab *table, const char *text) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("bloom: %s", text);
  return SQLITE_ERROR;
}

static int destroy_table(sqlite3_vtab *table) {
  int code = bloom_follow_stop(store_of(table));
  if (code == SQLITE_OK) code = bloom_store_drop(store_of(table));
  return code == SQLITE_OK ? disconnect_table(table) : tell(table, code);
}

static int rename_table(sqlite3_vtab *table, const char *name) {
  if (is_taken(name)) {
    return refuse_write(table, "a table cannot be named key, filter or rowid, as its columns are");
  }
  int code = bloom_follow_rename(store_of(table), name);
  if (code == SQLITE_OK) code = bloom_store_rename(store_of(table), name);
  return tell(table, code);
}

static int is_shadow(const char *suffix) {
  return sqlite3_stricmp(suffix, "data") == 0;
}

/* ---- transactions ---- */

static int begin(sqlite3_vtab *table) {
  return tell(table, bloom_store_validate(store_of(table)));
}

static int sync(sqlite3_vtab *table) {
  return tell(table, bloom_store_flush(store_of(table)));
}

static int open_savepoint(sqlite3_vtab *table, int level) {
  return tell(table, bloom_store_savepoint(store_of(table), level));
}

static int release_savepoint(sqlite3_vtab *table, int level) {
  bloom_store_released(store_of(table), level);
  return SQLITE_OK;
}

static int rollback_to(sqlite3_vtab *table, int level) {
  bloom_store_rolled_back_to(store_of(table), level);
  return SQLITE_OK;
}

static int commit(sqlite3_vtab *table) {
  bloom_store_committed(store_of(table));
  return SQLITE_OK;
}

/* Closing a connection that still has statements calls this too, and the transaction goes on: then
** what it wrote so far is kept. */
static int rollback(sqlite3_vtab *table) {
  BloomStore *store = store_of(table);
  if (sqlite3_txn_state(store->db, store->schema) == SQLITE_TXN_WRITE) bloom_store_flush(store);
  bloom_store_rolled_back(store);
  return SQLITE_OK;
}

/* ---- queries ---- */

/* Inside a transaction: memory is what it shows, and the table is in step with what it follows. */
static int get_ready(BloomStore *store) {
  int code = bloom_store_validate(store);
  return code == SQLITE_OK ? bloom_follow_check(store) : code;
}

/* Whether constraint i is key IN (...), which then comes all at once: from SQLite 3.38 on. An older
** one asks for each key by itself. */
static bool takes_all(sqlite3_index_info *info, int i) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_in(info, i, true);
#else
  (void)info;
  (void)i;
  return false;
#endif
}

/* key = ? (or IS ?) is one probe. A plan without it would have to list the keys: it costs so much
** that it is taken only when there is no other, and then says so. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  bool unusable = false;
  (void)table;
  info->idxNum = PLAN_SCAN;
  info->estimatedCost = 1e99;
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
    if (constraint->iColumn != COLUMN_KEY || (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ &&
                                              constraint->op != SQLITE_INDEX_CONSTRAINT_IS)) {
      continue;
    }
    if (!constraint->usable) {
      unusable = true;
      continue;
    }
    bool all = takes_all(info, i);
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->idxNum = all ? PLAN_KEYS : PLAN_KEY;
    info->estimatedCost = all ? 50 : 2;
    info->estimatedRows = all ? 25 : 1;
    info->idxFlags = all ? 0 : SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
  }
  return unusable ? SQLITE_CONSTRAINT : SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result) {
  Cursor *cursor = sqlite3_malloc64(sizeof *cursor);
  (void)table;
  if (cursor == NULL) return SQLITE_NOMEM;
  memset(cursor, 0, sizeof *cursor);
  cursor->rows = &cursor->first;
  cursor->room = 1;
  *result = &cursor->base;
  return SQLITE_OK;
}

static void empty_cursor(Cursor *cursor) {
  while (cursor->count > 0) sqlite3_value_free(cursor->rows[--cursor->count].key);
  cursor->at = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
  Cursor *cursor = (Cursor *)base;
  empty_cursor(cursor);
  if (cursor->rows != &cursor->first) sqlite3_free(cursor->rows);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

static BLOOM_NOINLINE int more_rows(Cursor *cursor) {
  uint64_t room = 4 * cursor->room;
  Row *old = cursor->rows == &cursor->first ? NULL : cursor->rows;
  Row *rows = sqlite3_realloc64(old, room * sizeof *rows);
  if (rows == NULL) return SQLITE_NOMEM;
  if (old == NULL) rows[0] = cursor->first;
  cursor->rows = rows;
  cursor->room = room;
  return SQLITE_OK;
}

/* Adds the row of a key that is perhaps in. */
BLOOM_INLINE int probe(Cursor *cursor, sqlite3_value *key) {
  Row row;
  bool found;
  int type = bloom_key_hash_value(key, &row.hash);
  if (type <= 0) return type < 0 ? SQLITE_NOMEM : SQLITE_OK;
  int code = bloom_store_contains(store_of(cursor->base.pVtab), row.hash, &found);
  if (code != SQLITE_OK || !found) return code;
  if (cursor->count == cursor->room && more_rows(cursor) != SQLITE_OK) return SQLITE_NOMEM;
  row.key = sqlite3_value_dup(key);
  if (row.key == NULL) return SQLITE_NOMEM;
  cursor->rows[cursor->count++] = row;
  return SQLITE_OK;
}

static BLOOM_NOINLINE int probe_all(Cursor *cursor, sqlite3_value *list) {
#if SQLITE_VERSION_NUMBER >= 3038000
  sqlite3_value *key;
  int code = sqlite3_vtab_in_first(list, &key);
  while (code == SQLITE_OK) {
    code = probe(cursor, key);
    if (code == SQLITE_OK) code = sqlite3_vtab_in_next(list, &key);
  }
  return code == SQLITE_DONE ? SQLITE_OK : code;
#else
  return probe(cursor, list);
#endif
}

static int filter_cursor(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                         sqlite3_value **argv) {
  Cursor *cursor = (Cursor *)base;
  (void)text;
  (void)argc;
  empty_cursor(cursor);
  if (plan == PLAN_SCAN) {
    return refuse_write(
        base->pVtab,
        "a filter cannot list its keys: ask for one with WHERE key = ..., or for the "
        "whole filter with bloom_snapshot");
  }
  int code = get_ready(store_of(base->pVtab));
  if (code == SQLITE_OK) {
    code = plan == PLAN_KEYS ? probe_all(cursor, argv[0]) : probe(cursor, argv[0]);
  }
  return code == SQLITE_OK ? SQLITE_OK : tell(base->pVtab, code);
}

static int next_row(sqlite3_vtab_cursor *base) {
  ((Cursor *)base)->at++;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base) {
  const Cursor *cursor = (const Cursor *)base;
  return cursor->at >= cursor->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
  const Cursor *cursor = (const Cursor *)base;
  if (number == COLUMN_KEY) sqlite3_result_value(context, cursor->rows[cursor->at].key);
  return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *result) {
  const Cursor *cursor = (const Cursor *)base;
  *result = (sqlite3_int64)cursor->rows[cursor->at].hash;
  return SQLITE_OK;
}

/* ---- changes ---- */

/* rebuild: exactly what the source has now; optimize: so large that one layer holds it. */
static int build_again(BloomStore *store, bool optimize) {
  const BloomParams *asked = &store->asked;
  uint64_t n = asked->n;
  if (optimize && n > 0 && store->filter.layer_count > 1) n = 0;
  return bloom_follow_build(store, n, asked->p, asked->kind);
}

static int run_command(sqlite3_vtab *table, sqlite3_value *value) {
  BloomStore *store = store_of(table);
  const char *command = (const char *)sqlite3_value_text(value);
  if (command == NULL) return SQLITE_NOMEM;
  if (sqlite3_stricmp(command, "clear") == 0) {
    return store->of
               ? refuse_write(table, "a table with of= has the keys of its source: rebuild it")
               : bloom_store_clear(store);
  }
  if (sqlite3_stricmp(command, "optimize") == 0) {
    return store->of ? build_again(store, true) : SQLITE_OK; /* nothing to gain without keys */
  }
  if (sqlite3_stricmp(command, "rebuild") != 0) {
    return refuse_write(table, "the commands are 'clear', 'optimize' and 'rebuild'");
  }
  if (store->of == NULL) {
    return refuse_write(table,
                        "only a table with of= can be rebuilt: clear it and insert the keys");
  }
  return build_again(store, false);
}

static int import_filter(sqlite3_vtab *table, sqlite3_value *value) {
  char reason[BLOOM_REASON_BYTES];
  BloomFilter *filter;
  int code = SQLITE_OK;
  if (sqlite3_value_type(value) != SQLITE_BLOB) {
    return refuse_write(table, "the filter must be a blob made by bloom_build");
  }
  filter = sqlite3_malloc64(sizeof *filter);
  if (filter == NULL) return SQLITE_NOMEM;
  const void *bytes = sqlite3_value_blob(value);
  if (sqlite3_value_type(value) != SQLITE_BLOB) {
    code = SQLITE_NOMEM; /* a zeroblob that could not be expanded */
  } else if (!bloom_decode(bytes, (uint64_t)sqlite3_value_bytes(value), filter, reason)) {
    code = refuse_write(table, reason);
  } else if (!bloom_intact(filter)) {
    code = refuse_write(table, BLOOM_BODY_DAMAGED);
  } else {
    code = bloom_store_merge(store_of(table), filter);
  }
  sqlite3_free(filter);
  return code;
}

/* argv: NULL, the rowid, then the columns. */
static int insert(sqlite3_vtab *table, sqlite3_value **argv) {
  uint64_t hash;
  int code = SQLITE_OK, type;
  if (sqlite3_value_type(argv[2 + COLUMN_FILTER]) != SQLITE_NULL) {
    code = import_filter(table, argv[2 + COLUMN_FILTER]);
  }
  if (code != SQLITE_OK) return code;
  type = bloom_key_hash_value(argv[2 + COLUMN_KEY], &hash);
  if (type <= 0) return type < 0 ? SQLITE_NOMEM : SQLITE_OK;
  return bloom_store_add(store_of(table), hash, (uint8_t)type);
}

static int forget_key(sqlite3_vtab *table, sqlite3_value *rowid_value) {
  if (store_of(table)->asked.kind != BLOOM_COUNTING) {
    return refuse_write(
        table,
        "a plain filter cannot forget a key, since its bits belong to other keys too: "
        "create the table with kind=counting, or rebuild it without the key");
  }
  return bloom_store_remove(store_of(table), (uint64_t)sqlite3_value_int64(rowid_value));
}

static int change(sqlite3_vtab *table, int argc, sqlite3_value **argv) {
  BloomStore *store = store_of(table);
  bool adds = sqlite3_value_type(argv[0]) == SQLITE_NULL;
  if (!adds && argc > 1) return refuse_write(table, "a key cannot be changed, only added");
  if (adds && sqlite3_value_type(argv[1]) != SQLITE_NULL) {
    return refuse_write(table, "a rowid cannot be given, it is the key's hash");
  }
  int code = store->valid ? SQLITE_OK : bloom_store_validate(store);
  if (code != SQLITE_OK) return code;
  if (!adds) return forget_key(table, argv[0]);
  return sqlite3_value_type(argv[2 + COLUMN_COMMAND]) == SQLITE_NULL
             ? insert(table, argv)
             : run_command(table, argv[2 + COLUMN_COMMAND]);
}

static int update(sqlite3_vtab *table, int argc, sqlite3_value **argv, sqlite3_int64 *id) {
  int code = bloom_store_arm(store_of(table));
  (void)id;
  if (code == SQLITE_OK) code = change(table, argc, argv);
  return tell(table, code);
}

/* PRAGMA integrity_check, from SQLite 3.44 on: every chunk is there and matches its checksum, and
** every key of the source is found. */
static int check_integrity(sqlite3_vtab *table, const char *schema, const char *name, int flags,
                           char **report) {
  BloomStore *store = store_of(table);
  sqlite3_int64 missing = 0;
  int code;
  (void)flags;
  store->valid = store->valid && !bloom_store_is_written(store); /* read it all again */
  code = get_ready(store);
  if (code == SQLITE_OK) code = bloom_store_load(store);
  if (code == SQLITE_OK && store->of) code = bloom_follow_verify(store, &missing);
  if (missing > 0) {
    *report = sqlite3_mprintf("bloom table %s.%s: %lld keys of %s are missing", schema, name,
                              missing, store->of);
  }
  if ((code & 0xff) == SQLITE_CORRUPT ||
      (code & 0xff) == SQLITE_ERROR) { /* not: interrupted, ... */
    *report = sqlite3_mprintf("bloom table %s.%s: %s", schema, name, store->error);
    store->error[0] = 0;
    code = SQLITE_OK;
  }
  return code;
}

/* sqlite3_module as of 3.44, whatever the header is: older ones look at iVersion's first fields. */
typedef struct ModuleWithIntegrity {
  sqlite3_module base;
#if SQLITE_VERSION_NUMBER < 3044000
  /* cppcheck-suppress unusedStructMember ; SQLite reads it */
  int (*xIntegrity)(sqlite3_vtab *table, const char *schema, const char *name, int flags,
                    char **report);
#endif
} ModuleWithIntegrity;

static const ModuleWithIntegrity MODULE = {.base = {.iVersion = 4,
                                                    .xCreate = create_table,
                                                    .xConnect = connect_table,
                                                    .xBestIndex = best_index,
                                                    .xDisconnect = disconnect_table,
                                                    .xDestroy = destroy_table,
                                                    .xOpen = open_cursor,
                                                    .xClose = close_cursor,
                                                    .xFilter = filter_cursor,
                                                    .xNext = next_row,
                                                    .xEof = at_end,
                                                    .xColumn = column,
                                                    .xRowid = rowid,
                                                    .xUpdate = update,
                                                    .xBegin = begin,
                                                    .xSync = sync,
                                                    .xCommit = commit,
                                                    .xRollback = rollback,
                                                    .xRename = rename_table,
                                                    .xSavepoint = open_savepoint,
                                                    .xRelease = release_savepoint,
                                                    .xRollbackTo = rollback_to,
                                                    .xShadowName = is_shadow,
#if SQLITE_VERSION_NUMBER >= 3044000
                                                    .xIntegrity = check_integrity
#endif
                                           },
#if SQLITE_VERSION_NUMBER < 3044000
                                           .xIntegrity = check_integrity
#endif
};

/* ---- bloom_lookup, bloom_snapshot, bloom_status ---- */

/* A table that a statement looks into: its store, and a read transaction that is held until the
** statement ends, so that memory stays what the statement may see. */
typedef struct Use {
  BloomStore *store;
  sqlite3_stmt *pin;
} Use;

static void end_use(void *pointer) {
  Use *use = pointer;
  bloom_store_unpin(use->store, use->pin);
  sqlite3_free(use);
}

/* Takes one identifier from *at, quoted or not, into name; false when there is none. */
static bool take_name(const char **at, char *name) {
  char quote = **at == '"' || **at == '`' ? **at : **at == '[' ? ']' : 0;
  char *to = name;
  if (quote) ++*at;
  for (; **at; ++*at) {
    if (quote && **at == quote) {
      if (quote == ']' || (*at)[1] != quote) break;
      ++*at; /* a doubled quote stands for one */
    }
    if (!quote && **at == '.') break;
    *to++ = **at;
  }
  *to = 0;
  if (quote && *(*at)++ != quote) return false;
  return to > name;
}

/* "table" or "schema.table"; *schema is empty for the first. Both have room for all of the text. */
static bool split_name(const char *text, char *schema, char *table) {
  schema[0] = 0;
  if (!take_name(&text, table)) return false;
  if (*text == 0) return true;
  strcpy(schema, table);
  return *text++ == '.' && take_name(&text, table) && *text == 0;
}

/* The store of a table in one schema; SQLite is made to connect it. *store stays NULL when there is
** no such table; other errors than that are returned. */
static int find_in(BloomStores *stores, const char *schema, const char *name, BloomStore **store) {
  sqlite3_stmt *unused = NULL;
  char *sql;
  int code;
  *store = bloom_store_find(stores, schema, name);
  if (*store) return SQLITE_OK;
  sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".\"%w\" WHERE 0", schema, name);
  if (sql == NULL) return SQLITE_NOMEM;
  code = sqlite3_prepare_v2(stores->db, sql, -1, &unused, NULL);
  sqlite3_finalize(unused);
  sqlite3_free(sql);
  *store = bloom_store_find(stores, schema, name);
  return (code & 0xff) == SQLITE_ERROR ? SQLITE_OK : code;
}

/* temp, main, then the attached ones, as SQLite looks for a table. */
static int find_anywhere(BloomStores *stores, const char *name, BloomStore **store) {
  sqlite3_stmt *list = NULL;
  int code = find_in(stores, "temp", name, store);
  if (code != SQLITE_OK || *store) return code;
  code = sqlite3_prepare_v2(stores->db, "PRAGMA database_list", -1, &list, NULL);
  while (code == SQLITE_OK && *store == NULL && sqlite3_step(list) == SQLITE_ROW) {
    const char *schema = (const char *)sqlite3_column_text(list, 1);
    code = schema ? find_in(stores, schema, name, store) : SQLITE_NOMEM;
  }
  int ended = sqlite3_finalize(list);
  return code == SQLITE_OK ? ended : code;
}

static bool text_of(sqlite3_context *context, const char *function, sqlite3_value *value,
                    const char **text) {
  *text = NULL;
  if (sqlite3_value_type(value) == SQLITE_TEXT) {
    *text = (const char *)sqlite3_value_text(value);
    if (*text == NULL) sqlite3_result_error_nomem(context);
    return *text != NULL;
  }
  bloom_fail(context, function, "the table is named by a text, such as 'seen' or 'main.seen'");
  return false;
}

/* The names that were looked for last, so that a statement with one key does not look again. */
static BloomStore *resolve(sqlite3_context *context, const char *function, const char *text) {
  BloomStores *stores = sqlite3_user_data(context);
  BloomStore *store = NULL;
  char *schema, *name;
  int code = SQLITE_OK;
  if (stores->resolved && stores->resolved_at == stores->generation &&
      strcmp(stores->resolved_text, text) == 0) {
    return stores->resolved;
  }
  schema = sqlite3_malloc64(2 * strlen(text) + 2);
  if (schema == NULL) {
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  name = schema + strlen(text) + 1;
  if (split_name(text, schema, name)) {
    code = schema[0] ? find_in(stores, schema, name, &store) : find_anywhere(stores, name, &store);
  }
  sqlite3_free(schema);
  if (code != SQLITE_OK) {
    if (code != SQLITE_NOMEM) bloom_fail(context, function, "%s", sqlite3_errmsg(stores->db));
    sqlite3_result_error_code(context, code);
    return NULL;
  }
  if (store == NULL) {
    bloom_fail(context, function, "there is no bloom table named %.200s", text);
  } else if (strlen(text) < sizeof stores->resolved_text) {
    strcpy(stores->resolved_text, text);
    stores->resolved = store;
    stores->resolved_at = stores->generation;
  }
  return store;
}

static void fail_store(sqlite3_context *context, const char *function, BloomStore *store,
                       int code) {
  if (*store->error && code != SQLITE_NOMEM) bloom_fail(context, function, "%s", store->error);
  sqlite3_result_error_code(context, code); /* keeps the text */
  store->error[0] = 0;
}

/* Finds the table named by the first argument, and opens its snapshot. */
static bool start_use(sqlite3_context *context, const char *function, sqlite3_value *value,
                      Use *use) {
  const char *text;
  int code;
  if (!text_of(context, function, value, &text)) return false;
  use->store = resolve(context, function, text);
  if (use->store == NULL) return false;
  use->store->references++; /* a changed schema may take the table away meanwhile */
  code = bloom_store_pin(use->store, &use->pin);
  if (code == SQLITE_OK) {
    code = get_ready(use->store);
    if (code != SQLITE_OK) bloom_store_unpin(use->store, use->pin);
  }
  if (code != SQLITE_OK) fail_store(context, function, use->store, code);
  bloom_store_release(use->store);
  return code == SQLITE_OK;
}

static void lookup_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Use *use = sqlite3_get_auxdata(context, 0), first;
  BloomStore *store;
  uint64_t hash;
  bool found = false;
  int type, code = SQLITE_OK;
  (void)argc;
  if (BLOOM_LIKELY(use != NULL)) {
    store = use->store;
  } else {
    if (!start_use(context, "bloom_lookup", argv[0], &first)) return;
    store = first.store;
  }
  if (BLOOM_UNLIKELY(!store->valid)) code = get_ready(store);
  type = bloom_key_hash_value(argv[1], &hash);
  if (BLOOM_LIKELY(type > 0 && code == SQLITE_OK)) {
    if (BLOOM_LIKELY(store->unloaded == 0)) {
      found = bloom_contains(&store->filter, hash);
    } else {
      code = bloom_store_contains(store, hash, &found);
    }
    if (code == SQLITE_OK) sqlite3_result_int(context, found);
  }
  if (type < 0) code = SQLITE_NOMEM;
  if (code != SQLITE_OK) fail_store(context, "bloom_lookup", store, code);
  if (use == NULL) {
    use = sqlite3_malloc64(sizeof *use);
    if (use) {
      *use = first;
      sqlite3_set_auxdata(context, 0, use, end_use);
    } else {
      bloom_store_unpin(first.store, first.pin);
    }
  }
}

/* The whole filter of the table, for the time of a call. */
static const BloomFilter *whole_filter(sqlite3_context *context, const char *function,
                                       sqlite3_value *value, Use *use) {
  int code;
  if (!start_use(context, function, value, use)) return NULL;
  code = bloom_store_load(use->store);
  if (code == SQLITE_OK) return &use->store->filter;
  fail_store(context, function, use->store, code);
  bloom_store_unpin(use->store, use->pin);
  return NULL;
}

static void snapshot_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomDraft draft;
  Use use;
  const BloomFilter *filter = whole_filter(context, "bloom_snapshot", argv[0], &use);
  int code;
  (void)argc;
  if (filter == NULL) return;
  code = bloom_draft_copy(context, &draft, filter);
  if (code == SQLITE_OK) {
    bloom_draft_result(context, &draft);
  } else {
    bloom_fail_code(context, code);
  }
  bloom_store_unpin(use.store, use.pin);
}

static void status_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Use use;
  const BloomFilter *filter = whole_filter(context, "bloom_status", argv[0], &use);
  (void)argc;
  if (filter == NULL) return;
  bloom_describe(context, filter);
  bloom_store_unpin(use.store, use.pin);
}

/* ---- registration ---- */

static void release_stores(void *pointer) {
  BloomStores *stores = pointer;
  if (--stores->references == 0) sqlite3_free(stores);
}

/* The module and the functions that read its tables share one BloomStores; the last of them to go
** frees it. A registration that fails releases its share too. */
int bloom_register_table(sqlite3 *db) {
  static const struct {
    const char *name;
    int arguments;
    void (*function)(sqlite3_context *context, int argc, sqlite3_value **argv);
  } functions[] = {{"bloom_lookup", 2, lookup_function},
                   {"bloom_snapshot", 1, snapshot_function},
                   {"bloom_status", 1, status_function}};
  BloomStores *stores = sqlite3_malloc64(sizeof *stores);
  int code = SQLITE_OK;
  if (stores == NULL) return SQLITE_NOMEM;
  memset(stores, 0, sizeof *stores);
  stores->db = db;
  stores->references = 1;
  for (unsigned i = 0; i < sizeof functions / sizeof *functions && code == SQLITE_OK; i++) {
    stores->references++;
    code = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments, SQLITE_UTF8,
                                      stores, functions[i].function, NULL, NULL, release_stores);
  }
  if (code == SQLITE_OK) {
    stores->references++;
    code = sqlite3_create_module_v2(db, "bloom", &MODULE.base, stores, release_stores);
  }
  release_stores(stores);
  return code;
}
