/* key.c: which values are one key. See key.h for the rule and FORMAT.md for the table. */
#include "key.h"

#include "hash.h"

enum {
  SEED_INTEGER = 1,
  SEED_REAL = 2,
  SEED_TEXT = 0, /* the common long key: other seeds cost XXH3 more above 240 bytes */
  SEED_BLOB = 3
};

/* ---- numbers spelt as text ----
**
** A comparison with a column of numeric affinity turns the text '5' into the number 5; a function
** sees no affinity, so such text has to be that number here. The grammar is SQLite's:
**
**   space* sign? digits* (. digits*)? (e sign? digits+)? space*     with a digit before the e
**
** and the number is taken only where it is certain, without strtod: an exact 64-bit integer, or at
** most 15 significant digits and a power of ten that doubles hold exactly, so that one
** multiplication or division is correctly rounded everywhere (Clinger 1990, the fast path).
*/
enum {
  EXACT_DIGITS = 15, /* 10^15 < 2^53 */
  EXACT_POWER = 22,  /* 10^22 is the largest power of ten that is a double */
  MAX_DIGITS = 19,   /* of an int64 */
  MAX_EXPONENT = 100000
};

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

static bool decimal_real(const Decimal *number, double *real) {
  static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  uint64_t digits = number->digits;
  unsigned count = number->count;
  int64_t power = number->power;
  for (; power > EXACT_POWER && count < EXACT_DIGITS; power--, count++) digits *= 10;
  if (count > EXACT_DIGITS || power > EXACT_POWER || power < -EXACT_POWER) return false;
  *real = power < 0 ? (double)digits / tens[-power] : (double)digits * tens[power];
  if (number->negative) *real = -*real;
  return true;
}

/* An integral REAL is the INTEGER; the bounds are compared before the cast, which is undefined
** outside them. */
static void set_real(BloomKey *key, double real) {
  key->type = BLOOM_TYPE_REAL;
  key->real = real;
  if (real >= -9223372036854775808.0 && real < 9223372036854775808.0 &&
      (double)(int64_t)real == real) {
    key->type = BLOOM_TYPE_INTEGER;
    key->integer = (int64_t)real;
  }
}

/* What SQLite reads from digits alone is an integer; with a point or an exponent it is a double,
** which matters above 2^53. */
static bool set_number(BloomKey *key, const Decimal *number) {
  uint64_t magnitude;
  double real;
  if (number->count == 0) {
    key->type = BLOOM_TYPE_INTEGER;
    key->integer = 0;
    return true;
  }
  if (decimal_magnitude(number, &magnitude)) {
    if (!number->whole) {
      set_real(key, number->negative ? -(double)magnitude : (double)magnitude);
      return true;
    }
    key->type = BLOOM_TYPE_INTEGER;
    key->integer = (int64_t)(number->negative ? 0 - magnitude : magnitude);
    return true;
  }
  if (!decimal_real(number, &real)) return false;
  set_real(key, real);
  return true;
}

/* A spelt number has at most one byte with one of its two top bits set: the e. Two of them among
** the first or the last eight bytes, and the text is no number: one predictable branch for almost
** every word, URL or hex key. */
BLOOM_INLINE bool may_be_number(const uint8_t *text, uint64_t size) {
  const uint64_t top_bits = UINT64_C(0xc0c0c0c0c0c0c0c0), top = UINT64_C(0x8080808080808080);
  if (size < 8) return size > 0;
  uint64_t first = load_le64(text) & top_bits, last = load_le64(text + size - 8) & top_bits;
  first = (first | first << 1) & top;
  last = (last | last << 1) & top;
  return ((first & (first - 1)) | (last & (last - 1))) == 0;
}

static BLOOM_NOINLINE bool read_spelt_number(BloomKey *key) {
  Decimal number;
  return read_decimal(key->bytes, key->bytes + key->size, &number) && set_number(key, &number);
}

/* ---- values ---- */

BLOOM_INLINE int read_bytes(sqlite3_value *value, BloomKey *key, unsigned type) {
  /* Text first, then its length: the other order may convert the text between the two. */
  key->bytes = type == BLOOM_TYPE_TEXT ? sqlite3_value_text(value) : sqlite3_value_blob(value);
  key->size = (uint64_t)sqlite3_value_bytes(value);
  key->type = type;
  /* An empty blob has no address, and neither has one that could not be had. */
  if (key->bytes == NULL && (type == BLOOM_TYPE_TEXT || key->size > 0)) return SQLITE_NOMEM;
  return SQLITE_OK;
}

BLOOM_INLINE int read_key(sqlite3_value *value, BloomKey *key) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      key->type = BLOOM_TYPE_INTEGER;
      key->integer = sqlite3_value_int64(value);
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

BLOOM_INLINE uint64_t hash_number(uint64_t bits, uint64_t seed) {
  uint8_t bytes[8];
  store_le64(bytes, bits);
  return XXH3_64bits_withSeed(bytes, sizeof bytes, seed);
}

BLOOM_INLINE uint64_t hash_key(const BloomKey *key) {
  switch (key->type) {
    case BLOOM_TYPE_INTEGER:
      return hash_number((uint64_t)key->integer, SEED_INTEGER);
    case BLOOM_TYPE_REAL:
      return hash_number(bits_of_double(key->real), SEED_REAL);
    case BLOOM_TYPE_TEXT:
      return XXH3_64bits(key->bytes, (size_t)key->size);
    default:
      return XXH3_64bits_withSeed(key->bytes, (size_t)key->size, SEED_BLOB);
  }
}

int bloom_key_read(sqlite3_value *value, BloomKey *key) {
  return read_key(value, key);
}

uint64_t bloom_key_hash(const BloomKey *key) {
  return hash_key(key);
}

static BLOOM_NOINLINE int hash_any(sqlite3_value *value, uint64_t *hash) {
  BloomKey key;
  if (read_key(value, &key) != SQLITE_OK) return -1;
  if (key.type != 0) *hash = hash_key(&key);
  return (int)key.type;
}

/* Text that is no number and integers go by the shortest way, and as hash_any would. */
int bloom_key_hash_value(sqlite3_value *value, uint64_t *hash) {
  int type = sqlite3_value_type(value);
  if (type == SQLITE_TEXT) {
    const uint8_t *text = sqlite3_value_text(value);
    uint64_t size = (uint64_t)sqlite3_value_bytes(value);
    if (BLOOM_LIKELY(text && !may_be_number(text, size))) {
      *hash = XXH3_64bits(text, (size_t)size);
      return BLOOM_TYPE_TEXT;
    }
  } else if (type == SQLITE_INTEGER) {
    *hash = hash_number((uint64_t)sqlite3_value_int64(value), SEED_INTEGER);
    return BLOOM_TYPE_INTEGER;
  }
  return hash_any(value, hash);
}

/* ---- composite keys ---- */

static bool has_bytes(const BloomKey *key) {
  return key->type == BLOOM_TYPE_TEXT || key->type == BLOOM_TYPE_BLOB;
}

uint64_t bloom_key_encoded_size(const BloomKey *key) {
  return 1 + 8 + (has_bytes(key) ? key->size : 0);
}

uint8_t *bloom_key_encode(const BloomKey *key, uint8_t *to) {
  *to++ = (uint8_t)key->type;
  if (!has_bytes(key)) {
    store_le64(
        to, key->type == BLOOM_TYPE_INTEGER ? (uint64_t)key->integer : bits_of_double(key->real));
    return to + 8;
  }
  store_le64(to, key->size);
  if (key->size > 0) memcpy(to + 8, key->bytes, (size_t)key->size);
  return to + 8 + key->size;
}
