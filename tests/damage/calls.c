/* calls.c: see calls.h. A blob that the judge refuses must be an error that says why, in every
** call; for one that it takes, every answer must be the judge's. */
#include "calls.h"

#include <math.h>
#include <stdarg.h>

#include "../sql/sqltest.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NEW_KEY 4242424242

typedef struct Call {
  const char *name; /* that its errors begin with */
  const char *sql;  /* ?1 the blob, ?2 the original */
  const char *(*wrong)(const Judged *judged, sqlite3_stmt *statement, int code);
  bool one_row; /* reads no more than the header and the key's cells */
} Call;

static sqlite3 *db;
static int64_t probes[PROBES];
static uint64_t hashes[PROBES];
static const uint8_t *original;
static size_t original_size;
static Judged original_judged;
static Seen *tally;
static double count, rate;       /* the judge's, of this blob */
static const uint8_t *places[2]; /* of moved() */
static size_t place_size;
static char words[600];

/* moved(): the blob, never twice in a row at the same address. */
static void moved_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  static unsigned turn;
  (void)argc;
  (void)argv;
  sqlite3_result_blob(context, places[turn++ % 2], (int)place_size, SQLITE_STATIC);
}

static const char *say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return words;
}

static const char *fails(void) {
  return say("fails: %s", sqlite3_errmsg(db));
}

static bool is_error(int code, const char *text) {
  return code == SQLITE_ERROR && strstr(sqlite3_errmsg(db), text) != NULL;
}

/* ---- the answers ---- */

static const char *wrong_answers(const Judged *judged, sqlite3_stmt *statement, int code) {
  const char *answers;
  if (code != SQLITE_ROW) return fails();
  answers = (const char *)sqlite3_column_text(statement, 0);
  for (unsigned i = 0; answers[i] != 0; i++) {
    bool in = judged_contains(judged, hashes[i]);
    if (answers[i] != '0' + in) return say("answers %s: key %u is wrong", answers, i);
    tally->answers[in]++;
  }
  return answers[0] == 0 ? say("answers nothing") : NULL;
}

static const char *wrong_count(const Judged *judged, sqlite3_stmt *statement, int code) {
  if (code != SQLITE_ROW) return fails();
  judged_estimates(judged, &count, &rate);
  if (!(count < 9e18)) {
    return sqlite3_column_type(statement, 0) == SQLITE_NULL ? NULL : say("is not NULL");
  }
  if (sqlite3_column_type(statement, 0) != SQLITE_INTEGER ||
      fabs(sqlite3_column_double(statement, 0) - count) > 0.5000001 + 1e-9 * count) {
    return say("gives %s for %.3f", sqlite3_column_text(statement, 0), count);
  }
  return NULL;
}

static const char *wrong_fpr(const Judged *judged, sqlite3_stmt *statement, int code) {
  double got = sqlite3_column_double(statement, 0);
  (void)judged; /* whose estimates wrong_count has seen */
  if (code != SQLITE_ROW) return fails();
  if (sqlite3_column_type(statement, 0) != SQLITE_FLOAT || fabs(got - rate) > 1e-9 * rate) {
    return say("gives %.15g for %.15g", got, rate);
  }
  return NULL;
}

static const char *wrong_info(const Judged *judged, sqlite3_stmt *statement, int code) {
  unsigned long long cells = 0, occupied = 0;
  char n[40], facts[160];
  const char *text = (const char *)sqlite3_column_text(statement, 0);
  if (code != SQLITE_ROW) return fails();
  for (unsigned i = 0; i < judged->layer_count; i++) {
    cells += judged->layers[i].lines * judged->layers[i].line_bits;
    occupied += judged_occupied(judged, i);
  }
  snprintf(n, sizeof n, "\"n\":%llu,", (unsigned long long)judged->n);
  snprintf(facts, sizeof facts,
           "\"k\":%u,\"bits\":%llu,\"bytes\":%zu,\"layers\":%u,\"bits_set\":%llu,",
           judged->layer_count ? judged->layers[0].k : 0, cells, judged->size, judged->layer_count,
           occupied);
  if (strstr(text, judged->layer_count ? n : "\"n\":null,") && strstr(text, facts) &&
      strstr(text, judged->kind == 2 ? "\"kind\":\"counting\"" : "\"kind\":\"plain\"")) {
    return NULL;
  }
  return say("gives %.200s without %s%s", text, n, facts);
}

