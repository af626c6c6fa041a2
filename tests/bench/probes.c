/* probes.c: what a probed row costs, by the filter's size, the kind of key, and the way in which
** the filter reaches the function; and what else could answer.
*/
#include "bench.h"
#include "sql.h"

/* Filters in memory, a bloom table of the same bytes, and an index on the same keys. */
#define SEEN \
  "CREATE VIRTUAL TABLE seen USING bloom(n={n}, p=0.01);" \
  "INSERT INTO seen(filter) SELECT filter FROM filters;"
#define STORED KEYS SEEN "CREATE INDEX present_key ON present(key);"
#define MADE_KEYS MADE_TEXT OTHERS("TEXT", "hex_key", "0.01") SEEN

#define PROBE(NAME, SQL, N, FIXTURE, SCATTER, LIMIT, NEWER_LIMIT, INSTRUCTIONS) \
  { \
    .name = NAME, .n = N, .m = MILLION, .fixture = FIXTURE, .filters = {FILTER}, .floor = SCAN, \
    .sql = SQL, .check = RATE_IS("0.01", SCATTER), .units = "{m}", .of_limit = "length(key)", \
    .limit = LIMIT, .newer_limit = NEWER_LIMIT, .instructions = INSTRUCTIONS \
  }
#define PRESENT_PROBE(NAME, N, FIXTURE) \
  { \
    .name = NAME, .n = N, .m = MILLION, .fixture = FIXTURE, .filters = {FILTER}, \
    .floor = LENGTH_OF("hits"), .sql = PROBE_OF("hits"), \
    .check = "?1 = (SELECT count(*) FROM hits)", .units = "(SELECT count(*) FROM hits)", \
    .of_limit = "length(key)" \
  }

/* The four ways to ask a filter of one size, and their limits; 0: none. */
#define AT_SIZE(SIZE, N, FIXTURE, SCATTER, BOUND, INSTRUCTIONS, REF, NEWER_REF, LOOKUP) \
  PROBE("bloom_contains, bound, absent text, " SIZE, ABSENT, N, FIXTURE, SCATTER, BOUND, 0, \
        INSTRUCTIONS), \
      PRESENT_PROBE("bloom_contains, bound, present text, " SIZE, N, FIXTURE), \
      PROBE("bloom_contains of bloom_ref, absent text, " SIZE, REF_ABSENT, N, FIXTURE, SCATTER, \
            REF, NEWER_REF, 0), \
      PROBE("bloom_lookup, absent text, " SIZE, LOOKUP_ABSENT, N, FIXTURE, SCATTER, LOOKUP, 0, 0)

/* What the machine takes for itself: a function's call, and one read of that memory in it. */
#define FLOORS(SIZE, N, FIXTURE) \
  { \
    .name = "floor: a function that reads one line of " SIZE, .n = N, .m = MILLION, \
    .fixture = FIXTURE, .filters = {FILTER}, .floor = SCAN, \
    .sql = "SELECT count(*) FROM absent WHERE line_read(?1, key)", .check = "?1 = 0", \
    .units = "{m}", .of_limit = "length(key)" \
  }
#define NOTHING(N, FIXTURE) \
  { \
    .name = "floor: a function that does nothing", .n = N, .fixture = FIXTURE, \
    .filters = {FILTER}, .floor = SCAN, \
    .sql = "SELECT count(*) FROM absent WHERE no_work(?1, key)", .check = "?1 = 0", \
    .units = "{m}", .of_limit = "length(key)" \
  }
#define NOTHING_OF_REF(N, FIXTURE) \
  { \
    .name = "floor: a function that does nothing with a bloom_ref", .n = N, .fixture = FIXTURE, \
    .filters = {FILTER}, .floor = SCAN, \
    .sql = \
        "SELECT count(*) FROM absent" \
        " WHERE no_work((SELECT bloom_ref(filter) FROM filters), key)", \
    .check = "?1 = 0", .units = "{m}", .of_limit = "length(key)" \
  }
#define INDEX(N) \
  { \
    .name = "rival: EXISTS in an index, absent text, " #N " keys", .n = N, .m = MILLION, \
    .fixture = STORED, .floor = SCAN, .sql = EXISTS("absent", "present"), .check = "?1 = 0", \
    .units = "{m}", .of_limit = "length(key)" \
  }

/* A million keys of another kind. */
#define KIND(NAME, TYPE, KEY, SETTING, BOUND) \
  PROBE("bloom_contains, bound, absent " NAME, ABSENT, MILLION, \
        SETTING KEYS_OF(TYPE, KEY, "0.01"), "0.01", BOUND, 0, 0), \
      PRESENT_PROBE("bloom_contains, bound, present " NAME, MILLION, \
                    SETTING KEYS_OF(TYPE, KEY, "0.01")), \
      PROBE("bloom_contains of bloom_ref, absent " NAME, REF_ABSENT, MILLION, \
            SETTING KEYS_OF(TYPE, KEY, "0.01"), "0.01", 0, 0, 0)

