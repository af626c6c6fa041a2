/* damage quick | short | long: golden filters, damaged in every way that a list can name.
**
** Each field of header and layer table takes each of a list of values; each length is tried,
** shorter and by one byte longer; each bit of a small filter is flipped: with the checksums as they
** were, the header's repaired, or both. Every call then gives an error that says why, or the
** answers that a second reader (judge.c) gives. The blobs lie in memory of exactly their size, for
** the sanitizer.
**
** Runs in the project's folder. short: of large filters fewer lengths, and none of their bits;
** quick: also fewer of small ones, and of the layers' entries the first and the last. */
#include <dirent.h>
#include <math.h>

#include "../sql/sqltest.h"
#include "calls.h"

enum {
  SMALL =
      1000,   /* bytes: the bits and all lengths of smaller filters are tried in the short form, */
  TINY = 100, /* and of these in the quick one */
  MOST_SHOWN = 4
};

typedef enum Extent {
  QUICK,
  SHORT,
  LONG
} Extent;

typedef struct Blob {
  uint8_t *bytes;
  size_t size;
} Blob;

typedef enum Repair {
  AS_IT_WAS,
  HEADER,
  HEADER_AND_BODY,
  REPAIRS
} Repair;

static Extent extent;
static Seen all;

/* Where a test stands: what it saw of one file, and what is wrong there. */
typedef struct Test {
  const char *file;
  Seen seen;
  unsigned wrong;
} Test;

static Blob copy_of(Blob blob, size_t size) {
  Blob copy = {malloc(size ? size : 1), size};
  memcpy(copy.bytes, blob.bytes, size < blob.size ? size : blob.size);
  return copy;
}

/* Takes the blob, repairs it and has every call look at it. */
static void check(Test *test, Blob blob, Repair repair, const char *what, unsigned long number) {
  const char *wrong;
  if (repair == HEADER_AND_BODY) repair_body(blob.bytes, blob.size);
  if (repair != AS_IT_WAS) repair_header(blob.bytes, blob.size);
  wrong = calls_check(blob.bytes, blob.size, &test->seen);
  if (wrong && test->wrong++ < MOST_SHOWN) {
    printf("# %s: %s %lu, repair %d: %s\n", test->file, what, number, (int)repair, wrong);
  }
  free(blob.bytes);
}

static void close_test(Test *test, const char *what) {
  const unsigned long *verdicts = test->seen.verdicts;
  ok(test->wrong == 0, "%s: %s: %lu refused, %lu with a damaged body, %lu right", test->file, what,
     verdicts[REFUSED], verdicts[BODY_DAMAGED], verdicts[RIGHT]);
  for (int i = 0; i < 3; i++) all.verdicts[i] += verdicts[i];
  for (int i = 0; i < 2; i++) all.answers[i] += test->seen.answers[i];
  all.calls += test->seen.calls;
}

/* ---- fields ---- */

typedef struct Field {
  size_t at;
  unsigned width;
} Field;

static unsigned fields_of(Blob blob, Field fields[]) {
  static const Field fixed[] = {{0, 4}, {4, 1},  {5, 1},  {6, 1},  {7, 1}, {8, 1},
                                {9, 1}, {10, 2}, {12, 4}, {16, 8}, {24, 8}};
  static const Field entry[] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}, {28, 1}, {29, 1}, {30, 2}};
  unsigned count = 0, layers = blob.bytes[9];
  for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++) fields[count++] = fixed[i];
  for (unsigned layer = 0; layer < layers; layer++) {
    if (extent == QUICK && layer > 0 && layer + 1 < layers) continue;
    for (unsigned i = 0; i < sizeof entry / sizeof *entry; i++) {
      fields[count] = entry[i];
      fields[count++].at += 32 + 32 * layer;
    }
  }
  fields[count++] = (Field){32 + 32 * layers, 8};
  return count;
}

/* The bits of a double or float, as the width asks. */
static uint64_t bits_of(double number, unsigned width) {
  float single = (float)number;
  uint32_t word;
  uint64_t bits;
  memcpy(&bits, &number, 8);
  memcpy(&word, &single, 4);
  return width == 8 ? bits : word;
}

enum {
  VALUES = 13
};

static void values_for(Blob blob, const Field *fields, unsigned count, unsigned which,
                       uint64_t values[VALUES]) {
  const Field *field = &fields[which], *next = which + 1 < count ? field + 1 : field;
  const Field *last = which > 0 ? field - 1 : field;
  uint64_t old = get_number(blob.bytes + field->at, field->width);
  const uint64_t list[VALUES] = {0,
                                 UINT64_MAX,
                                 old + 1,
                                 old - 1,
                                 bits_of(NAN, field->width),
                                 bits_of(INFINITY, field->width),
                                 bits_of(-INFINITY, field->width),
                                 get_number(blob.bytes + next->at, next->width),
                                 get_number(blob.bytes + last->at, last->width),
                                 old ^ UINT64_C(1) << (8 * field->width - 1),
                                 UINT64_MAX >> (65 - 8 * field->width),
                                 old * 2,
                                 old / 2};
  memcpy(values, list, sizeof list);
}

/* n and p stand in the first layer's entry too; a filter whose two agree may be a right one. */
static size_t twin_of(Blob blob, size_t at) {
  if (blob.bytes[9] == 0) return 0;
  return at == 12 ? 32 + 24 : at == 16 ? 32 : 0;
}