/* Each layer's positions in order. */
static const char *wrong_explanation(const Judged *judged, sqlite3_stmt *statement, int code) {
  const char *text = (const char *)sqlite3_column_text(statement, 0);
  if (code != SQLITE_ROW) return fails();
  for (unsigned i = 0; i < judged->layer_count; i++) {
    char positions[64 * 17 + 20];
    uint64_t cells[64];
    int at = sprintf(positions, "\"positions\":[");
    judged_cells(&judged->layers[i], hashes[0], cells);
    for (unsigned c = 0; c < judged->layers[i].k; c++) {
      at += sprintf(positions + at, "%s%llu", c ? "," : "", (unsigned long long)cells[c]);
    }
    sprintf(positions + at, "]");
    text = strstr(text, positions);
    if (text == NULL) return say("layer %u has not %.200s", i, positions);
  }
  return NULL;
}

/* ---- filters made of it ---- */

/* Judges the row's filter: one that a reader takes, with the same n, p and kind. */
static const char *wrong_result(const Judged *judged, sqlite3_stmt *statement, int code,
                                Judged *result) {
  if (code != SQLITE_ROW) return fails();
  judge(sqlite3_column_blob(statement, 0), (size_t)sqlite3_column_bytes(statement, 0), result);
  if (result->verdict != RIGHT) return say("makes a filter that is none: %s", result->why);
  if (result->n != judged->n || result->p != judged->p || result->kind != judged->kind) {
    return say("makes a filter of another n, p or kind");
  }
  return NULL;
}

static const char *lost_keys(const Judged *judged, const Judged *result) {
  for (unsigned i = 0; i < PROBES; i++) {
    if (judged_contains(judged, hashes[i]) && !judged_contains(result, hashes[i])) {
      return say("loses key %u", i);
    }
  }
  return NULL;
}

/* What is refused: a filter without a size, a 65th layer, and a layer over a blob's 1,000,000,000
** bytes, for which it takes 86 million keys at the 93 cells a key of the least rate. */
static bool may_refuse_a_key(const Judged *judged) {
  double capacity = 0;
  for (unsigned i = 0; i < judged->layer_count; i++) capacity += (double)judged->layers[i].capacity;
  if (is_error(SQLITE_ERROR, "has no size: start from bloom_new")) return judged->layer_count == 0;
  if (is_error(SQLITE_ERROR, "more than 64 layers")) return judged->layer_count == 64;
  return (is_error(SQLITE_ERROR, "the limit is") || is_error(SQLITE_ERROR, "the limit of")) &&
         capacity > 86e6;
}

static const char *wrong_addition(const Judged *judged, sqlite3_stmt *statement, int code) {
  Judged result;
  if (code == SQLITE_ERROR && may_refuse_a_key(judged)) return NULL;
  const char *wrong = wrong_result(judged, statement, code, &result);
  if (wrong) return wrong;
  if (!judged_contains(&result, hash_of(NEW_KEY))) return say("does not hold the new key");
  return lost_keys(judged, &result);
}

