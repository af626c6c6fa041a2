/* oom: the n-th allocation, read, write or sync fails, for every n. See oom.h.
**
**   oom quick | short | long [suite ...]     suites: functions entry table follow limits
*/
#include "oom.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum Extent extent;
static const char *only; /* a test's name begins with it; NULL: all tests */
static char directory[64];
static char running[300];

/* Shared with the processes of the tests. */
static struct Counts {
  unsigned long faults[FAULT_KINDS];
  unsigned long runs;
  bool failed;
} * counts;

bool test(bool good, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf(good ? "ok " : "not ok ");
  vprintf(format, arguments);
  printf("\n");
  fflush(stdout);
  va_end(arguments);
  if (!good) counts->failed = true;
  return good;
}

void count_fault(enum FaultKind kind) {
  counts->faults[kind]++;
}

/* ---- processes ---- */

void now_running(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(running, sizeof running, format, arguments);
  va_end(arguments);
}

#if !defined(__SANITIZE_ADDRESS__) /* which tells more itself */
static void on_crash(int number) {
  printf("# signal %d in %s\n", number, running);
  fflush(stdout);
  _exit(70);
}
#endif

void apart(const char *name, void (*function)(const void *argument), const void *argument) {
  int status = 0;
  if (only && strncmp(name, only, strlen(only)) != 0) return;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__)
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGFPE, on_crash);
    signal(SIGABRT, on_crash);
#endif
    function(argument);
    fflush(stdout);
    exit(0); /* a leak checker runs here */
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    test(false, "%s: the process ended with status %x", name, (unsigned)status);
  }
}

/* ---- files ---- */

const char *scratch_file(void) {
  static char path[100];
  snprintf(path, sizeof path, "%s/data", directory);
  return path;
}

const char *fresh_file(void) {
  static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
  for (unsigned i = 0; i < COUNT(suffixes); i++) {
    char path[120];
    snprintf(path, sizeof path, "%s%s", scratch_file(), suffixes[i]);
    unlink(path);
  }
  return scratch_file();
}

/* ---- connections ---- */

sqlite3 *open_bare(const char *path) {
  sqlite3 *db = NULL;
  if (sqlite3_open(path, &db) != SQLITE_OK) {
    test(false, "%s: cannot open: %s", running, sqlite3_errmsg(db));
    exit(1);
  }
  return db;
}

sqlite3 *open_database(void) {
  sqlite3 *db = open_bare(scratch_file());
  if (sqlite3_bloom_init(db, NULL, NULL) != SQLITE_OK) {
    test(false, "%s: the extension: %s", running, sqlite3_errmsg(db));
    exit(1);
  }
  return db;
}

bool run(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK) return true;
  return test(false, "%s: %.100s: %s", running, sql, sqlite3_errmsg(db));
}

/* Text that grows, in the C library's memory, which never fails here. */
typedef struct Rows {
  char *text;
  size_t size, room;
} Rows;

static void append(Rows *rows, const char *text, size_t size) {
  if (rows->size + size + 1 > rows->room) {
    rows->room = 2 * rows->room + size + 64;
    rows->text = realloc(rows->text, rows->room);
    if (rows->text == NULL) exit(1);
  }
  memcpy(rows->text + rows->size, text, size);
  rows->size += size;
  rows->text[rows->size] = 0;
}

/* false: SQLite could not hand out the column. */
static bool append_column(Rows *rows, sqlite3_stmt *statement, int i) {
  int type = sqlite3_column_type(statement, i);
  if (type == SQLITE_BLOB) {
    const unsigned char *bytes = sqlite3_column_blob(statement, i);
    int size = sqlite3_column_bytes(statement, i);
    for (int b = 0; bytes && b < size; b++) {
      char hex[3];
      snprintf(hex, sizeof hex, "%02x", bytes[b]);
      append(rows, hex, 2);
    }
    if (bytes == NULL && size > 0) return false;
  } else if (type != SQLITE_NULL) {
    const char *text = (const char *)sqlite3_column_text(statement, i);
    if (text == NULL) return false;
    append(rows, text, strlen(text));
  } else {
    append(rows, "NULL", 4);
  }
  append(rows, "|", 1);
  return true;
}

char *rows_of(sqlite3 *db, const char *sql, int *code) {
  Rows rows = {NULL, 0, 0};
  append(&rows, "", 0);
  *code = SQLITE_OK;
  while (*sql && *code == SQLITE_OK) {
    sqlite3_stmt *statement = NULL;
    bool complete = true;
    *code = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
    if (*code != SQLITE_OK || statement == NULL) break;
    while (complete && (*code = sqlite3_step(statement)) == SQLITE_ROW) {
      for (int i = 0; complete && i < sqlite3_column_count(statement); i++) {
        complete = append_column(&rows, statement, i);
      }
    }
    *code = complete ? SQLITE_OK : sqlite3_errcode(db);
    int code_of_step = sqlite3_finalize(statement);
    if (complete) *code = code_of_step;
  }
  return rows.text;
}

