/* key.c: which values are one key. See key.h for the rule and FORMAT.md for the table. */
#include "key.h"

#include <stdio.h>
#include <stdlib.h>

#include "keyhash.h"

/* ---- numbers ----
**
** A comparison with a column of numeric affinity turns the text '5' into the number 5; a function
** sees no affinity, so such text has to be that number here. The grammar is SQLite's:
**
**   space* sign? digits* (. digits*)? (e sign? digits+)? space*     with a digit before the e
**
** and what follows a NUL does not count. Two forms are canonical: a 64-bit integer, and a decimal
** of at most 15 significant digits, which is what any other REAL is rounded to. Text of at most 15
** digits comes back from a double unchanged, also where the SQLite at hand reads decimals one unit
** in the last place off (3.40 does), so it never goes through floating point; with 16 to 19 digits
** and a point or an exponent it is the nearest double first (3.53 writes REALs into TEXT so).
*/
enum {
  REAL_DIGITS = 15,
  REAL_BYTES = 12, /* 8 of digits with sign, 4 of the power */
  MAX_DIGITS = 19, /* of an int64 */
  MAX_EXPONENT = 100000,
  LARGEST_EXPONENT = 308, /* of the first digit: beyond it doubles are infinite, */
  LEAST_EXPONENT = -307,  /* below it they have fewer digits, and then none: 0 */
  INFINITE_POWER = INT32_MAX
};

static const uint64_t LARGEST_DIGITS = UINT64_C(179769313486231); /* of a double, times 10^294 */

typedef struct Decimal {
  uint64_t digits; /* significant digits, no zero at either end */
  unsigned count;  /* how many they are, at most MAX_DIGITS */
  int64_t power;   /* of ten, that multiplies them */
  bool negative;
  bool whole; /* spelt with digits alone, which SQLite reads as an integer */
} Decimal;

static bool is_space(uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}
static bool is_digit(uint8_t byte) {
  return byte >= '0' && byte <= '9';
}

/* Takes the digits from `at` on into *number; false when there are more significant ones than an
** int64 has. Zeros wait in the power until a digit behind them makes them significant. */
static bool take_digits(const uint8_t **at, const uint8_t *end, Decimal *number) {
  for (; *at < end && is_digit(**at); ++*at) {
    uint64_t digit = **at - (uint64_t)'0';
    if (digit == 0) {
      number->power += number->count > 0;
      continue;
    }
    for (; number->count > 0 && number->power > 0; number->power--) {
      if (++number->count > MAX_DIGITS) return false;
      number->digits *= 10;
    }
    if (++number->count > MAX_DIGITS) return false;
    number->digits = number->digits * 10 + digit;
  }
  return true;
}

static bool take_exponent(const uint8_t **at, const uint8_t *end, int64_t *exponent) {
  bool negative = *at < end && **at == '-';
  if (*at < end && (**at == '-' || **at == '+')) ++*at;
  if (*at == end || !is_digit(**at)) return false;
  *exponent = 0;
  for (; *at < end && is_digit(**at); ++*at) {
    if (*exponent < MAX_EXPONENT) *exponent = *exponent * 10 + (**at - '0');
  }
  if (negative) *exponent = -*exponent;
  return true;
}

/* Reads all of the text by the grammar; false when it is not a number, or has more significant
** digits than can matter. */
static bool read_decimal(const uint8_t *at, const uint8_t *end, Decimal *number) {
  memset(number, 0, sizeof *number);
  while (at < end && is_space(*at)) at++;
  while (at < end && is_space(end[-1])) end--;
  if (at < end && (*at == '-' || *at == '+')) number->negative = *at++ == '-';
  const uint8_t *integer = at;
  if (!take_digits(&at, end, number)) return false;
  int64_t digits = at - integer, point = 0, exponent = 0;
  number->whole = at == end;
  if (at < end && *at == '.') {
    const uint8_t *fraction = ++at;
    if (!take_digits(&at, end, number)) return false;
    point = at - fraction;
  }
  if (digits + point == 0) return false;
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (!take_exponent(&at, end, &exponent)) return false;
  }
  number->power += exponent - point;
  return at == end;
}

/* digits * 10^power as an integer of at most 2^63; false when it is none. */
static bool decimal_magnitude(const Decimal *number, uint64_t *magnitude) {
  *magnitude = number->digits;
  if (number->power < 0 || number->power + number->count > MAX_DIGITS) return false;
  for (int64_t i = 0; i < number->power; i++) *magnitude *= 10;
  return *magnitude <= (uint64_t)INT64_MAX + number->negative;
}

static void set_integer(BloomKey *key, int64_t integer) {
  key->type = BLOOM_TYPE_INTEGER;
  key->integer = integer;
}

