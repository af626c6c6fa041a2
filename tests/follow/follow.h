/* follow.h: what the tests of of= share: bloom tables that SQLite's triggers keep in step with a
** column of another table. The extension is the one that the variable BLOOM names. All is seeded.
*/
#ifndef FOLLOW_TEST_H
#define FOLLOW_TEST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How much is done: QUICK for `make check`, SHORT for the gate, LONG for `make follow-long`, TINY
** under valgrind. */
enum Extent {
  TINY,
  QUICK,
  SHORT,
  LONG
};
extern enum Extent extent;

/* One TAP line. */
bool test(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The test itself cannot go on. */
void stop(const char *what, const char *why) __attribute__((noreturn));

uint64_t next_random(uint64_t *state);
unsigned random_below(uint64_t *state, unsigned limit);

/* The path of a database file that does not exist yet, in a folder that is removed in the end. */
const char *fresh(const char *name);

sqlite3 *open_database(const char *path);
/* A connection without the extension. */
sqlite3 *open_bare(const char *path);
/* The database must close at once. */
void close_database(sqlite3 *db);
/* Runs SQL in another process; its exit code. */
int run_elsewhere(const char *path, const char *sql);

/* SQL is made with SQLite's own printf (%w, %Q, %lld). run: it must succeed. try_sql: the code. */
void run(sqlite3 *db, const char *format, ...);
int try_sql(sqlite3 *db, const char *format, ...);
/* First column of the first row as text, "NULL", "(no row)", or "code N: message". In one of 8
** buffers. */
const char *ask(sqlite3 *db, const char *format, ...);
void expect(sqlite3 *db, const char *name, const char *answer, const char *format, ...);
/* It must fail with a message that holds `words`. */
void expect_error(sqlite3 *db, const char *name, const char *words, const char *format, ...);

/* Names of all that the schema holds, in order, but for statistics and the like of SQLite. */
const char *names_in(sqlite3 *db, const char *schema);

/* Every key of the query (its column is k) is found, through the table and by bloom_lookup; and of
** 2,000 texts that were never added at most `absent` are. */
bool all_found(sqlite3 *db, const char *table, const char *keys, int absent);

/* The suites. */
void test_mix(void);
void test_detach(void);
void test_names(void);
void test_input(void);
void test_hostile(void);
void test_life(void);

#endif
