/* Unit tests of key, through SQLite: whatever its `=` calls equal has one hash.
**
** Each round writes two spellings into columns of every affinity and compares all pairs of columns
** with `=`. SQLite decides what is equal; the test only knows which spellings the format promises
** for: a whole int64, or at most 15 significant digits up to the largest double. 16 to 19 digits
** with a point or an exponent are as certain as SQLite's own reading of them, which 3.40 does
** through long double: there the pairs that differ are counted and printed.
*/
#include "key.h"

#include <math.h>

#include "keyhash.h"
#include "unit.h"

static sqlite3 *db;

static void check_ok(int code, const char *what) {
  CHECK(code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW, "%s: %s", what,
        sqlite3_errmsg(db));
}

static void run(const char *sql) {
  check_ok(sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check_ok(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), sql);
  return statement;
}

/* key_hash(value): what the extension would put into a filter, by either way there.
** key_type(value): its type bit. */
static void hash_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  uint64_t hash = 0, short_way = 0;
  int type = bloom_key_hash_value(argv[0], &hash);
  (void)argc;
  CHECK(hash_of_value(argv[0], &short_way) == type && short_way == hash, "%s: %llx and %llx",
        (const char *)sqlite3_value_text(argv[0]), (unsigned long long)short_way,
        (unsigned long long)hash);
  if (type > 0) sqlite3_result_int64(context, (sqlite3_int64)hash);
}

static void type_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomKey key;
  (void)argc;
  if (bloom_key_read(argv[0], &key) == SQLITE_OK) sqlite3_result_int(context, (int)key.type);
}

static int open_database(void **state) {
  (void)state;
  check_ok(sqlite3_open(":memory:", &db), "open");
  sqlite3_create_function(db, "key_hash", 1, SQLITE_UTF8, NULL, hash_function, NULL, NULL);
  sqlite3_create_function(db, "key_type", 1, SQLITE_UTF8, NULL, type_function, NULL, NULL);
  return 0;
}

static int close_database(void **state) {
  (void)state;
  check_ok(sqlite3_close(db), "close");
  return 0;
}

/* The value of a query without rows is -1. */
static sqlite3_int64 one_number(const char *sql) {
  sqlite3_stmt *statement = prepare(sql);
  sqlite3_int64 number = -1;
  if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
  check_ok(sqlite3_finalize(statement), sql);
  return number;
}

/* ---- spellings ---- */

/* A spelling and what is known of it by construction: sign, digits and power of ten. */
typedef struct Spelling {
  char text[160];
  bool promised; /* a whole int64, or within 15 digits */
  bool close;    /* 16 to 19 digits, with a point or an exponent */
} Spelling;

/* Whether the SQLite at hand reads decimals to the nearest double. */
static bool reads_exactly(void) {
  return sqlite3_libversion_number() >= 3053000;
}

static bool chance(uint64_t *seed, unsigned percent) {
  return next_random(seed) % 100 < percent;
}

/* Perhaps above the largest double: that stays text, though SQLite calls it equal to infinity. */
static bool is_infinite(const char *digits, int power) {
  return (int)strlen(digits) + power > 308;
}

/* The number |digits| * 10^power with `digits` a string without zeros at its ends (or "0"). */
static bool is_promised(const char *digits, int power, bool negative, bool whole) {
  int count = (int)strlen(digits);
  if (is_infinite(digits, power)) return false;
  if (count <= 15) return true;
  if (!whole || power < 0 || count + power > 19) return false;
  /* digits and power zeros against 9223372036854775807 */
  char all[48];
  snprintf(all, sizeof all, "%s%.*s", digits, power, "0000000000000000000");
  return count + power < 19 ||
         strcmp(all, negative ? "9223372036854775808" : "9223372036854775807") <= 0;
}

static void append(char *text, const char *more) {
  strncat(text, more, 159 - strlen(text));
}

static void append_many(char *text, const char *more, unsigned times) {
  while (times-- > 0) append(text, more);
}

