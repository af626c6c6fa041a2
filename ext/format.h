/* format.h: blob <-> view. FORMAT.md is the specification, this is the one gate to it.
**
** Kernel room: no SQLite.
*/
#ifndef BLOOM_FORMAT_H
#define BLOOM_FORMAT_H

#include "filter.h"

enum {
  BLOOM_FORMAT_VERSION = 1,
  BLOOM_HASH_SCHEME = 1,
  BLOOM_FIXED_BYTES = 32, /* of the header, before the layer table */
  BLOOM_LAYER_BYTES = 32, /* of one entry of the layer table */
  BLOOM_CHECK_BYTES = 8,  /* of the header's checksum, behind the table */
  BLOOM_REASON_BYTES = 160
};

#define BLOOM_MIN_P 1e-9 /* the smallest p that a user may ask for */

BLOOM_INLINE uint64_t bloom_header_bytes(unsigned layers) {
  return BLOOM_FIXED_BYTES + (uint64_t)layers * BLOOM_LAYER_BYTES + BLOOM_CHECK_BYTES;
}

/* true when the bytes begin as a filter does, whatever follows. */
bool bloom_looks_like_filter(const void *bytes, uint64_t size);

/* Checks all of the header and that `size` is exactly what it says, then fills *filter (only its
** first layer_count layers). The cells are not read. On false, `reason` says what is wrong; the
** bytes may be anything. */
bool bloom_decode(const void *bytes, uint64_t size, BloomFilter *filter,
                  char reason[BLOOM_REASON_BYTES]);

/* The header alone, in front of whatever follows: the bloom table keeps it in a row of its own. The
** view's size is what the header says, not what was given. */
bool bloom_decode_header(const void *bytes, uint64_t size, BloomFilter *filter,
                         char reason[BLOOM_REASON_BYTES]);

/* The bits behind a flat layer's last cell, up to the end of its last byte. `bytes` is what the
** layer's offset counts from. */
bool bloom_padding_is_zero(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes);

/* Reads every cell: true when the body's checksum holds and the padding is 0. */
bool bloom_intact(const BloomFilter *filter);
#define BLOOM_BODY_DAMAGED "damaged filter: the body's checksum does not match" /* if not */

/* The same while the cells are merged into those of an equal layer: each block is read once, for
** its hash and for the merge. On false `into` is spoilt. The filter has one layer. */
bool bloom_merge_intact(uint8_t *into, const BloomFilter *filter, enum BloomMerge merge);

/* Adds a layer to the view: its offset, the new body and size. Nothing is written. The caller sees
** to it that there are fewer than BLOOM_MAX_LAYERS. */
void bloom_append_layer(BloomFilter *filter, uint64_t capacity, float rate,
                        const BloomGeometry *geometry);

/* Writes header, layer table and both checksums in front of the cells, which are in place. `bytes`
** has filter->size bytes. */
void bloom_encode(const BloomFilter *filter, uint8_t *bytes);

/* The header and layer table alone: bloom_header_bytes(layer_count) bytes. */
void bloom_encode_header(const BloomFilter *filter, uint64_t body_hash, uint8_t *bytes);

#endif
