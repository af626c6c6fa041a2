/* table.h: what the tests of the bloom table share. The extension is compiled in
** (-DSQLITE_CORE), or loaded when the variable BLOOM names it. Everything is seeded, so a run
** repeats, but for the tests with more than one process.
**
** Every connection has the SQL function nth(i): number i of a row of keys of all types, different
** ones for different i. absent(i) gives texts that are none of them. */
#ifndef TABLE_H
#define TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How much is done: QUICK for `make check`, SHORT for the gate, LONG for `make table-long`. */
enum Extent {
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

/* ---- files: in a directory that is removed in the end ---- */

/* The path of a file, valid for the next 15 calls. */
const char *scratch(const char *name);
/* Removes a database and what belongs to it; then its path. */
const char *fresh(const char *name);

/* ---- connections ---- */

/* What sqlite3_libversion_number says, for the extension too where it is compiled in; 0: the truth. */
extern int pretended_version;

sqlite3 *open_flags(const char *path, int flags, const char *vfs);
sqlite3 *open_database(const char *path);
/* A connection without the extension. */
sqlite3 *open_bare(const char *path);
/* The database must close at once. */
void close_database(sqlite3 *db);

/* SQL is made with SQLite's own printf (%w, %Q, %lld). */
int try_sql(sqlite3 *db, const char *format, ...);
void run(sqlite3 *db, const char *format, ...);
/* First column of the first row as text, "NULL", "(no row)", or "code N: message". In one of 8
** buffers. */
const char *ask(sqlite3 *db, const char *format, ...);

void expect(sqlite3 *db, const char *name, const char *answer, const char *format, ...);
/* The statement must fail with this code (primary) and a message that holds `words`. */
void expect_error(sqlite3 *db, const char *name, int code, const char *words, const char *format,
                  ...);

/* ---- what holds for a filter and its keys ---- */

/* No key of `keys` (a query with a column key) is missing from the table. */
bool has_all(sqlite3 *db, const char *table, const char *keys);
/* The snapshot is the filter that bloom_build makes of these keys. `sizes` are the further
** arguments of bloom_build. */
bool same_as_build(sqlite3 *db, const char *table, const char *keys, const char *sizes);
/* Absent keys answer 1 at no more than `rate` and 4 sigma. */
bool absent_within(sqlite3 *db, const char *table, double rate, const char *name);

/* ---- the suites ---- */
void test_input(void);
void test_damage(void);
void test_transactions(void);
void test_nested(void);
void test_house(void);
void test_faults(void);
void test_steps(void);
void test_kill(void);
void test_processes(void);
void test_growth(void);

#endif