/* Writes digits * 10^power in one of many ways. */
static void spell(Spelling *out, const char *digits, int power, bool negative, uint64_t *seed) {
  static const char *const spaces[] = {" ", "\t", "\n", "\v", "\f", "\r", "  "};
  char *text = out->text, number[16];
  int count = (int)strlen(digits), shift = 0;
  text[0] = 0;
  if (chance(seed, 20)) append(text, spaces[next_random(seed) % COUNT(spaces)]);
  append(text, negative ? "-" : chance(seed, 20) ? "+" : "");
  if (chance(seed, 20)) append_many(text, "0", 1 + next_random(seed) % 25);
  bool plain = power >= 0 && power <= 25 && chance(seed, 60);
  bool whole = false;
  if (plain) { /* digits and zeros, perhaps a point and zeros */
    append(text, digits);
    append_many(text, "0", (unsigned)power);
    whole = chance(seed, 50);
    if (!whole) append(text, ".");
    if (!whole) append_many(text, "0", next_random(seed) % 3);
    if (!whole && chance(seed, 30)) append(text, chance(seed, 50) ? "e0" : "E+0");
  } else { /* a point anywhere within or around the digits, the exponent makes up for it */
    int point = (int)(next_random(seed) % (unsigned)(count + 5)) - 2;
    if (power < 0 && power > -20 && chance(seed, 50)) point = count + power;
    if (point <= 0) {
      append(text, chance(seed, 50) ? "0." : ".");
      append_many(text, "0", (unsigned)-point);
      append(text, digits);
    } else if (point >= count) {
      append(text, digits);
      append_many(text, "0", (unsigned)(point - count));
      if (chance(seed, 50)) append(text, ".");
    } else {
      strncat(text, digits, (size_t)point);
      append(text, ".");
      append(text, digits + point);
    }
    if (strchr(text, '.') && chance(seed, 20)) append_many(text, "0", 1 + next_random(seed) % 20);
    shift = power + count - point;
    if (shift != 0 || chance(seed, 20)) {
      append(text, chance(seed, 50) ? "e" : "E");
      append(text, shift < 0 ? "-" : chance(seed, 30) ? "+" : "");
      if (chance(seed, 10)) append(text, "00");
      snprintf(number, sizeof number, "%d", abs(shift));
      append(text, number);
    } else {
      whole = strchr(text, '.') == NULL;
    }
  }
  if (chance(seed, 20)) append(text, spaces[next_random(seed) % COUNT(spaces)]);
  out->promised = is_promised(digits, power, negative, whole);
  out->close = !out->promised && !whole && count <= 19 && !is_infinite(digits, power);
}

/* Digits without zeros at the ends, or "0". */
static void random_digits(char *digits, uint64_t *seed) {
  static const char *const special[] = {"9007199254740991",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "9223372036854775806",
                                        "9223372036854775",
                                        "1",
                                        "5",
                                        "0",
                                        "123456789012345",
                                        "999999999999999",
                                        "1000000000000001",
                                        "18446744073709551615",
                                        "4503599627370497",
                                        "25",
                                        "125"};
  if (chance(seed, 30)) {
    strcpy(digits, special[next_random(seed) % COUNT(special)]);
    return;
  }
  unsigned most = chance(seed, 70) ? 15 : 21;
  unsigned count = 1 + next_random(seed) % most;
  for (unsigned i = 0; i < count; i++) digits[i] = (char)('0' + next_random(seed) % 10);
  digits[count] = 0;
  if (digits[0] == '0') digits[0] = '7';
  if (digits[count - 1] == '0') digits[count - 1] = '3';
}

static int random_power(const char *digits, uint64_t *seed) {
  if (chance(seed, 40)) return -(int)(next_random(seed) % (strlen(digits) + 1));
  if (chance(seed, 40)) return (int)(next_random(seed) % 5);
  if (chance(seed, 50)) return (int)(next_random(seed) % 60) - 30;
  return (int)(next_random(seed) % 651) - 330;
}

/* ---- all pairs of affinities ---- */

static const char *const affinities[] = {"t", "i", "r", "n", "b"};

enum {
  AFFINITIES = COUNT(affinities),
  PAIRS = AFFINITIES * AFFINITIES
};

static void make_tables(void) {
  run("DROP TABLE IF EXISTS a; DROP TABLE IF EXISTS b;"
      "CREATE TABLE a(t TEXT, i INTEGER, r REAL, n NUMERIC, b);"
      "CREATE TABLE b(t TEXT, i INTEGER, r REAL, n NUMERIC, b);");
}

/* Rows of: equal, same hash; for every pair of columns. */
static sqlite3_stmt *prepare_pairs(void) {
  char sql[PAIRS * 80 + 100] = "SELECT ";
  for (unsigned i = 0; i < PAIRS; i++) {
    const char *x = affinities[i / AFFINITIES], *y = affinities[i % AFFINITIES];
    size_t end = strlen(sql);
    snprintf(sql + end, sizeof sql - end, "%sa.%s = b.%s, key_hash(a.%s) = key_hash(b.%s)",
             i ? ", " : "", x, y, x, y);
  }
  return prepare(strcat(sql, " FROM a, b"));
}

typedef struct Tally {
  unsigned equal;     /* pairs that SQLite calls equal */
  unsigned different; /* pairs that it does not, and whose hashes differ */
  unsigned close;     /* equal, and 16 to 19 digits with a point are one side or both */
  unsigned apart;     /* of these: the hashes differ */
  unsigned beyond;    /* equal, hashes differ, but a spelling is beyond the promise */
  char example[700];  /* one of those */
  char example_apart[700];
} Tally;

