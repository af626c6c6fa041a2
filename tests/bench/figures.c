/* figures.c: the figures of the bench, as data. bench.h says what the columns mean.
**
** The floors are what a query over the same rows costs without a filter: length(key) reads the
** key's header only, so a ratio to it flatters nothing; count and max read the key. Absent keys are
** shuffled and of the same length as the present ones.
*/
#include "bench.h"

#define COUNT_TO(N) \
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < " N ") "

/* {n} keys to build from, {m} others to ask for, and a filter of the first. */
#define KEYS \
  "CREATE TABLE present(key TEXT);" \
  "CREATE TABLE absent(key TEXT);" COUNT_TO("{n}") \
  "INSERT INTO present SELECT hex_key(i, 1) FROM c;" COUNT_TO("{m}") \
  "INSERT INTO absent SELECT hex_key(i, 2) FROM c;" \
  "CREATE TABLE filters AS SELECT bloom_build(key, {n}, 0.01) AS filter FROM present;" \
  "CREATE TABLE few AS SELECT key FROM absent WHERE rowid <= 100;"

/* A hundred filters of {n}, of a hundredth of the keys each. */
#define SHARDS \
  KEYS "CREATE TABLE shards AS SELECT rowid % 100 AS id, bloom_build(key, {n}, 0.01) AS filter" \
       " FROM present GROUP BY 1;"

/* Sizes of 1,000 to 100,000,000 keys at p of at most 0.1. */
#define SIZES \
  "CREATE TABLE sizes(n, p, bytes, formula);" \
  "WITH RECURSIVE c(n) AS (SELECT 1000 UNION ALL SELECT n + n / 20 FROM c WHERE n < 100000000)," \
  " r(p) AS (VALUES (0.1), (0.05), (0.02), (0.01), (0.003), (0.001), (1e-4), (1e-5), (1e-6)," \
  " (1e-7), (1e-9))" \
  "INSERT INTO sizes SELECT n, p, bloom_size(n, p) - 72, formula_bytes(n, p) FROM c, r;"

/* Where layer 0 of n keys at 1 % has used half of its budget, 13 % of them are to come. */
#define TAIL_BYTES "8 * 0.13 * {n}"

#define FILTER "SELECT filter FROM filters"
#define SCAN "SELECT count(*) FROM absent WHERE length(key) = 0"
#define ABSENT "SELECT count(*) FROM absent WHERE bloom_contains(?1, key)"
#define REF_ABSENT \
  "SELECT count(*) FROM absent" \
  " WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters), key)"
#define FALSE_POSITIVES "rate_holds(?1, {m}, 0.01, 0.01)"
#define READ_KEYS "SELECT count(key), max(key) FROM present"
#define BUILD "SELECT bloom_build(key, {n}, 0.01) FROM present"
#define NO_FALSE_NEGATIVE "(SELECT count(*) FROM present WHERE bloom_contains(?1, key)) = {n} AND "
#define RIGHT_FILTER NO_FALSE_NEGATIVE "rate_holds((" ABSENT "), {m}, 0.01, 0.01)"
#define GROWN_FILTER NO_FALSE_NEGATIVE "rate_holds((" ABSENT "), {m}, 0.01, 0.05)"
#define MILLION 1000000
#define MEGABYTE 1e6

/* Several numbers of keys, since the buffer of hashes grows in steps. */
#define BUILD_MEMORY(NAME, KEYS_TO_BUILD) \
  { \
    .name = "memory of a build of " NAME " keys, n NULL, bytes a key", .measure = MEMORY, \
    .n = MILLION, .fixture = SHARDS, \
    .sql = "SELECT bloom_build(key, NULL, 0.01) FROM present WHERE rowid <= " KEYS_TO_BUILD, \
    .check = "json_extract(bloom_info(?1), '$.n') = " KEYS_TO_BUILD \
             " AND (SELECT" \
             " min(bloom_contains(?1, key)) FROM present WHERE rowid <= " KEYS_TO_BUILD ")", \
    .value = "CAST(?2 AS REAL) / " KEYS_TO_BUILD, .limit = 24 \
  }

