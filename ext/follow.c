/* follow.c: of='source(expression, ...)'. See follow.h. */
#include "follow.h"

/* ---- the text of of= ---- */

/* What a table follows: the source's name, and the key as an expression over its columns. */
typedef struct Follow {
  char *key;
  char *source; /* as of= calls it */
  char *row; /* +new."a" AS "a", ...: the columns that the key mentions, without their affinity */
  char *standing_source; /* the same as a trigger that stands has them */
  char *standing_row;
} Follow;

static void free_follow(Follow *follow) {
  sqlite3_free(follow->key);
  sqlite3_free(follow->source);
  sqlite3_free(follow->row);
  sqlite3_free(follow->standing_source);
  sqlite3_free(follow->standing_row);
}

static void use_standing(Follow *follow) {
  sqlite3_free(follow->source);
  sqlite3_free(follow->row);
  follow->source = follow->standing_source;
  follow->row = follow->standing_row;
  follow->standing_source = follow->standing_row = NULL;
}

static bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '$' || (byte & 0x80) != 0;
}

/* Length of the token at `at`: a quoted thing with its quotes, a run of name bytes, or one byte. 0
** at the end of the text and where no token can start: an open quote, a comment, a semicolon. */
static size_t token_length(const char *at) {
  char quote = *at == '[' ? ']' : *at;
  size_t length = 1;
  if (*at == 0 || *at == ';' || (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*')) {
    return 0;
  }
  if (*at == '\'' || *at == '"' || *at == '`' || *at == '[') {
    for (; at[length] && (at[length] != quote || (quote != ']' && at[length + 1] == quote));
         length++) {
      if (at[length] == quote) length++;
    }
    return at[length] ? length + 1 : 0;
  }
  if (is_name_byte(*at)) {
    while (is_name_byte(at[length])) length++;
  }
  return length;
}

static bool is_quoted_name(const char *token) {
  return *token == '"' || *token == '`' || *token == '[';
}

static bool is_name(const char *token) {
  return is_quoted_name(token) || is_name_byte(*token);
}

/* The name that a token spells, from sqlite3_malloc; doubled quotes stand for one. */
static char *name_of(const char *token, size_t length) {
  char *name = sqlite3_malloc64(length + 1), *to = name;
  char quote = is_quoted_name(token) ? token[length - 1] : 0;
  if (name == NULL) return NULL;
  for (size_t i = quote != 0; i < length - (quote != 0); i++) {
    *to++ = token[i];
    if (quote && quote != ']' && token[i] == quote) i++;
  }
  *to = 0;
  return name;
}

static int fail_follow(BloomStore *store, const char *format, const char *detail) {
  sqlite3_snprintf(sizeof store->error, store->error, format, detail);
  return SQLITE_ERROR;
}

static bool is_token(const char *at, size_t length, const char *word) {
  return length == strlen(word) && sqlite3_strnicmp(at, word, (int)length) == 0;
}

static bool is_blank(char byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Arguments of the call whose name has just ended at `at`; `many` when it is no call. Its
** parentheses are balanced: parse counted them. */
static int count_arguments(const char *at, int many) {
  int depth = 0, count = 0;
  while (is_blank(*at)) at++;
  if (*at != '(') return many;
  for (;; at += token_length(at)) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) return count;
    if (depth == 1 && *at == ',') {
      count++;
    } else if (count == 0 && !is_blank(*at) && (depth > 1 || *at != '(')) {
      count = 1;
    }
  }
}

/* SQLite refuses functions that are not deterministic, but those of the time only when they run:
** with 'now', or with fewer arguments than these. */
static bool asks_for_time(const char *at, size_t length) {
  static const struct {
    const char *name;
    int arguments;
  } times[] = {{"date", 1},      {"time", 1},      {"datetime", 1},
               {"julianday", 1}, {"unixepoch", 1}, {"strftime", 2}};
  int quoted = is_quoted_name(at);
  for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
    if (is_token(at + quoted, length - 2 * (size_t)quoted, times[i].name) &&
        count_arguments(at + length, times[i].arguments) < times[i].arguments) {
      return true;
    }
  }
  return is_token(at, length, "'now'");
}