/* The cells after removing a key, worked out on a copy. */
static const char *wrong_removal(const Judged *judged, sqlite3_stmt *statement, int code) {
  Judged result;
  uint64_t cells[64];
  unsigned counters[64], taken = 0;
  if (judged->kind != 2 && judged->layer_count > 0) {
    return is_error(code, "a plain filter cannot forget a key") ? NULL : fails();
  }
  const char *wrong = wrong_result(judged, statement, code, &result);
  if (wrong || judged->layer_count == 0) return wrong;
  judged_cells(&judged->layers[0], hashes[0], cells);
  for (unsigned i = 0; i < judged->layers[0].k; i++) {
    counters[i] = judged_cell(judged, 0, cells[i]);
    for (unsigned d = 0; d < i; d++) counters[i] -= cells[d] == cells[i] && counters[i] < 15;
    taken += counters[i] > 0 && counters[i] <= 15;
  }
  for (unsigned i = 0; i < judged->layers[0].k; i++) {
    unsigned before = judged_cell(judged, 0, cells[i]), draws = 0;
    for (unsigned d = 0; d < judged->layers[0].k; d++) draws += cells[d] == cells[i];
    unsigned after = taken < judged->layers[0].k || before == 15 ? before : before - draws;
    if (judged_cell(&result, 0, cells[i]) != after)
      return say("leaves another counter than %u", after);
  }
  return NULL;
}

/* A filter and itself: the same keys. Filters of several layers have no intersection. */
static const char *wrong_twice(const Judged *judged, sqlite3_stmt *statement, int code) {
  Judged result;
  const char *wrong = wrong_result(judged, statement, code, &result);
  if (wrong == NULL) wrong = lost_keys(judged, &result);
  return wrong ? wrong : lost_keys(&result, judged);
}

static const char *wrong_intersection(const Judged *judged, sqlite3_stmt *statement, int code) {
  if (judged->layer_count > 1) {
    return is_error(code, "a filter that outgrew its n has a key in any of") ? NULL : fails();
  }
  return wrong_twice(judged, statement, code);
}

static bool must_differ(const Judged *a, const Judged *b) {
  const Layer *first = a->layers, *second = b->layers;
  if (a->layer_count == 0 || b->layer_count == 0) return false;
  return a->kind != b->kind || a->n != b->n || a->p != b->p || first->lines != second->lines ||
         first->line_bits != second->line_bits || first->k != second->k;
}

/* With the original: no key of either is lost; or an error when they differ. */
static const char *wrong_union(const Judged *judged, sqlite3_stmt *statement, int code) {
  Judged result;
  const Judged *sized = judged->layer_count > 0 ? judged : &original_judged;
  if (must_differ(judged, &original_judged)) return is_error(code, "differs") ? NULL : fails();
  if (is_error(code, "more than 64 layers")) {
    return judged->layer_count + original_judged.layer_count > 64 ? NULL : fails();
  }
  const char *wrong = wrong_result(sized, statement, code, &result);
  if (wrong == NULL) wrong = lost_keys(judged, &result);
  return wrong ? wrong : lost_keys(&original_judged, &result);
}

static const Call calls[] = {
    {"bloom_contains", "SELECT bloom_contains(?1, 1)", wrong_answers, true},
    {"bloom_contains", "SELECT group_concat(bloom_contains(?1, key), '') FROM probe", wrong_answers,
     false},
    {"bloom_contains",
     "SELECT group_concat(bloom_contains((SELECT f FROM held), key), '') FROM probe", wrong_answers,
     false},
    {"bloom_contains", "SELECT group_concat(bloom_contains(moved(), key), '') FROM probe",
     wrong_answers, false},
    {"bloom_ref", "SELECT group_concat(bloom_contains((SELECT bloom_ref(?1)), key), '') FROM probe",
     wrong_answers, false},
    {"bloom_count", "SELECT bloom_count(?1)", wrong_count, false},
    {"bloom_fpr", "SELECT bloom_fpr(?1)", wrong_fpr, false},
    {"bloom_info", "SELECT bloom_info(?1)", wrong_info, false},
    {"bloom_explain", "SELECT bloom_explain(?1, 1)", wrong_explanation, false},
    {"bloom_add", "SELECT bloom_add(?1, 4242424242)", wrong_addition, false},
    {"bloom_remove", "SELECT bloom_remove(?1, 1)", wrong_removal, false},
    {"bloom_union", "SELECT bloom_union(?1, ?1)", wrong_twice, false},
    {"bloom_union", "SELECT bloom_union(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?1)", wrong_twice,
     false},
    {"bloom_intersect", "SELECT bloom_intersect(?1, ?1)", wrong_intersection, false},
    {"bloom_intersect", "SELECT bloom_intersect(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?1)",
     wrong_intersection, false},
    {"bloom_union", "SELECT bloom_union(?2, ?1)", wrong_union, false},
    {"bloom_union", "SELECT bloom_union(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?2)", wrong_union,
     false}};