const char *ask(sqlite3 *db, const char *format, ...) {
  static char answers[4][400];
  static unsigned next;
  char *answer = answers[next++ % COUNT(answers)];
  va_list arguments;
  int code;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  char *rows = rows_of(db, sql, &code);
  if (code == SQLITE_OK) {
    snprintf(answer, sizeof answers[0], "%s", rows);
  } else {
    snprintf(answer, sizeof answers[0], "code %d: %s", code, sqlite3_errmsg(db));
  }
  free(rows);
  sqlite3_free(sql);
  return answer;
}

/* ---- scenarios ---- */

enum {
  STEPS = COUNT(((Scenario *)0)->steps),
  REPORTS = 3 /* of one loop; the rest is counted */
};

/* What is done after a step failed. */
enum After {
  GO_ON,  /* the next steps, and COMMIT */
  GIVE_UP /* ROLLBACK */
};

typedef struct Loop {
  const Scenario *scenario;
  enum FaultKind kind;
  bool stays;
  const char *pragmas; /* of the database: encoding, journal */
  unsigned stride;
  unsigned char *image; /* of the database, as setup made it */
  long image_size;
  char *right[STEPS]; /* what the steps answer when nothing fails */
  unsigned wrong;
} Loop;

static void complain(Loop *loop, const char *format, ...) {
  va_list arguments;
  if (loop->wrong++ >= REPORTS) return;
  printf("# %s: ", running);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
}

