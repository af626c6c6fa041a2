/* affinity: numbers spelt as text, against SQLite's own comparison in all affinity pairs.
**
** Input: two values (fuzz.h); a second that is NULL becomes the first one, spelt in another way.
** Both are stored in columns of all affinities. Where SQLite calls a column of the one equal to a
** column of the other, a filter of the one must contain the other. Excepted is text against a
** number where the README says so: more than 19 digits, whole ones beyond 64 bits, beyond the
** largest double, and, before SQLite 3.53, 16 to 19 digits with a point or an exponent. What is
** found and has another hash must be rare: the filters' rate is 1e-9.
*/
#include "fuzz.h"

const char fuzz_name[] = "affinity";

enum {
  COLUMNS = 5
};

static sqlite3 *db;
static sqlite3_stmt *insert, *compare, *contains, *hashes, *number;

static const char *const columns[COLUMNS] = {"t", "n", "i", "r", "b"};

/* A row for each pair of columns: both values, and whether they are equal. */
static void open_all(void) {
  char sql[4000] = "", part[200];
  db = open_bloom();
  run_sql(db,
          "CREATE TABLE v(id INTEGER PRIMARY KEY, t TEXT, n NUMERIC, i INTEGER, r REAL, b BLOB)");
  insert = prepare(db, "INSERT INTO v VALUES (?1, ?2, ?2, ?2, ?2, ?2)");
  for (unsigned x = 0; x < COLUMNS; x++) {
    for (unsigned y = 0; y < COLUMNS; y++) {
      snprintf(part, sizeof part,
               "%s SELECT x.%s, y.%s, x.%s = y.%s FROM v AS x, v AS y"
               " WHERE x.id = 1 AND y.id = 2",
               sql[0] ? " UNION ALL" : "", columns[x], columns[y], columns[x], columns[y]);
      strncat(sql, part, sizeof sql - strlen(sql) - 1);
    }
  }
  compare = prepare(db, sql);
  contains = prepare(db, "SELECT bloom_contains(bloom_build(?1, 1, 1e-9), ?2)");
  hashes = prepare(db,
                   "SELECT json_extract(bloom_explain(f, ?1), '$.hash') ="
                   " json_extract(bloom_explain(f, ?2), '$.hash')"
                   " FROM (SELECT bloom_new(1, 0.5) AS f)");
  number = prepare(db, "SELECT CAST(?1 AS NUMERIC)");
}

/* ---- what the README promises ---- */

static const char *skip_digits(const char *at, const char *end) {
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at;
}

