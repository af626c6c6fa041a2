/* oom.h: what the tests of failing allocations, failing files and interrupts share.
**
** A scenario is a small database and some SQL steps. It runs again and again; in run n the n-th
** allocation (or read, write, ...) fails, once or with all that follow, until a run has no n-th.
** After each run, with nothing failing any more, the same connection and a new one must find every
** committed key, and sqlite3_memory_used() must be back at its start.
*/
#ifndef OOM_H
#define OOM_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How much is done: QUICK for `make check`, SHORT for the gate, LONG for `make oom`. */
enum Extent {
  QUICK,
  SHORT,
  LONG
};
extern enum Extent extent;

/* ---- faults (faults.c) ---- */

enum FaultKind {
  FAULT_NONE,
  FAULT_MEMORY,    /* an allocation returns NULL */
  FAULT_READ,      /* SQLITE_IOERR_READ */
  FAULT_WRITE,     /* a write, truncation, sync or deletion gives its SQLITE_IOERR code */
  FAULT_FULL,      /* a write gives SQLITE_FULL */
  FAULT_INTERRUPT, /* sqlite3_interrupt is called */
  FAULT_KINDS
};

void faults_install(void); /* before SQLite is used */

/* From now on the n-th operation of the kind fails, and, with `stays`, all that follow. */
void fault_arm(enum FaultKind kind, unsigned n, bool stays);
/* Nothing fails any more; true when something did. */
bool fault_disarm(void);
/* Lets the interrupts of FAULT_INTERRUPT reach a connection. */
void fault_watch(sqlite3 *db);
/* The primary result code that SQLite gives for a fault of the kind. */
int fault_code(enum FaultKind kind);

/* ---- running (oom.c) ---- */

/* One TAP line. */
bool test(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Runs a function in a process of its own, so that a crash in it fails one test. */
void apart(const char *name, void (*function)(const void *argument), const void *argument);
/* Says in which run a crash happened. */
void now_running(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Counts injected faults, for the closing line. */
void count_fault(enum FaultKind kind);

/* The path of the scratch database; fresh_file also removes what is there. */
const char *scratch_file(void);
const char *fresh_file(void);

/* A connection with the extension; the process stops when there is none. */
sqlite3 *open_database(void);
sqlite3 *open_bare(const char *path);
int sqlite3_bloom_init(sqlite3 *db, char **error, const void *api);

/* Runs SQL that must succeed. */
bool run(sqlite3 *db, const char *sql);

/* All rows of one or more statements as text, blobs in hex, for free(). *code is the last
** statement's. */
char *rows_of(sqlite3 *db, const char *sql, int *code);

/* The answer, or "code N: message", in one of 4 buffers. The SQL is made by SQLite's own printf. */
const char *ask(sqlite3 *db, const char *format, ...);

/* ---- scenarios ---- */

typedef struct Scenario {
  const char *name;
  const char *setup;  /* makes the database */
  const char *before; /* runs first in every connection, without faults; NULL: it is cold */
  const char *steps[12];
  /* NULL when all is right; otherwise what is wrong. `same`: in the connection that saw the fault,
  ** which may write. */
  const char *(*check)(sqlite3 *db, bool same);
  const char *words; /* of errors that a step may give even when nothing fails; or NULL */
} Scenario;

/* Every fault that the scenario can have, as the extent says. */
void scenario_loops(const Scenario *scenario);

/* ---- the suites ---- */
void suite_functions(void);
void suite_entry(void);
void suite_table(void);
void suite_follow(void);
void suite_limits(void);

#endif