static int check_tokens(BloomStore *store, const char *at, const char *end) {
  for (size_t length; at < end; at += length) {
    length = token_length(at);
    if (asks_for_time(at, length)) {
      return fail_follow(store, "of='%s' is non-deterministic: it asks for the time", store->of);
    }
  }
  return SQLITE_OK;
}

/* Splits of= into source and key; several expressions are one bloom_key. */
static int parse(BloomStore *store, Follow *follow) {
  const char *at = store->of;
  size_t length = token_length(at);
  bool named = length > 0 && is_name(at);
  int depth = 1;
  bool several = false;
  memset(follow, 0, sizeof *follow);
  if (named) {
    follow->source = name_of(at, length);
    if (follow->source == NULL) return SQLITE_NOMEM;
  }
  at += length;
  while (*at == ' ') at++;
  if (*at == '.') {
    return fail_follow(store, "of='%s': the source must be in the table's own schema", store->of);
  }
  if (!named || *at != '(') {
    return fail_follow(store, "of='%s' is not of the form of='source(column)'", store->of);
  }
  const char *start = ++at;
  for (; depth > 0 && (length = token_length(at)) > 0; at += length) {
    depth += (*at == '(') - (*at == ')');
    several |= *at == ',' && depth == 1;
  }
  if (depth > 0 || at == start + 1 || *at != 0) {
    return fail_follow(store, "of='%s' is not of the form of='source(column)'", store->of);
  }
  at--;
  follow->key = sqlite3_mprintf(several ? "bloom_key(%.*s)" : "%.*s", (int)(at - start), start);
  return follow->key ? check_tokens(store, start, at) : SQLITE_NOMEM;
}

/* Whether a token is the name of a column. */
static bool spells(const char *token, size_t length, const char *name) {
  char quote = is_quoted_name(token) ? token[length - 1] : 0;
  for (size_t i = quote != 0; i < length - (quote != 0); i++, name++) {
    if (sqlite3_strnicmp(token + i, name, 1) != 0) return false;
    if (quote && quote != ']' && token[i] == quote) i++; /* a doubled quote stands for one */
  }
  return *name == 0;
}

/* Whether a text mentions a column of this name. */
static bool mentions(const char *text, const char *column) {
  size_t length;
  for (; (length = token_length(text)) > 0; text += length) {
    if (is_name(text) && spells(text, length, column)) return true;
  }
  return false;
}

/* ---- the source's columns ---- */

/* Writes +new."a" AS "a" for each column that the key mentions, and "a" for the test table. */
static int read_columns(BloomStore *store, Follow *follow, char **names) {
  sqlite3_str *row = sqlite3_str_new(store->db), *list = sqlite3_str_new(store->db);
  sqlite3_stmt *columns;
  const char *comma = "";
  bool exists = false;
  int code = bloom_store_prepare(
      store, &columns,
      sqlite3_mprintf("PRAGMA \"%w\".table_xinfo(\"%w\")", store->schema, follow->source));
  while (code == SQLITE_OK && sqlite3_step(columns) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(columns, 1);
    exists = true;
    if (name == NULL) code = SQLITE_NOMEM;
    if (name == NULL || !mentions(follow->key, name)) continue;
    sqlite3_str_appendf(row, "%s+new.\"%w\" AS \"%w\"", comma, name, name);
    sqlite3_str_appendf(list, "\"%w\", ", name);
    comma = ", ";
  }
  int ended = sqlite3_finalize(columns);
  if (ended != SQLITE_OK) code = bloom_store_fail(store, ended);
  follow->row = sqlite3_str_finish(row);
  *names = sqlite3_str_finish(list);
  if (code != SQLITE_OK) return code;
  if (!exists) return fail_follow(store, "there is no table %s in the schema", follow->source);
  if (comma[0] == 0) {
    return fail_follow(store,
                       "of='%s' names no column of the source (a rowid counts only as a column)",
                       store->of);
  }
  return follow->row && *names ? SQLITE_OK : SQLITE_NOMEM;
}

