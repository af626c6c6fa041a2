/* sql.h: the SQL that figures share.
**
** The floors are what a query over the same rows costs without a filter: length(key) reads the
** key's header only, so a ratio to it flatters nothing; count and max read the key. Absent keys are
** shuffled and of the same length as the present ones.
*/
#ifndef BENCH_SQL_H
#define BENCH_SQL_H

#define COUNT_TO(N) \
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < " N ") "

/* {n} keys in `present`, {m} others in `absent`, as many of the present ones as there are, {m} at
** most, in `hits`, and a filter of the present. KEY is the name of a function of bench.h. */
#define PRESENT(TYPE, KEY) \
  "CREATE TABLE present(key " TYPE ");" COUNT_TO("{n}") "INSERT INTO present SELECT " KEY \
                                                        "(i, 1) FROM c;"
#define OTHERS(TYPE, KEY, P) \
  "CREATE TABLE absent(key " TYPE \
  ");" COUNT_TO("{m}") "INSERT INTO absent SELECT " KEY \
                       "(i, 2) FROM c;" \
                       "CREATE TABLE hits(key " TYPE \
                       ");" \
                       "INSERT INTO hits SELECT key FROM present LIMIT {m};" \
                       "CREATE TABLE filters AS SELECT bloom_build(key, {n}, " P \
                       ") AS filter FROM present;"
#define KEYS_OF(TYPE, KEY, P) PRESENT(TYPE, KEY) OTHERS(TYPE, KEY, P)
#define KEYS \
  KEYS_OF("TEXT", "hex_key", "0.01") \
  "CREATE TABLE few AS SELECT key FROM absent WHERE rowid <= 100;"

/* Keys that are not stored but made when they are asked for, so that a hundred million need no
** memory: (i, j) gives the numbers from 1 to {n}, which is a multiple of 100. */
#define MADE(KEY) \
  "CREATE TABLE tens(j); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c" \
  " WHERE i < 100) INSERT INTO tens SELECT i FROM c;" \
  "CREATE TABLE rest(i);" COUNT_TO("{n} / 100") "INSERT INTO rest SELECT i FROM c;" \
  "CREATE VIEW present AS SELECT " KEY " AS key FROM rest CROSS JOIN tens;"
#define MADE_TEXT MADE("hex_key((i - 1) * 100 + j, 1)")
#define MADE_INTEGERS MADE("(i - 1) * 100 + j")

#define FILTER "SELECT filter FROM filters"
#define LENGTH_OF(WHICH) "SELECT count(*) FROM " WHICH " WHERE length(key) = 0"
#define SCAN LENGTH_OF("absent")
#define PROBE_OF(WHICH) "SELECT count(*) FROM " WHICH " WHERE bloom_contains(?1, key)"
#define ABSENT PROBE_OF("absent")
#define REF_ABSENT \
  "SELECT count(*) FROM absent" \
  " WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters), key)"
#define LOOKUP_ABSENT "SELECT count(*) FROM absent WHERE bloom_lookup('seen', key)"
#define EXISTS(WHICH, TABLE) \
  "SELECT count(*) FROM " WHICH \
  " AS k WHERE EXISTS" \
  " (SELECT 1 FROM " TABLE " AS t WHERE t.key = k.key)"
#define RATE_IS(P, SCATTER) "rate_holds(?1, {m}, " P ", " SCATTER ")"
#define FALSE_POSITIVES RATE_IS("0.01", "0.01")
#define READ_KEYS "SELECT count(key), max(key) FROM present"
#define BUILD "SELECT bloom_build(key, {n}, 0.01) FROM present"
#define NO_FALSE_NEGATIVE "(SELECT count(*) FROM present WHERE bloom_contains(?1, key)) = {n} AND "
#define RIGHT_FILTER_AT(P, SCATTER) \
  NO_FALSE_NEGATIVE "rate_holds((" ABSENT "), {m}, " P ", " SCATTER ")"
#define RIGHT_FILTER RIGHT_FILTER_AT("0.01", "0.01")
#define GROWN_FILTER RIGHT_FILTER_AT("0.01", "0.05")

#endif
