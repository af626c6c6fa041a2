/* calls.h: every function that takes a filter, and the bloom table, asked about one blob. */
#ifndef CALLS_H
#define CALLS_H

#include <sqlite3.h>

#include "judge.h"

enum {
  PROBES = 24
};

/* What was seen, for the tests that say that something was. */
typedef struct Seen {
  unsigned long verdicts[3]; /* of Verdict: blobs */
  unsigned long calls;
  unsigned long answers[2]; /* bloom_contains gave 0, 1, and the judge agreed */
} Seen;

/* The connection with its statements; the extension is loaded, or compiled in. */
void calls_open(void);
void calls_close(void);

/* The golden filter that the next blobs are made from: the other operand of merges, and what the
** bloom table holds. */
void calls_original(const uint8_t *bytes, size_t size);

/* Every call with this blob, which lies in memory of exactly its size. Returns what is wrong, in
** static memory, or NULL. */
const char *calls_check(const uint8_t *bytes, size_t size, Seen *seen);

#endif