static bool is_space(char byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Whether text that may spell a number, and then equals a number, must be found. Text that spells
** none equals none. */
static bool is_promised(const char *text, size_t size) {
  const char *at = text, *end = memchr(text, 0, size);
  char digits[400];
  unsigned count = 0;
  if (end == NULL) end = text + size;
  while (at < end && is_space(*at)) at++;
  if (at < end && (*at == '-' || *at == '+')) at++;
  bool negative = at > text && at[-1] == '-';
  const char *point = skip_digits(at, end), *stop = point;
  if (stop < end && *stop == '.') stop = skip_digits(stop + 1, end);
  for (; at < stop; at++) { /* significant digits, zeros at their end too */
    if (*at != '.' && (count > 0 || *at != '0')) digits[count++] = *at;
  }
  while (end > stop && is_space(end[-1])) end--;
  bool whole = point == end;
  digits[count] = 0;
  if (whole && count <= 19) {
    const char *largest = negative ? "9223372036854775808" : "9223372036854775807";
    if (count < 19 || strcmp(digits, largest) <= 0) return true;
  }
  while (count > 0 && digits[count - 1] == '0') count--;
  if (count > 19 || (whole && count > 15)) return false;
  if (count > 15 && sqlite3_libversion_number() < 3053000) return false;
  char *copy = strndup(text, size);
  double real = strtod(copy, NULL);
  free(copy);
  return real < 1.79769313486231575e308 && real > -1.79769313486231575e308;
}

/* ---- one pair of values ---- */

static struct {
  double asked;
  double found; /* of other hashes */
} chance;

static void check_chance(void) {
  double expected = chance.asked * 1e-9;
  if (chance.found > expected + 6 + 6 * expected) {
    finding("%.0f of %.0f different keys are found at a rate of 1e-9", chance.found, chance.asked);
  }
}

static void show(char *out, size_t room, sqlite3_value *value) {
  const unsigned char *text = sqlite3_value_text(value);
  snprintf(out, room, "type %d: '%s'", sqlite3_value_type(value), text ? (const char *)text : "");
}

static bool ask_two(sqlite3_stmt *statement, sqlite3_value *a, sqlite3_value *b) {
  sqlite3_bind_value(statement, 1, a);
  sqlite3_bind_value(statement, 2, b);
  return ask(statement) != 0;
}

static bool is_promised_text(sqlite3_value *value) {
  const char *text = (const char *)sqlite3_value_text(value);
  return is_promised(text, (size_t)sqlite3_value_bytes(value));
}

/* A row of `compare`. */
static void check_pair(void) {
  sqlite3_value *x = sqlite3_value_dup(sqlite3_column_value(compare, 0));
  sqlite3_value *y = sqlite3_value_dup(sqlite3_column_value(compare, 1));
  int type_x = sqlite3_value_type(x), type_y = sqlite3_value_type(y);
  bool found = type_x != SQLITE_NULL && type_y != SQLITE_NULL && ask_two(contains, x, y);
  bool excepted = (type_x == SQLITE_TEXT) != (type_y == SQLITE_TEXT) &&
                  !is_promised_text(type_x == SQLITE_TEXT ? x : y);
  if (sqlite3_column_int(compare, 2) && !found && !excepted) {
    char one[200], two[200];
    show(one, sizeof one, x);
    show(two, sizeof two, y);
    finding("%s equals %s and is not found", one, two);
  }
  chance.asked++;
  if (found && !ask_two(hashes, x, y)) chance.found++;
  sqlite3_value_free(x);
  sqlite3_value_free(y);
}

/* The first value, spelt in another way. */
static void respell(Input *input, const Value *from, Value *to) {
  static const char *const formats[] = {"%.15g",  "%.17g",   "%.0f", "%.14e", "+%.15g",
                                        "0%.15g", "%.15ge0", " %f ", "%.16e", "%.18e"};
  unsigned format = take_byte(input);
  bind_value(number, 1, from);
  if (!first_row(number)) finding("%s", sqlite3_errmsg(db));
  memset(to, 0, sizeof *to);
  to->type = SQLITE_TEXT;
  if (sqlite3_column_type(number, 0) == SQLITE_INTEGER && format & 64) {
    snprintf(to->bytes, sizeof to->bytes, format & 32 ? "%lld.0" : " %lld",
             (long long)sqlite3_column_int64(number, 0));
  } else { /* the formats are the literals above */
    snprintf(to->bytes, sizeof to->bytes, formats[format % COUNT(formats)],
             sqlite3_column_double(number, 0));
  }
  to->size = strlen(to->bytes);
  reset_statement(number);
}

void fuzz_one(Input input) {
  static uint64_t inputs;
  Value values[2];
  if (db == NULL) open_all();
  for (unsigned i = 0; i < 2; i++) {
    take_value(&input, &values[i]);
    if (i == 1 && values[1].type == SQLITE_NULL) respell(&input, &values[0], &values[1]);
  }
  run_sql(db, "BEGIN");
  for (int i = 0; i < 2; i++) {
    sqlite3_bind_int(insert, 1, i + 1);
    bind_value(insert, 2, &values[i]);
    sqlite3_step(insert);
    reset_statement(insert);
  }
  while (sqlite3_step(compare) == SQLITE_ROW) check_pair();
  sqlite3_reset(compare);
  run_sql(db, "ROLLBACK");
  if (++inputs % 4096 == 0) check_chance();
}

void fuzz_end(void) {
  if (chance.asked == 0) finding("nothing was compared");
  check_chance();
}
