/* queries.c: whole queries, with a filter in front and without: joins and anti-joins over keys of
** several kinds, orders, and fractions that match; small page caches and cold files.
**
** Every result is compared with that of the plain query, by count and by a sum over the rows found.
*/
#include "bench.h"
#include "sql.h"

/* `big` has {n} keys, in no order, with a value. KEY(i, seed) is the key's expression. A probe of
** hundred, shuffled, has a present key; `hit` tells. */
#define BIG(TYPE, KEY) \
  "CREATE TABLE big(key " TYPE " PRIMARY KEY, value INTEGER, active INTEGER);" COUNT_TO( \
      "{n}") "INSERT INTO big SELECT " KEY \
             "(i, 1), i, i % 2 FROM c;" \
             "CREATE TABLE filters AS SELECT bloom_build(key, {n}, 0.01) AS filter," \
             " bloom_build(key, {n}, 0.001) AS fine FROM big;"
#define PROBES_LIKE(TABLE, ROWS, TYPE, KEY, HIT, ORDER) \
  "CREATE TABLE " TABLE "(hit INTEGER, key " TYPE \
  ");" COUNT_TO(ROWS) "INSERT INTO " TABLE " SELECT " HIT ", CASE WHEN " HIT " THEN " KEY \
                      "(i * 7919 % {n} + 1, 1)" \
                      " ELSE " KEY "(i, 2) END FROM c" ORDER ";"
#define ONE_PERCENT "(i % 100 = 0)"
#define ROWS_OF(TYPE, KEY) \
  BIG(TYPE, KEY) PROBES_LIKE("probes", "{n}", TYPE, KEY, ONE_PERCENT, "") "ANALYZE;"

/* What is not a number hashes by its length alone in SQLite's own filter. */
#define HEX_KEYS ROWS_OF("TEXT", "hex_key")
#define URL_KEYS ROWS_OF("TEXT", "url_key")
#define INTEGER_KEYS ROWS_OF("INTEGER", "number_key")
#define SORTED_KEYS \
  BIG("TEXT", "hex_key") \
  PROBES_LIKE("probes", "{n}", "TEXT", "hex_key", ONE_PERCENT, " ORDER BY 2") "ANALYZE;"
#define FIVE_TIMES(TYPE, KEY) \
  BIG(TYPE, KEY) PROBES_LIKE("probes", "5 * {n}", TYPE, KEY, ONE_PERCENT, "") "ANALYZE;"
#define IN_FILE "PRAGMA cache_size = -2000; BEGIN;" FIVE_TIMES("TEXT", "hex_key") "COMMIT;"

