/* builds.c: what a key costs when a filter is built, by n, p and kind of key; unions by size. */
#include "bench.h"
#include "sql.h"

#define BUILD_AT(P) "SELECT bloom_build(key, {n}, " P ") FROM present"
#define BUILD_NULL "SELECT bloom_build(key, NULL, 0.01) FROM present"

/* Tables for up to ten million keys; a hundred million are made when they are read. */
#define TEXT_KEYS PRESENT("TEXT", "hex_key") OTHERS("TEXT", "hex_key", "0.01")
#define INTEGER_KEYS PRESENT("INTEGER", "number_key") OTHERS("INTEGER", "number_key", "0.01")
#define MANY_TEXTS MADE_TEXT OTHERS("TEXT", "hex_key", "0.01")
#define MANY_INTEGERS \
  MADE_INTEGERS \
  "CREATE TABLE absent(key INTEGER);" COUNT_TO("{m}") "INSERT INTO absent SELECT -i FROM c;"

#define GIVEN(NAME, N, FIXTURE, SCATTER, LIMIT) \
  { \
    .name = "bloom_build of " NAME ", given n", .n = N, .fixture = FIXTURE, .floor = READ_KEYS, \
    .sql = BUILD, .check = RIGHT_FILTER_AT("0.01", SCATTER), .units = "{n}", .limit = LIMIT, \
    .of_limit = "count, max" \
  }
#define UNKNOWN(NAME, N, MEGABYTES, FIXTURE, SCATTER, LIMIT) \
  { \
    .name = "bloom_build of " NAME ", n NULL", .n = N, .megabytes = MEGABYTES, .fixture = FIXTURE, \
    .floor = BUILD, .sql = BUILD_NULL, \
    .check = RIGHT_FILTER_AT("0.01", SCATTER) " AND ?1 = (" BUILD ")", .units = "{n}", \
    .limit = LIMIT, .of_limit = "given n" \
  }
#define BUILDS(COUNT, N, SCATTER, TEXT_LIMIT, NULL_LIMIT) \
  GIVEN(COUNT " texts", N, TEXT_KEYS, SCATTER, TEXT_LIMIT), \
      UNKNOWN(COUNT " texts", N, 0, TEXT_KEYS, SCATTER, NULL_LIMIT), \
      GIVEN(COUNT " integers", N, INTEGER_KEYS, SCATTER, 0), \
      UNKNOWN(COUNT " integers", N, 0, INTEGER_KEYS, SCATTER, 0)

/* Memory that SQLite hands out, beyond the filter, which is in every build. */
#define MEMORY_AT(COUNT, N) \
  {.name = "memory of a build of " COUNT " keys, given n, over the filter", \
   .measure = MEMORY, \
   .n = N, \
   .fixture = TEXT_KEYS, \
   .sql = BUILD, \
   .check = NO_FALSE_NEGATIVE "1", \
   .value = "CAST(?2 AS REAL) / length(?1)"}, \
  { \
    .name = "memory of a build of " COUNT " keys, n NULL", .measure = MEMORY, .n = N, \
    .fixture = TEXT_KEYS, .sql = BUILD_NULL, .check = NO_FALSE_NEGATIVE "1", .value = "?2" \
  }

/* Ten keys in each group. Stored in the groups' order, count(*) reads the same pages as a build;
** behind an index on the group it reads the index alone, a build also looks every row up. */
#define GROUPED(COLUMNS, MORE) \
  "CREATE TABLE grouped(g INTEGER, key TEXT" COLUMNS ";" COUNT_TO( \
      "{n}") "INSERT INTO grouped SELECT i % ({n} / 10), hex_key(i, 1) FROM c ORDER BY 1, 2;" MORE \
             "CREATE TABLE filters AS SELECT bloom_build(key, 10, 0.01) AS filter FROM grouped " \
             "WHERE g = 0;"
#define IN_ORDER GROUPED(", PRIMARY KEY (g, key)) WITHOUT ROWID", "")
#define BEHIND_INDEX GROUPED(")", "CREATE INDEX by_group ON grouped(g);")
#define SHUFFLED \
  GROUPED(")", "CREATE TABLE shuffled AS SELECT * FROM grouped ORDER BY hex_key(rowid, 2);")
