/* hashes.h: sets of hashes that wait to be put into a layer.
**
** Kernel room: no SQLite; works in the caller's memory, and takes none of its own.
*/
#ifndef BLOOM_HASHES_H
#define BLOOM_HASHES_H

#include "platform.h"

/* Sorts `count` hashes in place and keeps at most `copies` (>= 1) of each at the front. Returns how
** many are kept; *distinct, if not NULL, is the number of different ones. */
uint64_t bloom_hashes_unique(uint64_t *hashes, uint64_t count, unsigned copies, uint64_t *distinct);

/* The same with one copy of each, for hashes of which the first `sorted` are so already. They stay
** where they are; those kept of the others follow in order. */
uint64_t bloom_hashes_new(uint64_t *hashes, uint64_t sorted, uint64_t count);

/* Makes one order of the two that bloom_hashes_new leaves. Needs memory for the second one again
** behind the hashes. */
void bloom_hashes_merge(uint64_t *hashes, uint64_t sorted, uint64_t count);

#endif
