/* Unit tests of format: the decode gate. Blobs are checked in memory of exactly their size, so that
** a sanitizer sees every read beyond it. */
#include "format.h"

#include <math.h>

#include "hash.h"
#include "unit.h"

/* The header as the specification lays it out, independent of ext/format.c. */
enum {
  AT_MAGIC = 0,
  AT_VERSION = 4,
  AT_KIND = 5,
  AT_SCHEME = 6,
  AT_FLAGS = 7,
  AT_KEY_TYPES = 8,
  AT_LAYER_COUNT = 9,
  AT_RESERVED = 10,
  AT_P = 12,
  AT_N = 16,
  AT_BODY_HASH = 24,
  AT_TABLE = 32,
  ENTRY = 32,
  LAYER_CAPACITY = 0,
  LAYER_LINES = 8,
  LAYER_LINE_BITS = 16,
  LAYER_RATE = 24,
  LAYER_K = 28,
  LAYER_L = 29,
  LAYER_RESERVED = 30
};

typedef struct Blob {
  uint8_t *bytes;
  uint64_t size;
} Blob;

static Blob copy_of(Blob blob, uint64_t size) {
  Blob copy = {malloc(size ? size : 1), size};
  assert_non_null(copy.bytes);
  memset(copy.bytes, 0, size);
  memcpy(copy.bytes, blob.bytes, size < blob.size ? size : blob.size);
  return copy;
}

static uint64_t header_size(Blob blob) {
  return 40 + 32 * (uint64_t)blob.bytes[AT_LAYER_COUNT];
}

/* Makes both checksums right for the bytes as they are, if the table fits the blob. */
static void repair(Blob blob) {
  uint64_t header = header_size(blob);
  if (header > blob.size) return;
  uint64_t body = XXH3_64bits(blob.bytes + header, blob.size - header);
  store_le64(blob.bytes + AT_BODY_HASH, body);
  store_le64(blob.bytes + header - 8, XXH3_64bits(blob.bytes, header - 8));
}

/* Uses a decoded view in every way that reads the blob. */
static void use(const BloomFilter *filter) {
  BloomFacts facts;
  uint64_t seed = 12;
  bloom_intact(filter);
  bloom_facts(filter, &facts);
  CHECK(facts.rate >= 0 && facts.rate <= 1 && facts.count >= 0, "%g %g", facts.rate, facts.count);
  for (unsigned i = 0; i < 20; i++) bloom_contains(filter, next_random(&seed));
  bloom_contains(filter, 0);
  bloom_contains(filter, UINT64_MAX);
}

/* Decodes a copy: true when it is taken, which then must be usable. */
static bool taken(Blob blob) {
  Blob copy = copy_of(blob, blob.size);
  BloomFilter *filter = malloc(sizeof *filter);
  char reason[BLOOM_REASON_BYTES];
  assert_non_null(filter);
  memset(reason, '?', sizeof reason);
  bool good = bloom_decode(copy.bytes, copy.size, filter, reason);
  if (good) {
    use(filter);
  } else {
    assert_non_null(memchr(reason, 0, sizeof reason));
    assert_true(strlen(reason) > 5 && reason[0] != '?');
  }
  free(filter);
  free(copy.bytes);
  return good;
}

static bool intact(Blob blob) {
  BloomFilter filter;
  char reason[BLOOM_REASON_BYTES];
  return bloom_decode(blob.bytes, blob.size, &filter, reason) && bloom_intact(&filter);
}

/* The same of a filter of one layer, as it is found while it is merged with itself. */
static bool intact_when_merged(Blob blob) {
  BloomFilter filter;
  char reason[BLOOM_REASON_BYTES];
  assert_true(bloom_decode(blob.bytes, blob.size, &filter, reason));
  Blob cells = copy_of(blob, blob.size);
  bool good = bloom_merge_intact(cells.bytes + filter.body, &filter, BLOOM_INTERSECT);
  assert_memory_equal(cells.bytes, blob.bytes, blob.size);
  free(cells.bytes);
  return good;
}

/* ---- blobs of each kind ---- */

