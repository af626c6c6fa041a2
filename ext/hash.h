/* hash.h: XXH3, inlined from the xxHash package's header, so that the extension needs no library
** and exports none of its names. */
#ifndef BLOOM_HASH_H
#define BLOOM_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#endif