static sqlite3_stmt *statements[COUNT(calls)], *hold, *other, *import, *lookups;

/* ---- the bloom table ---- */

static const char *ask_table(void) {
  static char answers[PROBES + 200];
  int code = sqlite3_step(lookups);
  if (code == SQLITE_ROW) {
    snprintf(answers, sizeof answers, "%s", sqlite3_column_text(lookups, 0));
  } else {
    snprintf(answers, sizeof answers, "error: %s", sqlite3_errmsg(db));
  }
  sqlite3_reset(lookups);
  return answers;
}

/* The blob put into a table that holds the original: an error, and the table is as it was; or all
** keys of both are in it. */
static const char *check_import(const Judged *judged) {
  const char *answers, *wrong = NULL;
  run_sql(db, "SAVEPOINT before");
  int code = sqlite3_step(import);
  if (code != SQLITE_DONE &&
      (code != SQLITE_ERROR || (judged->why && !is_error(code, judged->why)))) {
    wrong = fails();
  }
  if (code == SQLITE_DONE && judged->verdict != RIGHT) wrong = say("takes it");
  sqlite3_reset(import);
  answers = ask_table();
  for (unsigned i = 0; i < PROBES && wrong == NULL; i++) {
    bool in = judged_contains(&original_judged, hashes[i]);
    bool may = in || (code == SQLITE_DONE && judged_contains(judged, hashes[i]));
    if (may != (answers[i] == '1') && (may || code != SQLITE_DONE)) {
      wrong = say("code %d, then answers %s: key %u", code, answers, i);
    }
  }
  run_sql(db, "ROLLBACK TO before; RELEASE before");
  return wrong;
}

/* ---- */

/* The error that says why the blob is refused. Filters that do not go together need no look at the
** body. */
static bool is_told(const Call *call, const Judged *judged, int code) {
  size_t name = strlen(call->name);
  const char *message = code == SQLITE_ERROR ? sqlite3_errmsg(db) : "";
  if (strncmp(message, call->name, name) != 0 || strncmp(message + name, ": ", 2) != 0)
    return false;
  if (judged->verdict == BODY_DAMAGED && call->wrong == wrong_union &&
      must_differ(judged, &original_judged) && strstr(message, "differs") != NULL) {
    return true;
  }
  return strncmp(message + name + 2, judged->why, strlen(judged->why)) == 0;
}

static const char *check_call(const Call *call, sqlite3_stmt *statement, const Judged *judged) {
  const char *wrong = NULL;
  int code = sqlite3_step(statement);
  if (judged->verdict == RIGHT || (judged->verdict == BODY_DAMAGED && call->one_row)) {
    wrong = call->wrong(judged, statement, code);
  } else if (!is_told(call, judged, code)) {
    wrong = say("code %d, '%s' where it is a %s", code, sqlite3_errmsg(db), judged->why);
  }
  sqlite3_reset(statement);
  return wrong;
}

