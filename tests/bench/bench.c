/* bench: what the functions cost, as ratios to floors that are taken in the same run.
**
**   bench [--only TEXT]     the table; 1 as exit code when a result is wrong
**   bench --json            the same for machines
**   bench --instructions    instructions a row, under valgrind's callgrind
**   bench --quick           small sizes: TAP lines that say whether results are right; with one of
**                           the two above, its form
**
** $B is the folder of bloom.so, build if not set. A ratio is the median over pairs: floor, query,
** floor, query, ... each against its neighbour, in CPU time, or by the wall clock where the tables
** are in a file ($B/bench.db). Where the middle half of them spreads
** too far for a ratio to mean anything, the table says so instead. A limit on time that is passed
** is shown as OVER and is no failure, since the machine has its part in it; a wrong result, a size
** or a memory limit passed is one.
*/
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAVE_CALLGRIND 1
#endif
#endif

enum {
  MIN_PAIRS = 5, /* BRIEF_PAIRS where there is no limit */
  BRIEF_PAIRS = 3,
  MAX_PAIRS = 41,
  BUDGET_SECONDS = 5, /* of a figure's pairs, once there are MIN_PAIRS */
  BRIEF_SECONDS = 2,  /* where there is no limit */
  KEY_BYTES = 20,     /* of hex_key */
  SMALL_N = 20000,    /* --quick */
  MIDDLE_N = 200000   /* --instructions, which do not depend on n but through the layout */
};

/* The middle half of the ratios may spread so far around the median. */
static const double MEANINGLESS_SPREAD = 0.3;

typedef enum Mode {
  TABLE,
  JSON,
  TAP,
  INSTRUCTIONS
} Mode;

typedef struct Bench {
  Mode mode;
  bool quick;
  const char *only; /* figures whose names have this text in them; NULL: all */
  sqlite3 *db;
  char *fixture; /* that db holds, expanded; NULL: none */
  int64_t n, m;  /* of the present figure */
  const char *build;
  const Figure *figure;
  char *keys; /* of the present run, KEY_BYTES each */
  int64_t key_count, key_room;
  bool counting;    /* instructions, in run_query */
  char reason[300]; /* why the present figure failed */
  int wanted, printed, wrong, over_time, parts;
  double start;
} Bench;

typedef struct Outcome {
  int pairs;
  double floor, cost; /* ns or instructions a unit */
  double ratio, spread;
  double value; /* that the limit holds for: ratio, value, or instructions a unit */
  double limit;
  bool noisy;
  bool no_room; /* the machine has too little memory free: nothing was measured */
} Outcome;

static bool fail(Bench *bench, const char *what) {
  snprintf(bench->reason, sizeof bench->reason, "%s: %s", what,
           bench->db && sqlite3_errcode(bench->db) ? sqlite3_errmsg(bench->db) : "wrong");
  return false;
}

/* ---- SQL ---- */

/* The text with {n} and {m} put in; the caller frees it. */
static char *expand(const Bench *bench, const char *sql) {
  sqlite3_str *text = sqlite3_str_new(NULL);
  for (; *sql; sql++) {
    if (strncmp(sql, "{n}", 3) == 0 || strncmp(sql, "{m}", 3) == 0) {
      sqlite3_str_appendf(text, "%lld", sql[1] == 'n' ? bench->n : bench->m);
      sql += 2;
    } else {
      sqlite3_str_appendchar(text, 1, *sql);
    }
  }
  return sqlite3_str_finish(text);
}

static sqlite3_stmt *prepare(Bench *bench, const char *sql) {
  char *text = expand(bench, sql);
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(bench->db, text, -1, &statement, NULL) != SQLITE_OK) fail(bench, text);
  sqlite3_free(text);
  return statement;
}

