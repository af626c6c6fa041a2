/* kill and processes: more than one process on one database.
**
** Every worker process makes transactions that put the same keys into bloom tables and into exact
** tables, and a row into `log`; it looks keys up between them, and within. */
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  RANGE = 30000 /* different keys */
};

static const char *const make_sql =
    "CREATE VIRTUAL TABLE seen USING bloom(n=35000, p=0.01);"
    "CREATE TABLE seen_keys(id INTEGER PRIMARY KEY, key);"
    "CREATE VIRTUAL TABLE grow USING bloom(n=100, p=0.01);"
    "CREATE TABLE grow_keys(id INTEGER PRIMARY KEY, key);"
    "CREATE VIRTUAL TABLE tally USING bloom(n=3000, p=0.01, kind=counting);"
    "CREATE TABLE tally_keys(id INTEGER PRIMARY KEY, key);"
    "CREATE TABLE log(id INTEGER PRIMARY KEY)";

/* ---- a worker ---- */

typedef struct Worker {
  sqlite3 *db;
  uint64_t seed;
  int report; /* a pipe: the log's id of each commit; or -1 */
  unsigned commits, looks, busy;
} Worker;

static void give_up(Worker *w, const char *what) {
  printf("#  worker: %s: code %d, %s\n", what, sqlite3_extended_errcode(w->db),
         sqlite3_errmsg(w->db));
  fflush(stdout);
  _exit(3);
}

/* True, or false for a lock that another process holds. */
static bool worked(Worker *w, const char *sql) {
  int code = sqlite3_exec(w->db, sql, NULL, NULL, NULL);
  if (code == SQLITE_OK) return true;
  if (code != SQLITE_BUSY) give_up(w, sql);
  w->busy++;
  return false;
}

static bool change(Worker *w, const char *format, unsigned key) {
  char sql[500];
  snprintf(sql, sizeof sql, format, key, key, key, key);
  return worked(w, sql);
}

/* Looks for a key that is in, in one read transaction. */
static void look(Worker *w) {
  static const char *const checks[] = {
      "SELECT count(*) FROM (SELECT key FROM seen_keys WHERE id >= %u LIMIT 5) WHERE NOT "
      "bloom_lookup('seen', key)",
      "SELECT count(*) FROM (SELECT key FROM seen_keys WHERE id >= %u LIMIT 5) AS k"
      " WHERE NOT EXISTS (SELECT 1 FROM seen WHERE key = k.key)",
      "SELECT count(*) FROM (SELECT key FROM grow_keys WHERE id >= %u / 10 LIMIT 5) WHERE NOT "
      "bloom_lookup('grow', key)",
      "SELECT count(*) FROM (SELECT key FROM tally_keys WHERE id >= %u / 12 LIMIT 5) AS k"
      " WHERE NOT EXISTS (SELECT 1 FROM tally WHERE key = k.key)"};
  char sql[300];
  sqlite3_stmt *check = NULL;
  snprintf(sql, sizeof sql, checks[random_below(&w->seed, COUNT(checks))],
           random_below(&w->seed, RANGE));
  int code = sqlite3_prepare_v2(w->db, sql, -1, &check, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(check);
  if (code == SQLITE_ROW && sqlite3_column_int(check, 0) > 0) {
    printf("#  FALSE NEGATIVE: %s\n", sql);
    _exit(4);
  }
  w->looks++;
  if (code == SQLITE_BUSY)
    w->busy++;
  else if (code != SQLITE_ROW)
    give_up(w, sql);
  sqlite3_finalize(check);
}

/* The changes of one transaction; false when a lock stopped them. */
static bool changes(Worker *w) {
  unsigned count = 1 + random_below(&w->seed, 6);
  for (unsigned i = 0; i < count; i++) {
    unsigned key = random_below(&w->seed, RANGE);
    if (!change(w,
                "INSERT INTO seen(key) VALUES (nth(%u));"
                "INSERT OR IGNORE INTO seen_keys VALUES (%u, nth(%u))",
                key))
      return false;
    if (i % 4 == 1 && !change(w,
                              "INSERT INTO grow(key) VALUES (nth(%u));"
                              "INSERT OR IGNORE INTO grow_keys VALUES (%u, nth(%u))",
                              key / 10))
      return false;
    if (i % 4 == 2) {
      key = key / 24 * 2; /* at most once in: it goes before it comes */
      if (!change(w,
                  "DELETE FROM tally WHERE key IN (SELECT key FROM tally_keys WHERE id = %u);"
                  "DELETE FROM tally_keys WHERE id = %u",
                  key))
        return false;
      if (random_below(&w->seed, 3) > 0 && !change(w,
                                                   "INSERT INTO tally(key) VALUES (nth(%u)); "
                                                   "INSERT INTO tally_keys VALUES (%u, nth(%u))",
                                                   key)) {
        return false;
      }
    }
    if (i == 3 && random_below(&w->seed, 2) == 0) {
      if (!change(
              w, "SAVEPOINT a; INSERT INTO seen(key) VALUES (absent(%u)); ROLLBACK TO a; RELEASE a",
              key))
        return false;
    }
    if (random_below(&w->seed, 8) == 0) look(w);
  }
  return true;
}

static void transaction(Worker *w) {
  if (!worked(w, random_below(&w->seed, 3) == 0 ? "BEGIN" : "BEGIN IMMEDIATE")) return;
  bool done = changes(w) && worked(w, "INSERT INTO log DEFAULT VALUES");
  for (int i = 0; done && !worked(w, "COMMIT"); i++) done = i < 20;
  if (!done) {
    worked(w, "ROLLBACK");
    return;
  }
  w->commits++;
  sqlite3_int64 id = sqlite3_last_insert_rowid(w->db);
  if (w->report >= 0 && write(w->report, &id, sizeof id) != sizeof id) _exit(5);
}

static void work(int number, int report, double seconds) {
  Worker w = {.seed = (uint64_t)number, .report = report};
  struct timespec start, now;
  w.db = open_database(scratch("shared"));
  sqlite3_busy_timeout(w.db, 20);
  sqlite3_exec(w.db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    transaction(&w);
    for (unsigned i = random_below(&w.seed, 4); i > 0; i--) look(&w);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) <
           seconds);
  close_database(w.db);
  printf("#  worker %d: %u commits, %u looks, %u locks met\n", number, w.commits, w.looks, w.busy);
  fflush(stdout);
  _exit(w.commits > 0 && w.looks > 0 ? 0 : 6);
}

