/* rates.c: the false-positive rate when more keys come than a filter was made for.
**
** n = 20,000, p = 0.01, 200,000 absent keys. Sigma of a rate of p is 3 % of it: 2 % from the count,
** 2 % from the filter's fill. The limits are 5 sigma above p for a build and 2p for a table; seeds
** are fixed.
*/
#include "bench.h"
#include "sql.h"

#define ALL_KEYS \
  "CREATE TABLE present(key TEXT);" COUNT_TO("50 * {n}") \
  "INSERT INTO present SELECT hex_key(i, 1) FROM c;" \
  "CREATE TABLE absent(key TEXT);" COUNT_TO("200000") \
  "INSERT INTO absent SELECT hex_key(i, 2) FROM c;" \
  "CREATE TABLE filters(kind, load, filter);"

/* Built at once, put into a bloom table, and in a filter that stays as it is, which counting ones
** do. */
#define FIRST(LOAD) " FROM present WHERE rowid <= " LOAD " * {n};"
#define LOADED(LOAD) \
  "INSERT INTO filters SELECT 'built', " LOAD ", bloom_build(key, {n}, 0.01)" FIRST(LOAD) \
  "INSERT INTO filters SELECT 'fixed', " LOAD ", bloom_build(key, {n}, 0.01, 'counting')" \
  FIRST(LOAD) \
  "CREATE VIRTUAL TABLE grown USING bloom(n={n}, p=0.01);" \
  "INSERT INTO grown(key) SELECT key" FIRST(LOAD) \
  "INSERT INTO filters SELECT 'table', " LOAD ", bloom_snapshot('grown');" \
  "DROP TABLE grown;"
#define FILTERS \
  ALL_KEYS LOADED("0.25") LOADED("0.5") LOADED("1") LOADED("1.5") LOADED("2") LOADED("5") \
      LOADED("10") LOADED("20") LOADED("50")

/* The rate that a filter's bits tell must be the one that it has, and no key may be missing. */
#define WHERE_IS(KIND, LOAD) "FROM filters WHERE kind = '" KIND "' AND load = " LOAD
#define RATE(KIND, LOAD, LIMIT) \
  { \
    .name = "rate: " KIND ", load " LOAD, .measure = VALUE, .n = 20000, .fixture = FILTERS, \
    .filters = {"SELECT filter " WHERE_IS(KIND, LOAD)}, \
    .sql = "SELECT avg(bloom_contains(?1, key)) FROM absent", \
    .check = \
        "(SELECT min(bloom_contains((SELECT bloom_ref(filter) " WHERE_IS(KIND, LOAD) "), key))" \
        " FROM present WHERE rowid <= " LOAD " * {n}) AND" \
        " rate_holds(?1 * 200000, 200000," \
        " (SELECT bloom_fpr(filter) " WHERE_IS(KIND, LOAD) "), 0)", \
    .limit = LIMIT \
  }
#define RATES(LOAD) RATE("built", LOAD, 0.0115), RATE("table", LOAD, 0.022), RATE("fixed", LOAD, 0)

const Figure bench_rates[] = {RATES("0.25"), RATES("0.5"),  RATES("1"),  RATES("1.5"),
                              RATES("2"),    RATES("5"),    RATES("10"), RATES("20"),
                              RATES("50"),   {.name = NULL}};