static void make_image(Loop *loop) {
  fresh_file();
  sqlite3 *db = open_database();
  run(db, loop->pragmas);
  run(db, loop->scenario->setup);
  if (sqlite3_close(db) != SQLITE_OK) test(false, "%s: setup does not close", running);
  FILE *file = fopen(scratch_file(), "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(1);
  loop->image_size = ftell(file);
  loop->image = malloc((size_t)loop->image_size + 1);
  rewind(file);
  if (fread(loop->image, 1, (size_t)loop->image_size, file) != (size_t)loop->image_size) exit(1);
  fclose(file);
}

static void restore_image(const Loop *loop) {
  FILE *file = fopen(fresh_file(), "wb");
  if (file == NULL ||
      fwrite(loop->image, 1, (size_t)loop->image_size, file) != (size_t)loop->image_size) {
    exit(1);
  }
  fclose(file);
}

/* An error that the fault explains: its own code. */
static bool explained(const Loop *loop, sqlite3 *db, const char *sql, int code) {
  const char *text = sqlite3_errmsg(db);
  /* SQLite makes plain errors of those of sqlite3_declare_vtab, also where a table is first used by
  ** a pragma, and of those in the functions with which ALTER TABLE looks into the schema. */
  if (code == SQLITE_ERROR &&
      (strncmp(sql, "ALTER", 5) == 0 || strncmp(sql, "CREATE VIRTUAL", 14) == 0) &&
      strstr(text, sqlite3_errstr(fault_code(loop->kind)))) {
    return true;
  }
  if (code == SQLITE_ERROR && strstr(sql, "pragma_integrity_check") &&
      strcmp(text, "bloom: interrupted") == 0) {
    return true;
  }
  if (code == SQLITE_ERROR && strncmp(sql, "ALTER", 5) == 0 &&
      strcmp(text, "SQL logic error") == 0) {
    return true;
  }
  if (loop->scenario->words) {
    if (strstr(text, loop->scenario->words)) return true;
    /* There was no memory to keep the text. */
    if (code == SQLITE_ERROR &&
        (strcmp(text, "SQL logic error") == 0 || strstr(text, "constructor failed"))) {
      return true;
    }
  }
  return (code & 0xff) == fault_code(loop->kind);
}

/* The steps, one of which may fail, with all that follow. */
static void run_steps(Loop *loop, sqlite3 *db, enum After after) {
  bool failed = false;
  for (int i = 0; i < STEPS && loop->scenario->steps[i]; i++) {
    const char *sql = loop->scenario->steps[i];
    int code;
    char *rows = rows_of(db, sql, &code);
    if (code == SQLITE_OK && !failed && loop->right[i] && strcmp(rows, loop->right[i]) != 0) {
      complain(loop, "%.120s: is %.100s instead of %.100s", sql, rows, loop->right[i]);
    }
    if (code != SQLITE_OK && !failed && !explained(loop, db, sql, code)) {
      complain(loop, "%.120s: code %d: %s", sql, sqlite3_extended_errcode(db), sqlite3_errmsg(db));
    }
    if (code != SQLITE_OK && strstr(sqlite3_errmsg(db), "damaged")) {
      complain(loop, "%.120s: %s", sql, sqlite3_errmsg(db));
    }
    free(rows);
    failed = failed || code != SQLITE_OK;
    if (failed && after == GIVE_UP) return;
  }
}

static void check(Loop *loop, sqlite3 *db, bool same) {
  const char *wrong = loop->scenario->check ? loop->scenario->check(db, same) : NULL;
  if (wrong) complain(loop, "%s: %s", same ? "afterwards" : "reopened", wrong);
}

static void end_transaction(Loop *loop, sqlite3 *db, enum After after) {
  if (sqlite3_get_autocommit(db)) return;
  const char *sql = after == GO_ON ? "COMMIT" : "ROLLBACK";
  int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
  if (code == SQLITE_OK) return;
  bool told = strstr(sqlite3_errmsg(db), "the transaction must be rolled back") != NULL;
  if (!told && (loop->kind == FAULT_MEMORY || loop->kind == FAULT_INTERRUPT)) {
    complain(loop, "%s: %s", sql, sqlite3_errmsg(db));
  }
  if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* One run; false when it had no n-th operation. */
static bool run_once(Loop *loop, unsigned n, enum After after) {
  const Scenario *scenario = loop->scenario;
  static const char *const kinds[FAULT_KINDS] = {"none",  "memory", "read",
                                                 "write", "full",   "interrupt"};
  now_running("%s: %s %u%s, %s", scenario->name, kinds[loop->kind], n,
              loop->stays ? " and all others" : "", after == GO_ON ? "go on" : "give up");
  if (scenario->check || n <= 1) restore_image(loop);
  sqlite3_int64 memory = sqlite3_memory_used();
  sqlite3 *db = open_database();
  if (scenario->before) run(db, scenario->before);
  if (loop->kind == FAULT_INTERRUPT) fault_watch(db);
  fault_arm(loop->kind, n, loop->stays);
  run_steps(loop, db, after);
  bool met = fault_disarm();
  end_transaction(loop, db, after);
  check(loop, db, true);
  if (sqlite3_close(db) != SQLITE_OK) complain(loop, "does not close: %s", sqlite3_errmsg(db));
  if (sqlite3_memory_used() != memory) {
    complain(loop, "%lld bytes are left after closing",
             (long long)(sqlite3_memory_used() - memory));
    exit(1);
  }
  if (scenario->check) {
    db = open_database();
    check(loop, db, false);
    sqlite3_close(db);
  }
  counts->runs++;
  return met;
}

/* What the steps answer when nothing fails; false when something does all the same. */
static bool learn(Loop *loop) {
  now_running("%s: nothing fails", loop->scenario->name);
  restore_image(loop);
  sqlite3 *db = open_database();
  if (loop->scenario->before) run(db, loop->scenario->before);
  for (int i = 0; i < STEPS && loop->scenario->steps[i]; i++) {
    int code;
    loop->right[i] = rows_of(db, loop->scenario->steps[i], &code);
    if (code != SQLITE_OK &&
        !(loop->scenario->words && strstr(sqlite3_errmsg(db), loop->scenario->words))) {
      return test(false, "%s: %s: %s", running, loop->scenario->steps[i], sqlite3_errmsg(db));
    }
  }
  end_transaction(loop, db, GO_ON);
  check(loop, db, true);
  sqlite3_close(db);
  return loop->wrong == 0 ? true : test(false, "%s: what nothing failed in is wrong", running);
}

static void run_loop(const void *argument) {
  static const char *const faults[FAULT_KINDS] = {
      "", "allocations", "reads", "writes and syncs", "writes (disk full)", "interrupts"};
  Loop loop = *(const Loop *)argument;
  unsigned runs = 0, n = 1;
  make_image(&loop);
  if (learn(&loop)) {
    while (run_once(&loop, n, extent == LONG || runs % 3 != 2 ? GO_ON : GIVE_UP)) {
      if (extent == LONG && loop.scenario->steps[1]) run_once(&loop, n, GIVE_UP);
      n += loop.stride;
      runs++;
      if (loop.wrong > 50) break;
    }
    test(loop.wrong == 0 && (runs > 0 || loop.kind != FAULT_MEMORY),
         "%s: %u of %u %s fail%s, %s: right, or an error and nothing lost (%u wrong)",
         loop.scenario->name, runs, n - 1, faults[loop.kind],
         loop.stays ? " with all that follow" : " once", loop.pragmas, loop.wrong);
  }
  for (int i = 0; i < STEPS; i++) free(loop.right[i]);
  free(loop.image);
}

static unsigned stride_of(const Scenario *scenario, enum FaultKind kind) {
  static const unsigned strides[3][FAULT_KINDS] = {
      {0, 67, 23, 29, 31, 101}, {0, 17, 5, 5, 7, 29}, {0, 1, 1, 1, 1, 1}};
  unsigned stride = strides[extent][kind];
  if (scenario->check == NULL && extent == QUICK) stride = 7; /* functions are soon done */
  if (scenario->check == NULL && extent == SHORT) stride = 1;
  return stride;
}

void scenario_loops(const Scenario *scenario) {
  static const struct {
    enum FaultKind kind;
    bool stays;
    enum Extent from;
    const char *pragmas;
  } loops[] = {
      {FAULT_MEMORY, false, QUICK, "PRAGMA encoding = 'UTF-8'"},
      {FAULT_MEMORY, true, QUICK, "PRAGMA encoding = 'UTF-8'"},
      {FAULT_MEMORY, false, SHORT, "PRAGMA encoding = 'UTF-16le'"},
      {FAULT_MEMORY, true, LONG, "PRAGMA encoding = 'UTF-16le'"},
      {FAULT_INTERRUPT, false, QUICK, "PRAGMA encoding = 'UTF-8'"},
      {FAULT_READ, false, SHORT, "PRAGMA default_cache_size = 6"},
      {FAULT_READ, true, QUICK, "PRAGMA default_cache_size = 6"},
      {FAULT_WRITE, false, QUICK, "PRAGMA default_cache_size = 6"},
      {FAULT_WRITE, true, SHORT, "PRAGMA default_cache_size = 6"},
      {FAULT_FULL, false, QUICK, "PRAGMA default_cache_size = 6"},
      {FAULT_FULL, true, SHORT, "PRAGMA default_cache_size = 6"},
      {FAULT_READ, false, LONG, "PRAGMA default_cache_size = 6; PRAGMA journal_mode = WAL"},
      {FAULT_WRITE, false, SHORT, "PRAGMA default_cache_size = 6; PRAGMA journal_mode = WAL"},
      {FAULT_WRITE, true, LONG, "PRAGMA default_cache_size = 6; PRAGMA journal_mode = WAL"},
      {FAULT_FULL, true, LONG, "PRAGMA default_cache_size = 6; PRAGMA journal_mode = WAL"}};
  for (unsigned i = 0; i < COUNT(loops); i++) {
    Loop loop = {.scenario = scenario,
                 .kind = loops[i].kind,
                 .stays = loops[i].stays,
                 .pragmas = loops[i].pragmas,
                 .stride = stride_of(scenario, loops[i].kind)};
    bool files = loop.kind != FAULT_MEMORY && loop.kind != FAULT_INTERRUPT;
    if (extent < loops[i].from || (files && scenario->check == NULL)) continue;
    apart(scenario->name, run_loop, &loop);
  }
}

/* ---- main ---- */

static void remove_directory(void) {
  fresh_file();
  rmdir(directory);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*function)(void);
  } suites[] = {{"functions", suite_functions},
                {"entry", suite_entry},
                {"table", suite_table},
                {"follow", suite_follow},
                {"limits", suite_limits}};
  static const char *const extents[] = {"quick", "short", "long"};
  const char *temporary = getenv("TMPDIR");
  if (argc < 2) return 2;
  while (extent < LONG && strcmp(argv[1], extents[extent]) != 0) extent++;
  only = getenv("ONLY");
  counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  snprintf(directory, sizeof directory, "%.40s/bloom-oom-XXXXXX", temporary ? temporary : "/tmp");
  if (counts == MAP_FAILED || mkdtemp(directory) == NULL) return 2;
  faults_install();
  for (unsigned i = 0; i < COUNT(suites); i++) {
    bool wanted = argc == 2;
    for (int a = 2; a < argc; a++) wanted = wanted || strcmp(argv[a], suites[i].name) == 0;
    if (wanted) suites[i].function();
  }
  printf(
      "# %lu runs: %lu allocations, %lu reads, %lu writes and syncs failed, the disk was full %lu "
      "times, %lu interrupts\n",
      counts->runs, counts->faults[FAULT_MEMORY], counts->faults[FAULT_READ],
      counts->faults[FAULT_WRITE], counts->faults[FAULT_FULL], counts->faults[FAULT_INTERRUPT]);
  remove_directory();
  return counts->failed;
}
