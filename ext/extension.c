/* bloom: Bloom filters as ordinary BLOB values, for SQLite 3.34 and later.
**
**   .load ./bloom
**   CREATE TABLE filters AS SELECT bloom_build(email, 100000, 0.01) AS filter FROM customers;
**   SELECT bloom_contains((SELECT bloom_ref(filter) FROM filters), 'someone@example.org');
**
** bloom_contains answers 0 for a key that was certainly never put in, so that the join, lookup or
** remote call behind it can be skipped, and 1 for one that probably was.
**
** The rooms, each calling only those below it:
**
**   extension.c    this file: the entry point
**   functions.c  aggregates.c    the SQL functions      table.c   the bloom virtual table
**   describe.c     filters as JSON                         store.c   its chunks and transactions
**   args.c         arguments checked, filters read, errors said
**   key.c          an SQLite value -> a hash
**   draft.c        filters in the making: sized, grown, merged
**   format.c       a blob <-> a view
**   filter.c       the kernel: positions, insert, contain, merge, estimate
**   sizing.c       (keys, rate) -> geometry
**
** Beside the SQL rooms stands library.c, the same for C programs without SQLite: see bloom.h.
*/
#include "extension.h"

#include "args.h"

#ifndef SQLITE_CORE
SQLITE_EXTENSION_INIT1
#endif

enum {
  OLDEST_SQLITE = 3034000
};

#if defined(_WIN32)
#define BLOOM_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define BLOOM_EXPORT __attribute__((visibility("default")))
#else
#define BLOOM_EXPORT
#endif

/* Registers a table's functions; stops at the first error. */
static int register_functions(sqlite3 *db, const BloomFunction *function) {
  int code = SQLITE_OK;
  for (; function->name && code == SQLITE_OK; function++) {
    void *state = NULL;
    if (function->state > 0) {
      state = sqlite3_malloc64(function->state);
      if (state == NULL) return SQLITE_NOMEM;
      memset(state, 0, function->state);
    }
    /* SQLite frees the state when the function goes, and also when this call fails. */
    code = sqlite3_create_function_v2(db, function->name, function->arguments,
                                      SQLITE_UTF8 | function->flags, state, function->scalar,
                                      function->step, function->final, state ? sqlite3_free : NULL);
  }
  return code;
}

/* Entry point of the loadable extension, and, with -DSQLITE_CORE, for sqlite3_auto_extension. */
BLOOM_EXPORT int sqlite3_bloom_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  int code;
#ifndef SQLITE_CORE
  SQLITE_EXTENSION_INIT2(api);
#else
  (void)api;
#endif
  if (sqlite3_libversion_number() < OLDEST_SQLITE) {
    if (error) {
      *error =
          sqlite3_mprintf("bloom needs SQLite 3.34.0 or later, this is %s", sqlite3_libversion());
    }
    return SQLITE_ERROR;
  }
  code = register_functions(db, bloom_scalar_functions);
  if (code == SQLITE_OK) code = register_functions(db, bloom_aggregate_functions);
  if (code == SQLITE_OK) code = bloom_register_table(db);
  return code;
}
