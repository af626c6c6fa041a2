/* follow.h: of='customers(email)': a bloom table that SQLite's own triggers keep in step with a
** column, or an expression over columns, of another table of the same schema.
**
** Beside the table T stand, on the source, the triggers T_insert and T_update, and for counting
** tables T_delete and T_forget. Each evaluates the key over the new (or old) row:
**
**   CREATE TRIGGER "T_insert" AFTER INSERT ON "customers" BEGIN INSERT INTO "T"(key)
**     SELECT lower(email) FROM (SELECT +new."email" AS "email"); END
**
** so that renaming the column changes new."email" and nothing else. The + takes the column's
** affinity away, which a trigger does not see: so the key is the same wherever it is computed. When
** a trigger is missing or is not as it was made, the table is detached, and every read is an error.
**
** All functions that return int return an SQLite code; the text for the user is in store->error.
*/
#ifndef BLOOM_FOLLOW_H
#define BLOOM_FOLLOW_H

#include "store.h"

/* Before a table is made: what of= and the names of its triggers leave to be refused. */
int bloom_follow_prepare(BloomStore *store);

/* Makes the triggers if they do not stand, and fills the table from its source. n = 0: a quarter
** more than the source has rows. Also what `rebuild` does. */
int bloom_follow_build(BloomStore *store, uint64_t n, float p, uint8_t kind);

/* SQLITE_OK when the table is in step with its source, and when it follows none. Inside a
** transaction, after bloom_store_validate. */
int bloom_follow_check(BloomStore *store);

/* Drops the triggers; and makes them again, on a table that is called `name` from now on. */
int bloom_follow_stop(BloomStore *store);
int bloom_follow_rename(BloomStore *store, const char *name);

/* Looks up every key of the source: SQLITE_OK and *missing is how many of them were not found. A
** key with functions that are not innocuous is not evaluated, and none is missing. */
int bloom_follow_verify(BloomStore *store, sqlite3_int64 *missing);

#endif