/* The one value that an expression has, with ?1 .. ?3 bound to what is not NULL. */
static sqlite3_value *evaluate(Bench *bench, const char *expression, sqlite3_value *const args[3]) {
  char *sql = sqlite3_mprintf("SELECT %s", expression);
  sqlite3_stmt *statement = prepare(bench, sql);
  sqlite3_value *result = NULL;
  int parameters = sqlite3_bind_parameter_count(statement);
  for (int i = 0; i < 3 && i < parameters; i++) {
    if (args[i]) sqlite3_bind_value(statement, i + 1, args[i]);
  }
  if (statement && sqlite3_step(statement) == SQLITE_ROW) {
    result = sqlite3_value_dup(sqlite3_column_value(statement, 0));
  } else if (statement) {
    fail(bench, expression);
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return result;
}

static double evaluate_number(Bench *bench, const char *expression, sqlite3_value *const args[3]) {
  sqlite3_value *value = evaluate(bench, expression, args);
  double number = value ? sqlite3_value_double(value) : 0;
  sqlite3_value_free(value);
  return number;
}

/* The file of figures with `file`; the caller frees it. */
static char *file_path(const Bench *bench, const char *suffix) {
  return sqlite3_mprintf("%s/bench.db%s", bench->build, suffix);
}

static void remove_file(const Bench *bench) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char *path = file_path(bench, suffixes[i]);
    unlink(path);
    sqlite3_free(path);
  }
}

/* A fresh connection with the extension, to the file or to memory. */
static sqlite3 *connect(Bench *bench) {
  char *library = sqlite3_mprintf("%s/bloom", bench->build), *error = NULL;
  char *path = bench->figure->file ? file_path(bench, "") : sqlite3_mprintf(":memory:");
  sqlite3 *db = NULL;
  bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
            sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL) == SQLITE_OK &&
            sqlite3_load_extension(db, library, NULL, &error) == SQLITE_OK &&
            bench_register(db) == SQLITE_OK;
  if (!ok) {
    snprintf(bench->reason, sizeof bench->reason, "no connection: %s", error ? error : path);
    sqlite3_close(db);
    db = NULL;
  }
  sqlite3_free(error);
  sqlite3_free(path);
  sqlite3_free(library);
  return db;
}

/* The connection and the figure's tables, unless they are there already. */
static bool open_fixture(Bench *bench) {
  char *fixture = expand(bench, bench->figure->fixture), *error = NULL;
  bool ok = true;
  if (bench->fixture == NULL || strcmp(fixture, bench->fixture) != 0) {
    sqlite3_close(bench->db);
    sqlite3_free(bench->fixture);
    bench->fixture = NULL;
    remove_file(bench);
    if (bench->mode != TAP) fprintf(stderr, "# making the tables\n");
    bench->db = connect(bench);
    ok = bench->db != NULL;
    if (ok && sqlite3_exec(bench->db, fixture, NULL, NULL, &error) != SQLITE_OK) {
      snprintf(bench->reason, sizeof bench->reason, "no tables: %s", error ? error : "?");
      ok = false;
    }
    if (ok) {
      bench->fixture = fixture;
      fixture = NULL;
    }
  }
  sqlite3_free(error);
  sqlite3_free(fixture);
  return ok;
}

/* ---- one query, run again and again ---- */

typedef struct Query {
  sqlite3_stmt *statement;
  sqlite3_value *result; /* of its first run; every other run must give the same */
  char *before;          /* of every run; NULL: nothing */
  int runs;
} Query;

static bool open_query(Bench *bench, const char *sql, const char *before, Query *query) {
  sqlite3_value *const none[3] = {NULL, NULL, NULL};
  int parameters;
  memset(query, 0, sizeof *query);
  if (sql == NULL) return true;
  if (before) {
    query->before = expand(bench, before);
    if (sqlite3_exec(bench->db, query->before, NULL, NULL, NULL) != SQLITE_OK) {
      return fail(bench, before);
    }
  }
  query->statement = prepare(bench, sql);
  if (query->statement == NULL) return false;
  if (bench->figure->keys) return true;
  parameters = sqlite3_bind_parameter_count(query->statement);
  for (int i = 0; i < parameters; i++) {
    char *expression = sqlite3_mprintf("(%s)", bench->figure->filters[i]);
    sqlite3_value *filter = evaluate(bench, expression, none);
    sqlite3_free(expression);
    if (filter == NULL) return false;
    sqlite3_bind_value(query->statement, i + 1, filter);
    sqlite3_value_free(filter);
  }
  return true;
}

