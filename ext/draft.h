/* draft.h: filters in the making: sized, grown, copied, merged.
**
** Kernel room: no SQLite. A draft owns its bytes; they come from the function that it was started
** with.
*/
#ifndef BLOOM_DRAFT_H
#define BLOOM_DRAFT_H

#include "format.h"

/* What can go wrong. Those that SQLite has too have its numbers, so that SQL rooms pass them on. On
** failure a draft is as it was, if nothing else is said. */
enum BloomCode {
  BLOOM_DONE = 0,
  BLOOM_NO_MEMORY = 7,   /* SQLITE_NOMEM */
  BLOOM_NO_LAYER = 13,   /* SQLITE_FULL: there are BLOOM_MAX_LAYERS already */
  BLOOM_TOO_LARGE = 18,  /* SQLITE_TOOBIG: over the limit */
  BLOOM_DIFFERENT = 256, /* they do not merge, see bloom_may_merge */
  BLOOM_OUTGROWN,        /* filters of more than one layer do not intersect */
  BLOOM_DAMAGED          /* the body's checksum does not match */
};

/* What a filter is asked to be. n is 0 when its keys decide it. */
typedef struct BloomParams {
  uint64_t n;
  float p;
  uint8_t kind; /* enum BloomKind */
} BloomParams;

/* A view whose bytes are owned. */
typedef struct BloomDraft {
  uint8_t *bytes; /* filter.size bytes; header and table are written at the end */
  uint64_t limit; /* of them */
  void *(*resize)(void *bytes, uint64_t size); /* as realloc; to 0 bytes: frees */
  BloomFilter filter;
} BloomDraft;

/* p as filters have it: rounded to single precision before anything uses it, so that a literal that
** two parsers read one ulp apart gives one filter. False: not from BLOOM_MIN_P to below 1. *p is
** written in any case. */
bool bloom_read_p(double number, float *p);

/* Without bytes; then one of the three below. `geometry`, unless NULL, is what bloom_geometry says
** of the parameters. */
void bloom_draft_start(BloomDraft *draft, uint64_t limit, void *(*resize)(void *, uint64_t));
int bloom_draft_start_empty(BloomDraft *draft); /* unsized, without layers */
int bloom_draft_start_sized(BloomDraft *draft, const BloomParams *params,
                            const BloomGeometry *geometry);
int bloom_draft_start_copy(BloomDraft *draft, const BloomFilter *from);
void bloom_draft_free(BloomDraft *draft);

int bloom_draft_append(BloomDraft *draft, uint64_t capacity, float rate);
int bloom_draft_append_copy(BloomDraft *draft, const BloomFilter *from, unsigned layer);

/* Adds one key to the draft's last layer, or to a new one when that is full. *fill is counted when
** it is not yet. */
int bloom_draft_add(BloomDraft *draft, uint64_t hash, BloomFill *fill);

/* How many keys a build puts into the one layer of a plain draft before later ones have to wait
** until it is known whether there are more than n; *budget is the rate that those keys leave. */
uint64_t bloom_draft_early_keys(const BloomDraft *draft, double *budget);

#ifndef BLOOM_LATE_KEYS           /* a test has fewer; the filters of other values are right too */
#define BLOOM_LATE_KEYS (1 << 23) /* early ones are at least n less so many */
#endif

/* Merges another filter into the draft; on failure the draft is spoilt. The filter's body is
** verified on the way, unless it was before. An unsized empty draft becomes a copy of the filter.
*/
int bloom_draft_take(BloomDraft *draft, const BloomFilter *filter, bool verified,
                     enum BloomMerge merge);

#endif