enum {
  EMPTY,
  FLAT,
  LINES,
  COUNTING,
  COUNTING_LINES,
  GROWN,
  MANY_LAYERS,
  KINDS
};

static BloomFilter start(uint8_t kind, uint64_t n, float p) {
  BloomFilter filter;
  memset(&filter, 0, sizeof filter);
  filter.kind = kind;
  filter.cell_bits = kind == BLOOM_COUNTING ? 4 : 1;
  filter.n = n;
  filter.p = p;
  filter.body = filter.size = bloom_header_bytes(0);
  return filter;
}

static void append(BloomFilter *filter, uint64_t capacity, float rate, BloomGeometry geometry) {
  bloom_append_layer(filter, capacity, rate, &geometry);
}

static Blob finish(BloomFilter *filter) {
  Blob blob = {calloc(1, filter->size), filter->size};
  uint64_t seed = 13;
  assert_non_null(blob.bytes);
  for (unsigned i = 0; i < filter->layer_count; i++) {
    for (unsigned key = 0; key < 30; key++) {
      if (filter->kind == BLOOM_COUNTING) {
        bloom_layer_increment(&filter->layers[i], blob.bytes, next_random(&seed));
      } else {
        bloom_layer_insert(&filter->layers[i], blob.bytes, next_random(&seed));
      }
    }
  }
  filter->key_types = filter->layer_count ? 5 : 0;
  bloom_encode(filter, blob.bytes);
  return blob;
}

static Blob make(int kind) {
  BloomFilter filter = start(BLOOM_PLAIN, 30, 0.01f);
  BloomGeometry flat = {1, 301, 7, 1}, lines = {3, 512, 9, 3};
  if (kind == EMPTY) filter = start(BLOOM_PLAIN, 0, 0);
  if (kind == COUNTING || kind == COUNTING_LINES) filter = start(BLOOM_COUNTING, 30, 0.01f);
  if (kind != EMPTY) {
    append(&filter, 30, 0.01f, kind == LINES || kind == COUNTING_LINES ? lines : flat);
  }
  if (kind == GROWN) {
    append(&filter, 60, 0.005f, lines);
    append(&filter, INT64_MAX, 0.9999999f, flat);
  }
  for (unsigned i = 1; kind == MANY_LAYERS && i < BLOOM_MAX_LAYERS; i++) {
    append(&filter, i, 0.5f, i % 2 ? flat : lines);
  }
  return finish(&filter);
}

static void for_each_kind(void (*check)(Blob blob)) {
  for (int kind = 0; kind < KINDS; kind++) {
    Blob blob = make(kind);
    check(blob);
    free(blob.bytes);
  }
}

static void check_round_trip(Blob blob) {
  BloomFilter filter;
  char reason[BLOOM_REASON_BYTES];
  CHECK(bloom_decode(blob.bytes, blob.size, &filter, reason), "%s", reason);
  assert_true(intact(blob) && taken(blob));
  assert_true(bloom_looks_like_filter(blob.bytes, blob.size));
  Blob again = copy_of(blob, blob.size);
  memset(again.bytes, 0xa5, header_size(blob));
  bloom_encode(&filter, again.bytes);
  assert_memory_equal(again.bytes, blob.bytes, blob.size);
  free(again.bytes);
}

static void round_trip(void **state) {
  (void)state;
  for_each_kind(check_round_trip);
}

/* The view says what was put in. */
static void view_of_a_blob(void **state) {
  Blob blob = make(GROWN);
  BloomFilter filter;
  char reason[BLOOM_REASON_BYTES];
  (void)state;
  assert_true(bloom_decode(blob.bytes, blob.size, &filter, reason));
  assert_true(filter.n == 30 && filter.p == (float)0.01 && filter.kind == BLOOM_PLAIN);
  assert_true(filter.cell_bits == 1 && filter.key_types == 5 && filter.layer_count == 3);
  assert_true(filter.body == 40 + 3 * 32 && filter.size == filter.body + 38 + 192 + 38);
  assert_true(filter.layers[1].offset == filter.body + 38);
  assert_true(filter.layers[2].offset == filter.body + 38 + 192);
  assert_true(filter.layers[1].capacity == 60 && filter.layers[1].rate == (float)0.005);
  assert_true(filter.layers[1].geometry.lines == 3 && filter.layers[1].geometry.k == 9);
  uint64_t seed = 13;
  for (unsigned i = 0; i < 90; i++) assert_true(bloom_contains(&filter, next_random(&seed)));
  unsigned passed = 0;
  for (unsigned i = 0; i < 1000; i++) passed += bloom_contains(&filter, next_random(&seed));
  CHECK(passed < 100, "%u of 1000 absent keys", passed); /* three layers far from full */
  free(blob.bytes);
}

