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

#endif