static void test_fields(Blob golden, const char *file) {
  Field fields[12 + 7 * 64];
  unsigned count = fields_of(golden, fields);
  Test test = {file, {{0}, 0, {0}}, 0};
  for (unsigned i = 0; i < count; i++) {
    uint64_t values[VALUES];
    size_t twin = twin_of(golden, fields[i].at);
    values_for(golden, fields, count, i, values);
    for (unsigned v = 0; v < VALUES; v++) {
      for (unsigned repair = 0; repair < REPAIRS * (twin ? 2u : 1u); repair++) {
        if (extent == QUICK && repair == AS_IT_WAS && v > 0) continue;
        Blob blob = copy_of(golden, golden.size);
        put_number(blob.bytes + fields[i].at, fields[i].width, values[v]);
        if (repair >= REPAIRS) put_number(blob.bytes + twin, fields[i].width, values[v]);
        check(&test, blob, repair % REPAIRS, "field at", fields[i].at * 100 + v);
      }
    }
  }
  close_test(&test, "fields");
}

/* ---- lengths ---- */

/* Of a large filter the lengths in the header, the last ones and one in 997. */
static bool is_tried(size_t length, size_t size) {
  size_t all_below = extent == QUICK ? TINY : SMALL;
  return extent == LONG || length < all_below || length + 4 > size || length % 997 == 0;
}

static void test_lengths(Blob golden, const char *file) {
  Test test = {file, {{0}, 0, {0}}, 0};
  for (size_t length = 0; length < golden.size; length++) {
    if (!is_tried(length, golden.size)) continue;
    for (unsigned repair = 0; repair < REPAIRS; repair++) {
      if (length > SMALL && repair != AS_IT_WAS) continue;
      check(&test, copy_of(golden, length), repair, "length", length);
    }
  }
  for (unsigned byte = 0; byte < 256; byte += extent == QUICK ? 85 : 1) {
    for (unsigned repair = 0; repair < REPAIRS; repair++) {
      Blob blob = copy_of(golden, golden.size + 1);
      blob.bytes[golden.size] = (uint8_t)byte;
      check(&test, blob, repair, "one more byte", byte);
    }
  }
  test.wrong += test.seen.verdicts[RIGHT] + test.seen.verdicts[BODY_DAMAGED] > 0;
  close_test(&test, "lengths");
}

/* ---- bits ---- */

/* Without repairs, a bit of the header is seen by every call, one of the body by all but the first
** row of bloom_contains. */
static void test_bits(Blob golden, const char *file) {
  Test test = {file, {{0}, 0, {0}}, 0};
  size_t header = 40 + 32 * (size_t)golden.bytes[9], size = golden.size;
  if (size > (extent == QUICK ? TINY : SMALL)) return;
  for (unsigned repair = 0; repair < REPAIRS; repair++) {
    for (size_t bit = 0; bit < size * 8; bit++) {
      Blob blob = copy_of(golden, size);
      blob.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
      check(&test, blob, repair, "bit", bit);
    }
    if (repair == AS_IT_WAS) {
      test.wrong += test.seen.verdicts[REFUSED] != header * 8;
      test.wrong += test.seen.verdicts[BODY_DAMAGED] != (size - header) * 8;
    }
  }
  close_test(&test, "bits");
}

/* ---- */

static Blob read_file(const char *name) {
  char path[300];
  Blob blob = {NULL, 0};
  snprintf(path, sizeof path, "tests/golden/%s", name);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(2);
  blob.size = (size_t)ftell(file);
  blob.bytes = malloc(blob.size);
  rewind(file);
  if (fread(blob.bytes, 1, blob.size, file) != blob.size) exit(2);
  fclose(file);
  return blob;
}

static void test_file(const char *name) {
  Test test = {name, {{0}, 0, {0}}, 0};
  Blob golden = read_file(name);
  calls_original(golden.bytes, golden.size);
  check(&test, copy_of(golden, golden.size), AS_IT_WAS, "as it is", 0);
  test.wrong += test.seen.verdicts[RIGHT] != 1;
  close_test(&test, "as it is");
  test_fields(golden, name);
  test_lengths(golden, name);
  test_bits(golden, name);
  free(golden.bytes);
}

static int is_filter(const struct dirent *entry) {
  return strstr(entry->d_name, ".bloom") != NULL;
}

int main(int argc, char **argv) {
  struct dirent **files;
  int count = scandir("tests/golden", &files, is_filter, alphasort);
  const char *form = argc > 1 ? argv[1] : "short";
  extent = strcmp(form, "quick") == 0 ? QUICK : strcmp(form, "long") == 0 ? LONG : SHORT;
  setvbuf(stdout, NULL, _IOLBF, 0);
  calls_open();
  for (int i = 0; i < count; i++) {
    test_file(files[i]->d_name);
    free(files[i]);
  }
  free(files);
  calls_close();
  ok(count >= 39 && all.verdicts[RIGHT] > 1000 && all.verdicts[BODY_DAMAGED] > 1000 &&
         all.verdicts[REFUSED] > 10000,
     "%d golden filters, %lu calls: %lu blobs refused, %lu with a damaged body, %lu right", count,
     all.calls, all.verdicts[REFUSED], all.verdicts[BODY_DAMAGED], all.verdicts[RIGHT]);
  ok(all.answers[0] > 1000 && all.answers[1] > 1000,
     "%lu answers were 0 and %lu were 1, all as the second reader gives them", all.answers[0],
     all.answers[1]);
  ok(sqlite3_memory_used() == 0, "no memory is left");
  return tests_failed > 0;
}
