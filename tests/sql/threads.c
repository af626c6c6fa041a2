/* threads [SECONDS]: 8 threads build, merge and probe filters and write to one bloom table, each on
** a connection of its own and then all on one that they share; all answers equal those of one
** thread, and no key that was inserted is ever missed. Meant to be compiled with
** -fsanitize=thread. */
#include "sqltest.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum {
  THREADS = 8,
  ROWS = 20, /* inserted by a statement */
  CAPACITY = 1000000
};

static const char *const questions[] = {
    "SELECT hex(bloom_build(i, 2000, 0.01)) FROM t WHERE i <= 2000",
    "SELECT bloom_info(bloom_build(s, 100, 0.001)) FROM t",
    "SELECT sum(bloom_contains((SELECT bloom_ref(f) FROM filters), i)) FROM t",
    "SELECT sum(bloom_contains(f, i)) FROM filters, t WHERE i <= 300",
    "SELECT bloom_info(bloom_union(bloom_add(f, i))) FROM filters, t WHERE i <= 20",
    "SELECT bloom_size(1000000, 1e-5) || bloom_count(f) || bloom_fpr(f) FROM filters",
    "SELECT count(*) FROM t WHERE bloom_lookup('followers', s)",
    "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM followers WHERE key = t.s)"};

enum {
  QUESTIONS = sizeof questions / sizeof *questions
};

typedef struct Worker {
  pthread_t thread;
  int number;
  sqlite3 *shared; /* NULL: it opens a connection */
  int inserted;    /* statements */
  int wrong;       /* answers */
} Worker;

static char *answers[QUESTIONS];
static char file[] = "/tmp/bloom-threads-XXXXXX";
static double seconds = 10;

static char *answer(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  char *text = NULL;
  sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (statement && sqlite3_step(statement) == SQLITE_ROW) {
    text = strdup((const char *)sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
  return text;
}

static bool is(sqlite3 *db, const char *expected, char *sql) {
  char *text = answer(db, sql);
  bool same = text && strcmp(text, expected) == 0;
  free(text);
  sqlite3_free(sql);
  return same;
}

/* How many are missed of the keys of a worker's last `statements`. */
static char *missed(const Worker *worker, int statements) {
  int first = worker->inserted > statements ? worker->inserted - statements : 0;
  return sqlite3_mprintf(
      "WITH RECURSIVE c(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
      " SELECT count(*) FROM c WHERE NOT bloom_lookup('seen', 'w%d-' || i)",
      first * ROWS + 1, worker->inserted * ROWS, worker->number);
}

static bool insert_some(sqlite3 *db, Worker *worker) {
  char *sql = sqlite3_mprintf(
      "INSERT INTO seen WITH RECURSIVE c(i) AS"
      " (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT 'w%d-' || (%d + i) FROM c",
      ROWS, worker->number, worker->inserted * ROWS);
  bool inserted = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
  sqlite3_free(sql);
  worker->inserted += inserted;
  return inserted;
}

static void *work(void *argument) {
  Worker *worker = argument;
  time_t end = time(NULL) + (time_t)seconds;
  sqlite3 *db = worker->shared ? worker->shared : open_bloom(file);
  if (!worker->shared) sqlite3_busy_timeout(db, 60000);
  do {
    for (int i = 0; i < QUESTIONS; i++) {
      worker->wrong += !is(db, answers[i], sqlite3_mprintf("%s", questions[i]));
    }
    worker->wrong += !insert_some(db, worker) || !is(db, "0", missed(worker, 10));
  } while (time(NULL) < end);
  if (!worker->shared) sqlite3_close(db);
  return NULL;
}

static void make_file(void) {
  sqlite3 *db = open_bloom(file);
  run_sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  run_sql(
      db,
      "CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < "
      "5000) SELECT i, 'key ' || i AS s FROM c;"
      "CREATE TABLE filters AS SELECT bloom_build(i, 20000, 0.01) AS f FROM t WHERE i % 2;"
      "CREATE VIRTUAL TABLE followers USING bloom(of='t(s)', n=10000, p=0.01)");
  for (int i = 0; i < QUESTIONS; i++) answers[i] = answer(db, questions[i]);
  sqlite3_close(db);
}

static void run_threads(const char *name, sqlite3 *shared) {
  Worker workers[THREADS] = {0};
  int wrong = 0, inserted = 0, lost = 0;
  sqlite3 *db = open_bloom(file);
  char *sql = sqlite3_mprintf(
      "DROP TABLE IF EXISTS seen; CREATE VIRTUAL TABLE seen USING bloom(n=%d, p=0.01)",
      CAPACITY);
  run_sql(db, sql);
  sqlite3_free(sql);
  for (int i = 0; i < THREADS; i++) {
    workers[i].number = i;
    workers[i].shared = shared;
    pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < THREADS; i++) {
    wrong += workers[i].wrong;
    inserted += workers[i].inserted;
    lost += !is(db, "0", missed(&workers[i], workers[i].inserted));
  }
  ok(wrong == 0, "%d threads, %s: %d answers differ from those of one thread", THREADS, name,
     wrong);
  ok(inserted > THREADS && lost == 0, "%s: %d keys of all threads are found", name,
     inserted * ROWS);
  ok(is(db, "1", sqlite3_mprintf("SELECT count(*) <= 70 FROM t WHERE bloom_lookup('seen', i)")),
     "%s: of 5,000 absent keys at most 50 and 3 sigma", name);
  sqlite3_close(db);
}

int main(int argc, char **argv) {
  int descriptor = mkstemp(file);
  if (argc > 1) seconds = atof(argv[1]);
  make_file();
  run_threads("each its connection", NULL);
  sqlite3 *shared = open_bloom(file);
  run_threads("one connection", shared);
  sqlite3_close(shared);
  close(descriptor);
  unlink(file); /* the last connection took the files beside it along */
  for (int i = 0; i < QUESTIONS; i++) free(answers[i]);
  return tests_failed > 0;
}
