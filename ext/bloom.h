/* bloom.h: the SQLite extension compiled in, and its filters without SQLite.
**
** Goes with bloom.c, all of the extension in one file (`make amalgamation`): C11, nothing but libc
** and libm. This header is for C11 and C++11 and later.
**
** 1. In a program with SQLite, compile bloom.c with -DSQLITE_CORE beside sqlite3.h and
** sqlite3ext.h, and before the first connection is opened:
**
**      sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
**
** 2. In any program, also one without SQLite (then with -DBLOOM_NO_SQLITE): filters that SQL reads,
**    and filters that SQL made. The bytes are those of bloom_build and bloom_union.
**
**      unsigned types = 0;
**      uint64_t hashes[2] = {bloom_hash_text("apple", 5, &types), bloom_hash_integer(7, &types)};
**      char error[BLOOM_ERROR_BYTES];
**      BloomBlob blob;
**      bool built = bloom_blob_build(&blob, hashes, 2, types, 1000, 0.01, false, error);
**      if (!built) return puts(error);
**      BloomReader *reader = bloom_reader_open(blob.bytes, blob.size, error);
**      if (reader == NULL) return puts(error);
**      printf("%d\n", bloom_reader_contains(reader, bloom_hash_text("fig", 3, NULL)));
**      bloom_reader_close(reader);
**      bloom_blob_free(&blob);
**
** Add -ffp-contract=off to the compiler's flags, so that every machine computes the same sizes.
** FORMAT.md specifies the bytes. Nothing here has state: calls on different objects may run in
** different threads, and one reader may be asked by many.
*/
#ifndef BLOOM_H
#define BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOOM_VERSION "0.1.0" /* the only place where it stands */

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;
struct sqlite3_api_routines;

/* The extension's entry point; for sqlite3_auto_extension, or to be called with a connection and
** two NULLs. Returns an SQLite code. */
int sqlite3_bloom_init(struct sqlite3 *db, char **error, const struct sqlite3_api_routines *api);

/* ---- keys ----
**
** The hash that a filter knows a key by. Values that SQLite's `=` can call equal have one hash, so
** the text "5", the integer 5 and the real 5.0 do. `types`, if not NULL, gets the key's type added,
** for bloom_blob_build. A NULL of SQL is no key: it is neither put in nor asked for.
*/
uint64_t bloom_hash_integer(int64_t integer, unsigned *types);
uint64_t bloom_hash_real(double real, unsigned *types); /* not a NaN, which SQLite makes NULL */
uint64_t bloom_hash_text(const char *utf8, size_t size, unsigned *types); /* size in bytes */
uint64_t bloom_hash_blob(const void *bytes, size_t size, unsigned *types);

/* ---- filters ----
**
** A function that returns false or NULL has said why in `error`, unless that is NULL, and has
** changed nothing.
*/
#define BLOOM_ERROR_BYTES 160

/* The bytes of a filter, as in an SQL BLOB, from malloc. */
typedef struct BloomBlob {
  uint8_t *bytes;
  size_t size;
} BloomBlob;

void bloom_blob_free(BloomBlob *blob); /* also one of {NULL, 0} */

/* The filter of `count` keys, as bloom_build(key, n, p) makes it of rows in this order; with
** `counting` as bloom_build(key, n, p, 'counting').
**
** n       distinct keys that are expected, 1 to 2^63-1; 0: as many as there are. More than n keys
**         are no error, the filter grows.
** p       false-positive rate, 1e-9 to below 1
** hashes  each may come any number of times; they are left in another order, and some are lost
** types   what the calls of bloom_hash_ that made them collected; kept in the filter to look at
**
** Where there are over 8,388,608 keys more than n, the layers are not those that SQL makes, which
** has no array of all keys to count them in; the filter is as good.
*/
bool bloom_blob_build(BloomBlob *blob, uint64_t *hashes, size_t count, unsigned types, uint64_t n,
                      double p, bool counting, char error[BLOOM_ERROR_BYTES]);

/* Puts the keys of another filter, of the same kind, n and p, into *blob; {NULL, 0} becomes a copy
** of it. The bytes are those of bloom_union(blob, other). */
bool bloom_blob_union(BloomBlob *blob, const void *other, size_t size,
                      char error[BLOOM_ERROR_BYTES]);

/* A filter that is asked. It is checked whole when it is opened, so damage is never an answer. The
** bytes are not copied: they stay where they are, unchanged, until the reader is closed. */
typedef struct BloomReader BloomReader;

BloomReader *bloom_reader_open(const void *bytes, size_t size, char error[BLOOM_ERROR_BYTES]);
bool bloom_reader_contains(const BloomReader *reader, uint64_t hash); /* false: certainly not in */
void bloom_reader_close(BloomReader *reader);                         /* also NULL */

#ifdef __cplusplus
}
#endif

#endif
