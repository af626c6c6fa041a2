/* auto.c: linked into a program with -DSQLITE_CORE, it registers the extension before main. */
#include <sqlite3.h>

int sqlite3_bloom_init(sqlite3 *db, char **error, const struct sqlite3_api_routines *api);

__attribute__((constructor)) static void register_bloom(void) {
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
}
