/* load.c: loads the extension and prints what a few queries say; built for each platform of a
** release, with SQLite compiled in. load LIBRARY */
#include <sqlite3.h>
#include <stdio.h>

static int print(void *unused, int columns, char **values, char **names) {
  (void)unused, (void)names;
  for (int i = 0; i < columns; i++)
    printf("%s%s", i > 0 ? " " : "", values[i] ? values[i] : "NULL");
  printf("\n");
  return 0;
}

int main(int argc, char **argv) {
  sqlite3 *db;
  char *error = NULL;
  if (argc != 2 || sqlite3_open(":memory:", &db) != SQLITE_OK) return 2;
  sqlite3_enable_load_extension(db, 1);
  if (sqlite3_load_extension(db, argv[1], NULL, &error) != SQLITE_OK ||
      sqlite3_exec(
          db,
          "CREATE TABLE keys AS WITH RECURSIVE c(v) AS"
          "  (SELECT 1 UNION ALL SELECT v + 1 FROM c WHERE v < 30000) SELECT v FROM c;"
          "CREATE TABLE filters AS SELECT bloom_build(v, 20000, 0.001) AS filter FROM keys;"
          "SELECT json_extract(bloom_info(filter), '$.checksum'), bloom_fpr(filter),"
          "  bloom_contains(filter, 'apple') FROM filters;"
          "SELECT sum(bloom_contains((SELECT bloom_ref(filter) FROM filters), v)) FROM keys;"
          "CREATE VIRTUAL TABLE seen USING bloom(n=1000);"
          "INSERT INTO seen(key) SELECT v FROM keys WHERE v < 1000;"
          "SELECT bloom_lookup('seen', 999), bloom_lookup('seen', -1), bloom_version()",
          print, NULL, &error) != SQLITE_OK) {
    printf("%s\n", error);
    return 1;
  }
  return 0;
}