static void close_query(Query *query) {
  sqlite3_finalize(query->statement);
  sqlite3_value_free(query->result);
  sqlite3_free(query->before);
}

static bool same_value(sqlite3_value *a, sqlite3_value *b) {
  int type = sqlite3_value_type(a), size = sqlite3_value_bytes(a);
  if (type != sqlite3_value_type(b)) return false;
  if (type == SQLITE_INTEGER) return sqlite3_value_int64(a) == sqlite3_value_int64(b);
  if (type == SQLITE_FLOAT) return sqlite3_value_double(a) == sqlite3_value_double(b);
  if (type == SQLITE_NULL) return true;
  return size == sqlite3_value_bytes(b) &&
         memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b), (size_t)size) == 0;
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static sqlite3_value *integer_value(Bench *bench, sqlite3_int64 number) {
  sqlite3_value *const none[3] = {NULL, NULL, NULL};
  char *text = sqlite3_mprintf("%lld", number);
  sqlite3_value *value = evaluate(bench, text, none);
  sqlite3_free(text);
  return value;
}

/* Fetches the figure's keys for a run. */
static bool load_keys(Bench *bench, int run) {
  sqlite3_stmt *query = prepare(bench, bench->figure->keys);
  bench->key_count = 0;
  if (query == NULL) return false;
  if (sqlite3_bind_parameter_count(query) > 0) sqlite3_bind_int(query, 1, run);
  while (sqlite3_step(query) == SQLITE_ROW) {
    const void *key = sqlite3_column_text(query, 0);
    if (bench->key_count == bench->key_room) {
      int64_t room = 2 * bench->key_room + 1024;
      char *keys = realloc(bench->keys, (size_t)room * KEY_BYTES);
      if (keys == NULL) break;
      bench->keys = keys;
      bench->key_room = room;
    }
    if (sqlite3_column_bytes(query, 0) != KEY_BYTES) break;
    memcpy(bench->keys + bench->key_count++ * KEY_BYTES, key, KEY_BYTES);
  }
  if (sqlite3_finalize(query) == SQLITE_OK && bench->key_count > 0) return true;
  return fail(bench, "keys");
}

/* Executes a statement for one key; *sum grows by the first column of its rows. */
static int run_key(sqlite3_stmt *statement, const char *key, sqlite3_int64 *sum) {
  sqlite3_bind_text(statement, 1, key, KEY_BYTES, SQLITE_STATIC);
  while (sqlite3_step(statement) == SQLITE_ROW) *sum += sqlite3_column_int64(statement, 0);
  return sqlite3_reset(statement);
}

static int run_keys(const Bench *bench, sqlite3_stmt *statement, sqlite3_int64 *sum) {
  bool transaction = bench->figure->transaction;
  int code = transaction ? sqlite3_exec(bench->db, "BEGIN", NULL, NULL, NULL) : SQLITE_OK;
  for (int64_t i = 0; i < bench->key_count && code == SQLITE_OK; i++) {
    code = run_key(statement, bench->keys + i * KEY_BYTES, sum);
  }
  if (code != SQLITE_OK || !transaction) return code;
  return sqlite3_exec(bench->db, "COMMIT", NULL, NULL, NULL);
}

static clockid_t clock_of(const Figure *figure) {
  return figure->file && !figure->cpu ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
}

/* What is between these two is measured: added to *ns, or in the profile. */
static double start_clock(const Bench *bench) {
#ifdef HAVE_CALLGRIND
  if (bench->counting) CALLGRIND_START_INSTRUMENTATION;
#endif
  return now(clock_of(bench->figure));
}

static void stop_clock(const Bench *bench, double start, double *ns) {
  *ns += now(clock_of(bench->figure)) - start;
#ifdef HAVE_CALLGRIND
  if (bench->counting) CALLGRIND_STOP_INSTRUMENTATION;
#endif
}

