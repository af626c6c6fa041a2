/* figures.c: the figures of the bench, as data: sizes, memory, functions on BLOBs, bloom tables.
** bench.h says what the columns mean, sql.h what the floors are.
*/
#include "bench.h"
#include "sql.h"

/* A hundred filters of {n}, of a hundredth of the keys each. */
#define SHARDS \
  KEYS "CREATE TABLE shards AS SELECT rowid % 100 AS id, bloom_build(key, {n}, 0.01) AS filter" \
       " FROM present GROUP BY 1;"

/* Bloom tables of KEYS beside the tables that they are compared with. */
#define TABLE_OF_KEYS \
  KEYS "CREATE VIRTUAL TABLE seen USING bloom(n={n}, p=0.01);" \
       "INSERT INTO seen(filter) SELECT filter FROM filters;"
#define TABLES \
  TABLE_OF_KEYS \
  "CREATE TABLE indexed(key TEXT);" \
  "INSERT INTO indexed SELECT key FROM present;" \
  "CREATE INDEX indexed_key ON indexed(key);" \
  "CREATE TABLE plain(key PRIMARY KEY) WITHOUT ROWID;" \
  "CREATE VIRTUAL TABLE added USING bloom(n={n}, p=0.01);" \
  "CREATE VIRTUAL TABLE added_fine USING bloom(n={n}, p=0.0001);"

/* Chunks of added_fine at its full size. */
#define FINE_CHUNKS "(SELECT 1 + bloom_size({n}, 0.0001) / 4032)"

/* The same in a file, as it is set where many connections share one. The tables that are inserted
** into hold half of the keys, so that no run fills them. */
#define FILE_TABLES \
  "PRAGMA page_size = 4096;" \
  "PRAGMA journal_mode = WAL;" \
  "PRAGMA synchronous = NORMAL;" \
  "BEGIN;" TABLES \
  "CREATE VIRTUAL TABLE large USING bloom(n={n}0, p=0.01);" \
  "INSERT INTO plain SELECT key FROM present WHERE rowid <= {n} / 2;" \
  "INSERT INTO added SELECT key FROM plain;" \
  "INSERT INTO added_fine SELECT key FROM plain;" \
  "CREATE TABLE chunks(id INTEGER PRIMARY KEY, block);" COUNT_TO(FINE_CHUNKS) \
  "INSERT INTO chunks SELECT i, zeroblob(4032) FROM c;" \
  "COMMIT;"

/* A column with a plain index, and one that a bloom table follows. */
#define FOLLOWED \
  KEYS "CREATE TABLE indexed(id INTEGER PRIMARY KEY, email TEXT);" \
       "CREATE INDEX indexed_email ON indexed(email);" \
       "CREATE TABLE followed(id INTEGER PRIMARY KEY, email TEXT);" \
       "CREATE TABLE chunks(id INTEGER PRIMARY KEY, block BLOB);" \
       "CREATE VIRTUAL TABLE email_bloom USING bloom(of='followed(email)', n={n}, p=0.01);"

/* Sizes of 1,000 to 100,000,000 keys at p of at most 0.1. */
#define SIZES \
  "CREATE TABLE sizes(n, p, bytes, formula);" \
  "WITH RECURSIVE c(n) AS (SELECT 1000 UNION ALL SELECT n + n / 20 FROM c WHERE n < 100000000)," \
  " r(p) AS (VALUES (0.1), (0.05), (0.02), (0.01), (0.003), (0.001), (1e-4), (1e-5), (1e-6)," \
  " (1e-7), (1e-9))" \
  "INSERT INTO sizes SELECT n, p, bloom_size(n, p) - 72, formula_bytes(n, p) FROM c, r;"

/* Where layer 0 of n keys at 1 % has used half of its budget, 13 % of them are to come. */
#define TAIL_BYTES "8 * 0.13 * {n}"

/* False positives of a bloom table that is as full as it may be, or not quite. */
#define ABSENT_IN(TABLE) "(SELECT count(*) FROM absent WHERE bloom_lookup('" TABLE "', key))"
#define FOUND_IN(TABLE, KEYS_IN) \
  "NOT EXISTS (SELECT 1 FROM " KEYS_IN " WHERE NOT bloom_lookup('" TABLE "', key))"
