/* args.h: what the SQL rooms share: arguments checked, filters read, filters made, errors said.
**
** Every function here that can fail has said the error to the context when it returns false or
** NULL; the caller only cleans up.
*/
#ifndef BLOOM_ARGS_H
#define BLOOM_ARGS_H

#include "draft.h"
#include "key.h"
#include "sqlite.h"

#define BLOOM_POINTER_TYPE "bloom" /* of bloom_ref's pointer values */

/* Sets the result to an error "name: reason", with SQLite's own printf. */
void bloom_fail(sqlite3_context *context, const char *name, const char *format, ...);

/* SQLITE_NOMEM and SQLITE_TOOBIG as SQLite reports them itself. */
void bloom_fail_code(sqlite3_context *context, int code);

/* n, p and kind, as bloom_build and bloom_new take them: argv[0], argv[1], argv[2], each
** optional. Left out or NULL: n is 0, sized by the data; p is 0.01; kind is plain. On false *reason
** says why, from sqlite3_malloc; NULL: no memory. */
bool bloom_read_params(int argc, sqlite3_value **argv, bool n_may_be_null, BloomParams *params,
                       char **reason);

/* The same with the error said to the context. */
bool bloom_params(sqlite3_context *context, const char *name, int argc, sqlite3_value **argv,
                  BloomParams *params);

/* The filter in `value`: a BLOB, decoded into *room, or a bloom_ref. `whole`: also the body's
** checksum is verified. The result lives as long as the value and *room. `other`, if not NULL, is
** the argument behind it, looked at to recognise swapped arguments. */
const BloomFilter *bloom_filter_arg(sqlite3_context *context, const char *name,
                                    sqlite3_value *value, sqlite3_value *other, BloomFilter *room,
                                    bool whole);

/* A key's hash; false with the error said when memory ran out. *type is 0 for NULL. */
bool bloom_key_arg(sqlite3_context *context, sqlite3_value *value, uint64_t *hash, int *type);

BLOOM_INLINE const char *bloom_kind_name(uint8_t kind) {
  return kind == BLOOM_COUNTING ? "counting" : "plain";
}

/* Drafts with SQLite's memory and the connection's SQLITE_LIMIT_LENGTH; codes are those of draft.h.
*/
int bloom_draft_empty(sqlite3_context *context, BloomDraft *draft); /* unsized, without layers */
int bloom_draft_sized(sqlite3_context *context, BloomDraft *draft, const BloomParams *params,
                      const BloomGeometry *geometry);
int bloom_draft_copy(sqlite3_context *context, BloomDraft *draft, const BloomFilter *from);

/* Says why a draft could not be made or grown: n, p and the sizes, what would fit. */
void bloom_fail_draft(sqlite3_context *context, const char *name, int code, uint64_t n, float p,
                      unsigned cell_bits);

/* Writes the header, hands the bytes to SQLite as the result and forgets them. */
void bloom_draft_result(sqlite3_context *context, BloomDraft *draft);

/* Why two filters that bloom_may_merge refuses do not merge, in memory of sqlite3_malloc. */
char *bloom_why_not_merge(const BloomFilter *a, const BloomFilter *b);

/* bloom_draft_take, with the error said. `verified`: a bloom_ref's body was, when it was made. */
bool bloom_draft_merge(sqlite3_context *context, const char *name, BloomDraft *draft,
                       const BloomFilter *filter, bool verified, enum BloomMerge merge);

#endif