/* The first run's result is kept; the others are compared with it. */
static bool keep_result(Query *query, sqlite3_value *result) {
  if (query->result) return same_value(result, query->result);
  query->result = sqlite3_value_dup(result);
  return true;
}

/* Runs it once; *ns is the time of all but the comparison of its result. */
static bool run_query(Bench *bench, Query *query, double *ns) {
  bool same = true, changes = !sqlite3_stmt_readonly(query->statement);
  sqlite3_int64 sum = 0;
  double start;
  int code;
  *ns = 0;
  if (query->before && sqlite3_exec(bench->db, query->before, NULL, NULL, NULL) != SQLITE_OK) {
    return fail(bench, query->before);
  }
  if (bench->figure->keys && !load_keys(bench, ++query->runs)) return false;
  start = start_clock(bench);
  if (bench->figure->keys) {
    code = run_keys(bench, query->statement, &sum);
    stop_clock(bench, start, ns);
  } else {
    code = sqlite3_step(query->statement);
    stop_clock(bench, start, ns);
    if (code == SQLITE_ROW) same = keep_result(query, sqlite3_column_value(query->statement, 0));
    start = start_clock(bench);
    if (code == SQLITE_ROW) sqlite3_step(query->statement);
    code = sqlite3_reset(query->statement);
    stop_clock(bench, start, ns);
  }
  if (code == SQLITE_OK && (bench->figure->keys || changes)) {
    sqlite3_value *result = integer_value(bench, sum);
    same = keep_result(query, result);
    sqlite3_value_free(result);
  }
  if (code != SQLITE_OK || query->result == NULL) return fail(bench, "query");
  if (!same) snprintf(bench->reason, sizeof bench->reason, "two runs give two results");
  return same;
}

static bool check_result(Bench *bench, const Query *query) {
  sqlite3_value *const args[3] = {query->result, NULL, NULL};
  bool blob = sqlite3_value_type(query->result) == SQLITE_BLOB;
  if (evaluate_number(bench, bench->figure->check, args) != 0) return true;
  if (bench->reason[0] == 0) {
    snprintf(bench->reason, sizeof bench->reason, "the result, %s, is wrong",
             blob ? "a filter" : (const char *)sqlite3_value_text(query->result));
  }
  return false;
}

/* ---- what is measured ---- */

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, by_size);
  return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static double units(Bench *bench) {
  sqlite3_value *const none[3] = {NULL, NULL, NULL};
  return evaluate_number(bench, bench->figure->units, none);
}

/* From 3.43 on SQLite hands a subquery's value over without a copy. */
static double time_limit(const Figure *figure) {
  bool newer = figure->newer_limit > 0 && sqlite3_libversion_number() >= 3043000;
  return newer ? figure->newer_limit : figure->limit;
}

static bool measure_time(Bench *bench, Query *floor, Query *query, Outcome *outcome) {
  double floors[MAX_PAIRS], costs[MAX_PAIRS], ratios[MAX_PAIRS], unit = units(bench), ignored;
  bool limited = bench->figure->limit > 0;
  double end = now(CLOCK_MONOTONIC) + (limited ? BUDGET_SECONDS : BRIEF_SECONDS) * 1e9;
  int pairs = 0, most = bench->quick ? 1 : MAX_PAIRS;
  int least = limited ? MIN_PAIRS : BRIEF_PAIRS;
  if (!run_query(bench, floor, &ignored) || !run_query(bench, query, &ignored)) return false;
  for (; pairs < most && (pairs < least || now(CLOCK_MONOTONIC) < end); pairs++) {
    if (!run_query(bench, floor, &floors[pairs])) return false;
    if (!run_query(bench, query, &costs[pairs])) return false;
    ratios[pairs] = costs[pairs] / floors[pairs];
  }
  outcome->pairs = pairs;
  outcome->floor = median(floors, pairs) / unit;
  outcome->cost = median(costs, pairs) / unit;
  outcome->ratio = median(ratios, pairs); /* sorts them */
  outcome->spread = (ratios[3 * pairs / 4] - ratios[pairs / 4]) / outcome->ratio;
  outcome->noisy = outcome->spread > MEANINGLESS_SPREAD;
  outcome->value = outcome->ratio;
  outcome->limit = time_limit(bench->figure);
  return true;
}