#define FULL_TABLE(TABLE, P) \
  FOUND_IN(TABLE, "present") " AND rate_holds(" ABSENT_IN(TABLE) ", {m}, " P ", 0.05)"
#define PART_TABLE(TABLE, P, SEED) \
  FOUND_IN(TABLE, "(SELECT key FROM present WHERE rowid <= {n} / 2)") \
  " AND " FOUND_IN(TABLE, "(SELECT hex_key(rowid, " SEED \
                          " + 1) AS key FROM present" \
                          " WHERE rowid <= {m} / 1000)") " AND " ABSENT_IN(TABLE) " < {m} * " P \
                                                                                  " + 5"

#define INSERT_ALL(NAME, TABLE, P, LIMIT) \
  { \
    .name = "table: 1e6 keys in one transaction, " NAME, .n = MILLION, .fixture = TABLES, \
    .before = {"DELETE FROM plain", "INSERT INTO " TABLE "(" TABLE ") VALUES ('clear')"}, \
    .floor = "INSERT INTO plain SELECT key FROM present", \
    .sql = "INSERT INTO " TABLE "(key) SELECT key FROM present", \
    .check = "(SELECT count(*) FROM plain) = {n} AND " FULL_TABLE(TABLE, P), .units = "{n}", \
    .limit = LIMIT, .of_limit = "plain table" \
  }
/* The processor's time is what the limits are about; the wall clock adds the disk's, mostly waiting
** for it at checkpoints, which come after as many pages whatever is on them. */
#define INSERT_ONE(NAME, TABLE, P, SEED, CPU, LIMIT) \
  { \
    .name = "table: autocommit insert, " NAME, .n = MILLION, .fixture = FILE_TABLES, .file = true, \
    .cpu = CPU, .keys = COUNT_TO("{m} / 1000") "SELECT hex_key(i, " SEED " + ?1) FROM c", \
    .floor = "INSERT INTO plain VALUES (?1)", .sql = "INSERT INTO " TABLE "(key) VALUES (?1)", \
    .check = "(SELECT count(*) FROM plain) > {n} / 2 AND " PART_TABLE(TABLE, P, SEED), \
    .units = "{m} / 1000", .limit = LIMIT, .of_limit = "plain table" \
  }

#define ROW_OF(SALT) \
  "1 + (hash64(?1 || '" SALT "') >> 1 & 0xffffffff) % (SELECT max(id) FROM chunks)"

/* One statement, executed for a tenth of the absent or present keys. */
#define ONE_KEY_OF(WHICH) "SELECT key FROM " WHICH " WHERE rowid <= {m} / 10"
#define ONE_KEY(NAME, FIXTURE, IN_FILE, SQL, WHICH, CHECK, LIMIT) \
  { \
    .name = "table: one key, prepared, " NAME, .n = MILLION, .fixture = FIXTURE, .file = IN_FILE, \
    .keys = ONE_KEY_OF(WHICH), .floor = "SELECT 1 FROM indexed WHERE key = ?1", .sql = SQL, \
    .check = CHECK, .units = "{m} / 10", .limit = LIMIT, .of_limit = "indexed table" \
  }
#define ONE_LOOKUP "SELECT bloom_lookup('seen', ?1)"
#define ONE_SELECT "SELECT 1 FROM seen WHERE key = ?1"
#define ONE_ABSENT "rate_holds(?1, {m} / 10, 0.01, 0.01)"
#define ONE_PRESENT "?1 = {m} / 10"

/* Reads beyond the schema's, over 2 L for each layer: the chunks, and the header and the root of
** the shadow table beside them. At 12 MB it has a level more, so that a chunk is two pages. */
#define COLD(NAME, TABLE, SQL, WHICH, CHECK, PAGES) \
  { \
    .name = "table: cold page reads over 2 L a layer, " NAME, .measure = READS, .n = MILLION, \
    .fixture = FILE_TABLES, .file = true, .keys = "SELECT key FROM " WHICH " WHERE rowid <= 100", \
    .floor = "SELECT 0 FROM sqlite_master WHERE type = ?1", .sql = SQL, .check = CHECK, \
    .value = "(?2 - ?3) / (SELECT 2.0 * " PAGES \
             " * sum(json_extract(value, '$.L'))" \
             " FROM json_each(bloom_status('" TABLE "'), '$.layer_table'))", \
    .limit = 1 \
  }

