/* sqlite.h: the SQLite interface, as a loadable extension or compiled in with -DSQLITE_CORE. */
#ifndef BLOOM_SQLITE_H
#define BLOOM_SQLITE_H

#include <sqlite3ext.h>

#ifndef SQLITE_CORE
extern const sqlite3_api_routines *sqlite3_api; /* set by the entry point, in extension.c */
#endif

#endif