static void bind(sqlite3_stmt *statement, int at, const Spelling *spelling, unsigned how) {
  if (how == 1) {
    check_ok(sqlite3_bind_double(statement, at, strtod(spelling->text, NULL)), "bind");
  } else if (how == 2) {
    check_ok(sqlite3_bind_int64(statement, at, strtoll(spelling->text, NULL, 10)), "bind");
  } else {
    check_ok(sqlite3_bind_text(statement, at, spelling->text, -1, SQLITE_TRANSIENT), "bind");
  }
}

static void insert_into(sqlite3_stmt *insert, const Spelling *spelling, unsigned how) {
  sqlite3_reset(insert);
  bind(insert, 1, spelling, how);
  check_ok(sqlite3_step(insert), "insert");
  sqlite3_reset(insert);
}

/* Equal pairs must have equal hashes if both spellings are promised. */
static void compare_pairs(sqlite3_stmt *pairs, const Spelling *x, const Spelling *y, Tally *tally) {
  bool promised = x->promised && y->promised;
  bool close = !promised && (x->promised || x->close) && (y->promised || y->close);
  check_ok(sqlite3_step(pairs), "compare");
  for (int i = 0; i < PAIRS; i++) {
    if (sqlite3_column_type(pairs, 2 * i) == SQLITE_NULL) continue;
    bool equal = sqlite3_column_int(pairs, 2 * i), same = sqlite3_column_int(pairs, 2 * i + 1);
    char *example = close ? tally->example_apart : tally->example;
    tally->equal += equal;
    tally->different += !equal && !same;
    tally->close += equal && close;
    if (!equal || same) continue;
    CHECK(!promised && !(close && reads_exactly()), "'%s' and '%s' are equal as %s and %s", x->text,
          y->text, affinities[i / AFFINITIES], affinities[i % AFFINITIES]);
    tally->apart += close;
    tally->beyond += !close;
    snprintf(example, sizeof tally->example, "'%s' and '%s' as %s and %s", x->text, y->text,
             affinities[i / AFFINITIES], affinities[i % AFFINITIES]);
    for (; *example; example++) {
      if (*example < ' ') *example = ' '; /* it goes into one line */
    }
  }
  sqlite3_reset(pairs);
}

/* Two spellings of one number, or of two that are neighbours, as text or as number. */
static void spelt_numbers(void **state) {
  sqlite3_stmt *pairs, *a, *b;
  Tally tally = {0};
  uint64_t seed = 15;
  (void)state;
  make_tables();
  pairs = prepare_pairs();
  a = prepare("INSERT OR REPLACE INTO a(rowid, t, i, r, n, b) VALUES (1, ?1, ?1, ?1, ?1, ?1)");
  b = prepare("INSERT OR REPLACE INTO b(rowid, t, i, r, n, b) VALUES (1, ?1, ?1, ?1, ?1, ?1)");
  for (unsigned round = 0; round < 40000; round++) {
    Spelling x, y;
    char digits[32];
    random_digits(digits, &seed);
    int power = random_power(digits, &seed);
    bool negative = chance(&seed, 30);
    unsigned how = chance(&seed, 70) ? 0 : 1 + next_random(&seed) % 2;
    spell(&x, digits, power, negative, &seed);
    if (chance(&seed, 5)) digits[0] = (char)(digits[0] == '9' ? '8' : digits[0] + 1);
    spell(&y, digits, power, negative, &seed);
    insert_into(a, &x, 0);
    insert_into(b, &y, how);
    if (how > 0) y.promised = true; /* a bound number is itself, however it was spelt */
    if (how == 1 && reads_exactly()) { /* but its TEXT may have 17 digits */
      y.promised = false;
      y.close = true;
    }
    compare_pairs(pairs, &x, &y, &tally);
  }
  sqlite3_finalize(pairs);
  sqlite3_finalize(a);
  sqlite3_finalize(b);
  printf("# key: %u equal pairs, %u different ones; %u equal ones beyond the promise differ\n",
         tally.equal, tally.different, tally.beyond);
  if (tally.beyond) printf("# key: for example %s\n", tally.example);
  printf("# key: %u equal pairs of 16 to 19 digits with a point; %u of them differ%s%s\n",
         tally.close, tally.apart, tally.apart ? ", for example " : "", tally.example_apart);
  CHECK(tally.equal > 300000 && tally.different > 30000, "%u %u", tally.equal, tally.different);
  CHECK(tally.close > 30000, "%u", tally.close);
  CHECK(tally.apart < tally.close / 1000, "%u of %u", tally.apart, tally.close);
}