/* ---- damage ---- */

static void check_lengths(Blob blob) {
  for (uint64_t size = 0; size < blob.size; size++) {
    Blob cut = copy_of(blob, size);
    CHECK(!taken(cut), "%llu of %llu bytes", (unsigned long long)size,
          (unsigned long long)blob.size);
    free(cut.bytes);
  }
  for (uint64_t more = 1; more < 70; more += more < 10 ? 1 : 27) {
    Blob longer = copy_of(blob, blob.size + more);
    assert_false(taken(longer));
    repair(longer);
    assert_false(taken(longer));
    free(longer.bytes);
  }
}

static void every_other_length_is_refused(void **state) {
  (void)state;
  for_each_kind(check_lengths);
}

static void check_flips(Blob blob) {
  uint64_t header = header_size(blob);
  for (uint64_t bit = 0; bit < blob.size * 8; bit++) {
    blob.bytes[bit / 8] = (uint8_t)(blob.bytes[bit / 8] ^ 1u << bit % 8);
    if (bit / 8 < header) {
      CHECK(!taken(blob), "bit %llu", (unsigned long long)bit);
    } else {
      CHECK(!intact(blob), "bit %llu", (unsigned long long)bit);
      if (bit % 37 == 0) assert_true(taken(blob)); /* the gate reads no cells */
    }
    blob.bytes[bit / 8] = (uint8_t)(blob.bytes[bit / 8] ^ 1u << bit % 8);
  }
  assert_true(intact(blob));
}

static void every_flipped_bit_is_found(void **state) {
  (void)state;
  for_each_kind(check_flips);
}

/* Bits behind the last cell of a flat layer must be 0 even under a right checksum. */
static void padding_must_be_zero(void **state) {
  static const int kinds[] = {FLAT, COUNTING, GROWN};
  (void)state;
  for (unsigned i = 0; i < COUNT(kinds); i++) {
    Blob blob = make(kinds[i]);
    uint64_t cells = kinds[i] == COUNTING ? 301 * 4 : 301;
    uint64_t first = header_size(blob) * 8 + cells, end = header_size(blob) * 8;
    end += (cells + 7) / 8 * 8;
    for (uint64_t bit = first; bit < end; bit++) {
      blob.bytes[bit / 8] = (uint8_t)(blob.bytes[bit / 8] ^ 1u << bit % 8);
      repair(blob);
      CHECK(!intact(blob) && taken(blob), "bit %llu", (unsigned long long)bit);
      if (kinds[i] != GROWN) assert_false(intact_when_merged(blob));
      blob.bytes[bit / 8] = (uint8_t)(blob.bytes[bit / 8] ^ 1u << bit % 8);
    }
    blob.bytes[(first - 1) / 8] = (uint8_t)(blob.bytes[(first - 1) / 8] ^ 1u << (first - 1) % 8);
    repair(blob);
    assert_true(intact(blob)); /* the last cell itself is free */
    if (kinds[i] != GROWN) assert_true(intact_when_merged(blob));
    free(blob.bytes);
  }
}

/* ---- fields with right checksums ---- */