/* A decimal of at most REAL_DIGITS digits; 0 where doubles have fewer. False when it is beyond the
** largest double: as text it stays text, since hex keys such as 340e2740 would all be infinity. */
static bool set_decimal(BloomKey *key, const Decimal *number) {
  int64_t exponent = number->power + number->count - 1;
  uint64_t padded = number->digits;
  if (number->count == 0 || exponent < LEAST_EXPONENT) {
    set_integer(key, 0);
    return true;
  }
  for (unsigned i = number->count; i < REAL_DIGITS; i++) padded *= 10;
  if (exponent > LARGEST_EXPONENT || (exponent == LARGEST_EXPONENT && padded > LARGEST_DIGITS)) {
    return false;
  }
  key->type = BLOOM_TYPE_REAL;
  key->integer = number->negative ? -(int64_t)number->digits : (int64_t)number->digits;
  key->power = (int32_t)number->power;
  return true;
}

/* A REAL that is no 64-bit integer, rounded to 15 digits by the C library, which does it exactly.
** The decimal point is skipped, whatever the locale makes of it. */
static BLOOM_NOINLINE void set_rounded(BloomKey *key, double real) {
  char text[40];
  Decimal number = {.negative = real < 0};
  const char *at = text;
  snprintf(text, sizeof text, "%.*e", REAL_DIGITS - 1, real);
  for (; *at && *at != 'e'; at++) {
    if (!is_digit((uint8_t)*at)) continue;
    number.digits = number.digits * 10 + (uint64_t)(*at - '0');
    number.count++;
  }
  number.power = (*at ? strtol(at + 1, NULL, 10) : 0) - (REAL_DIGITS - 1);
  for (; number.count > 1 && number.digits % 10 == 0; number.count--, number.power++) {
    number.digits /= 10;
  }
  if (real - real == 0 && set_decimal(key, &number)) return;
  key->type = BLOOM_TYPE_REAL; /* infinity, or the largest doubles, which round up to it */
  key->integer = number.negative ? -1 : 1;
  key->power = INFINITE_POWER;
}

/* An integral REAL is the INTEGER; the bounds are compared before the cast, which is undefined
** outside them. */
BLOOM_INLINE void set_real(BloomKey *key, double real) {
  if (real >= -9223372036854775808.0 && real < 9223372036854775808.0 &&
      (double)(int64_t)real == real) {
    set_integer(key, (int64_t)real);
  } else {
    set_rounded(key, real);
  }
}

/* The double nearest to a decimal. Without a point, so that no locale matters; in memory, so that
** there is no excess precision. */
static double nearest_double(const Decimal *number) {
  char text[40];
  snprintf(text, sizeof text, "%s%llue%d", number->negative ? "-" : "",
           (unsigned long long)number->digits, (int)number->power);
  volatile double real = strtod(text, NULL);
  return real;
}

/* What SQLite reads from digits alone is an integer, if it fits; with a point or an exponent a
** double. More digits than are certain stay text. */
static void set_number(BloomKey *key, const Decimal *number) {
  uint64_t magnitude;
  bool integral = decimal_magnitude(number, &magnitude);
  if (number->whole && integral) {
    set_integer(key, (int64_t)(number->negative ? wrapping_sub(0, magnitude) : magnitude));
  } else if (!number->whole && (integral || number->count > REAL_DIGITS)) {
    double real = nearest_double(number);
    if (real - real == 0) set_real(key, real);
  } else if (number->count <= REAL_DIGITS) {
    set_decimal(key, number);
  }
}

/* Eight digits at a time: the sums of pairs, of fours and of eight are each one multiplication
** (Lemire, Number Parsing at a Gigabyte per Second, 2021). */
BLOOM_INLINE bool eight_digits(uint64_t word, uint64_t *number) {
  const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0), zeros = UINT64_C(0x3030303030303030);
  if ((word & high) != zeros) return false;
  if (((word + UINT64_C(0x0606060606060606)) & high) != zeros) return false;
  word = wrapping_mul(word - zeros, 10 << 8 | 1) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
  word = wrapping_mul(word, UINT64_C(100) << 16 | 1) >> 16 & UINT64_C(0x0000ffff0000ffff);
  *number = wrapping_mul(word, UINT64_C(10000) << 32 | 1) >> 32;
  return true;
}

/* Digits alone, so few that they fit: what most spelt numbers are. */
BLOOM_INLINE bool read_digits(const uint8_t *at, uint64_t size, uint64_t *number) {
  uint64_t part;
  if (size >= MAX_DIGITS) return false;
  for (*number = 0; size >= 8; at += 8, size -= 8) {
    if (!eight_digits(load_le64(at), &part)) return false;
    *number = *number * 100000000 + part;
  }
  for (; size > 0; at++, size--) {
    if (!is_digit(*at)) return false;
    *number = *number * 10 + (*at - (uint64_t)'0');
  }
  return true;
}

static BLOOM_NOINLINE void read_other_number(BloomKey *key) {
  Decimal number;
  const uint8_t *end = key->bytes + key->size, *nul = memchr(key->bytes, 0, (size_t)key->size);
  if (read_decimal(key->bytes, nul ? nul : end, &number)) set_number(key, &number);
}

/* Makes a key of text, which is not empty, the number that it spells, if it spells one. */
BLOOM_INLINE void read_spelt_number(BloomKey *key) {
  uint64_t magnitude;
  if (BLOOM_LIKELY(read_digits(key->bytes, key->size, &magnitude))) {
    set_integer(key, (int64_t)magnitude);
  } else {
    read_other_number(key);
  }
}