/* More than 15 digits alone and no int64, or beyond the largest double: these may differ from their
** number. */
static bool is_beyond(const char *text) {
  static const char *const beyond[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "1e400",
                                       "-1e400",
                                       "1e1000000000000",
                                       "1.79769313486232e308",
                                       "1e309"};
  for (unsigned i = 0; i < COUNT(beyond); i++) {
    if (strcmp(text, beyond[i]) == 0) return true;
  }
  return false;
}

/* Known spellings, each against each: whatever is equal has one hash. */
static void known_spellings(void **state) {
  static const char *const texts[] = {"5",
                                      " 5",
                                      "5 ",
                                      "05",
                                      "5.0",
                                      "5e0",
                                      "5E0",
                                      "50e-1",
                                      "0.5e1",
                                      "5.",
                                      "+5",
                                      "+5.0",
                                      "-5",
                                      ".5",
                                      "0.5",
                                      "5e-1",
                                      "0",
                                      "-0",
                                      "+0",
                                      "0.0",
                                      "-0.0",
                                      "0e5",
                                      "00",
                                      ".0",
                                      "0.",
                                      "1e22",
                                      "1e+22",
                                      "10000000000000000000000",
                                      "1e21",
                                      "1e2",
                                      "100",
                                      "1e0002",
                                      "9007199254740991",
                                      "9007199254740992",
                                      "9007199254740993",
                                      "9007199254740992.0",
                                      "9007199254740993.0",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775808",
                                      "-9223372036854775809",
                                      "9223372036854775807.0",
                                      "9.223372036854775807e18",
                                      "9223372036854774784",
                                      "0.1",
                                      "0.10",
                                      ".1",
                                      "1e-1",
                                      "10e-2",
                                      "0.1e0",
                                      "0.3",
                                      "123456789012345",
                                      "123456789012345e22",
                                      "1.23456789012345e-8",
                                      "1e-22",
                                      "0.0000000000000000000001",
                                      "5x",
                                      "x5",
                                      "",
                                      " ",
                                      "5 5",
                                      "--5",
                                      "+-5",
                                      "5e",
                                      "5e+",
                                      "5e+x",
                                      "e5",
                                      ".",
                                      "-",
                                      "+",
                                      ".e5",
                                      "0x5",
                                      "5_0",
                                      "5,0",
                                      "inf",
                                      "nan",
                                      "Infinity",
                                      "1e400",
                                      "\t5\n",
                                      "\v5\f",
                                      ("\xc2\xa0"
                                       "5"),
                                      "5e1.0",
                                      "5.5.5",
                                      "true",
                                      "1e1000000000000",
                                      "-1e400",
                                      "1e-400",
                                      "1e-307",
                                      "1e-308",
                                      "9.99999999999999e-308",
                                      "1e-320",
                                      "1.79769313486231e308",
                                      "179769313486231e294",
                                      "1.79769313486232e308",
                                      "1e309",
                                      "1e23",
                                      "1e37",
                                      "100000000000000000000000",
                                      "1e-23",
                                      "123456789012345e23",
                                      "0.446381",
                                      "446381e-6"};
  sqlite3_stmt *pairs, *a, *b;
  Tally tally = {0};
  (void)state;
  make_tables();
  pairs = prepare_pairs();
  a = prepare("INSERT OR REPLACE INTO a(rowid, t, i, r, n, b) VALUES (1, ?1, ?1, ?1, ?1, ?1)");
  b = prepare("INSERT OR REPLACE INTO b(rowid, t, i, r, n, b) VALUES (1, ?1, ?1, ?1, ?1, ?1)");
  for (unsigned i = 0; i < COUNT(texts); i++) {
    for (unsigned j = 0; j < COUNT(texts); j++) {
      Spelling x = {"", !is_beyond(texts[i]), false}, y = {"", !is_beyond(texts[j]), false};
      append(x.text, texts[i]);
      append(y.text, texts[j]);
      insert_into(a, &x, 0);
      insert_into(b, &y, 0);
      compare_pairs(pairs, &x, &y, &tally);
    }
  }
  sqlite3_finalize(pairs);
  sqlite3_finalize(a);
  sqlite3_finalize(b);
  if (tally.beyond) printf("# key: beyond the promise: %s\n", tally.example);
  CHECK(tally.equal > 5000 && tally.different > 50000, "%u %u", tally.equal, tally.different);
}