static const struct {
  unsigned at, size;
} fixed_fields[] = {{AT_VERSION, 1},  {AT_KIND, 1},      {AT_SCHEME, 1},
                    {AT_FLAGS, 1},    {AT_KEY_TYPES, 1}, {AT_LAYER_COUNT, 1},
                    {AT_RESERVED, 2}, {AT_P, 4},         {AT_N, 8}},
  layer_fields[] = {{LAYER_CAPACITY, 8}, {LAYER_LINES, 8}, {LAYER_LINE_BITS, 8}, {LAYER_RATE, 4},
                    {LAYER_K, 1},        {LAYER_L, 1},     {LAYER_RESERVED, 2}};

static uint64_t get(Blob blob, unsigned at, unsigned size) {
  uint64_t value = 0;
  for (unsigned i = size; i-- > 0;) value = value << 8 | blob.bytes[at + i];
  return value;
}

static void set(Blob blob, unsigned at, unsigned size, uint64_t value) {
  for (unsigned i = 0; i < size; i++) blob.bytes[at + i] = (uint8_t)(value >> 8 * i);
}

/* Puts hostile values into one field, the checksums right each time: a reason or a usable view. */
static void try_field(Blob blob, unsigned at, unsigned size) {
  uint64_t old = get(blob, at, size), seed = at;
  uint64_t values[] = {0,
                       UINT64_MAX,
                       old + 1,
                       old - 1,
                       0x7f800000,
                       0xff800000,
                       0x7fc00000,
                       0x7f800001,
                       1,
                       2,
                       0x80000000,
                       0x3f800000,
                       0x3f7fffff,
                       63,
                       64,
                       65,
                       255,
                       UINT64_C(1) << 48,
                       (UINT64_C(1) << 48) + 1,
                       UINT64_C(1) << 63,
                       UINT64_C(1) << 55,
                       (UINT64_C(1) << 61) + 1,
                       INT64_MAX,
                       UINT64_MAX / 512 + 1,
                       next_random(&seed),
                       next_random(&seed)};
  for (unsigned i = 0; i < COUNT(values); i++) {
    Blob hostile = copy_of(blob, blob.size);
    set(hostile, at, size, values[i]);
    repair(hostile);
    taken(hostile);
    free(hostile.bytes);
  }
}

static void check_fields(Blob blob) {
  unsigned layers = blob.bytes[AT_LAYER_COUNT];
  for (unsigned i = 0; i < COUNT(fixed_fields); i++) {
    try_field(blob, fixed_fields[i].at, fixed_fields[i].size);
  }
  for (unsigned layer = 0; layer<layers; layer += layer> 2 && layer + 2 < layers ? 13 : 1) {
    for (unsigned i = 0; i < COUNT(layer_fields); i++) {
      try_field(blob, AT_TABLE + layer * ENTRY + layer_fields[i].at, layer_fields[i].size);
    }
  }
}

static void hostile_fields_are_harmless(void **state) {
  (void)state;
  for_each_kind(check_fields);
}

/* Each field at both sides of what the format allows. */
static void check_bound(int kind, unsigned at, unsigned size, uint64_t value, bool good) {
  Blob blob = make(kind);
  set(blob, at, size, value);
  repair(blob);
  CHECK(taken(blob) == good, "kind %d at %u: %llx", kind, at, (unsigned long long)value);
  free(blob.bytes);
}

static void bounds_of_the_fixed_part(void **state) {
  (void)state;
  for (unsigned value = 0; value < 256; value++) {
    check_bound(FLAT, AT_VERSION, 1, value, value == 1);
    check_bound(FLAT, AT_KIND, 1, value, value == BLOOM_PLAIN); /* counting: another length */
    check_bound(FLAT, AT_SCHEME, 1, value, value == 1);
    check_bound(FLAT, AT_FLAGS, 1, value, value < 16); /* four bits unused, four reserved */
    check_bound(FLAT, AT_KEY_TYPES, 1, value, value < 16);
    check_bound(FLAT, AT_LAYER_COUNT, 1, value, value == 1);
    check_bound(FLAT, AT_RESERVED, 1, value, value == 0);
    check_bound(FLAT, AT_RESERVED + 1, 1, value, value == 0);
    check_bound(EMPTY, AT_LAYER_COUNT, 1, value, value == 0);
    check_bound(EMPTY, AT_KIND, 1, value, value == BLOOM_PLAIN);
    for (unsigned i = 0; i < 4; i++) {
      Blob blob = make(FLAT);
      bool same = blob.bytes[i] == value;
      free(blob.bytes);
      check_bound(FLAT, AT_MAGIC + i, 1, value, same);
    }
  }
  check_bound(EMPTY, AT_N, 8, 1, false);
  check_bound(EMPTY, AT_P, 4, bits_of_float(0.01f), false);
  check_bound(EMPTY, AT_P, 4, bits_of_float(-0.0f), false);
  check_bound(FLAT, AT_N, 8, 31, false); /* the first layer's capacity is n */
  check_bound(FLAT, AT_P, 4, bits_of_float(0.02f), false);
}