const char *calls_check(const uint8_t *bytes, size_t size, Seen *seen) {
  static char all[800];
  const char *wrong, *sql = "INSERT INTO kept(filter)";
  Judged judged;
  uint8_t *copy = malloc(size ? size : 1);
  tally = seen;
  memcpy(copy, bytes, size);
  places[0] = bytes;
  places[1] = copy;
  place_size = size;
  judge(bytes, size, &judged);
  seen->verdicts[judged.verdict]++;
  seen->calls += COUNT(calls) + 1;
  sqlite3_bind_blob(hold, 1, bytes, (int)size, SQLITE_STATIC);
  sqlite3_step(hold);
  sqlite3_reset(hold);
  /* A filter that is not bound is verified again when it has been in use for twice as many rows, or
  ** when another one was in use in between, as here. */
  sqlite3_step(other);
  sqlite3_reset(other);
  sqlite3_bind_blob(import, 1, bytes, (int)size, SQLITE_STATIC);
  wrong = check_import(&judged);
  for (unsigned i = 0; i < COUNT(calls) && wrong == NULL; i++) {
    sql = calls[i].sql;
    sqlite3_bind_blob(statements[i], 1, bytes, (int)size, SQLITE_STATIC);
    if (sqlite3_bind_parameter_count(statements[i]) > 1) {
      sqlite3_bind_blob(statements[i], 2, original, (int)original_size, SQLITE_STATIC);
    }
    wrong = check_call(&calls[i], statements[i], &judged);
  }
  free(copy);
  if (wrong == NULL) return NULL;
  snprintf(all, sizeof all, "%s %s", sql, wrong);
  return all;
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
    printf("not ok %s: %s\n", sql, sqlite3_errmsg(db));
    exit(1);
  }
  return statement;
}

void calls_open(void) {
  db = open_bloom(":memory:");
  run_sql(db, "CREATE TABLE probe(key); CREATE TABLE held(f); INSERT INTO held VALUES (NULL)");
  sqlite3_stmt *insert = prepare("INSERT INTO probe VALUES (?1)");
  for (int i = 0; i < PROBES; i++) {
    probes[i] = i < 10 ? i + 1 : INT64_C(700000000000) + i;
    hashes[i] = hash_of(probes[i]);
    sqlite3_bind_int64(insert, 1, probes[i]);
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  sqlite3_create_function(db, "moved", 0, SQLITE_UTF8, NULL, moved_function, NULL, NULL);
  hold = prepare("UPDATE held SET f = ?1");
  other = prepare("SELECT bloom_contains((SELECT bloom_new(1, 0.5)), 1)");
  for (unsigned i = 0; i < COUNT(calls); i++) statements[i] = prepare(calls[i].sql);
}

/* A table of the original's n, p and kind, filled with it. */
void calls_original(const uint8_t *bytes, size_t size) {
  original = bytes;
  original_size = size;
  judge(bytes, size, &original_judged);
  sqlite3_finalize(import);
  sqlite3_finalize(lookups);
  run_sql(db, "DROP TABLE IF EXISTS kept");
  bool sized = original_judged.layer_count > 0;
  char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE kept USING bloom(n=%llu, p=%.9g, kind=%s)",
                              sized ? original_judged.n : 100ull,
                              sized ? fmax(original_judged.p, 1e-9) : 0.01,
                              original_judged.kind == 2 ? "counting" : "plain");
  run_sql(db, sql);
  sqlite3_free(sql);
  import = prepare("INSERT INTO kept(filter) VALUES (?1)");
  lookups = prepare("SELECT group_concat(bloom_lookup('kept', key), '') FROM probe");
  sqlite3_bind_blob(import, 1, bytes, (int)size, SQLITE_STATIC);
  if (sqlite3_step(import) != SQLITE_DONE) ok(0, "importing the original: %s", sqlite3_errmsg(db));
  sqlite3_reset(import);
}

void calls_close(void) {
  sqlite3_finalize(hold);
  sqlite3_finalize(other);
  sqlite3_finalize(import);
  sqlite3_finalize(lookups);
  for (unsigned i = 0; i < COUNT(calls); i++) sqlite3_finalize(statements[i]);
  if (sqlite3_close(db) != SQLITE_OK) ok(0, "the connection closes");
}
