/* fuzz.h: what the fuzzers share. README.md says how they are built and run.
**
** A fuzzer is one file with fuzz_name, fuzz_one and fuzz_end. It talks to the extension in SQL
** only, and compares its answers with a reader written from ext/FORMAT.md (below), with SQLite's
** own comparison, or with a second connection. What must not be ends in finding(), which aborts.
*/
#ifndef FUZZ_H
#define FUZZ_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- a fuzzer ---- */

/* The input that is left: taking from its end gives zeros. */
typedef struct Input {
  const uint8_t *at;
  const uint8_t *end;
} Input;

extern const char fuzz_name[];
void fuzz_one(Input input);
/* Once, behind the last input of a replay: what is told of all inputs together. */
void fuzz_end(void);

/* A fault of the extension: says what, and aborts. */
void finding(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

uint64_t next_random(uint64_t *state);

/* ---- input ---- */

size_t left(const Input *input);
uint8_t take_byte(Input *input);
uint64_t take_number(Input *input, unsigned bytes); /* little-endian */
/* At most `size` bytes; *size becomes how many there are. */
const uint8_t *take_bytes(Input *input, size_t *size);

/* A value of any type, with bytes of its own. */
typedef struct Value {
  int type; /* SQLITE_INTEGER ... */
  int64_t integer;
  double real;
  size_t size;
  char bytes[100]; /* of text and blobs */
} Value;

void take_value(Input *input, Value *value);
void bind_value(sqlite3_stmt *statement, int at, const Value *value);

/* ---- SQLite ---- */

/* A connection with the extension, compiled in or, if not, from the file that BLOOM names. */
sqlite3 *open_bloom(void);
sqlite3 *open_bare(void);
sqlite3 *open_image(const unsigned char *bytes, sqlite3_int64 size); /* of a database file */
void load_bloom(sqlite3 *db);
/* SQL and calls that cannot fail. */
void run_sql(sqlite3 *db, const char *sql);
sqlite3_stmt *prepare(sqlite3 *db, const char *sql);
/* Steps to the first row and true, or false at an error. A row is read before reset_statement. */
bool first_row(sqlite3_stmt *statement);
void reset_statement(sqlite3_stmt *statement);
/* The statement's first column as an integer; an error is a finding. */
int64_t ask(sqlite3_stmt *statement);
/* The error of the connection must be one in words that begin with `name`, or SQLite's own for
** what is too big. */
void check_error(sqlite3 *db, const char *name);

/* ---- filters, by ext/FORMAT.md ---- */

typedef struct Layer {
  uint64_t capacity;
  uint64_t lines;
  uint64_t line_bits;
  uint64_t offset; /* of its cells in the filter */
  uint64_t size;   /* of its cells, in bytes */
  uint32_t rate;   /* the bits of a float32 */
  uint8_t k;
  uint8_t L;
} Layer;

typedef struct Filter {
  const uint8_t *bytes;
  uint64_t size;
  unsigned cell_bits;
  unsigned layer_count;
  Layer layers[64];
} Filter;

enum {
  HEADER_BAD, /* no reader may answer from it */
  BODY_BAD,   /* a reader may answer about a single key */
  SOUND
};

int read_filter(const uint8_t *bytes, uint64_t size, Filter *filter);
bool filter_contains(const Filter *filter, uint64_t hash);
uint64_t hash_of_integer(int64_t key);
unsigned cell_of(const Filter *filter, const Layer *layer, uint64_t cell);

/* What repair may do, so that a fuzzer gets behind the checks. */
enum {
  REPAIR_HEADER = 1, /* checksum */
  REPAIR_BODY = 2,   /* checksum */
  REPAIR_SIZE = 4,   /* the body gets the length that the layers say */
  REPAIR_FIXED = 8,  /* magic, version, scheme, n and p of the first layer */
  REPAIR_SPARE = 32, /* the bits behind the last cells are 0 */
  MOST_BYTES = 1 << 18
};

/* A copy of the bytes, repaired, from malloc. */
uint8_t *repair(const uint8_t *bytes, size_t *size, unsigned what);
/* Writes the checksum of a header that is whole. */
void seal_header(uint8_t *bytes, size_t size);

#endif