#define MATCHING(PERCENT) \
  PROBES_LIKE("match" #PERCENT, "{n}", "TEXT", "hex_key", "(i * 7919 % 100 < " #PERCENT ")", "")
#define MATCHES \
  BIG("TEXT", "hex_key") \
  MATCHING(0) \
  MATCHING(1) MATCHING(10) MATCHING(25) MATCHING(50) MATCHING(75) MATCHING(100) "ANALYZE;"

#define CONTAINS " AND bloom_contains(?1, p.key)"
#define CONTAINS_REF " AND bloom_contains((SELECT bloom_ref(filter) FROM filters), p.key)"
/* Where one row of a hundred matches, most of what p = 0.01 lets through is in vain. */
#define CONTAINS_FINE " AND bloom_contains(?2, p.key)"
#define CONTAINS_FINE_REF " AND bloom_contains((SELECT bloom_ref(fine) FROM filters), p.key)"
#define JOIN(PROBES, MORE) \
  "SELECT count(*) || char(32) || total(big.value) FROM " PROBES \
  " AS p CROSS JOIN big ON big.key = p.key WHERE 1" MORE
#define IN_BIG(MORE) \
  "SELECT count(*) || char(32) || total(p.rowid) FROM probes AS p WHERE 1" MORE \
  " AND p.key IN (SELECT key FROM big)"
#define NOT_EXISTS \
  "SELECT count(*) || char(32) || total(p.rowid) FROM probes AS p" \
  " WHERE NOT EXISTS (SELECT 1 FROM big WHERE big.key = p.key)"
#define CERTAINLY_NOT(FILTER_FORM) \
  "SELECT count(*) || char(32) || total(p.rowid) FROM probes AS p WHERE CASE WHEN" \
  " bloom_contains(" FILTER_FORM \
  ", p.key)" \
  " THEN NOT EXISTS (SELECT 1 FROM big WHERE big.key = p.key) ELSE 1 END"
#define BUILT_INSIDE \
  " AND bloom_contains((SELECT bloom_ref(bloom_build(key, {n}, 0.01)) FROM big), p.key)"

#define QUERY(NAME, N, FIXTURE, FLOOR, SQL, EXACT, UNITS, OF, LIMIT, ...) \
  { \
    .name = "query: " NAME, .n = N, .fixture = FIXTURE, .floor = FLOOR, .sql = SQL, \
    .filters = {FILTER, "SELECT fine FROM filters"}, .check = "?1 = (" EXACT ")", .units = UNITS, \
    .of_limit = OF, .limit = LIMIT, __VA_ARGS__ \
  }
/* Against the plain query: 0.125 is eight times faster. */
#define PLAIN(NAME, FIXTURE, FLOOR, SQL, LIMIT) \
  QUERY(NAME, MILLION, FIXTURE, FLOOR, SQL, FLOOR, "{n}", "plain", LIMIT, .megabytes = 0)
/* Five million rows against a flag in the probed row, which asks nobody. */
#define IDEAL(NAME, FIXTURE, FILE, BEFORE, MORE, LIMIT) \
  QUERY("5 n rows, " NAME, MILLION, FIXTURE, IN_BIG(" AND p.hit"), IN_BIG(MORE), \
        IN_BIG(" AND p.hit"), "5 * {n}", "flag column", LIMIT, .file = FILE, \
        .before = {BEFORE, BEFORE})
#define FIRST_ROWS " AND p.rowid <= {n}"
#define FROM_FILE(NAME, BEFORE) \
  IDEAL(NAME, IN_FILE, true, BEFORE, CONTAINS, 0), \
      QUERY("n rows, " NAME, MILLION, IN_FILE, IN_BIG(FIRST_ROWS), IN_BIG(FIRST_ROWS CONTAINS), \
            IN_BIG(FIRST_ROWS), "{n}", "plain", 0, .file = true, .before = {BEFORE, BEFORE})
/* SQLite makes a filter of its own, where a second condition on the inner table cuts rows. */
#define AUTOMATIC(NAME, FIXTURE) \
  QUERY("5 n rows, " NAME, MILLION, FIXTURE, JOIN("probes", " AND big.active = 1"), \
        JOIN("probes", " AND big.active = 1" CONTAINS), \
        JOIN("probes", " AND big.active = 1") ") AND instr(plan('" JOIN( \
            "probes", " AND big.active = 1") "'), 'BLOOM FILTER'", \
        "5 * {n}", "SQLite's own", 0, .megabytes = 0)
#define FRACTION(PERCENT, LIMIT) \
  PLAIN(#PERCENT " % match", MATCHES, JOIN("match" #PERCENT, ""), \
        JOIN("match" #PERCENT, CONTAINS), LIMIT)

const Figure bench_queries[] = {
    PLAIN("join, hex keys, bound", HEX_KEYS, JOIN("probes", ""), JOIN("probes", CONTAINS), 0.125),
    PLAIN("join, hex keys, bloom_ref", HEX_KEYS, JOIN("probes", ""), JOIN("probes", CONTAINS_REF),
          0),
    PLAIN("join, hex keys, filter built in the query", HEX_KEYS, JOIN("probes", ""),
          JOIN("probes", BUILT_INSIDE), 0),
    PLAIN("IN, hex keys, bound", HEX_KEYS, IN_BIG(""), IN_BIG(CONTAINS), 0),
    PLAIN("NOT EXISTS, hex keys, bound", HEX_KEYS, NOT_EXISTS, CERTAINLY_NOT("?1"), 0.125),
    PLAIN("join, hex keys in order, bound", SORTED_KEYS, JOIN("probes", ""),
          JOIN("probes", CONTAINS), 0),
    PLAIN("join, URLs, bound", URL_KEYS, JOIN("probes", ""), JOIN("probes", CONTAINS), 0),
    PLAIN("join, integers, bound", INTEGER_KEYS, JOIN("probes", ""), JOIN("probes", CONTAINS), 0),

    FRACTION(0, 0),
    FRACTION(1, 0),
    FRACTION(10, 0),
    FRACTION(25, 0),
    FRACTION(50, 0),
    FRACTION(75, 0),
    FRACTION(100, 1.1),

    IDEAL("cached, bound", FIVE_TIMES("TEXT", "hex_key"), false, NULL, CONTAINS, 1.8),
    IDEAL("cached, bloom_ref", FIVE_TIMES("TEXT", "hex_key"), false, NULL, CONTAINS_REF, 2.1),
    IDEAL("cached, bound, p = 0.001", FIVE_TIMES("TEXT", "hex_key"), false, NULL, CONTAINS_FINE,
          1.8),
    IDEAL("cached, bloom_ref, p = 0.001", FIVE_TIMES("TEXT", "hex_key"), false, NULL,
          CONTAINS_FINE_REF, 2.1),
    AUTOMATIC("hex keys, second condition", FIVE_TIMES("TEXT", "hex_key")),
    AUTOMATIC("integers, second condition", FIVE_TIMES("INTEGER", "number_key")),
    FROM_FILE("2 MB page cache", NULL),
    FROM_FILE("2 MB page cache, cold file", "SELECT forget_pages()"),

    {.name = NULL}};