/* Highest number of bytes that SQLite had allocated while the query ran, above those before. */
static bool peak(Bench *bench, Query *query, sqlite3_int64 *bytes) {
  double ignored;
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  if (sqlite3_step(query->statement) != SQLITE_ROW) return fail(bench, "query");
  *bytes = sqlite3_memory_highwater(0) - before;
  sqlite3_reset(query->statement);
  return run_query(bench, query, &ignored);
}

/* The figure's `value` of an amount, and of the floor's. */
static bool evaluate_amounts(Bench *bench, const Query *query, sqlite3_int64 amount,
                             sqlite3_int64 floor_amount, Outcome *outcome) {
  sqlite3_value *const args[3] = {query->result, integer_value(bench, amount),
                                  integer_value(bench, floor_amount)};
  outcome->value = evaluate_number(bench, bench->figure->value, args);
  outcome->limit = bench->figure->limit;
  sqlite3_value_free(args[1]);
  sqlite3_value_free(args[2]);
  return bench->reason[0] == 0;
}

static bool measure_memory(Bench *bench, Query *floor, Query *query, Outcome *outcome) {
  sqlite3_int64 bytes = 0, floor_bytes = 0;
  if (floor->statement && !peak(bench, floor, &floor_bytes)) return false;
  if (!peak(bench, query, &bytes)) return false;
  return evaluate_amounts(bench, query, bytes, floor_bytes, outcome);
}

/* Pages that a statement makes a fresh connection read, for the key that needs most of them. */
static bool most_reads(Bench *bench, const char *sql, sqlite3_int64 *most, sqlite3_int64 *sum) {
  char *text = expand(bench, sql);
  bool ok = true;
  for (int64_t i = 0; i < bench->key_count && ok; i++) {
    sqlite3 *db = connect(bench);
    sqlite3_stmt *statement = NULL;
    int misses = 0, ignored;
    ok = db && sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK &&
         run_key(statement, bench->keys + i * KEY_BYTES, sum) == SQLITE_OK &&
         sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &ignored, 0) == SQLITE_OK;
    if (db && !ok) snprintf(bench->reason, sizeof bench->reason, "%s", sqlite3_errmsg(db));
    if (misses > *most) *most = misses;
    sqlite3_finalize(statement);
    sqlite3_close(db);
  }
  sqlite3_free(text);
  return ok;
}

static bool measure_reads(Bench *bench, Query *query, Outcome *outcome) {
  sqlite3_int64 reads = 0, floor_reads = 0, sum = 0, ignored = 0;
  if (!load_keys(bench, 1)) return false;
  if (!most_reads(bench, bench->figure->floor, &floor_reads, &ignored)) return false;
  if (!most_reads(bench, bench->figure->sql, &reads, &sum)) return false;
  query->result = integer_value(bench, sum);
  return evaluate_amounts(bench, query, reads, floor_reads, outcome);
}

static bool measure_value(Bench *bench, Query *query, Outcome *outcome) {
  double ignored;
  if (!run_query(bench, query, &ignored)) return false;
  outcome->value = sqlite3_value_double(query->result);
  outcome->limit = bench->figure->limit;
  return true;
}

/* ---- instructions ---- */

#ifdef HAVE_CALLGRIND
/* The sum of instructions in the part of the profile that was written last. */
static double read_part(Bench *bench) {
  char *path = sqlite3_mprintf("%s/callgrind.%d", bench->build, bench->parts);
  FILE *file = fopen(path, "r");
  char line[1000];
  double total = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "totals:", 7) == 0) total = strtod(line + 7, NULL);
  }
  if (file) fclose(file);
  sqlite3_free(path);
  return total;
}

