/* key.h: from an SQLite value to the 64-bit hash that a filter knows it by.
**
** The only room that knows SQLite's types; with BLOOM_NO_SQLITE it is a kernel room. The rule: if
** SQLite's `=` can call two values equal under BINARY collation and any column affinity, their
** hashes are equal. FORMAT.md, "Keys", states it for other readers.
*/
#ifndef BLOOM_KEY_H
#define BLOOM_KEY_H

#include "platform.h"
#ifndef BLOOM_NO_SQLITE
#include "sqlite.h"
#endif

/* The canonical types of a key, as bits of a filter's key_types. */
enum {
  BLOOM_TYPE_INTEGER = 1, /* also integral REALs and TEXT that spells one */
  BLOOM_TYPE_REAL = 2,    /* other REALs and TEXT that spells one */
  BLOOM_TYPE_TEXT = 4,
  BLOOM_TYPE_BLOB = 8,
  BLOOM_TYPE_ALL = 15
};

typedef struct BloomKey {
  unsigned type;   /* one BLOOM_TYPE_ bit; 0 is NULL, which is no key */
  int64_t integer; /* of BLOOM_TYPE_INTEGER; of _REAL: its significant digits, with its sign, */
  int32_t power;   /* and the power of ten that they are multiplied by */
  const uint8_t *bytes; /* of BLOOM_TYPE_TEXT (UTF-8) and _BLOB: borrowed from the value */
  uint64_t size;
} BloomKey;

/* The canonical form of a value of each of SQL's types. Text is UTF-8; text and blobs are borrowed.
*/
void bloom_key_integer(BloomKey *key, int64_t integer);
void bloom_key_real(BloomKey *key, double real); /* not a NaN, which SQLite makes NULL */
void bloom_key_text(BloomKey *key, const void *text, uint64_t size);
void bloom_key_blob(BloomKey *key, const void *bytes, uint64_t size);

/* The hash of a key that is not NULL. */
uint64_t bloom_key_hash(const BloomKey *key);

/* Composite keys: the parts' canonical forms one behind the other, each as its type, then a number
** (8 bytes, of a REAL 12) or a length (8 bytes) and bytes. Equal tuples give equal blobs, others
** different ones. */
uint64_t bloom_key_encoded_size(const BloomKey *key);
uint8_t *bloom_key_encode(const BloomKey *key, uint8_t *to); /* returns the end */

#ifndef BLOOM_NO_SQLITE

/* Reads a value in its canonical form. SQLITE_OK, or SQLITE_NOMEM when SQLite could not convert
** the text to UTF-8 or expand the blob. */
int bloom_key_read(sqlite3_value *value, BloomKey *key);

/* The hash of text that may_be_number; returns the key's type bit. */
unsigned bloom_key_hash_spelt(const uint8_t *text, uint64_t size, uint64_t *hash);

/* Both in one call, for the rows of a query: the key's type bit, 0 for NULL, or -1 when memory ran
** out. */
int bloom_key_hash_value(sqlite3_value *value, uint64_t *hash);

#endif

#endif