/* The best that SQLite has for the same question, over the same million keys. */
#define RIVALS \
  KEYS "CREATE INDEX present_key ON present(key);" \
       "CREATE TABLE plain(key PRIMARY KEY) WITHOUT ROWID;" \
       "INSERT INTO plain SELECT key FROM present ORDER BY key;" \
       "CREATE TABLE hashed(hash INTEGER PRIMARY KEY);" \
       "INSERT INTO hashed SELECT hash64(key) FROM present ORDER BY 1;" \
       "ANALYZE;"
#define HASHED(WHICH) \
  "SELECT count(*) FROM " WHICH \
  " AS k WHERE EXISTS" \
  " (SELECT 1 FROM hashed WHERE hash = hash64(k.key))"
#define RIVAL(NAME, WHICH, FLOOR, CHECK) \
  { \
    .name = "bound filter against " NAME ", " WHICH, .n = MILLION, .fixture = RIVALS, \
    .filters = {FILTER}, .floor = FLOOR, .sql = PROBE_OF(WHICH), .check = CHECK, .units = "{m}", \
    .of_limit = "the rival" \
  }
#define AGAINST(NAME, ABSENT_FLOOR, PRESENT_FLOOR) \
  RIVAL(NAME, "absent", ABSENT_FLOOR, "(" ABSENT_FLOOR ") = 0 AND " FALSE_POSITIVES), \
      RIVAL(NAME, "hits", PRESENT_FLOOR, "(" PRESENT_FLOOR ") = {m} AND ?1 = {m}")

/* A list without an index is compared entry by entry. */
#define SCANNED \
  "SELECT count(*) FROM absent AS k" \
  " WHERE EXISTS (SELECT 1 FROM present AS t NOT INDEXED WHERE t.key = k.key)"
#define LIST(NAME, N, ROWS) \
  { \
    .name = "bound filter against a scan of " NAME " entries", .n = N, .m = ROWS, .fixture = KEYS, \
    .filters = {FILTER}, .floor = SCANNED, .sql = ABSENT, \
    .check = "(" SCANNED ") = 0 AND " RATE_IS("0.01", "0.15"), .units = "{m}", \
    .of_limit = "the rival" \
  }

const Figure bench_probes[] = {
    AT_SIZE("1 KB", 1000, STORED, "0.05", 0, 0, 0, 0, 0),
    INDEX(1000),
    AT_SIZE("12 KB", 10000, STORED, "0.02", 0, 0, 0, 0, 0),
    INDEX(10000),
    AT_SIZE("120 KB", 100000, STORED, "0.01", 0, 0, 0, 0, 0),
    INDEX(100000),
    NOTHING(1000000, STORED),
    NOTHING_OF_REF(1000000, STORED),
    FLOORS("1.2 MB", 1000000, STORED),
    AT_SIZE("1.2 MB", 1000000, STORED, "0.01", 1.12, 690, 1.45, 1.2, 2),
    INDEX(1000000),
    FLOORS("12 MB", 10000000, STORED),
    AT_SIZE("12 MB", 10000000, STORED, "0.01", 1.75, 0, 0, 0, 3.5),
    INDEX(10000000),
    FLOORS("120 MB", 100000000, MADE_KEYS),
    AT_SIZE("120 MB", 100000000, MADE_KEYS, "0.01", 4, 0, 0, 0, 0),

    KIND("integers", "INTEGER", "number_key", "", 0.75),
    KIND("all-digit text", "TEXT", "digit_key", "", 1.35),
    KIND("blobs", "BLOB", "blob_key", "", 0),
    KIND("URLs", "TEXT", "url_key", "", 0),
    KIND("text, UTF-16", "TEXT", "hex_key", "PRAGMA encoding = 'UTF-16le';", 0),

    AGAINST("a plain index", EXISTS("absent", "present"), EXISTS("hits", "present")),
    AGAINST("WITHOUT ROWID", EXISTS("absent", "plain"), EXISTS("hits", "plain")),
    AGAINST("an index on a 64-bit hash", HASHED("absent"), HASHED("hits")),
    LIST("100", 100, 100000),
    LIST("10,000", 10000, 1000),
    LIST("100,000", 100000, 100),
    {.name = "bound filter over a Python set, absent text, 1,000,000",
     .measure = VALUE,
     .n = MILLION,
     .fixture = "SELECT 1;",
     .sql = "SELECT python('tests/bench/set.py', {n})",
     .check = "?1 > 0"},

    {.name = NULL}};