const Figure bench_figures[] = {
    {.name = "size of flat filters, n >= 1000, over -n ln p / (ln 2)^2 / 8",
     .measure = VALUE,
     .fixture = SIZES,
     .sql = "SELECT max(bytes / formula) FROM sizes WHERE bytes < 16384",
     .check = "(SELECT count(*) FROM sizes WHERE bytes < 16384 AND"
              " length(bloom_new(n, p)) <> bytes + 72) = 0",
     .limit = 1.007},
    {.name = "size of lines filters over -n ln p / (ln 2)^2 / 8",
     .measure = VALUE,
     .fixture = SIZES,
     .sql = "SELECT max(bytes / formula) FROM sizes WHERE bytes >= 16384",
     .check = "(SELECT count(*) FROM sizes WHERE bytes >= 16384 AND bytes < 200000 AND"
              " length(bloom_new(n, p)) <> bytes + 72) = 0",
     .limit = 1.014},
    {.name = "header and layer table, bytes",
     .measure = VALUE,
     .fixture = SIZES,
     .sql = "SELECT max(length(f) - (json_extract(bloom_info(f), '$.bits') + 63) / 64 * 8)"
            " FROM (SELECT bloom_new(n, p) AS f FROM sizes WHERE bytes < 100000)",
     .check = "?1 >= 32",
     .limit = 99},

    {.name = "bloom_contains, bound, absent text, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .filters = {FILTER},
     .floor = SCAN,
     .sql = ABSENT,
     .check = FALSE_POSITIVES,
     .units = "{m}",
     .limit = 1.3,
     .instructions = 720,
     .of_limit = "length(key)"},
    {.name = "bloom_contains, bound, present text, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .filters = {FILTER},
     .floor = "SELECT count(*) FROM present WHERE length(key) = 0",
     .sql = "SELECT count(*) FROM present WHERE bloom_contains(?1, key)",
     .check = "?1 = {n}",
     .units = "{n}",
     .of_limit = "length(key)"},
    {.name = "bloom_contains of bloom_ref, absent text, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = SCAN,
     .sql = REF_ABSENT,
     .check = FALSE_POSITIVES,
     .units = "{m}",
     .limit = 1.65,
     .of_limit = "length(key)"},
    {.name = "bloom_contains of a plain subquery, 1,000 rows, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = SCAN " AND rowid <= 1000",
     .sql = "SELECT count(*) FROM absent WHERE rowid <= 1000"
            " AND bloom_contains((SELECT filter FROM filters), key)",
     .check = "rate_holds(?1, 1000, 0.01, 0.01)",
     .units = "1000",
     .of_limit = "length(key)"},

    {.name = "bloom_build of n = 1e6 keys, given n",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = READ_KEYS,
     .sql = BUILD,
     .check = RIGHT_FILTER,
     .units = "{n}",
     .limit = 1.1,
     .of_limit = "count, max"},
    {.name = "bloom_build of 1e6 keys, n NULL",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = BUILD,
     .sql = "SELECT bloom_build(key, NULL, 0.01) FROM present",
     .check = RIGHT_FILTER " AND ?1 = (" BUILD ")",
     .units = "{n}",
     .of_limit = "given n"},
    {.name = "bloom_build of 1e6 keys, n 50 times too small",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = BUILD,
     .sql = "SELECT bloom_build(key, {n} / 50, 0.01) FROM present",
     .check = GROWN_FILTER,
     .units = "{n}",
     .limit = 2,
     .of_limit = "given n"},
    {.name = "memory of a build with given n, less filter and tail",
     .measure = MEMORY,
     .n = MILLION,
     .fixture = SHARDS,
     .sql = BUILD,
     .check = RIGHT_FILTER,
     .value = "?2 - length(?1) - " TAIL_BYTES,
     .limit = MEGABYTE},
    BUILD_MEMORY("1,000,000", "{n}"),
    BUILD_MEMORY("800,000", "({n} * 4 / 5)"),
    BUILD_MEMORY("600,000", "({n} * 3 / 5)"),
    BUILD_MEMORY("450,000", "({n} * 9 / 20)"),

    {.name = "bloom_add of one key, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .filters = {FILTER},
     .floor = "SELECT sum(length(copied(CASE WHEN rowid THEN ?1 END))) FROM few",
     .sql = "SELECT sum(length(bloom_add(?1, key))) FROM few",
     .check = "?1 = (SELECT count(*) * length(filter) FROM few, filters) AND"
              " (SELECT min(bloom_contains(bloom_add(filter, key), key)) FROM few, filters)",
     .units = "100",
     .limit = 3,
     .of_limit = "copy + checksum"},
    {.name = "bloom_union of two, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .filters = {"SELECT filter FROM shards WHERE id = 0",
                 "SELECT filter FROM shards WHERE id = 1"},
     .floor = "SELECT sum(length(copied(CASE WHEN rowid THEN ?1 END))) FROM few",
     .sql = "SELECT sum(length(bloom_union(?1, CASE WHEN rowid THEN ?2 END))) FROM few",
     .check = "?1 = (SELECT count(*) * length(filter) FROM few, filters) AND"
              " (SELECT bloom_union(a.filter, b.filter) FROM shards a, shards b"
              "  WHERE a.id = 0 AND b.id = 1) ="
              " (SELECT bloom_build(key, {n}, 0.01) FROM present WHERE rowid % 100 < 2)",
     .units = "100",
     .limit = 3,
     .of_limit = "copy + checksum"},
    {.name = "bloom_union of 100 rows, 1.2 MB each",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = "SELECT checksums(filter) FROM shards",
     .sql = "SELECT bloom_union(filter) FROM shards",
     .check = "?1 = (SELECT filter FROM filters)",
     .units = "100",
     .limit = 1.5,
     .of_limit = "checksum of them"},
    {.name = "memory of that, over reading the rows, less the filter",
     .measure = MEMORY,
     .n = MILLION,
     .fixture = SHARDS,
     .floor = "SELECT checksums(filter) FROM shards",
     .sql = "SELECT length(bloom_union(filter)) FROM shards", /* SQLite copies a result blob */
     .check = "?1 = (SELECT length(filter) FROM filters)",
     .value = "?2 - ?3 - ?1",
     .limit = MEGABYTE},

    {.name = "bloom_contains, bound, absent text, 12 MB",
     .n = 10 * MILLION,
     .fixture = KEYS,
     .filters = {FILTER},
     .floor = SCAN,
     .sql = ABSENT,
     .check = FALSE_POSITIVES,
     .units = "{m}",
     .limit = 2.1,
     .of_limit = "length(key)"},
    {.name = "bloom_contains of bloom_ref, absent text, 12 MB",
     .n = 10 * MILLION,
     .fixture = KEYS,
     .floor = SCAN,
     .sql = REF_ABSENT,
     .check = FALSE_POSITIVES,
     .units = "{m}",
     .of_limit = "length(key)"},
    {.name = "bloom_build of n = 1e7 keys, given n",
     .n = 10 * MILLION,
     .fixture = KEYS,
     .floor = READ_KEYS,
     .sql = BUILD,
     .check = RIGHT_FILTER,
     .units = "{n}",
     .limit = 1.5,
     .of_limit = "count, max"},

    {.name = NULL}};
