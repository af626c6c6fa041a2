/* promise.h: what the statistical tests share. Filters are made through SQL by the extension itself
** (compiled in with -DSQLITE_CORE); the many absent keys are asked through the kernel, with the
** same hash and the same blob. Everything is seeded, so a run repeats. */
#ifndef PROMISE_H
#define PROMISE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "filter.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How much is asked for: QUICK for `make check`, SHORT for the gate, LONG for `make promise`. */
enum Extent {
  QUICK,
  SHORT,
  LONG
};
extern enum Extent extent;

extern sqlite3 *db;

/* One TAP line. */
void test(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The test itself cannot go on. */
void stop(const char *what) __attribute__((noreturn));

uint64_t next_random(uint64_t *state);

/* ---- keys: number i of each kind; different i, different keys ---- */
enum KeyKind {
  INTEGERS, /* i itself: sequential */
  HEX,      /* 20 hex digits of a mixed i */
  URLS,     /* https://... with a few hosts and long equal parts */
  KEY_KINDS
};
extern const char *const key_names[KEY_KINDS];
uint64_t key_hash(enum KeyKind kind, uint64_t i);

/* ---- filters ---- */
typedef struct Filter {
  uint8_t *bytes;
  uint64_t size;
  BloomFilter view;
} Filter;

/* The rows of a prepared statement's first column, a blob. The statement is reset. */
Filter take_filter(sqlite3_stmt *statement);
void free_filter(Filter *filter);

/* A statement for `sql`, made once. NULL in `sql` finalizes all of them. */
sqlite3_stmt *statement(const char *sql);

/* bloom_build over the keys first .. first + count - 1; n = 0 is NULL. */
Filter build(enum KeyKind kind, uint64_t first, uint64_t count, uint64_t n, double p);

/* How many of the keys are answered with 1. */
uint64_t ask(const Filter *filter, enum KeyKind kind, uint64_t first, uint64_t count);

/* The variance of the occupied cells of a layer that holds `keys` keys, exact up to rounding. */
double occupied_variance(const BloomGeometry *geometry, double keys);

/* The suites. */
void test_rates(void);
void test_growth(void);
void test_additions(void);
void test_estimates(void);
void test_dedupe(void);
void test_properties(void);
void test_laws(void);
void test_memory(void);

#endif