/* A quoted name that is no column would be taken for a string. */
static int check_quoted(BloomStore *store, const Follow *follow, const char *names) {
  size_t length;
  for (const char *at = follow->key; (length = token_length(at)) > 0; at += length) {
    if (!is_quoted_name(at)) continue;
    char *name = name_of(at, length);
    if (name == NULL) return SQLITE_NOMEM;
    int code =
        mentions(names, name) ? SQLITE_OK : fail_follow(store, "the source has no column %s", name);
    sqlite3_free(name);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

/* SQLite itself checks the key: as a generated column of a table that is prepared, never made.
** There it refuses subqueries, aggregates, windows and functions that are not deterministic. */
static int check_key(BloomStore *store, const Follow *follow, const char *names) {
  sqlite3_stmt *unused;
  int code = bloom_store_prepare(
      store, &unused,
      sqlite3_mprintf("CREATE TEMP TABLE \"bloom check\"(%s\"bloom key\" AS (%s))", names,
                      follow->key));
  sqlite3_finalize(unused);
  return code;
}

/* ---- triggers ---- */

static const struct {
  const char *name;
  const char *event;
  bool forgets; /* takes the old key out, in counting tables */
} TRIGGERS[] = {{"insert", "INSERT", false},
                {"update", "UPDATE", false},
                {"delete", "DELETE", true},
                {"forget", "UPDATE", true}};

enum {
  TRIGGER_COUNT = sizeof TRIGGERS / sizeof *TRIGGERS
};

static unsigned trigger_count(uint8_t kind) {
  return kind == BLOOM_COUNTING ? TRIGGER_COUNT : 2;
}

/* The text of a trigger of `name` in sqlite_master, up to the row. `table` is what it writes to:
** the same, but while a table is being renamed. */
static char *trigger_head(const char *name, const char *table, const char *key, const char *source,
                          unsigned i) {
  return sqlite3_mprintf(
      "CREATE TRIGGER \"%w_%s\" AFTER %s ON \"%w\" BEGIN %s\"%w\"%s%s FROM (SELECT ", name,
      TRIGGERS[i].name, TRIGGERS[i].event, source,
      TRIGGERS[i].forgets ? "DELETE FROM " : "INSERT INTO ", table,
      TRIGGERS[i].forgets ? " WHERE key = (SELECT " : "(key) SELECT ", key);
}

static const char *trigger_tail(unsigned i) {
  return TRIGGERS[i].forgets ? ")); END" : "); END";
}

/* new."a" AS "a" -> old."a" AS "a" or back, from sqlite3_malloc. */
static char *other_row(const char *row, const char *from, const char *to) {
  sqlite3_str *text = sqlite3_str_new(NULL);
  size_t length;
  for (; (length = token_length(row)) > 0; row += length) {
    if (is_token(row, length, from)) {
      sqlite3_str_appendall(text, to);
    } else {
      sqlite3_str_append(text, row, (int)length);
    }
  }
  return sqlite3_str_finish(text);
}

static int make_triggers(BloomStore *store, const Follow *follow, const char *name, uint8_t kind) {
  static const char create[] = "CREATE TRIGGER ";
  char *old = other_row(follow->row, "new", "old");
  int code = old ? SQLITE_OK : SQLITE_NOMEM;
  for (unsigned i = 0; i < trigger_count(kind) && code == SQLITE_OK; i++) {
    char *head = trigger_head(name, name, follow->key, follow->source, i), *sql = NULL;
    if (head) {
      sql = sqlite3_mprintf("%s\"%w\".%s%s%s", create, store->schema, head + strlen(create),
                            TRIGGERS[i].forgets ? old : follow->row, trigger_tail(i));
    }
    sqlite3_free(head);
    code = bloom_store_run(store, sql);
  }
  sqlite3_free(old);
  return code;
}

static int drop_triggers(BloomStore *store) {
  int code = SQLITE_OK;
  for (unsigned i = 0; i < TRIGGER_COUNT && code == SQLITE_OK; i++) {
    code = bloom_store_run(store, sqlite3_mprintf("DROP TRIGGER IF EXISTS \"%w\".\"%w_%s\"",
                                                  store->schema, store->name, TRIGGERS[i].name));
  }
  return code;
}

/* Whether the source has a column of this name; *code is set when memory ran out. */
static bool has_column(BloomStore *store, const char *source, const char *token, size_t length,
                       int *code) {
  char *name = name_of(token, length);
  int found = name ? sqlite3_table_column_metadata(store->db, store->schema, source, name, NULL,
                                                   NULL, NULL, NULL, NULL)
                   : SQLITE_NOMEM;
  sqlite3_free(name);
  if (found != SQLITE_OK && found != SQLITE_ERROR) *code = found;
  return found == SQLITE_OK;
}

static bool starts_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* A row is +new."a" AS "b", ... and nothing else, or of old., as `start` says. Where a is not b the
** column was renamed, so there is no longer a b. */
static bool is_row(BloomStore *store, const char *source, const char *row, const char *start,
                   int *code) {
  for (;; row += 2) {
    if (!starts_with(row, start)) return false;
    const char *column = row + 5;
    size_t length = token_length(column);
    const char *alias = column + length + 4;
    if (length == 0 || !starts_with(column + length, " AS \"")) return false;
    size_t alias_length = token_length(alias);
    if (alias_length == 0) return false;
    if ((length != alias_length || sqlite3_strnicmp(column, alias, (int)length) != 0) &&
        has_column(store, source, alias, alias_length, code)) {
      return false;
    }
    row = alias + alias_length;
    if (*row == 0) return true;
    if (!starts_with(row, ", ")) return false;
  }
}

/* The row of a trigger's text, from sqlite3_malloc, with new. for old.; NULL when the text is not
** what was made for `source`, or when *code says what else went wrong. */
static char *row_of(BloomStore *store, const char *table, const char *key, unsigned i,
                    const char *source, const char *sql, int *code) {
  char *head = trigger_head(store->name, table, key, source, i), *row = NULL;
  size_t length = head ? strlen(head) : 0, tail = strlen(trigger_tail(i)), all = strlen(sql);
  bool ours = head && strncmp(sql, head, length) == 0 && all >= length + tail &&
              strcmp(sql + all - tail, trigger_tail(i)) == 0;
  if (head == NULL) *code = SQLITE_NOMEM;
  sqlite3_free(head);
  if (!ours) return NULL;
  row = sqlite3_mprintf("%.*s", (int)(all - tail - length), sql + length);
  if (row == NULL) *code = SQLITE_NOMEM;
  if (row && !is_row(store, source, row, TRIGGERS[i].forgets ? "+old.\"" : "+new.\"", code)) {
    sqlite3_free(row);
    return NULL;
  }
  if (row && TRIGGERS[i].forgets) {
    char *old = row;
    row = other_row(old, "old", "new");
    sqlite3_free(old);
    if (row == NULL) *code = SQLITE_NOMEM;
  }
  return row;
}

static int prepare_find(BloomStore *store, sqlite3_stmt **find) {
  return bloom_store_prepare(
      store, find,
      sqlite3_mprintf("SELECT tbl_name, ifnull(sql, '') FROM \"%w\".sqlite_master "
                      "WHERE type = 'trigger' AND name = ?1 || '_' || ?2 "
                      "COLLATE NOCASE",
                      store->schema));
}

/* One trigger of the table: *sql is NULL when there is none. Both texts last until the next. */
static int find_trigger(BloomStore *store, sqlite3_stmt *find, unsigned i, const char **source,
                        const char **sql) {
  *sql = NULL;
  sqlite3_reset(find);
  sqlite3_bind_text(find, 1, store->name, -1, SQLITE_STATIC);
  sqlite3_bind_text(find, 2, TRIGGERS[i].name, -1, SQLITE_STATIC);
  int code = sqlite3_step(find);
  if (code == SQLITE_DONE) return SQLITE_OK;
  if (code != SQLITE_ROW) return bloom_store_fail(store, code);
  *source = (const char *)sqlite3_column_text(find, 0);
  *sql = (const char *)sqlite3_column_text(find, 1);
  return *source && *sql ? SQLITE_OK : SQLITE_NOMEM;
}

/* *attached: every trigger stands on one source, as it was made; then follow->source and ->row are
** what the triggers call them. Otherwise ->standing_row is that of the first good one, or NULL. */
static int find_triggers(BloomStore *store, const char *table, Follow *follow, uint8_t kind,
                         bool *attached) {
  sqlite3_stmt *find;
  int code = prepare_find(store, &find);
  *attached = true;
  for (unsigned i = 0; i < trigger_count(kind) && code == SQLITE_OK; i++) {
    const char *source, *sql;
    char *row = NULL;
    code = find_trigger(store, find, i, &source, &sql);
    if (code == SQLITE_OK && sql) row = row_of(store, table, follow->key, i, source, sql, &code);
    if (row == NULL) {
      *attached = false;
    } else if (follow->standing_row == NULL) {
      follow->standing_source = sqlite3_mprintf("%s", source);
      follow->standing_row = row;
      if (follow->standing_source == NULL) code = SQLITE_NOMEM;
      continue;
    } else if (sqlite3_stricmp(follow->standing_source, source) != 0 ||
               strcmp(follow->standing_row, row) != 0) {
      *attached = false;
    }
    sqlite3_free(row);
  }
  sqlite3_finalize(find);
  if (code == SQLITE_OK && *attached) use_standing(follow);
  return code;
}

/* ---- building ---- */

static int count_rows(BloomStore *store, const Follow *follow, uint64_t *n) {
  sqlite3_int64 rows;
  int code = bloom_store_ask(
      store, &rows,
      sqlite3_mprintf("SELECT count(*) FROM \"%w\".\"%w\"", store->schema, follow->source));
  if (code != SQLITE_OK) return code;
  *n = (uint64_t)(rows + rows / 4);
  if (*n < 1000) *n = 1000;
  return SQLITE_OK;
}

/* The keys go through a view of the schema, so that an untrusted schema's expression is held to
** SQLite's own rules. */
static int fill(BloomStore *store, const Follow *follow, uint64_t n, float p, uint8_t kind) {
  sqlite3_stmt *build = NULL;
  const char *counting = kind == BLOOM_COUNTING ? ", 'counting'" : "";
  int code = bloom_store_run(
      store, sqlite3_mprintf("CREATE VIEW \"%w\".\"%w_keys\" AS SELECT %s AS key FROM "
                             "(SELECT %s FROM \"%w\" AS new)",
                             store->schema, store->name, follow->key, follow->row, follow->source));
  if (code != SQLITE_OK) return code;
  code = bloom_store_prepare(
      store, &build,
      sqlite3_mprintf("SELECT bloom_union(bloom_new(?1, ?2%s), bloom_build(key, ?1, ?2%s)) "
                      "FROM \"%w\".\"%w_keys\"",
                      counting, counting, store->schema, store->name));
  if (code == SQLITE_OK) {
    sqlite3_bind_int64(build, 1, (sqlite3_int64)n);
    sqlite3_bind_double(build, 2, (double)p);
    code = sqlite3_step(build);
    if (code == SQLITE_ROW) {
      code = bloom_store_adopt(store, sqlite3_column_blob(build, 0),
                               (uint64_t)sqlite3_column_bytes(build, 0));
    } else {
      bloom_store_fail(store, code);
    }
  }
  sqlite3_finalize(build);
  int dropped = bloom_store_run(
      store, sqlite3_mprintf("DROP VIEW \"%w\".\"%w_keys\"", store->schema, store->name));
  return code == SQLITE_OK ? dropped : code;
}

/* The source and its columns as of= names them. */
static int read_source(BloomStore *store, Follow *follow) {
  char *names = NULL;
  int code = read_columns(store, follow, &names);
  if (code == SQLITE_OK) code = check_quoted(store, follow, names);
  if (code == SQLITE_OK) code = check_key(store, follow, names);
  sqlite3_free(names);
  return code;
}

/* The triggers are not all there: of= says what to follow, or, where it was renamed since, a
** trigger that still stands. */
static int attach(BloomStore *store, Follow *follow, uint8_t kind) {
  int code = read_source(store, follow);
  if (code == SQLITE_ERROR && follow->standing_row) {
    use_standing(follow);
    store->error[0] = 0;
    code = SQLITE_OK;
  }
  if (code == SQLITE_OK) code = drop_triggers(store);
  return code == SQLITE_OK ? make_triggers(store, follow, store->name, kind) : code;
}

int bloom_follow_build(BloomStore *store, uint64_t n, float p, uint8_t kind) {
  Follow follow;
  bool attached = false;
  int code = parse(store, &follow);
  if (code == SQLITE_OK) code = find_triggers(store, store->name, &follow, kind, &attached);
  if (code == SQLITE_OK && !attached) code = attach(store, &follow, kind);
  if (code == SQLITE_OK && n == 0) code = count_rows(store, &follow, &n);
  if (code == SQLITE_OK) code = fill(store, &follow, n, p, kind);
  free_follow(&follow);
  store->checked = false;
  return code;
}

/* Before a table is made: a trigger of somebody else under a name is an error; one of ours,
** that a restored dump left without its table, is not. */
static int check_names(BloomStore *store, const Follow *follow) {
  sqlite3_stmt *find;
  int code = prepare_find(store, &find);
  for (unsigned i = 0; i < TRIGGER_COUNT && code == SQLITE_OK; i++) {
    const char *source, *sql;
    code = find_trigger(store, find, i, &source, &sql);
    if (code != SQLITE_OK || sql == NULL) continue;
    char *row = row_of(store, store->name, follow->key, i, source, sql, &code);
    if (row == NULL && code == SQLITE_OK) {
      sqlite3_snprintf(sizeof store->error, store->error, "there is a trigger %s_%s already",
                       store->name, TRIGGERS[i].name);
      code = SQLITE_ERROR;
    }
    sqlite3_free(row);
  }
  sqlite3_finalize(find);
  return code;
}

/* NAME_data of a virtual table NAME is its inside, which changes without triggers. */
static int check_shadow(BloomStore *store, const char *source) {
  sqlite3_int64 owners;
  int code = bloom_store_ask(store, &owners,
                             sqlite3_mprintf("SELECT count(*) FROM \"%w\".sqlite_master "
                                             "WHERE name || '_data' = %Q COLLATE NOCASE "
                                             "AND sql LIKE 'CREATE VIRTUAL TABLE%%'",
                                             store->schema, source));
  if (code == SQLITE_OK && owners > 0) {
    code = fail_follow(store, "%s is the shadow table of a virtual table", source);
  }
  return code;
}

int bloom_follow_prepare(BloomStore *store) {
  Follow follow;
  int code;
  if (store->of == NULL) return SQLITE_OK;
  code = parse(store, &follow);
  if (code == SQLITE_OK) code = check_names(store, &follow);
  if (code == SQLITE_OK) code = check_shadow(store, follow.source);
  free_follow(&follow);
  return code;
}

int bloom_follow_stop(BloomStore *store) {
  return store->of ? drop_triggers(store) : SQLITE_OK;
}

int bloom_follow_rename(BloomStore *store, const char *name) {
  Follow follow;
  bool attached;
  int code = SQLITE_OK;
  if (store->of == NULL) return SQLITE_OK;
  code = parse(store, &follow);
  if (code == SQLITE_OK) {
    /* SQLite has written the new name into the triggers by now, unless legacy_alter_table is on. */
    code = find_triggers(store, name, &follow, store->asked.kind, &attached);
    if (code == SQLITE_OK && !attached) {
      code = find_triggers(store, store->name, &follow, store->asked.kind, &attached);
    }
    if (code == SQLITE_OK) code = drop_triggers(store);
    if (code == SQLITE_OK && attached) {
      code = make_triggers(store, &follow, name, store->asked.kind);
    }
  }
  free_follow(&follow);
  return code;
}

/* ---- checks ---- */

/* The triggers are looked at again when the schema's version is another one; that is asked when the
** file changed, and always while this connection may have changed the schema itself. */
int bloom_follow_check(BloomStore *store) {
  Follow follow;
  sqlite3_int64 version;
  if (store->of == NULL) return SQLITE_OK;
  if (!store->checked || store->checked_pager != store->pager_version ||
      sqlite3_txn_state(store->db, store->schema) == SQLITE_TXN_WRITE) {
    int code = bloom_store_ask(store, &version,
                               sqlite3_mprintf("PRAGMA \"%w\".schema_version", store->schema));
    if (code != SQLITE_OK) return code;
    if (!store->checked || version != store->checked_schema) {
      code = parse(store, &follow);
      if (code == SQLITE_OK) {
        code = find_triggers(store, store->name, &follow, store->asked.kind, &store->attached);
      }
      free_follow(&follow);
      if (code != SQLITE_OK) return code;
    }
    store->checked = sqlite3_txn_state(store->db, store->schema) != SQLITE_TXN_WRITE;
    store->checked_schema = (int)version;
    store->checked_pager = store->pager_version;
  }
  if (store->attached) return SQLITE_OK;
  sqlite3_snprintf(sizeof store->error, store->error,
                   "%s is no longer kept in step with %s, whose triggers are gone or changed: "
                   "INSERT INTO %s(%s) VALUES('rebuild') mends it",
                   store->name, store->of, store->name, store->name);
  return SQLITE_ERROR;
}

/* *innocuous: every function of the key, also an operator's as REGEXP, is one that SQLite lets any
** schema call. What is evaluated outside a view is not checked by SQLite itself. */
static int check_innocuous(BloomStore *store, const char *key, bool *innocuous) {
  enum {
    INNOCUOUS = 0x200000
  };
  sqlite3_stmt *find;
  size_t length;
  int code = bloom_store_prepare(
      store, &find,
      sqlite3_mprintf("SELECT 1 FROM pragma_function_list WHERE name = lower(?1) "
                      "AND NOT flags & %d",
                      INNOCUOUS));
  *innocuous = true;
  for (; code == SQLITE_OK && (length = token_length(key)) > 0; key += length) {
    if (!is_name(key)) continue;
    char *name = name_of(key, length);
    if (name == NULL) code = SQLITE_NOMEM;
    sqlite3_bind_text(find, 1, name, -1, sqlite3_free);
    int step = sqlite3_step(find);
    if (step == SQLITE_ROW) *innocuous = false;
    if (step != SQLITE_ROW && step != SQLITE_DONE) code = bloom_store_fail(store, step);
    sqlite3_reset(find);
  }
  sqlite3_finalize(find);
  return code;
}

int bloom_follow_verify(BloomStore *store, sqlite3_int64 *missing) {
  Follow follow;
  bool attached = false, innocuous = false;
  int code = parse(store, &follow);
  *missing = 0;
  if (code == SQLITE_OK) {
    code = find_triggers(store, store->name, &follow, store->asked.kind, &attached);
  }
  if (code == SQLITE_OK) code = check_innocuous(store, follow.key, &innocuous);
  /* The caller's bloom_follow_check found all triggers, in the transaction that is still open. */
  if (code == SQLITE_OK && BLOOM_ALWAYS(attached) && innocuous) {
    char *table = sqlite3_mprintf("\"%w\".\"%w\"", store->schema, store->name), *sql = NULL;
    if (table) {
      sql = sqlite3_mprintf(
          "SELECT count(*) FROM (SELECT %s AS key FROM (SELECT %s FROM \"%w\".\"%w\" AS new)) "
          "WHERE bloom_lookup(%Q, key) = 0",
          follow.key, follow.row, store->schema, follow.source, table);
    }
    sqlite3_free(table);
    code = bloom_store_ask(store, missing, sql);
  }
  free_follow(&follow);
  return code;
}