/* n and p together with the first layer, which must agree with them. */
static void bounds_of_n_and_p(void **state) {
  static const struct {
    uint64_t n;
    float p;
    bool good;
  } cases[] = {{30, 1e-9f, true},
               {1, 0.5f, true},
               {INT64_MAX, 0.5f, true},
               {0, 0.5f, false},
               {UINT64_C(1) << 63, 0.5f, false},
               {UINT64_MAX, 0.5f, false},
               {30, 0.99999994f, true},
               {30, 1.0f, false},
               {30, 0.0f, false},
               {30, -0.5f, false},
               {30, 0.9e-9f, false},
               {30, 1e-40f, false},
               {30, NAN, false},
               {30, INFINITY, false},
               {30, -INFINITY, false},
               {30, 2.0f, false}};
  (void)state;
  for (unsigned i = 0; i < COUNT(cases); i++) {
    Blob blob = make(FLAT);
    set(blob, AT_N, 8, cases[i].n);
    set(blob, AT_P, 4, bits_of_float(cases[i].p));
    set(blob, AT_TABLE + LAYER_CAPACITY, 8, cases[i].n);
    set(blob, AT_TABLE + LAYER_RATE, 4, bits_of_float(cases[i].p));
    repair(blob);
    CHECK(taken(blob) == cases[i].good, "n %llu p %g", (unsigned long long)cases[i].n,
          (double)cases[i].p);
    free(blob.bytes);
  }
}

/* A layer with these numbers and a body of the length that they mean: the second of a plain filter,
** the only one of a counting one. */
static bool layer_taken(uint8_t kind, BloomGeometry geometry, uint64_t capacity, float rate) {
  BloomFilter filter = start(kind, 30, 0.01f);
  if (kind == BLOOM_COUNTING) {
    filter = start(kind, capacity, rate);
  } else {
    append(&filter, 30, 0.01f, (BloomGeometry){1, 64, 1, 1});
  }
  BloomGeometry most = geometry; /* beyond it sizes wrap */
  if (most.lines > UINT64_C(1) << 39) most.lines = UINT64_C(1) << 39;
  if (most.line_bits > UINT64_C(1) << 48) most.line_bits = most.lines > 1 ? 512 : UINT64_C(1) << 48;
  append(&filter, capacity, rate, most);
  filter.layers[filter.layer_count - 1].geometry = geometry;
  if (filter.size > 1 << 20) filter.size = 1 << 20; /* a lie about its size */
  Blob blob = {calloc(1, filter.size), filter.size};
  assert_non_null(blob.bytes);
  bloom_encode(&filter, blob.bytes);
  bool good = taken(blob);
  free(blob.bytes);
  return good;
}