static bool count_instructions(Bench *bench, Query *query, double *count) {
  double ignored;
  bool ok;
  if (!run_query(bench, query, &ignored)) return false;
  bench->counting = true;
  ok = run_query(bench, query, &ignored);
  bench->counting = false;
  CALLGRIND_DUMP_STATS_AT(bench->figure->name);
  bench->parts++;
  *count = read_part(bench);
  if (ok && *count == 0) return fail(bench, "no profile");
  return ok;
}

/* Starts the program again under valgrind; does not return when that works. */
static void enter_valgrind(const Bench *bench, char **argv) {
  char *file = sqlite3_mprintf("--callgrind-out-file=%s/callgrind", bench->build);
  const char *command[16] = {"valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", file};
  int at = 5;
  if (RUNNING_ON_VALGRIND) {
    sqlite3_free(file);
    return;
  }
  while (*argv && at < 15) command[at++] = *argv++;
  execvp("valgrind", (char *const *)(uintptr_t)command);
  perror("bench: valgrind");
  exit(2);
}
#else
static bool count_instructions(Bench *bench, Query *query, double *count) {
  (void)query;
  *count = 0;
  return fail(bench, "valgrind/callgrind.h");
}
static void enter_valgrind(const Bench *bench, char **argv) {
  (void)bench;
  (void)argv;
  fprintf(stderr, "bench: was compiled where valgrind/callgrind.h is not installed\n");
  exit(2);
}
#endif

static bool measure_instructions(Bench *bench, Query *floor, Query *query, Outcome *outcome) {
  double unit = units(bench);
  if (!count_instructions(bench, floor, &outcome->floor)) return false;
  if (!count_instructions(bench, query, &outcome->cost)) return false;
  outcome->floor /= unit;
  outcome->cost /= unit;
  outcome->ratio = outcome->cost / outcome->floor;
  outcome->value = outcome->cost;
  outcome->limit = bench->figure->instructions;
  return true;
}

/* ---- figures ---- */

static bool measure(Bench *bench, Query *floor, Query *query, Outcome *outcome) {
  if (bench->mode == INSTRUCTIONS) return measure_instructions(bench, floor, query, outcome);
  switch (bench->figure->measure) {
    case TIME:
      return measure_time(bench, floor, query, outcome);
    case MEMORY:
      return measure_memory(bench, floor, query, outcome);
    case READS:
      return measure_reads(bench, query, outcome);
    default:
      return measure_value(bench, query, outcome);
  }
}

static bool is_over(const Outcome *outcome) {
  return !outcome->noisy && outcome->limit > 0 && outcome->value > outcome->limit;
}

/* Whether the machine has the memory that a figure at full length needs. */
static bool has_room(const Bench *bench) {
  FILE *file = fopen("/proc/meminfo", "r");
  char line[200];
  long long kilobytes = -1;
  while (file && kilobytes < 0 && fgets(line, sizeof line, file)) {
    if (strncmp(line, "MemAvailable:", 13) == 0) kilobytes = strtoll(line + 13, NULL, 10);
  }
  if (file) fclose(file);
  return kilobytes < 0 || bench->figure->megabytes <= kilobytes / 1024;
}

static bool run_figure(Bench *bench, Outcome *outcome) {
  const Figure *figure = bench->figure;
  Query floor = {.statement = NULL}, query = {.statement = NULL};
  bool ok;
  memset(outcome, 0, sizeof *outcome);
  bench->reason[0] = 0;
  if (!bench->quick && !has_room(bench)) {
    outcome->no_room = true;
    return true;
  }
  if (!open_fixture(bench)) return false;
  ok = open_query(bench, figure->floor, figure->before[0], &floor) &&
       open_query(bench, figure->sql, figure->before[1], &query) &&
       measure(bench, &floor, &query, outcome) && check_result(bench, &query);
  close_query(&floor);
  close_query(&query);
  /* What is not a time is the same on every machine, so a limit passed is a fault. */
  if (ok && figure->measure != TIME && is_over(outcome)) {
    snprintf(bench->reason, sizeof bench->reason, "%.6g is over the limit of %.6g", outcome->value,
             outcome->limit);
    ok = false;
  }
  return ok;
}