/* ---- values ---- */

void bloom_key_integer(BloomKey *key, int64_t integer) {
  set_integer(key, integer);
}

void bloom_key_real(BloomKey *key, double real) {
  set_real(key, real);
}

void bloom_key_text(BloomKey *key, const void *text, uint64_t size) {
  key->type = BLOOM_TYPE_TEXT;
  key->bytes = text;
  key->size = size;
  if (BLOOM_UNLIKELY(may_be_number(key->bytes, key->size))) read_spelt_number(key);
}

void bloom_key_blob(BloomKey *key, const void *bytes, uint64_t size) {
  key->type = BLOOM_TYPE_BLOB;
  key->bytes = bytes;
  key->size = size;
}

#ifndef BLOOM_NO_SQLITE

BLOOM_INLINE int read_bytes(sqlite3_value *value, BloomKey *key, unsigned type) {
  /* Text first, then its length: the other order may convert the text between the two. */
  key->bytes = type == BLOOM_TYPE_TEXT ? sqlite3_value_text(value) : sqlite3_value_blob(value);
  key->size = (uint64_t)sqlite3_value_bytes(value);
  key->type = type;
  /* An empty blob has no address. One that could not be had neither: SQLite makes it NULL. */
  bool lost = key->bytes == NULL && sqlite3_value_type(value) != SQLITE_BLOB;
  return lost ? SQLITE_NOMEM : SQLITE_OK;
}

BLOOM_INLINE int read_key(sqlite3_value *value, BloomKey *key) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      set_integer(key, sqlite3_value_int64(value));
      return SQLITE_OK;
    case SQLITE_FLOAT:
      set_real(key, sqlite3_value_double(value));
      return SQLITE_OK;
    case SQLITE_TEXT:
      if (read_bytes(value, key, BLOOM_TYPE_TEXT) != SQLITE_OK) return SQLITE_NOMEM;
      if (BLOOM_UNLIKELY(may_be_number(key->bytes, key->size))) read_spelt_number(key);
      return SQLITE_OK;
    case SQLITE_BLOB:
      return read_bytes(value, key, BLOOM_TYPE_BLOB);
    default:
      key->type = 0;
      return SQLITE_OK;
  }
}

#endif

/* The digits and the power, as they stand in composite keys too. */
static uint8_t *store_real(const BloomKey *key, uint8_t *to) {
  store_le64(to, (uint64_t)key->integer);
  store_le32(to + 8, (uint32_t)key->power);
  return to + REAL_BYTES;
}

static uint64_t hash_real(const BloomKey *key) {
  uint8_t bytes[REAL_BYTES];
  store_real(key, bytes);
  return XXH3_64bits_withSeed(bytes, sizeof bytes, SEED_REAL);
}

uint64_t bloom_key_hash(const BloomKey *key) {
  switch (key->type) {
    case BLOOM_TYPE_INTEGER:
      return hash_integer(key->integer);
    case BLOOM_TYPE_REAL:
      return hash_real(key);
    case BLOOM_TYPE_TEXT:
      return XXH3_64bits(key->bytes, (size_t)key->size);
    default:
      return XXH3_64bits_withSeed(key->bytes, (size_t)key->size, SEED_BLOB);
  }
}

#ifndef BLOOM_NO_SQLITE

int bloom_key_read(sqlite3_value *value, BloomKey *key) {
  return read_key(value, key);
}

unsigned bloom_key_hash_spelt(const uint8_t *text, uint64_t size, uint64_t *hash) {
  BloomKey key = {BLOOM_TYPE_TEXT, 0, 0, text, size};
  uint64_t number;
  if (BLOOM_LIKELY(read_digits(text, size, &number))) {
    *hash = hash_integer((int64_t)number);
    return BLOOM_TYPE_INTEGER;
  }
  read_other_number(&key);
  *hash = bloom_key_hash(&key);
  return key.type;
}

int bloom_key_hash_value(sqlite3_value *value, uint64_t *hash) {
  BloomKey key;
  if (read_key(value, &key) != SQLITE_OK) return -1;
  if (key.type != 0) *hash = bloom_key_hash(&key);
  return (int)key.type;
}

#endif

/* ---- composite keys ---- */

static bool has_bytes(const BloomKey *key) {
  return key->type == BLOOM_TYPE_TEXT || key->type == BLOOM_TYPE_BLOB;
}

uint64_t bloom_key_encoded_size(const BloomKey *key) {
  if (has_bytes(key)) return 1 + 8 + key->size;
  return 1 + (key->type == BLOOM_TYPE_REAL ? REAL_BYTES : 8);
}

uint8_t *bloom_key_encode(const BloomKey *key, uint8_t *to) {
  *to++ = (uint8_t)key->type;
  if (key->type == BLOOM_TYPE_REAL) return store_real(key, to);
  if (key->type == BLOOM_TYPE_INTEGER) {
    store_le64(to, (uint64_t)key->integer);
    return to + 8;
  }
  store_le64(to, key->size);
  if (key->size > 0) memcpy(to + 8, key->bytes, (size_t)key->size);
  return to + 8 + key->size;
}