#define GROUPS(NAME, FIXTURE, FROM, N) \
  { \
    .name = "bloom_build of 100,000 groups of 10, " NAME, .n = MILLION, .fixture = FIXTURE, \
    .filters = {FILTER}, \
    .floor = \
        "SELECT sum(c + length(bytes)) FROM (SELECT count(*) AS c," \
        " copied(CASE WHEN g IS NOT NULL THEN ?1 END) AS bytes FROM " FROM " GROUP BY g)", \
    .sql = \
        "SELECT sum(length(f) + iif(?1 IS NULL, 0, 10)) FROM" \
        " (SELECT bloom_build(key, " N ", 0.01) AS f FROM " FROM " GROUP BY g)", \
    .check = \
        "?1 = {n} / 10 * (10 + (SELECT length(filter) FROM filters)) AND NOT EXISTS (SELECT 1" \
        " FROM (SELECT g, bloom_build(key, 10, 0.01) AS f FROM " FROM \
        " GROUP BY g LIMIT 1000) AS a JOIN grouped AS b ON b.g = a.g" \
        " WHERE NOT bloom_contains(a.f, b.key))", \
    .units = "{n}", .limit = 2, .of_limit = "count + bytes" \
  }

/* A million texts at other p. */
#define AT_P(P, SCATTER) \
  {.name = "bloom_build of 1e6 texts, p = " P, \
   .n = MILLION, \
   .fixture = KEYS_OF("TEXT", "hex_key", P), \
   .floor = READ_KEYS, \
   .sql = BUILD_AT(P), \
   .check = RIGHT_FILTER_AT(P, SCATTER), \
   .units = "{n}", \
   .of_limit = "count, max"}, \
      {.name = "bloom_contains, bound, absent text, p = " P, \
       .n = MILLION, \
       .fixture = KEYS_OF("TEXT", "hex_key", P), \
       .filters = {FILTER}, \
       .floor = SCAN, \
       .sql = ABSENT, \
       .check = RATE_IS(P, SCATTER), \
       .units = "{m}", \
       .of_limit = "length(key)"}, \
  { \
    .name = "bloom_contains, bound, present text, p = " P, .n = MILLION, \
    .fixture = KEYS_OF("TEXT", "hex_key", P), .filters = {FILTER}, .floor = LENGTH_OF("hits"), \
    .sql = PROBE_OF("hits"), .check = "?1 = {m}", .units = "{m}", .of_limit = "length(key)" \
  }

/* What bits are set changes nothing. */
#define UNION_OF(SIZE, N) \
  { \
    .name = "bloom_union of two, by size, " SIZE, .n = N, \
    .fixture = \
        "CREATE TABLE filters AS SELECT bloom_add(bloom_new({n}, 0.01), 'a', 'b') AS" \
        " filter; CREATE TABLE few(i);" COUNT_TO( \
            "max(3, 10000000 / {n})") "INSERT INTO few SELECT i FROM c LIMIT 1000;", \
    .filters = {FILTER, "SELECT bloom_add(bloom_new({n}, 0.01), 'c')"}, \
    .floor = "SELECT sum(length(copied(CASE WHEN i THEN ?1 END))) FROM few", \
    .sql = "SELECT sum(length(bloom_union(?1, CASE WHEN i THEN ?2 END))) FROM few", \
    .check = \
        "?1 = (SELECT count(*) * length(filter) FROM few, filters) AND" \
        " (SELECT bloom_union(filter, bloom_add(bloom_new({n}, 0.01), 'c')) =" \
        " bloom_add(bloom_new({n}, 0.01), 'a', 'b', 'c') FROM filters)", \
    .units = "(SELECT count(*) FROM few)", .of_limit = "copy + checksum" \
  }

const Figure bench_builds[] = {
    BUILDS("1e3", 1000, "0.05", 0, 0),
    BUILDS("1e4", 10000, "0.02", 0, 0),
    BUILDS("1e5", 100000, "0.01", 0, 0),
    BUILDS("1e6", 1000000, "0.01", 0.9, 1.7),
    BUILDS("1e7", 10000000, "0.01", 1.05, 0),
    GIVEN("1e8 texts", 100000000, MANY_TEXTS, "0.01", 0),
    GIVEN("1e8 integers", 100000000, MANY_INTEGERS, "0.01", 0),
    UNKNOWN("1e8 integers", 100000000, 4000, MANY_INTEGERS, "0.01", 0),

    GROUPS("in order", IN_ORDER, "grouped", "10"),
    GROUPS("in order, n NULL", IN_ORDER, "grouped", "NULL"),
    GROUPS("in no order", SHUFFLED, "shuffled", "10"),
    GROUPS("behind an index", BEHIND_INDEX, "grouped", "10"),

    MEMORY_AT("1e4", 10000),
    MEMORY_AT("1e5", 100000),
    MEMORY_AT("1e6", 1000000),
    MEMORY_AT("1e7", 10000000),

    AT_P("0.1", "0.01"),
    AT_P("0.001", "0.01"),
    AT_P("1e-4", "0.02"),
    AT_P("1e-6", "0.02"),
    AT_P("1e-9", "0.02"),

    UNION_OF("12 KB", 10000),
    UNION_OF("120 KB", 100000),
    UNION_OF("1.2 MB", 1000000),
    UNION_OF("12 MB", 10000000),
    UNION_OF("120 MB", 100000000),

    {.name = NULL}};