static const char *verdict(const Bench *bench, const Outcome *outcome, bool ok) {
  if (!ok) return bench->figure->measure != TIME && is_over(outcome) ? "OVER" : "WRONG";
  if (outcome->no_room) return "too little memory";
  if (outcome->noisy) return "too noisy";
  if (outcome->limit == 0) return "-";
  return is_over(outcome) ? "OVER" : "ok";
}

static void print_json(Bench *bench, const Outcome *outcome, bool ok) {
  const Figure *figure = bench->figure;
  static const char *const measures[] = {"time", "memory", "reads", "value"};
  printf("%s\n {\"sqlite\":\"%s\",\"figure\":\"%s\",\"measure\":\"%s\",\"n\":%lld",
         bench->printed > 0 ? "," : "[", sqlite3_libversion(), figure->name,
         measures[figure->measure], (long long)bench->n);
  if (outcome->no_room) {
    ok = true;
  } else if (figure->measure == TIME) {
    printf(",\"floor\":\"%s\",\"floor_ns\":%.4g,\"ns\":%.4g,\"ratio\":%.4g,\"spread\":%.3g",
           figure->of_limit, outcome->floor, outcome->cost, outcome->ratio, outcome->spread);
    printf(",\"pairs\":%d", outcome->pairs);
  } else {
    printf(",\"value\":%.7g", outcome->value);
  }
  printf(",\"limit\":%.7g,\"verdict\":\"%s\"", outcome->limit, verdict(bench, outcome, ok));
  if (!ok) {
    printf(",\"reason\":\"");
    for (const char *at = bench->reason; *at; at++) {
      putchar(*at == '"' || *at == '\\' || (unsigned char)*at < ' ' ? '\'' : *at);
    }
    printf("\"");
  }
  printf("}");
}

static void print_header(const Bench *bench) {
  const char *unit = bench->mode == INSTRUCTIONS ? "instructions" : "ns";
  printf("SQLite %s, %s a row or call, ratio to the floor\n", sqlite3_libversion(), unit);
  printf("%-58s %-15s %10s %10s %8s %6s %8s\n", "", "floor", "floor", "query", "ratio", "+-%",
         "limit");
}

static void print_row(const Bench *bench, const Outcome *outcome, bool ok) {
  const Figure *figure = bench->figure;
  char limit[20] = "", ratio[20] = "", spread[20] = "";
  if (outcome->limit > 0) snprintf(limit, sizeof limit, "%.7g", outcome->limit);
  if (outcome->no_room) {
    printf("%-58s %s", figure->name, verdict(bench, outcome, ok));
  } else if (figure->measure != TIME) {
    printf("%-58s %-15s %10s %10.7g %8s %6s %8s %s", figure->name, "", "", outcome->value, "", "",
           limit, verdict(bench, outcome, ok));
  } else {
    if (!outcome->noisy) snprintf(ratio, sizeof ratio, "%.3f", outcome->ratio);
    if (outcome->pairs > 0) snprintf(spread, sizeof spread, "%.1f", outcome->spread * 50);
    printf("%-58s %-15s %10.*f %10.*f %8s %6s %8s %s", figure->name, figure->of_limit,
           outcome->floor < 1e5, outcome->floor, outcome->cost < 1e5, outcome->cost, ratio, spread,
           limit, verdict(bench, outcome, ok));
  }
  if (!ok) printf(" (%s)", bench->reason);
  printf("\n");
}

static void report(Bench *bench, const Outcome *outcome, bool ok) {
  if (bench->mode == TAP) {
    if (ok) {
      printf("ok bench: %s\n", bench->figure->name);
    } else {
      printf("not ok bench: %s: %s\n", bench->figure->name, bench->reason);
    }
  } else if (bench->mode == JSON) {
    print_json(bench, outcome, ok);
  } else {
    if (bench->printed == 0) print_header(bench);
    print_row(bench, outcome, ok);
  }
  fflush(stdout);
  bench->printed++;
  bench->wrong += !ok;
  bench->over_time += ok && is_over(outcome);
}

