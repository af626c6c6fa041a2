/* keyhash.h: the shortest way from a value to its hash, for the functions that go it once a row.
**
** Text that is no number, and integers, are hashed in the caller itself; all other values go
** through key.c, which gives the same hashes.
*/
#ifndef BLOOM_KEYHASH_H
#define BLOOM_KEYHASH_H

#include "hash.h"
#include "key.h"

enum {
  SEED_INTEGER = 1,
  SEED_REAL = 2,
  SEED_TEXT = 0, /* the common long key: other seeds cost XXH3 more above 240 bytes */
  SEED_BLOB = 3
};

/* Of the two top bits of its bytes a spelt number has at most one set: the second of its e. Two of
** them in the first or the last eight bytes, and the text is no number: one predictable branch for
** almost every word, URL or hex key. A NUL ends the number, so then the bytes behind it do not
** count. */
BLOOM_INLINE bool two_letters(uint64_t word) {
  word &= UINT64_C(0xc0c0c0c0c0c0c0c0);
  return (word & wrapping_sub(word, 1)) != 0;
}

BLOOM_INLINE bool has_nul(uint64_t word) {
  return (wrapping_sub(word, UINT64_C(0x0101010101010101)) & ~word &
          UINT64_C(0x8080808080808080)) != 0;
}

BLOOM_INLINE bool may_be_number(const uint8_t *text, uint64_t size) {
  if (size < 8) return size > 0;
  uint64_t first = load_le64(text);
  if (BLOOM_LIKELY(two_letters(first))) return has_nul(first);
  return !two_letters(load_le64(text + size - 8)) || memchr(text, 0, (size_t)size) != NULL;
}

BLOOM_INLINE uint64_t hash_integer(int64_t integer) {
  uint8_t bytes[8];
  store_le64(bytes, (uint64_t)integer);
  return XXH3_64bits_withSeed(bytes, sizeof bytes, SEED_INTEGER);
}

#ifndef BLOOM_NO_SQLITE

/* bloom_key_hash_value, inlined. */
BLOOM_INLINE int hash_of_value(sqlite3_value *value, uint64_t *hash) {
  int type = sqlite3_value_type(value);
  if (type == SQLITE_TEXT) {
    const uint8_t *text = sqlite3_value_text(value);
    uint64_t size = (uint64_t)sqlite3_value_bytes(value);
    if (BLOOM_UNLIKELY(text == NULL)) return -1;
    if (BLOOM_UNLIKELY(may_be_number(text, size))) {
      return (int)bloom_key_hash_spelt(text, size, hash);
    }
    *hash = XXH3_64bits(text, (size_t)size);
    return BLOOM_TYPE_TEXT;
  } else if (type == SQLITE_INTEGER) {
    *hash = hash_integer(sqlite3_value_int64(value));
    return BLOOM_TYPE_INTEGER;
  }
  return bloom_key_hash_value(value, hash);
}

#endif

#endif