/* Pages of a database that has nothing else in it. They do not depend on the keys. */
#define DISK(NAME, MORE) \
  { \
    .name = "table: disk over the filter's bytes, " NAME, .measure = VALUE, \
    .fixture = \
        "ATTACH ':memory:' AS disk; PRAGMA disk.page_size = 4096;" \
        "CREATE VIRTUAL TABLE disk.seen USING bloom(n=1000000, p=0.01" MORE \
        ");" \
        "INSERT INTO disk.seen(key) VALUES ('a');", \
    .sql = \
        "SELECT 4096.0 * page_count / length(bloom_snapshot('disk.seen'))" \
        " FROM pragma_page_count WHERE schema = 'disk'", \
    .check = "?1 > 1 AND bloom_lookup('disk.seen', 'a') AND NOT bloom_lookup('disk.seen', 'b')", \
    .limit = 1.05 \
  }

/* {n} / 10 rows into tables that are empty or have {n} rows. */
#define FOLLOW(NAME, ROWS, RESET, MORE, FLOOR, SQL) \
  { \
    .name = "of=: insert 100,000 rows, " NAME, .n = MILLION, .fixture = FOLLOWED ROWS, \
    .before = {"DELETE FROM indexed" RESET, \
               "DELETE FROM followed" RESET \
               "; INSERT INTO email_bloom(email_bloom) VALUES ('rebuild')"}, \
    .floor = FLOOR, .sql = SQL, \
    .check = \
        "(SELECT count(*) FROM followed) = (SELECT count(*) FROM indexed) AND" \
        " (SELECT min(bloom_lookup('email_bloom', email)) FROM followed) AND" \
        " " ABSENT_IN("email_bloom") " < {m} * 0.02", \
    MORE.units = "{n} / 10", .limit = 1.6, .of_limit = "plain index" \
  }
#define NO_ROWS ""
#define INSERT_TENTH(TABLE) \
  "INSERT INTO " TABLE "(email) SELECT hex_key(rowid, 3) FROM present WHERE rowid <= {n} / 10"
#define INSERT_EACH(TABLE) "INSERT INTO " TABLE "(email) VALUES (?1)"
#define EACH \
  .keys = "SELECT hex_key(rowid, 3) FROM present WHERE rowid <= {n} / 10", .transaction = true,

#define FOLLOW_MADE(NAME, N, PARAMETER) \
  { \
    .name = "of=: creation over 1e6 rows, " NAME, .n = MILLION, .fixture = FOLLOWED, \
    .before = {"DELETE FROM chunks", "DROP TABLE IF EXISTS made"}, \
    .floor = \
        "INSERT INTO chunks(block) SELECT zeroblob(4040) FROM present WHERE rowid <=" \
        " 1 + (SELECT length(bloom_build(key, " N ", 0.01)) FROM present) / 4032", \
    .sql = "CREATE VIRTUAL TABLE made USING bloom(of='present(key)', " PARAMETER "p=0.01)", \
    .check = FOUND_IN("made", "present") " AND " ABSENT_IN("made") " < {m} * 0.011 + 50", \
    .units = "{n}", .limit = 1.3, .of_limit = "build + chunks" \
  }

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