static void bounds_of_a_layer(void **state) {
  static const struct {
    BloomGeometry g;
    bool good;
  } cases[] = {
      {{1, 2, 1, 1}, true},
      {{1, 1, 1, 1}, false},
      {{1, 0, 1, 1}, false},
      {{1, 100, 64, 1}, true},
      {{1, 100, 65, 1}, false},
      {{1, 100, 0, 1}, false},
      {{1, 100, 255, 1}, false},
      {{1, 100, 7, 2}, false},
      {{1, 100, 7, 0}, false},
      {{1, 512, 7, 2}, false},
      {{2, 512, 7, 2}, true},
      {{2, 512, 64, 16}, true},
      {{2, 512, 65, 17}, false},
      {{2, 512, 0, 0}, false},
      {{2, 512, 0, 1}, false},
      {{2, 512, 7, 1}, false},
      {{2, 512, 7, 3}, false},
      {{2, 512, 8, 2}, true},
      {{2, 512, 9, 2}, false},
      {{2, 512, 9, 3}, true},
      {{2, 511, 7, 2}, false},
      {{2, 513, 7, 2}, false},
      {{2, 1024, 7, 2}, false},
      {{2, 0, 7, 2}, false},
      {{2, 1, 7, 2}, false},
      {{0, 512, 7, 2}, false},
      {{0, 0, 7, 2}, false},
      {{0, 100, 7, 1}, false},
      {{UINT64_C(1) << 48, 512, 7, 2}, false},
      {{UINT64_C(1) << 39, 512, 7, 2}, false}, /* right, but the blob is not so long */
      {{(UINT64_C(1) << 39) + 1, 512, 7, 2}, false},
      {{UINT64_C(1) << 55, 512, 7, 2}, false}, /* 2^64 cells: 0 bytes when it overflows */
      {{(UINT64_C(1) << 55) + 1, 512, 7, 2}, false},
      {{UINT64_MAX, 512, 7, 2}, false},
      {{1, UINT64_MAX, 7, 1}, false},
      {{1, UINT64_MAX - 62, 7, 1}, false},
      {{1, UINT64_C(1) << 62, 7, 1}, false},
      {{1, (UINT64_C(1) << 48) + 1, 7, 1}, false},
      {{1, UINT64_C(1) << 48, 7, 1}, false},
  };
  (void)state;
  for (unsigned i = 0; i < COUNT(cases); i++) {
    CHECK(layer_taken(BLOOM_PLAIN, cases[i].g, 60, 0.1f) == cases[i].good, "case %u", i);
    CHECK(layer_taken(BLOOM_COUNTING, cases[i].g, 60, 0.1f) == cases[i].good, "case %u", i);
  }
  BloomGeometry g = {1, 100, 7, 1};
  assert_true(layer_taken(BLOOM_PLAIN, g, 1, 5.421010862427522e-20f));
  assert_false(layer_taken(BLOOM_PLAIN, g, 1, 5.4e-20f));
  assert_true(layer_taken(BLOOM_PLAIN, g, INT64_MAX, 0.5f));
  assert_false(layer_taken(BLOOM_PLAIN, g, UINT64_C(1) << 63, 0.5f));
  assert_false(layer_taken(BLOOM_PLAIN, g, 0, 0.5f));
  static const float bad_rates[] = {0.0f, -0.0f, 1.0f, -0.1f, NAN, INFINITY, -INFINITY, 1e-40f};
  for (unsigned i = 0; i < COUNT(bad_rates); i++) {
    CHECK(!layer_taken(BLOOM_PLAIN, g, 1, bad_rates[i]), "rate %g", (double)bad_rates[i]);
  }
}

/* A counting filter with two layers would not know where to remove a key. */
static void counting_has_one_layer(void **state) {
  BloomFilter filter = start(BLOOM_COUNTING, 30, 0.01f);
  (void)state;
  append(&filter, 30, 0.01f, (BloomGeometry){1, 301, 7, 1});
  Blob one = finish(&filter);
  append(&filter, 60, 0.01f, (BloomGeometry){1, 601, 7, 1});
  Blob two = finish(&filter);
  assert_true(taken(one) && !taken(two));
  free(one.bytes);
  free(two.bytes);
}

