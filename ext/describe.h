/* describe.h: what a filter knows of itself, as JSON. */
#ifndef BLOOM_DESCRIBE_H
#define BLOOM_DESCRIBE_H

#include "filter.h"
#include "sqlite.h"

/* bloom_info and bloom_status: version, kind, layout, n, p, k, bits, bytes, layers, bits_set, fill,
** count, fpr, key_types, checksum, layer_table. Reads every cell. */
void bloom_describe(sqlite3_context *context, const BloomFilter *filter);

/* bloom_explain: the key's type and hash, and in each layer its lines, positions and what is there.
*/
void bloom_describe_key(sqlite3_context *context, const BloomFilter *filter, uint64_t hash,
                        uint8_t type);

#endif
