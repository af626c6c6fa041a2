/* filter.h: what a filter does with hashes: insert, contain, count, merge.
**
** Kernel room: no SQLite. A BloomFilter is a view: numbers decoded from a blob's header, and the
** blob's bytes, which belong to somebody else. It never allocates.
*/
#ifndef BLOOM_FILTER_H
#define BLOOM_FILTER_H

#include "sizing.h"

enum BloomKind {
  BLOOM_PLAIN = 1,
  BLOOM_COUNTING = 2
};

enum {
  BLOOM_COUNTER_MAX = 15 /* a counter that reached it is never decremented again */
};

/* The least rate of a layer, however far a filter has grown: 2^-64. */
#define BLOOM_MIN_RATE 5.421010862427522e-20

typedef struct BloomLayer {
  BloomGeometry geometry;
  uint64_t capacity; /* distinct keys that it was sized for, >= 1 */
  uint64_t offset;   /* of its cells, from the start of the blob */
  float rate;        /* false-positive rate that it was sized for, in (0, 1) */
} BloomLayer;

typedef struct BloomFilter {
  const uint8_t *bytes; /* the blob; never written through this pointer */
  uint64_t size;        /* of the blob, in bytes */
  uint64_t body;        /* offset of the first cell */
  uint64_t body_hash;   /* as the header states it */
  uint64_t n;           /* distinct keys asked for; 0 for the unsized empty filter */
  float p;              /* false-positive rate asked for; 0 for the unsized empty filter */
  uint8_t kind;         /* enum BloomKind */
  uint8_t cell_bits;    /* 1, or 4 for counters */
  uint8_t key_types;    /* BLOOM_TYPE_ bits of the keys that were put in */
  uint8_t layer_count;  /* 0 for the unsized empty filter */
  BloomLayer layers[BLOOM_MAX_LAYERS];
} BloomFilter;

/* Bytes that the cells of a layer take. */
BLOOM_INLINE uint64_t bloom_layer_bytes(const BloomGeometry *geometry, unsigned cell_bits) {
  return (bloom_cells(geometry) * cell_bits + 7) / 8;
}

/* One layer and one hash. `bytes` is the blob that the layer's offset counts from. */
bool bloom_layer_contains(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                          uint64_t hash);
unsigned bloom_layer_insert(const BloomLayer *layer, uint8_t *bytes, uint64_t hash); /* new bits */
void bloom_layer_increment(const BloomLayer *layer, uint8_t *bytes, uint64_t hash);
bool bloom_layer_decrement(const BloomLayer *layer, uint8_t *bytes, uint64_t hash); /* was in? */

/* Many hashes, their cells fetched ahead; returns how many of them set a bit that was free. */
uint64_t bloom_layer_insert_all(const BloomLayer *layer, uint8_t *bytes, const uint64_t *hashes,
                                uint64_t count);

/* Asks the caches for the cells of a key that will be inserted soon. */
void bloom_layer_prefetch(const BloomLayer *layer, const uint8_t *bytes, uint64_t hash);

/* The cells of a key, as numbers within the layer, in the order of FORMAT.md: k of them. */
void bloom_layer_positions(const BloomLayer *layer, uint64_t hash, uint64_t cells[BLOOM_MAX_K]);

/* true: the key may be in; false: it was certainly never put in. */
bool bloom_contains(const BloomFilter *filter, uint64_t hash);

/* What the cells say. */
typedef struct BloomFacts {
  uint64_t occupied; /* cells that are not 0, in all layers */
  uint64_t cells;    /* cells of all layers */
  double count;      /* estimated distinct keys, or +Inf when a layer is full */
  double rate;       /* false-positive rate now, in [0, 1] */
} BloomFacts;

void bloom_facts(const BloomFilter *filter, BloomFacts *facts);
uint64_t bloom_layer_occupied(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes);

/* Growth by additions. How full the last layer is, and may be. */
typedef struct BloomFill {
  double occupied; /* its occupied cells; less than 0: not counted yet */
  double full;     /* as many as it may have */
} BloomFill;

void bloom_count_fill(const BloomFilter *filter, BloomFill *fill);

/* Whether the last layer has no room for one more key; and the capacity and rate of the layer that
** follows it. */
bool bloom_is_full(const BloomFilter *filter, const BloomFill *fill);
uint64_t bloom_next_layer(const BloomFilter *filter, float *rate);

/* Merges the cells of a layer of `from` into one of equal geometry: cells of `into` become the
** OR (saturating sum of counters), or the AND (minimum). */
enum BloomMerge {
  BLOOM_UNION,
  BLOOM_INTERSECT
};
void bloom_merge_cells(uint8_t *into, const uint8_t *from, uint64_t size, unsigned cell_bits,
                       enum BloomMerge merge);

/* true when two layers have cells that mean the same keys. */
bool bloom_same_layer(const BloomLayer *a, const BloomLayer *b);

/* Where a merge puts a layer of another filter: into the first of the filter's first `count` layers
** that is the same and took none in this merge, which taken[] keeps; `count`: it is appended. */
unsigned bloom_place_layer(const BloomFilter *filter, unsigned count, bool taken[BLOOM_MAX_LAYERS],
                           const BloomLayer *layer);

/* true when two filters that have layers agree in kind, n, p and the first layer's geometry. */
bool bloom_may_merge(const BloomFilter *a, const BloomFilter *b);

#endif
