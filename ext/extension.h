/* extension.h: what the rooms of SQL functions offer to the entry point. */
#ifndef BLOOM_EXTENSION_H
#define BLOOM_EXTENSION_H

#include <stddef.h>

#include "bloom.h"
#include "sqlite.h"

/* One row of a room's table of functions, closed by a row without a name. A row has either
** `scalar`, or `step` and `final`. */
typedef struct BloomFunction {
  const char *name;
  int arguments; /* -1: any number */
  int flags;     /* beside SQLITE_UTF8 */
  void (*scalar)(sqlite3_context *context, int argc, sqlite3_value **argv);
  void (*step)(sqlite3_context *context, int argc, sqlite3_value **argv);
  void (*final)(sqlite3_context *context);
  size_t state; /* bytes of zeroed memory that sqlite3_user_data gives, per registration */
} BloomFunction;

/* Pure functions: the same arguments give the same result, and nothing else is touched. */
#define BLOOM_PURE (SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

extern const BloomFunction bloom_scalar_functions[];
extern const BloomFunction bloom_aggregate_functions[];

/* The bloom module, and the functions that look into its tables. */
int bloom_register_table(sqlite3 *db);

#endif