/* Decimals of 1 to 19 digits with a point, as text and as what SQLite makes of the text for a REAL
** column: equal for `=`, so one hash. Versions that read decimals through long double are one ulp
** off for one in 10,000 of them, 0.446381 among them: up to 15 digits the hash is the same all the
** same. Beyond, it is where SQLite reads the nearest double. */
static void decimals_as_sqlite_reads_them(void **state) {
  sqlite3_stmt *compare = prepare("SELECT key_hash(?1) = key_hash(CAST(?1 AS REAL))");
  uint64_t seed = 17;
  unsigned rounds = 300000, missed[2] = {0, 0}, asked[2] = {0, 0};
  char digits[24], text[64], example[2][64] = {"", ""};
  (void)state;
  for (unsigned round = 0; round < rounds; round++) {
    unsigned count = 1 + next_random(&seed) % 19, point = next_random(&seed) % count;
    int power = (int)(next_random(&seed) % 620) - 330; /* finite, with 18 digits in front */
    for (unsigned i = 0; i < count; i++) digits[i] = (char)('0' + next_random(&seed) % 10);
    digits[count] = 0;
    if (round % 2) power = 0;
    if (round % 4 == 3) point = 0;
    snprintf(text, sizeof text, "%.*s.%se%d", (int)point, digits, digits + point, power);
    if (round == 1) strcpy(text, "0.446381"), count = 6;
    sqlite3_bind_text(compare, 1, text, -1, SQLITE_STATIC);
    check_ok(sqlite3_step(compare), "compare");
    asked[count > 15]++;
    if (sqlite3_column_int(compare, 0) == 0) {
      if (missed[count > 15]++ == 0) strcpy(example[count > 15], text);
    }
    sqlite3_reset(compare);
  }
  sqlite3_finalize(compare);
  printf("# key: of %u decimals of 16 to 19 digits %u differ from the REAL that SQLite reads %s\n",
         asked[1], missed[1], example[1]);
  CHECK(missed[0] == 0, "%u of %u differ, for example %s", missed[0], asked[0], example[0]);
  CHECK(asked[1] > 40000 && missed[1] <= (reads_exactly() ? 0 : asked[1] / 1000), "%u of %u",
        missed[1], asked[1]);
}

/* Every pair of an integer and a real that are equal, and their neighbours. */
static void integers_and_reals(void **state) {
  sqlite3_stmt *compare = prepare("SELECT ?1 = ?2, key_hash(?1) = key_hash(?2)");
  uint64_t seed = 16;
  unsigned equal = 0;
  (void)state;
  for (unsigned round = 0; round < 100000; round++) {
    int64_t integer = (int64_t)next_random(&seed) >> next_random(&seed) % 64;
    double real = (double)integer;
    if (round % 10 == 1) integer += (int64_t)(next_random(&seed) % 3) - (integer > 0);
    if (round % 10 == 2) real = nextafter(real, 1e300);
    if (round % 10 == 3) real += 0.5;
    sqlite3_bind_int64(compare, 1, integer);
    sqlite3_bind_double(compare, 2, real);
    check_ok(sqlite3_step(compare), "compare");
    bool is_equal = sqlite3_column_int(compare, 0), same = sqlite3_column_int(compare, 1);
    bool nothing = integer == 0 && fabs(real) < 1e-307; /* too little for 15 digits: 0 */
    CHECK(nothing ? same : is_equal == same, "%lld and %.17g", (long long)integer, real);
    equal += is_equal;
    sqlite3_reset(compare);
  }
  sqlite3_finalize(compare);
  CHECK(equal > 60000 && equal < 95000, "%u", equal);
}

static void special_numbers(void **state) {
  (void)state;
  assert_int_equal(one_number("SELECT key_hash(0.0 * -1) = key_hash(0)"), 1);
  assert_int_equal(one_number("SELECT key_hash(9e999) = key_hash(-9e999)"), 0);
  assert_int_equal(one_number("SELECT key_hash(9e999) = key_hash(1e999)"), 1);
  assert_int_equal(one_number("SELECT key_type(9e999)"), BLOOM_TYPE_REAL);
  assert_int_equal(one_number("SELECT key_type(-9223372036854775808.0)"), BLOOM_TYPE_INTEGER);
  assert_int_equal(one_number("SELECT key_type(9223372036854775808.0)"), BLOOM_TYPE_REAL);
  assert_int_equal(one_number("SELECT key_type(NULL)"), 0);
  assert_int_equal(one_number("SELECT key_type(9e999 - 9e999)"), 0);
  assert_int_equal(one_number("SELECT key_type('1.0')"), BLOOM_TYPE_INTEGER);
  assert_int_equal(one_number("SELECT key_type('0.1')"), BLOOM_TYPE_REAL);
  assert_int_equal(one_number("SELECT key_type('12345678901234567890')"), BLOOM_TYPE_TEXT);
  assert_int_equal(one_number("SELECT key_type('9223372036854775808')"), BLOOM_TYPE_TEXT);
  assert_int_equal(one_number("SELECT key_type('9223372036854775808.')"), BLOOM_TYPE_REAL);
  assert_int_equal(one_number("SELECT key_type(x'35')"), BLOOM_TYPE_BLOB);
  assert_int_equal(one_number("SELECT key_type('')"), BLOOM_TYPE_TEXT);
}

