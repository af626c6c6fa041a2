/* threads [SECONDS]: 8 threads, each with its own connection to one database file, build, merge and
** probe; all answers equal those of one thread. Meant to be compiled with -fsanitize=thread. */
#include "sqltest.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum {
  THREADS = 8
};

static const char *const questions[] = {
    "SELECT hex(bloom_build(i, 2000, 0.01)) FROM t WHERE i <= 2000",
    "SELECT bloom_info(bloom_build(s, 100, 0.001)) FROM t",
    "SELECT sum(bloom_contains((SELECT bloom_ref(f) FROM filters), i)) FROM t",
    "SELECT sum(bloom_contains(f, i)) FROM filters, t WHERE i <= 300",
    "SELECT bloom_info(bloom_union(bloom_add(f, i))) FROM filters, t WHERE i <= 20",
    "SELECT bloom_size(1000000, 1e-5) || bloom_count(f) || bloom_fpr(f) FROM filters"};

enum {
  QUESTIONS = sizeof questions / sizeof *questions
};

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

static void *work(void *wrong) {
  time_t end = time(NULL) + (time_t)seconds;
  sqlite3 *db = open_bloom(file);
  sqlite3_busy_timeout(db, 60000);
  do {
    for (int i = 0; i < QUESTIONS; i++) {
      char *text = answer(db, questions[i]);
      *(int *)wrong += text == NULL || strcmp(text, answers[i]) != 0;
      free(text);
    }
  } while (time(NULL) < end);
  sqlite3_close(db);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  int wrong[THREADS] = {0}, sum = 0, descriptor = mkstemp(file);
  sqlite3 *db = open_bloom(file);
  if (argc > 1) seconds = atof(argv[1]);
  run_sql(db,
          "CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < "
          "5000) SELECT i, 'key ' || i AS s FROM c;"
          "CREATE TABLE filters AS SELECT bloom_build(i, 20000, 0.01) AS f FROM t WHERE i % 2");
  for (int i = 0; i < QUESTIONS; i++) answers[i] = answer(db, questions[i]);
  sqlite3_close(db);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, &wrong[i]);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    sum += wrong[i];
  }
  ok(sum == 0, "%d threads: %d answers differ from those of one thread", THREADS, sum);
  close(descriptor);
  unlink(file);
  for (int i = 0; i < QUESTIONS; i++) free(answers[i]);
  return tests_failed > 0;
}