static pid_t start_worker(int number, int report, double seconds) {
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) stop("fork", strerror(errno));
  if (child == 0) work(number, report, seconds);
  return child;
}

/* ---- what must hold in the end ---- */

static void make_shared(const char *mode) {
  sqlite3 *db = open_database(fresh("shared"));
  run(db, "PRAGMA journal_mode = %s; PRAGMA synchronous = OFF; %s", mode, make_sql);
  /* keys of all types from the start: a counting filter keeps the types of keys that left */
  run(db,
      "INSERT INTO tally_keys SELECT column1, nth(column1) FROM (VALUES (10001), (10002), (10003), "
      "(10004));"
      "INSERT INTO tally(key) SELECT key FROM tally_keys");
  close_database(db);
}

static bool sound(sqlite3 *db) {
  return strcmp(ask(db, "PRAGMA integrity_check"), "ok") == 0 &&
         has_all(db, "seen", "SELECT key FROM seen_keys") &&
         has_all(db, "grow", "SELECT key FROM grow_keys") &&
         has_all(db, "tally", "SELECT key FROM tally_keys") &&
         (strcmp(ask(db, "SELECT count(*) FROM seen_keys"), "0") == 0 ||
          same_as_build(db, "seen", "SELECT key FROM seen_keys", "35000, 0.01")) &&
         same_as_build(db, "tally", "SELECT key FROM tally_keys", "3000, 0.01, 'counting'");
}

static void check_end(const char *name) {
  char label[60];
  sqlite3 *db = open_database(scratch("shared"));
  bool good = sound(db);
  test(good, "%s: all %s, %s and %s committed keys, and no others", name,
       ask(db, "SELECT count(*) FROM seen_keys"), ask(db, "SELECT count(*) FROM grow_keys"),
       ask(db, "SELECT count(*) FROM tally_keys"));
  snprintf(label, sizeof label, "%s, seen", name);
  absent_within(db, "seen", 0.01, label);
  snprintf(label, sizeof label, "%s, grow", name);
  absent_within(db, "grow", 0.02, label);
  close_database(db);
}

/* ---- kill ---- */

/* A worker is killed at a random moment; then what it reported as committed must be there. */
static bool kill_once(int number, uint64_t *seed, sqlite3_int64 *last, unsigned *commits) {
  int ends[2], status;
  sqlite3_int64 id;
  if (pipe(ends) != 0) stop("pipe", strerror(errno));
  pid_t child = start_worker(number, ends[1], 20);
  close(ends[1]);
  struct timespec pause = {0, 1000000L + (long)random_below(seed, 15000000)};
  nanosleep(&pause, NULL);
  kill(child, SIGKILL);
  while (read(ends[0], &id, sizeof id) == sizeof id) {
    *last = id;
    ++*commits;
  }
  close(ends[0]);
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) {
    return test(false, "kill %d: the worker ended by itself, status %d", number, status);
  }
  sqlite3 *db = open_database(scratch("shared"));
  sqlite3_int64 logged = strtoll(ask(db, "SELECT coalesce(max(id), 0) FROM log"), NULL, 10);
  bool good = logged >= *last && sound(db);
  if (!good)
    test(false, "kill %d: last commit reported %lld, found %lld", number, (long long)*last,
         (long long)logged);
  close_database(db);
  return good;
}

void test_kill(void) {
  static const char *const modes[] = {"delete", "wal"};
  unsigned kills = extent == QUICK ? 12 : extent == SHORT ? 40 : 500;
  uint64_t seed = 7;
  for (unsigned m = 0; m < COUNT(modes); m++) {
    unsigned done = 0, commits = 0;
    sqlite3_int64 last = 0;
    make_shared(modes[m]);
    while (done < kills && kill_once((int)(1000 * m + done), &seed, &last, &commits)) done++;
    test(done == kills && commits > kills / 2, "kill, %s: %u kills within %u commits lose nothing",
         modes[m], done, commits);
    check_end(modes[m]);
  }
}

/* ---- two processes ---- */

void test_processes(void) {
  static const char *const modes[] = {"delete", "wal"};
  double seconds = extent == QUICK ? 1 : extent == SHORT ? 3 : 30;
  for (unsigned m = 0; m < COUNT(modes); m++) {
    int good = 0, status;
    make_shared(modes[m]);
    pid_t children[2];
    for (int i = 0; i < 2; i++) children[i] = start_worker(100 + i, -1, seconds);
    for (int i = 0; i < 2; i++) {
      if (waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status) &&
          WEXITSTATUS(status) == 0)
        good++;
    }
    test(good == 2, "processes, %s: two write and read, nothing is missed, locks are met as ever",
         modes[m]);
    check_end(modes[m]);
  }
}