/* The canonical form of values, worked out by hand: an integer, or digits and a power of ten. */
static void canonical_forms(void **state) {
  static const struct {
    const char *value;
    unsigned type;
    int64_t integer;
    int32_t power;
  } cases[] = {
      {"0.1", BLOOM_TYPE_REAL, 1, -1},
      {"'.10'", BLOOM_TYPE_REAL, 1, -1},
      {"-2.5e-7", BLOOM_TYPE_REAL, -25, -8},
      {"0.1 + 0.2", BLOOM_TYPE_REAL, 3, -1},
      {"'0.30000000000000004'", BLOOM_TYPE_REAL, 3, -1},
      {"1e19", BLOOM_TYPE_REAL, 1, 19},
      {"'10000000000000000000'", BLOOM_TYPE_REAL, 1, 19},
      {"'93e17'", BLOOM_TYPE_REAL, 93, 17},
      {"92e17", BLOOM_TYPE_INTEGER, INT64_C(9200000000000000000), 0},
      {"'92e17'", BLOOM_TYPE_INTEGER, INT64_C(9200000000000000000), 0},
      {"9223372036854775808.0", BLOOM_TYPE_REAL, INT64_C(922337203685478), 4},
      {"'9223372036854775807.0'", BLOOM_TYPE_REAL, INT64_C(922337203685478), 4},
      {"'-9223372036854775808.0'", BLOOM_TYPE_INTEGER, INT64_MIN, 0},
      {"'9007199254740993.0'", BLOOM_TYPE_INTEGER, INT64_C(9007199254740992), 0},
      {"'9007199254740993'", BLOOM_TYPE_INTEGER, INT64_C(9007199254740993), 0},
      {"'4503599627370497.5'", BLOOM_TYPE_INTEGER, INT64_C(4503599627370498), 0},
      {"100000000000000.5", BLOOM_TYPE_REAL, 1, 14}, /* ties to even: the even 15th digit */
      {"100000000000001.5", BLOOM_TYPE_REAL, INT64_C(100000000000002), 0},
      {"'123456789012345.6'", BLOOM_TYPE_REAL, INT64_C(123456789012346), 0},
      {"'123456789012345e22'", BLOOM_TYPE_REAL, INT64_C(123456789012345), 22},
      {"123456789012345e22", BLOOM_TYPE_REAL, INT64_C(123456789012345), 22},
      {"1e-307", BLOOM_TYPE_REAL, 1, -307},
      {"'1e-307'", BLOOM_TYPE_REAL, 1, -307},
      {"9e-308", BLOOM_TYPE_INTEGER, 0, 0},
      {"'9.99999999999999e-308'", BLOOM_TYPE_INTEGER, 0, 0},
      {"'9.999999999999999e-308'", BLOOM_TYPE_REAL, 1, -307},
      {"'-1e-99999999999'", BLOOM_TYPE_INTEGER, 0, 0},
      {"'1.79769313486231e308'", BLOOM_TYPE_REAL, INT64_C(179769313486231), 294},
      {"1.79769313486231e308", BLOOM_TYPE_REAL, INT64_C(179769313486231), 294},
      {"'1.79769313486232e308'", BLOOM_TYPE_TEXT, 0, 0},
      {"'1.797693134862316e308'", BLOOM_TYPE_TEXT, 0, 0},
      {"'1.7976931348623157e308'", BLOOM_TYPE_REAL, 1, INT32_MAX},
      {"-9e999", BLOOM_TYPE_REAL, -1, INT32_MAX},
      {"1.7976931348623157e308", BLOOM_TYPE_REAL, 1, INT32_MAX},
      {"'-1e309'", BLOOM_TYPE_TEXT, 0, 0},
      {"'340e2740'", BLOOM_TYPE_TEXT, 0, 0},
      {"'1e99999999999'", BLOOM_TYPE_TEXT, 0, 0},
      {"'5' || char(0)", BLOOM_TYPE_INTEGER, 5, 0},
      {"'5' || char(0) || 'abc'", BLOOM_TYPE_INTEGER, 5, 0},
      {"' 2.50 ' || char(0, 0) || 'a tail of letters'", BLOOM_TYPE_REAL, 25, -1},
      {"'1e' || char(0) || '5'", BLOOM_TYPE_TEXT, 0, 0},
      {"char(0) || '5'", BLOOM_TYPE_TEXT, 0, 0},
      {"'5x' || char(0)", BLOOM_TYPE_TEXT, 0, 0},
      {"'1234567890123456789012' || char(0)", BLOOM_TYPE_TEXT, 0, 0},
  };
  (void)state;
  for (unsigned i = 0; i < COUNT(cases); i++) {
    char sql[200];
    BloomKey key = {0};
    snprintf(sql, sizeof sql, "SELECT %s", cases[i].value);
    sqlite3_stmt *statement = prepare(sql);
    check_ok(sqlite3_step(statement), sql);
    assert_int_equal(bloom_key_read(sqlite3_column_value(statement, 0), &key), SQLITE_OK);
    bool same = key.type == cases[i].type;
    if (key.type != BLOOM_TYPE_TEXT) same = same && key.integer == cases[i].integer;
    if (key.type == BLOOM_TYPE_REAL) same = same && key.power == cases[i].power;
    CHECK(same, "%s: type %u, %lld, %d", sql, key.type, (long long)key.integer, (int)key.power);
    sqlite3_finalize(statement);
  }
}