const Figure *const bench_lists[] = {bench_figures, bench_probes, bench_builds,
                                     bench_queries, bench_rates,  NULL};

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
    {.name = "loading the extension, ms more than opening",
     .measure = VALUE,
     .fixture = SIZES,
     .sql = "SELECT loading()",
     .check = "?1 > 0",
     .limit = 1},

    {.name = "bloom_contains of a plain subquery, 1,000 rows, 1.2 MB",
     .n = MILLION,
     .fixture = SHARDS,
     .floor = SCAN " AND rowid <= 1000",
     .sql = "SELECT count(*) FROM absent WHERE rowid <= 1000"
            " AND bloom_contains((SELECT filter FROM filters), key)",
     .check = "rate_holds(?1, 1000, 0.01, 0.01)",
     .units = "1000",
     .of_limit = "length(key)"},

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

    INSERT_ALL("p = 0.01", "added", "0.01", 1 / 3.0),
    INSERT_ALL("p = 1e-4", "added_fine", "0.0001", 0),
    {.name = "bloom_lookup, present text, 1.2 MB",
     .n = MILLION,
     .fixture = TABLES,
     .floor = "SELECT count(*) FROM present WHERE length(key) = 0",
     .sql = "SELECT count(*) FROM present WHERE bloom_lookup('seen', key)",
     .check = "?1 = {n}",
     .units = "{n}",
     .limit = 2,
     .of_limit = "length(key)"},
    {.name = "table: EXISTS, absent text, 1.2 MB",
     .n = MILLION,
     .fixture = TABLES,
     .floor = EXISTS("absent", "indexed"),
     .sql = EXISTS("absent", "seen"),
     .check = FALSE_POSITIVES,
     .units = "{m}",
     .limit = 0.6,
     .of_limit = "indexed table"},
    {.name = "table: EXISTS, present text, 1.2 MB",
     .n = MILLION,
     .fixture = TABLES,
     .floor = EXISTS("present", "indexed"),
     .sql = EXISTS("present", "seen"),
     .check = "?1 = {n}",
     .units = "{n}",
     .limit = 0.6,
     .of_limit = "indexed table"},
    ONE_KEY("bloom_lookup, absent", TABLES, false, ONE_LOOKUP, "absent", ONE_ABSENT, 1),
    ONE_KEY("bloom_lookup, present", TABLES, false, ONE_LOOKUP, "present", ONE_PRESENT, 1),
    ONE_KEY("SELECT, absent", TABLES, false, ONE_SELECT, "absent", ONE_ABSENT, 1),
    ONE_KEY("SELECT, present", TABLES, false, ONE_SELECT, "present", ONE_PRESENT, 1),

    ONE_KEY("bloom_lookup, absent, file", FILE_TABLES, true, ONE_LOOKUP, "absent", ONE_ABSENT, 1),
    ONE_KEY("SELECT, absent, file", FILE_TABLES, true, ONE_SELECT, "absent", ONE_ABSENT, 1),
    INSERT_ONE("L = 2, p = 0.01", "added", "0.01", "1000", true, 1.6),
    INSERT_ONE("L = 4, p = 1e-4", "added_fine", "0.0001", "2000", true, 2),
    /* The least that a key of four lines can cost: four pages of an ordinary table. */
    {.name = "table: autocommit, four rows of 4032 bytes updated",
     .n = MILLION,
     .fixture = FILE_TABLES,
     .file = true,
     .cpu = true,
     .keys = COUNT_TO("{m} / 1000") "SELECT hex_key(i, 5000 + ?1) FROM c",
     .floor = "INSERT INTO plain VALUES (?1)",
     .sql = "UPDATE chunks SET block = zeroblob(4032 - length(?1)) || ?1 WHERE id IN (" ROW_OF(
         "") ", " ROW_OF("a") ", " ROW_OF("b") ", " ROW_OF("c") ")",
     .check = "(SELECT sum(length(CAST(block AS BLOB))) = 4032 * count(*) FROM chunks)",
     .units = "{m} / 1000",
     .of_limit = "plain table"},
    INSERT_ONE("L = 2, wall clock", "added", "0.01", "3000", false, 0),
    INSERT_ONE("L = 4, wall clock", "added_fine", "0.0001", "4000", false, 0),
    COLD("lookup", "seen", ONE_LOOKUP, "present", "?1 = 100", "1"),
    COLD("SELECT", "seen", ONE_SELECT, "present", "?1 = 100", "1"),
    COLD("L = 4", "added_fine", "SELECT bloom_lookup('added_fine', ?1)", "absent", "?1 < 10", "1"),
    COLD("12 MB", "large", "SELECT bloom_lookup('large', ?1)", "absent", "?1 = 0", "2"),
    DISK("plain", ""),
    DISK("counting", ", kind=counting"),

    FOLLOW("one statement", NO_ROWS, , , INSERT_TENTH("indexed"), INSERT_TENTH("followed")),
    FOLLOW("prepared", NO_ROWS, , EACH, INSERT_EACH("indexed"), INSERT_EACH("followed")),
    FOLLOW_MADE("given n", "{n}", "n={n}, "),
    FOLLOW_MADE("n of its own", "NULL", ""),

    {.name = NULL}};
