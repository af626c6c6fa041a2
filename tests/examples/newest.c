/* newest.c: lets the system's sqlite3 shell run with another libsqlite3.so.0. Preloaded.
**
** The shell compares its own source id with the library's, and stops when they differ; and it wants
** functions that a plain build of the library lacks. This gives it the id that it expects, from the
** environment, and functions for the commands that no example uses.
*/
#include <stdlib.h>

const char *sqlite3_sourceid(void);
const char *sqlite3_sourceid(void) {
  const char *id = getenv("SHELL_SOURCE_ID");
  return id ? id : "";
}

#define ABSENT(name)  \
  void *name(void);   \
  void *name(void) {  \
    abort();          \
  }
ABSENT(sqlite3_column_database_name)
ABSENT(sqlite3_column_origin_name)
ABSENT(sqlite3_column_table_name)
ABSENT(sqlite3session_attach)
ABSENT(sqlite3session_changeset)
ABSENT(sqlite3session_create)
ABSENT(sqlite3session_delete)
ABSENT(sqlite3session_enable)
ABSENT(sqlite3session_indirect)
ABSENT(sqlite3session_isempty)
ABSENT(sqlite3session_patchset)
ABSENT(sqlite3session_table_filter)