/* What a NUL ends: newer versions read '5' and a NUL as 5 for a numeric column, older ones do not.
** Equal for `=` means one hash on both; text whose number it is not keeps all its bytes. */
static void nul_ends_numbers(void **state) {
  static const char *const values =
      "WITH v(x) AS (VALUES (5), ('5'), ('5' || char(0)), ('5' || char(0) || 'abc'),"
      " (' 5 ' || char(0)), ('5.0' || char(0, 0)), (5.5), ('5.5' || char(0) || '5'),"
      " ('a' || char(0) || 'b'), ('a'),"
      " (char(0)), (char(0) || '5'), (''), ('5x' || char(0)), (CAST('5' || char(0) AS BLOB)))";
  char sql[700];
  (void)state;
  make_tables();
  snprintf(sql, sizeof sql, "%s INSERT INTO a SELECT x, x, x, x, x FROM v", values);
  run(sql);
  run("INSERT INTO b SELECT * FROM a");
  sqlite3_stmt *pairs = prepare_pairs();
  unsigned rows = 0, equal = 0;
  while (sqlite3_step(pairs) == SQLITE_ROW) {
    rows++;
    for (int i = 0; i < PAIRS; i++) {
      equal += sqlite3_column_int(pairs, 2 * i) != 0;
      CHECK(!sqlite3_column_int(pairs, 2 * i) || sqlite3_column_int(pairs, 2 * i + 1),
            "row %u: equal as %s and %s", rows, affinities[i / AFFINITIES],
            affinities[i % AFFINITIES]);
    }
  }
  sqlite3_finalize(pairs);
  assert_int_equal(rows, 15 * 15);
  CHECK(equal > 300, "%u", equal);
  /* 5, 5.5, and of the texts: a NUL b; a; NUL; NUL 5; empty; 5x NUL; and the blob */
  snprintf(sql, sizeof sql, "%s SELECT count(DISTINCT key_hash(x)) FROM v", values);
  assert_int_equal(one_number(sql), 9);
}

/* Digits alone are read eight at a time: every length, and every byte in every place. */
static void digits_alone(void **state) {
  char text[24];
  (void)state;
  for (unsigned length = 1; length <= 18; length++) {
    for (unsigned at = 0; at < length; at++) {
      for (unsigned byte = 0; byte < 256; byte++) {
        BloomKey key, as_number;
        uint64_t hash;
        bool digit = byte >= '0' && byte <= '9';
        memcpy(text, "123456789012345678901", sizeof "123456789012345678901");
        text[at] = (char)byte;
        text[length] = '\0';
        bloom_key_integer(&as_number, strtoll(text, NULL, 10));
        bloom_key_text(&key, text, length);
        assert_int_equal(bloom_key_hash_spelt((const uint8_t *)text, length, &hash), key.type);
        assert_true(hash == bloom_key_hash(&key));
        CHECK(!digit || (key.type == BLOOM_TYPE_INTEGER && key.integer == as_number.integer), "%s",
              text);
        /* In their middle only a point, an e or a NUL leaves a number. */
        CHECK(digit || at == 0 || at + 1 == length || strchr(".eE", (int)byte) ||
                  key.type == BLOOM_TYPE_TEXT,
              "%s", text);
      }
    }
  }
}

/* What stands behind a text is not looked at, though it would go on with the number. */
static void bytes_behind(void **state) {
  static const char *const texts[] = {"1.5e3", "1.55", "1.5 ", "1.5.", "1.5x"};
  static const char digits[] = "123456789123456789123456789";
  BloomKey alone, key;
  (void)state;
  for (uint64_t size = 1, number = 1; size <= 18; size++) {
    bloom_key_text(&key, digits, size);
    CHECK(key.type == BLOOM_TYPE_INTEGER && (uint64_t)key.integer == number, "%d digits",
          (int)size);
    number = number * 10 + (uint64_t)(digits[size] - '0');
  }
  bloom_key_text(&alone, "1.5", 3);
  for (unsigned i = 0; i < COUNT(texts); i++) {
    bloom_key_text(&key, texts[i], 3);
    CHECK(key.type == BLOOM_TYPE_REAL && bloom_key_hash(&key) == bloom_key_hash(&alone), "%s",
          texts[i]);
  }
}

