/* args.h: what the SQL rooms share: arguments checked, filters read, filters made, errors said.
**
** Every function here that can fail has said the error to the context when it returns false or
** NULL; the caller only cleans up.
*/
#ifndef BLOOM_ARGS_H
#define BLOOM_ARGS_H

#include "filter.h"
#include "key.h"
#include "sqlite.h"

#define BLOOM_POINTER_TYPE "bloom" /* of bloom_ref's pointer values */

/* Sets the result to an error "name: reason", with SQLite's own printf. */
void bloom_fail(sqlite3_context *context, const char *name, const char *format, ...);

/* SQLITE_NOMEM and SQLITE_TOOBIG as SQLite reports them itself. */
void bloom_fail_code(sqlite3_context *context, int code);

/* n, p and kind, as bloom_build and bloom_new take them: argv[0], argv[1], argv[2], each
** optional. n is 0 when it was NULL or left out: sized by the data. */
typedef struct BloomParams {
  uint64_t n;
  float p;      /* 0.01 when it was NULL or left out */
  uint8_t kind; /* enum BloomKind */
} BloomParams;

/* The same without a context. On false *reason says why, from sqlite3_malloc; NULL: no memory. */
bool bloom_read_params(int argc, sqlite3_value **argv, bool n_may_be_null, BloomParams *params,
                       char **reason);

bool bloom_params(sqlite3_context *context, const char *name, int argc, sqlite3_value **argv,
                  BloomParams *params);

/* A value as an error message shows it, in memory of sqlite3_malloc; NULL when that ran out. */
char *bloom_shown(sqlite3_value *value);

/* The filter in `value`: a BLOB, decoded into *room, or a bloom_ref. `whole`: also the body's
** checksum is verified. The result lives as long as the value and *room. `other`, if not NULL, is
** the argument behind it, looked at to recognise swapped arguments. */
const BloomFilter *bloom_filter_arg(sqlite3_context *context, const char *name,
                                    sqlite3_value *value, sqlite3_value *other, BloomFilter *room,
                                    bool whole);

/* A key's hash; false with the error said when memory ran out. *type is 0 for NULL. */
bool bloom_key_arg(sqlite3_context *context, sqlite3_value *value, uint64_t *hash, int *type);

/* A filter in the making: a view whose bytes are owned, from sqlite3_malloc64. */
typedef struct BloomDraft {
  uint8_t *bytes; /* filter.size bytes; header and table are written at the end */
  int limit;      /* SQLITE_LIMIT_LENGTH of the connection */
  BloomFilter filter;
} BloomDraft;

/* All return SQLITE_OK, SQLITE_NOMEM, SQLITE_TOOBIG (over the limit), or SQLITE_FULL (64 layers).
** On failure the draft is as it was. */
int bloom_draft_empty(sqlite3_context *context, BloomDraft *draft); /* unsized, without layers */
int bloom_draft_sized(sqlite3_context *context, BloomDraft *draft, const BloomParams *params);
int bloom_draft_copy(sqlite3_context *context, BloomDraft *draft, const BloomFilter *from);
int bloom_draft_append(BloomDraft *draft, uint64_t capacity, float rate);
int bloom_draft_append_copy(BloomDraft *draft, const BloomFilter *from, unsigned layer);

/* Says why a draft could not be made or grown: n, p and the sizes, what would fit. */
void bloom_fail_draft(sqlite3_context *context, const char *name, int code, uint64_t n, float p,
                      unsigned cell_bits);

/* Writes the header, hands the bytes to SQLite as the result and forgets them. */
void bloom_draft_result(sqlite3_context *context, BloomDraft *draft);
void bloom_draft_free(BloomDraft *draft);

/* Adds one key to the draft's last layer, or to a new one when that is full. *fill is counted when
** it is not yet. Code as above. */
int bloom_draft_add(BloomDraft *draft, uint64_t hash, BloomFill *fill);

/* Why two filters that bloom_may_merge refuses do not merge, in memory of sqlite3_malloc. */
char *bloom_why_not_merge(const BloomFilter *a, const BloomFilter *b);

/* Merges another filter into the draft; false with the error said, and then the draft is spoilt.
** The filter's body is verified on the way, unless it was before: a bloom_ref's. An unsized empty
** draft becomes a copy of the filter. */
bool bloom_draft_merge(sqlite3_context *context, const char *name, BloomDraft *draft,
                       const BloomFilter *filter, bool verified, enum BloomMerge merge);

#endif