/* 64 layers are the most, also where the blob is long enough for 65; and layers whose lengths add
** up to the blob's only when they overflow are refused. */
static void too_many_layers(void **state) {
  Blob blob = make(MANY_LAYERS);
  (void)state;
  assert_true(taken(blob));
  Blob more = {calloc(1, blob.size + ENTRY + 8), blob.size + ENTRY + 8};
  assert_non_null(more.bytes);
  uint64_t table = AT_TABLE + 64 * ENTRY;
  memcpy(more.bytes, blob.bytes, table);
  memcpy(more.bytes + table, blob.bytes + AT_TABLE + 32, ENTRY);
  more.bytes[AT_LAYER_COUNT] = 65;
  set(more, (unsigned)table + LAYER_LINES, 8, 1);
  set(more, (unsigned)table + LAYER_LINE_BITS, 8, 64);
  repair(more);
  assert_false(taken(more));
  for (unsigned i = 0; i < 64; i++) { /* 64 layers of 2^48 cells, 2^51 bytes */
    set(blob, AT_TABLE + i * ENTRY + LAYER_LINES, 8, 1);
    set(blob, AT_TABLE + i * ENTRY + LAYER_LINE_BITS, 8, UINT64_C(1) << 48);
    set(blob, AT_TABLE + i * ENTRY + LAYER_K, 2, 1 | 1 << 8);
  }
  repair(blob);
  assert_false(taken(blob));
  free(more.bytes);
  free(blob.bytes);
}

/* Random bytes behind a right beginning, a few fields changed at once, right checksums. */
static void random_headers(void **state) {
  uint64_t seed = 14;
  unsigned good = 0;
  (void)state;
  for (unsigned round = 0; round < 20000; round++) {
    Blob blob = make((int)(next_random(&seed) % MANY_LAYERS));
    for (unsigned changes = 1 + next_random(&seed) % 3; changes > 0; changes--) {
      uint64_t at = 5 + next_random(&seed) % (header_size(blob) - 13);
      if (header_size(blob) > blob.size) break;
      unsigned how = next_random(&seed) % 4;
      blob.bytes[at] = (uint8_t)(how == 0   ? 0
                                 : how == 1 ? 255
                                 : how == 2 ? blob.bytes[at] + 1u
                                            : next_random(&seed));
      if (header_size(blob) > blob.size) break;
    }
    repair(blob);
    good += taken(blob);
    free(blob.bytes);
  }
  CHECK(good > 100 && good < 19000, "%u", good); /* both ways were tried */
}

/* Headers of filters that are too large to be whole blobs here. */
static void bounds_of_the_cells(void **state) {
  static const struct {
    BloomGeometry geometry;
    bool good;
  } cases[] = {{{1, UINT64_C(1) << 48, 7, 1}, true},
               {{1, (UINT64_C(1) << 48) + 1, 7, 1}, false},
               {{1, UINT64_C(1) << 63, 7, 1}, false},
               {{UINT64_C(1) << 39, 512, 9, 3}, true},
               {{(UINT64_C(1) << 39) + 1, 512, 9, 3}, false},
               {{UINT64_C(1) << 55, 512, 9, 3}, false},
               {{UINT64_C(1) << 63, 512, 9, 3}, false}};
  (void)state;
  for (unsigned i = 0; i < COUNT(cases); i++) {
    BloomFilter filter = start(BLOOM_PLAIN, 30, 0.01f), read;
    char reason[BLOOM_REASON_BYTES];
    uint8_t header[72];
    append(&filter, 30, 0.01f, cases[0].geometry);
    filter.layers[0].geometry = cases[i].geometry; /* what no writer would size */
    bloom_encode_header(&filter, 0, header);
    bool good = bloom_decode_header(header, sizeof header, &read, reason);
    CHECK(good == cases[i].good, "case %u", i);
    if (good) assert_true(read.size == 72 + (UINT64_C(1) << 45));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),
      cmocka_unit_test(view_of_a_blob),
      cmocka_unit_test(every_other_length_is_refused),
      cmocka_unit_test(every_flipped_bit_is_found),
      cmocka_unit_test(padding_must_be_zero),
      cmocka_unit_test(hostile_fields_are_harmless),
      cmocka_unit_test(bounds_of_the_fixed_part),
      cmocka_unit_test(bounds_of_n_and_p),
      cmocka_unit_test(bounds_of_a_layer),
      cmocka_unit_test(bounds_of_the_cells),
      cmocka_unit_test(counting_has_one_layer),
      cmocka_unit_test(too_many_layers),
      cmocka_unit_test(random_headers),
  };
  return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