/* Types that are never equal differ, and so do all of many keys. */
static void different_keys_differ(void **state) {
  (void)state;
  assert_int_equal(one_number("SELECT key_hash('') = key_hash(x'')"), 0);
  assert_int_equal(one_number("SELECT key_hash('a') = key_hash(x'61')"), 0);
  assert_int_equal(one_number("SELECT key_hash('') = key_hash(char(0))"), 0);
  assert_int_equal(one_number("SELECT key_hash(5) = key_hash(x'35')"), 0);
  assert_int_equal(
      one_number("WITH RECURSIVE s(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM s WHERE i < 49999)"
                 "SELECT count(DISTINCT h) FROM (SELECT key_hash(i) AS h FROM s"
                 " UNION ALL SELECT key_hash(i + 0.5) FROM s"
                 " UNION ALL SELECT key_hash('k' || i) FROM s"
                 " UNION ALL SELECT key_hash(CAST(i AS BLOB)) FROM s)"),
      200000);
}

/* One hash in UTF-8 and UTF-16 databases, for text with every length of UTF-8. */
static void encodings(void **state) {
  static const char *const encoding[] = {"UTF-8", "UTF-16le", "UTF-16be"};
  static const char *const values =
      "SELECT group_concat(key_hash(x), ' ') FROM (SELECT '5' AS x UNION ALL SELECT ' 5.0 ' "
      "UNION ALL SELECT '\xc3\xa9' UNION ALL SELECT 'a\xe2\x82\xac' UNION ALL SELECT "
      "'\xf0\x9f\x98\x80' UNION ALL SELECT 'plain' UNION ALL SELECT '' UNION ALL SELECT '0.1')";
  char first[400] = "";
  (void)state;
  for (unsigned i = 0; i < COUNT(encoding); i++) {
    char sql[60];
    sqlite3 *utf8 = db;
    check_ok(sqlite3_open(":memory:", &db), "open");
    snprintf(sql, sizeof sql, "PRAGMA encoding = '%s'; CREATE TABLE t(x);", encoding[i]);
    run(sql);
    sqlite3_create_function(db, "key_hash", 1, SQLITE_UTF8, NULL, hash_function, NULL, NULL);
    sqlite3_stmt *statement = prepare(values);
    check_ok(sqlite3_step(statement), values);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (i == 0) snprintf(first, sizeof first, "%s", text);
    assert_string_equal(text, first);
    sqlite3_finalize(statement);
    close_database(NULL);
    db = utf8;
  }
}

/* The encoding of tuples is injective: other parts, other bytes. */
static void tuples(void **state) {
  BloomKey parts[3] = {{BLOOM_TYPE_TEXT, 0, 0, (const uint8_t *)"ab", 2},
                       {BLOOM_TYPE_TEXT, 0, 0, (const uint8_t *)"a", 1},
                       {BLOOM_TYPE_INTEGER, 5, 0, NULL, 0}};
  uint8_t bytes[2][64];
  (void)state;
  for (unsigned i = 0; i < COUNT(parts); i++) {
    uint8_t *end = bloom_key_encode(&parts[i], bytes[0]);
    assert_int_equal(end - bytes[0], bloom_key_encoded_size(&parts[i]));
  }
  /* ('ab', 'c') and ('a', 'bc') */
  BloomKey c = {BLOOM_TYPE_TEXT, 0, 0, (const uint8_t *)"c", 1};
  BloomKey bc = {BLOOM_TYPE_TEXT, 0, 0, (const uint8_t *)"bc", 2};
  uint8_t *one = bloom_key_encode(&c, bloom_key_encode(&parts[0], bytes[0]));
  uint8_t *two = bloom_key_encode(&bc, bloom_key_encode(&parts[1], bytes[1]));
  assert_int_equal(one - bytes[0], two - bytes[1]);
  assert_memory_not_equal(bytes[0], bytes[1], (size_t)(one - bytes[0]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spelt_numbers),
      cmocka_unit_test(known_spellings),
      cmocka_unit_test(decimals_as_sqlite_reads_them),
      cmocka_unit_test(integers_and_reals),
      cmocka_unit_test(special_numbers),
      cmocka_unit_test(canonical_forms),
      cmocka_unit_test(nul_ends_numbers),
      cmocka_unit_test(digits_alone),
      cmocka_unit_test(bytes_behind),
      cmocka_unit_test(different_keys_differ),
      cmocka_unit_test(encodings),
      cmocka_unit_test(tuples),
  };
  printf("# SQLite %s\n", sqlite3_libversion());
  return cmocka_run_group_tests_name("key", tests, open_database, close_database);
}
