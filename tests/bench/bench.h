/* bench.h: what a figure of the bench is. figures.c is the list, bench.c runs it, helpers.c has the
** SQL functions that the list uses. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

typedef enum Measure {
  TIME,   /* of `sql`, as a ratio to that of `floor` in the same run */
  MEMORY, /* peak of SQLite's allocations while `sql` runs: see `value` */
  READS,  /* pages that `sql` reads on a connection of its own, the most of any key */
  VALUE   /* the result of `sql` */
} Measure;

#define MILLION 1000000
#define MEGABYTE 1e6

/* All texts are SQL. {n} stands for n and {m} for m, or less in the short forms. `sql` and `floor`
** return one row; ?1 and ?2 in them are the filters. */
typedef struct Figure {
  const char *name;
  Measure measure;
  int64_t n;              /* keys in the filter */
  int64_t m;              /* keys to probe; 0: as many as n, a million at most */
  int megabytes;          /* of memory that this needs at full length; 0: little */
  const char *fixture;    /* makes the tables; neighbours with the same one share the database */
  const char *filters[2]; /* queries for what is bound to ?1 and ?2; NULL: nothing */
  const char *keys;       /* query for keys of hex_key; ?1: the number of the run */
  const char *before[2];  /* done before every run of `floor` and of `sql`, not measured; NULL */
  bool file;              /* the tables are in a file, and times are by the wall clock */
  bool cpu;               /* but by the processor's: what the disk takes is not in them */
  bool transaction;       /* the executions for all keys are one transaction */
  const char *floor;      /* TIME: what is divided by; MEMORY, READS: its amount is ?3 of `value` */
  const char *sql;
  const char *check;    /* expression that is true when ?1, the result of `sql`, is right */
  const char *value;    /* MEMORY, READS: expression of ?1, the result, ?2, the amount, and ?3 */
  const char *units;    /* TIME: expression for the rows or calls that a time is divided by */
  double limit;         /* of the ratio or the value; 0: for information */
  double newer_limit;   /* that from SQLite 3.43 on; 0: the same */
  double instructions;  /* TIME: limit per unit, 0: none; SQLite's own are counted too */
  const char *of_limit; /* what the limit is of, where the name does not say it; NULL */
} Figure;

/* Each list is closed by a figure without a name; the list of them by NULL. */
extern const Figure *const bench_lists[];
extern const Figure bench_figures[], bench_probes[], bench_builds[], bench_queries[], bench_rates[];

/* Registers on a connection:
**
**   hex_key(i, seed)             20 hex digits, different for every pair, in shuffled order
**   number_key, digit_key, blob_key, url_key
**                                the same as integers, all-digit text, blobs and URLs
**   hash64(key)                  for a rival: an index on the hash of a text
**   no_work(x, key)              floor: a function that does nothing
**   line_read(blob, key)         floor: one that reads the one line of the blob that the key says
**   plan(sql)                    how SQLite runs it
**   forget_pages()               the pages of the database's file leave all caches
**   python(script, n)            the number that it prints
**   loading()                    ms that loading the extension takes; median of 101 connections
**   copied(blob)                 floor: a copy of the blob, with one checksum taken
**   checksums(blob)              floor, aggregate: the checksum of all blobs
**   formula_bytes(n, p)          -n ln p / (ln 2)^2 / 8
**   rate_holds(count, rows, p, scatter)
**                                count of false positives is within 5 sigma of at most p, and not
**                                so low that the filter cannot be what it says; see helpers.c
*/
int bench_register(sqlite3 *db);

#endif