static bool wanted(const Bench *bench, const Figure *figure) {
  if (bench->mode == INSTRUCTIONS && figure->measure != TIME) return false;
  return bench->only == NULL || strstr(figure->name, bench->only) != NULL;
}

/* The numbers of keys and of probes. */
static void set_sizes(Bench *bench, const Figure *figure) {
  int64_t most = bench->quick ? SMALL_N : bench->mode == INSTRUCTIONS ? MIDDLE_N : INT64_MAX;
  int64_t probes = figure->m ? figure->m : figure->n < MILLION ? figure->n : MILLION;
  bench->n = figure->n < most ? figure->n : most;
  bench->m = probes < most ? probes : most;
}

static void print_progress(const Bench *bench) {
  if (bench->mode == TAP) return;
  fprintf(stderr, "# %d of %d, %.0f s: %s\n", bench->printed + 1, bench->wanted,
          (now(CLOCK_MONOTONIC) - bench->start) / 1e9, bench->figure->name);
}

static void run_list(Bench *bench, const Figure *list) {
  for (const Figure *figure = list; figure->name; figure++) {
    Outcome outcome;
    bool ok;
    if (!wanted(bench, figure)) continue;
    bench->figure = figure;
    set_sizes(bench, figure);
    print_progress(bench);
    ok = run_figure(bench, &outcome);
    report(bench, &outcome, ok);
  }
}

static void run_figures(Bench *bench) {
  bench->start = now(CLOCK_MONOTONIC);
  for (const Figure *const *list = bench_lists; *list; list++) {
    for (const Figure *figure = *list; figure->name; figure++) {
      bench->wanted += wanted(bench, figure);
    }
  }
  for (const Figure *const *list = bench_lists; *list; list++) run_list(bench, *list);
  if (bench->mode == JSON) printf("%s\n]\n", bench->printed > 0 ? "" : "[");
  if (bench->mode == TABLE || bench->mode == INSTRUCTIONS) {
    printf("%d figures in %.0f s: %d over their limit, %d wrong or too large\n", bench->printed,
           (now(CLOCK_MONOTONIC) - bench->start) / 1e9, bench->over_time, bench->wrong);
  }
  if (bench->mode == INSTRUCTIONS && bench->parts > 0) {
    printf("%s/callgrind.1 .. %d: a floor and a query each; callgrind_annotate shows where\n",
           bench->build, bench->parts);
  }
}

static bool read_options(Bench *bench, char **argv) {
  for (char **at = argv + 1; *at; at++) {
    if (strcmp(*at, "--json") == 0) {
      bench->mode = JSON;
    } else if (strcmp(*at, "--quick") == 0) {
      bench->quick = true;
    } else if (strcmp(*at, "--instructions") == 0) {
      bench->mode = INSTRUCTIONS;
    } else if (strcmp(*at, "--only") == 0 && at[1]) {
      bench->only = *++at;
    } else {
      fprintf(stderr, "usage: bench [--json | --instructions] [--quick] [--only TEXT]\n");
      return false;
    }
  }
  if (bench->quick && bench->mode == TABLE) bench->mode = TAP;
  return true;
}

int main(int argc, char **argv) {
  Bench bench = {.mode = TABLE};
  (void)argc;
  bench.build = getenv("B");
  if (bench.build == NULL || bench.build[0] == 0) bench.build = "build";
  if (!read_options(&bench, argv)) return 2;
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
  if (bench.mode == INSTRUCTIONS) enter_valgrind(&bench, argv);
  run_figures(&bench);
  sqlite3_close(bench.db);
  remove_file(&bench);
  free(bench.keys);
  sqlite3_free(bench.fixture);
  if (bench.printed == 0) fprintf(stderr, "bench: no figure has that text in its name\n");
  return bench.printed == 0 ? 2 : bench.wrong > 0;
}
