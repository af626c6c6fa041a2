/* Unit tests of filter: positions against a reimplementation, everything else against positions. */
#include "filter.h"

#include <math.h>

#include "unit.h"

enum {
  MOST_BYTES = 4096
};

__extension__ typedef unsigned __int128 uint128;

/* The formula of the format, spelt out: a_j = (h | 1) C^j mod 2^64; line l is the high half of
** a_l * lines; the i-th cell is the high half of a_(L+i) * line_bits, dealt to the lines in order,
** the first k mod L lines taking one more. */
static uint64_t high_half(uint64_t a, uint64_t b) {
  return (uint64_t)((uint128)a * b >> 64);
}

static void expected_positions(const BloomGeometry *g, uint64_t hash, uint64_t *cells) {
  uint64_t a[BLOOM_MAX_L + BLOOM_MAX_K];
  a[0] = hash | 1;
  for (unsigned j = 1; j < g->L + g->k; j++) a[j] = a[j - 1] * UINT64_C(0xf1357aea2e62a9c5);
  unsigned more = g->k % g->L, each = g->k / g->L;
  for (unsigned i = 0; i < g->k; i++) {
    unsigned line = i < more * (each + 1) ? i / (each + 1) : more + (i - more * (each + 1)) / each;
    cells[i] = high_half(a[line], g->lines) * g->line_bits + high_half(a[g->L + i], g->line_bits);
  }
}

static uint64_t any_hash(uint64_t *seed) {
  static const uint64_t edges[] = {0, 1, 2, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
  uint64_t hash = next_random(seed);
  return hash % 50 < COUNT(edges) ? edges[hash % 50] : hash;
}

static BloomLayer flat_layer(unsigned k, uint64_t cells) {
  BloomLayer layer = {{1, cells, (uint8_t)k, 1}, 1, 0, 0.5f};
  return layer;
}

static BloomLayer lines_layer(unsigned k, uint64_t lines) {
  BloomLayer layer = {{lines, 512, (uint8_t)k, (uint8_t)((k + 3) / 4)}, 1, 0, 0.5f};
  return layer;
}

static void positions(void **state) {
  static const uint64_t sizes[] = {
      2, 3, 63, 64, 65, 512, 1000, UINT64_C(0xffffffff), UINT64_C(0x100000001), UINT64_C(1) << 39};
  uint64_t seed = 2, cells[BLOOM_MAX_K], expected[BLOOM_MAX_K];
  (void)state;
  for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
    for (unsigned i = 0; i < 2 * COUNT(sizes); i++) {
      uint64_t size = sizes[i / 2];
      BloomLayer layer = i % 2 ? lines_layer(k, size) : flat_layer(k, size);
      for (unsigned round = 0; round < 50; round++) {
        uint64_t hash = any_hash(&seed);
        bloom_layer_positions(&layer, hash, cells);
        expected_positions(&layer.geometry, hash, expected);
        assert_memory_equal(cells, expected, k * sizeof *cells);
        for (unsigned j = 0; j < k; j++) assert_true(cells[j] < bloom_cells(&layer.geometry));
      }
    }
  }
}

/* ---- bits ---- */

static bool bit_at(const uint8_t *bytes, uint64_t cell) {
  return bytes[cell / 8] >> cell % 8 & 1;
}

/* With the key's k cells set and all others at random: contained; with any one of them cleared,
** not; an insertion sets exactly them and says how many were 0. */
static void check_bits(BloomLayer *layer, uint64_t hash, uint64_t *seed) {
  static uint8_t bytes[MOST_BYTES], before[MOST_BYTES];
  uint64_t cells[BLOOM_MAX_K];
  unsigned k = layer->geometry.k, fresh = 0;
  expected_positions(&layer->geometry, hash, cells);
  for (unsigned i = 0; i < MOST_BYTES; i++) bytes[i] = (uint8_t)next_random(seed);
  memcpy(before, bytes, MOST_BYTES);
  for (unsigned i = 0; i < k; i++) {
    uint64_t at = layer->offset * 8 + cells[i];
    fresh += !bit_at(before, at);
    before[at / 8] = (uint8_t)(before[at / 8] | 1u << at % 8);
  }
  CHECK(bloom_layer_contains(layer, 1, bytes, hash) == (fresh == 0), "k %u", k);
  CHECK(bloom_layer_insert(layer, bytes, hash) == fresh, "k %u", k);
  assert_memory_equal(bytes, before, MOST_BYTES);
  CHECK(bloom_layer_contains(layer, 1, bytes, hash), "k %u", k);
  CHECK(bloom_layer_insert(layer, bytes, hash) == 0, "k %u", k);
  for (unsigned i = 0; i < k; i++) {
    uint64_t at = layer->offset * 8 + cells[i];
    bytes[at / 8] = (uint8_t)(bytes[at / 8] & ~(1u << at % 8));
    CHECK(!bloom_layer_contains(layer, 1, bytes, hash), "k %u cell %u", k, i);
    bytes[at / 8] = before[at / 8];
  }
}

static void bits_of_every_k(void **state) {
  uint64_t seed = 3;
  (void)state;
  for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
    for (unsigned round = 0; round < 60; round++) {
      BloomLayer layer = round % 2 ? lines_layer(k, 2 + next_random(&seed) % 40)
                                   : flat_layer(k, 2 + next_random(&seed) % 20000);
      layer.offset = next_random(&seed) % 100 * 8;
      bloom_layer_prefetch(&layer, (const uint8_t *)"", any_hash(&seed));
      check_bits(&layer, any_hash(&seed), &seed);
    }
  }
}

/* Many at once: the bits are those of one after the other, and each is counted that set a bit. */
static void many_of_every_k(void **state) {
  static uint8_t bytes[MOST_BYTES], expected[MOST_BYTES];
  uint64_t seed = 4, hashes[100], cells[BLOOM_MAX_K];
  (void)state;
  for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
    for (unsigned round = 0; round < 20; round++) {
      BloomLayer layer = round % 2 ? lines_layer(k, 2 + next_random(&seed) % 40)
                                   : flat_layer(k, 2 + next_random(&seed) % 20000);
      uint64_t count = next_random(&seed) % COUNT(hashes), inserted = 0;
      for (uint64_t n = 0; n < count; n++) {
        hashes[n] = n % 7 == 6 ? hashes[n / 2] : any_hash(&seed);
      }
      layer.offset = next_random(&seed) % 100 * 8;
      for (unsigned i = 0; i < MOST_BYTES; i++) bytes[i] = (uint8_t)(next_random(&seed) & 0x11);
      memcpy(expected, bytes, MOST_BYTES);
      for (uint64_t n = 0; n < count; n++) {
        bool fresh = false;
        expected_positions(&layer.geometry, hashes[n], cells);
        for (unsigned i = 0; i < k; i++) {
          uint64_t at = layer.offset * 8 + cells[i];
          fresh = fresh || !bit_at(expected, at);
          expected[at / 8] = (uint8_t)(expected[at / 8] | 1u << at % 8);
        }
        inserted += fresh;
      }
      CHECK(bloom_layer_insert_all(&layer, bytes, hashes, count) == inserted, "k %u", k);
      assert_memory_equal(bytes, expected, MOST_BYTES);
    }
  }
}

/* ---- counters ---- */

static unsigned counter_at(const uint8_t *bytes, uint64_t cell) {
  return bytes[cell / 2] >> cell % 2 * 4 & 15;
}

static void set_counter(uint8_t *bytes, uint64_t cell, unsigned value) {
  unsigned shift = cell % 2 * 4;
  bytes[cell / 2] = (uint8_t)((bytes[cell / 2] & ~(15u << shift)) | value << shift);
}

static void check_counters(BloomLayer *layer, uint64_t hash, uint64_t *seed) {
  static uint8_t bytes[MOST_BYTES], before[MOST_BYTES], expected[MOST_BYTES];
  uint64_t cells[BLOOM_MAX_K], base = layer->offset * 2;
  unsigned k = layer->geometry.k;
  bool in = true, pays = true;
  expected_positions(&layer->geometry, hash, cells);
  for (unsigned i = 0; i < MOST_BYTES; i++) bytes[i] = (uint8_t)next_random(seed);
  if (next_random(seed) % 2) { /* else one of many random counters is 0 */
    for (unsigned i = 0; i < k; i++) {
      if (counter_at(bytes, base + cells[i]) == 0) set_counter(bytes, base + cells[i], 1 + i % 15);
    }
  }
  for (unsigned i = 0; i < k; i++) in = in && counter_at(bytes, base + cells[i]) > 0;
  CHECK(bloom_layer_contains(layer, 4, bytes, hash) == in, "k %u", k);
  /* remove: all k draws, one by one, or nothing */
  memcpy(before, bytes, MOST_BYTES);
  memcpy(expected, bytes, MOST_BYTES);
  for (unsigned i = 0; i < k; i++) {
    unsigned counter = counter_at(expected, base + cells[i]);
    if (counter == 0) pays = false;
    if (counter > 0 && counter < 15) set_counter(expected, base + cells[i], counter - 1);
  }
  CHECK(bloom_layer_decrement(layer, bytes, hash) == pays, "k %u", k);
  assert_memory_equal(bytes, pays ? expected : before, MOST_BYTES);
  /* add */
  memcpy(expected, bytes, MOST_BYTES);
  for (unsigned i = 0; i < k; i++) {
    unsigned counter = counter_at(expected, base + cells[i]);
    if (counter < 15) set_counter(expected, base + cells[i], counter + 1);
  }
  bloom_layer_increment(layer, bytes, hash);
  assert_memory_equal(bytes, expected, MOST_BYTES);
  CHECK(bloom_layer_contains(layer, 4, bytes, hash), "k %u", k);
  for (unsigned i = 0; i < k; i++) {
    uint8_t old = bytes[(base + cells[i]) / 2];
    set_counter(bytes, base + cells[i], 0);
    CHECK(!bloom_layer_contains(layer, 4, bytes, hash), "k %u cell %u", k, i);
    bytes[(base + cells[i]) / 2] = old;
  }
}

static void counters_of_every_k(void **state) {
  uint64_t seed = 4;
  (void)state;
  for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
    for (unsigned round = 0; round < 60; round++) {
      BloomLayer layer = round % 2 ? lines_layer(k, 2 + next_random(&seed) % 10)
                                   : flat_layer(k, 2 + next_random(&seed) % 5000);
      layer.offset = next_random(&seed) % 100 * 8;
      check_counters(&layer, any_hash(&seed), &seed);
    }
  }
}

/* Fifteen additions fill a counter, it stays full, and no removal empties it again. */
static void counters_saturate_and_stick(void **state) {
  uint8_t bytes[512] = {0};
  BloomLayer layer = flat_layer(1, 1024);
  uint64_t cells[BLOOM_MAX_K], cell;
  (void)state;
  bloom_layer_positions(&layer, 77, cells);
  cell = cells[0];
  for (unsigned i = 1; i <= 20; i++) {
    bloom_layer_increment(&layer, bytes, 77);
    assert_int_equal(counter_at(bytes, cell), i < 15 ? i : 15);
  }
  for (unsigned i = 0; i < 100; i++) {
    assert_true(bloom_layer_decrement(&layer, bytes, 77));
    assert_int_equal(counter_at(bytes, cell), 15);
  }
  set_counter(bytes, cell, 14);
  for (unsigned i = 14; i > 0; i--) assert_true(bloom_layer_decrement(&layer, bytes, 77));
  assert_false(bloom_layer_decrement(&layer, bytes, 77));
  for (unsigned i = 0; i < sizeof bytes; i++) assert_int_equal(bytes[i], 0);
}

/* A multiset: what was added c times is gone after c removals, and the cells are as before. */
static void removal_undoes_addition(void **state) {
  uint8_t bytes[1024] = {0}, before[1024];
  BloomLayer layer = flat_layer(5, 2000);
  uint64_t seed = 5;
  (void)state;
  for (unsigned i = 0; i < 100; i++) bloom_layer_increment(&layer, bytes, next_random(&seed));
  memcpy(before, bytes, sizeof bytes);
  for (unsigned round = 0; round < 500; round++) {
    uint64_t hash = next_random(&seed);
    unsigned copies = 1 + round % 3;
    for (unsigned i = 0; i < copies; i++) bloom_layer_increment(&layer, bytes, hash);
    for (unsigned i = 0; i < copies; i++) {
      assert_true(bloom_layer_contains(&layer, 4, bytes, hash));
      assert_true(bloom_layer_decrement(&layer, bytes, hash));
    }
    assert_memory_equal(bytes, before, sizeof bytes);
  }
}

/* A key that draws one cell twice, where that counter is 1: certainly not in. */
static void twice_drawn_cell_pays_twice(void **state) {
  uint64_t seed = 6, cells[BLOOM_MAX_K], hash;
  BloomLayer layer = flat_layer(2, 16);
  uint8_t bytes[8] = {0}, before[8];
  (void)state;
  do {
    hash = next_random(&seed);
    bloom_layer_positions(&layer, hash, cells);
  } while (cells[0] != cells[1]);
  set_counter(bytes, cells[0], 1);
  memcpy(before, bytes, sizeof bytes);
  assert_false(bloom_layer_decrement(&layer, bytes, hash));
  assert_memory_equal(bytes, before, sizeof bytes);
  bloom_layer_increment(&layer, bytes, hash);
  assert_int_equal(counter_at(bytes, cells[0]), 3);
  assert_true(bloom_layer_decrement(&layer, bytes, hash));
  assert_memory_equal(bytes, before, sizeof bytes);
}

/* ---- several layers, merging, facts ---- */

/* Filled at random: `full` of 256 cells are not 0. Padding stays 0. */
static void fill_cells(const BloomLayer *layer, unsigned cell_bits, uint8_t *bytes, unsigned full,
                       uint64_t *seed) {
  for (uint64_t cell = 0; cell < bloom_cells(&layer->geometry); cell++) {
    if (next_random(seed) % 256 >= full) continue;
    if (cell_bits == 4) {
      set_counter(bytes + layer->offset, cell, 1 + next_random(seed) % 15);
    } else {
      bytes[layer->offset + cell / 8] |= (uint8_t)(1u << cell % 8);
    }
  }
}

static uint64_t count_cells(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                            uint64_t first, uint64_t end) {
  uint64_t count = 0;
  for (uint64_t cell = first; cell < end; cell++) {
    const uint8_t *at = bytes + layer->offset;
    count += cell_bits == 4 ? counter_at(at, cell) > 0 : bit_at(at, cell);
  }
  return count;
}

/* The chance that an absent key passes: the mean over all choices of lines, of all draws. */
static double expected_rate(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes) {
  const BloomGeometry *g = &layer->geometry;
  double rate = 1;
  for (unsigned l = 0; l < g->L; l++) {
    unsigned t = g->k / g->L + (l < g->k % g->L);
    double mean = 0;
    for (uint64_t line = 0; line < g->lines; line++) {
      uint64_t first = line * g->line_bits;
      uint64_t in = count_cells(layer, cell_bits, bytes, first, first + g->line_bits);
      mean += pow((double)in / (double)g->line_bits, t) / (double)g->lines;
    }
    rate *= mean;
  }
  return rate;
}

static void facts(void **state) {
  static uint8_t bytes[MOST_BYTES];
  uint64_t seed = 7;
  (void)state;
  for (unsigned round = 0; round < 400; round++) {
    BloomFilter filter = {0};
    BloomFacts found;
    uint64_t end = 0, occupied = 0, cells = 0;
    double none = 1, keys = 0;
    filter.bytes = bytes;
    filter.cell_bits = round % 2 ? 4 : 1;
    filter.layer_count = (uint8_t)(round % 4);
    memset(bytes, 0, sizeof bytes);
    for (unsigned i = 0; i < filter.layer_count; i++) {
      unsigned k = 1 + next_random(&seed) % 64;
      BloomLayer layer = next_random(&seed) % 2 ? lines_layer(k, 2 + next_random(&seed) % 3)
                                                : flat_layer(k, 2 + next_random(&seed) % 2000);
      layer.offset = end;
      end += bloom_layer_bytes(&layer.geometry, filter.cell_bits);
      fill_cells(&layer, filter.cell_bits, bytes, next_random(&seed) % 250, &seed);
      uint64_t in = count_cells(&layer, filter.cell_bits, bytes, 0, bloom_cells(&layer.geometry));
      assert_int_equal(bloom_layer_occupied(&layer, filter.cell_bits, bytes), in);
      if (in > 0) keys += bloom_keys_from_cells(&layer.geometry, (double)in) / none;
      none *= 1 - expected_rate(&layer, filter.cell_bits, bytes);
      occupied += in;
      cells += bloom_cells(&layer.geometry);
      filter.layers[i] = layer;
    }
    bloom_facts(&filter, &found);
    assert_true(found.occupied == occupied && found.cells == cells);
    CHECK(fabs(found.rate - (1 - none)) < 1e-9, "%.12g %.12g", found.rate, 1 - none);
    CHECK(found.count == keys || fabs(found.count / keys - 1) < 1e-6, "%g %g", found.count, keys);
  }
}

/* Full cells: rate 1, count infinite, never NaN or more than 1. */
static void facts_of_full_cells(void **state) {
  static uint8_t bytes[MOST_BYTES];
  BloomFilter filter = {0};
  BloomFacts found;
  (void)state;
  memset(bytes, 0xff, sizeof bytes);
  filter.bytes = bytes;
  filter.cell_bits = 1;
  filter.layer_count = 2;
  filter.layers[0] = lines_layer(9, 3);
  filter.layers[1] = flat_layer(3, 64);
  filter.layers[1].offset = 3 * 64;
  bloom_facts(&filter, &found);
  assert_true(found.rate == 1 && isinf(found.count) && found.count > 0);
  memset(bytes + 3 * 64, 0, 8); /* the second layer is empty */
  bloom_facts(&filter, &found);
  assert_true(found.rate == 1 && isinf(found.count) && found.occupied == 3 * 512);
}

/* Behind layers of any fill a full one: the rates of layers add up to 1, however they are rounded. */
static void facts_behind_a_full_layer(void **state) {
  static uint8_t bytes[5 * 64];
  BloomFilter filter = {.bytes = bytes, .cell_bits = 1, .layer_count = 5};
  uint64_t seed = 9;
  (void)state;
  memset(bytes + 4 * 64, 0xff, 64);
  for (unsigned i = 0; i < 5; i++) {
    filter.layers[i] = flat_layer(1 + i, 509);
    filter.layers[i].offset = i * 64;
  }
  for (unsigned round = 0; round < 3000; round++) {
    BloomFacts found;
    memset(bytes, 0, 4 * 64);
    for (unsigned i = 0; i < 4; i++) {
      fill_cells(&filter.layers[i], 1, bytes, next_random(&seed) % 250, &seed);
    }
    bloom_facts(&filter, &found);
    assert_true(found.rate <= 1 && found.rate > 1 - 1e-15);
  }
}

static void any_layer_contains(void **state) {
  static uint8_t bytes[MOST_BYTES];
  BloomFilter filter = {0};
  uint64_t seed = 8, absent = 0;
  (void)state;
  filter.bytes = bytes;
  filter.cell_bits = 1;
  filter.layer_count = 3;
  filter.layers[0] = lines_layer(20, 8);
  filter.layers[1] = flat_layer(20, 4096);
  filter.layers[1].offset = 512;
  filter.layers[2] = flat_layer(33, 4096);
  filter.layers[2].offset = 1024;
  for (unsigned i = 0; i < 60; i++) {
    bloom_layer_insert(&filter.layers[i % 3], bytes, 1000 * UINT64_C(0x9e3779b97f4a7c15) * (i + 1));
  }
  for (unsigned i = 0; i < 60; i++) {
    assert_true(bloom_contains(&filter, 1000 * UINT64_C(0x9e3779b97f4a7c15) * (i + 1)));
  }
  for (unsigned i = 0; i < 1000; i++) absent += bloom_contains(&filter, next_random(&seed));
  assert_int_equal(absent, 0); /* 400 of 4096 cells are set: (1/10)^20 */
  filter.layer_count = 0;
  assert_false(bloom_contains(&filter, 1000 * UINT64_C(0x9e3779b97f4a7c15)));
}

static void merges(void **state) {
  uint8_t a[256], b[256], into[256];
  uint64_t seed = 9;
  (void)state;
  for (unsigned round = 0; round < 2000; round++) {
    unsigned cell_bits = round % 2 ? 4 : 1;
    enum BloomMerge merge = round / 2 % 2 ? BLOOM_INTERSECT : BLOOM_UNION;
    uint64_t size = (round % 32 + 1) * 8;
    for (unsigned i = 0; i < sizeof a; i++) {
      a[i] = (uint8_t)next_random(&seed);
      b[i] = (uint8_t)next_random(&seed);
    }
    memcpy(into, a, sizeof a);
    bloom_merge_cells(into, b, size, cell_bits, merge);
    for (uint64_t cell = 0; cell < sizeof a * 8 / cell_bits; cell++) {
      unsigned x = cell_bits == 4 ? counter_at(a, cell) : bit_at(a, cell);
      unsigned y = cell_bits == 4 ? counter_at(b, cell) : bit_at(b, cell),
               most = cell_bits == 4 ? 15 : 1;
      unsigned expected = merge == BLOOM_INTERSECT ? (x < y ? x : y) : x + y > most ? most : x + y;
      if (cell >= size * 8 / cell_bits) expected = x;
      assert_int_equal(cell_bits == 4 ? counter_at(into, cell) : bit_at(into, cell), expected);
    }
  }
}

static void same_layer(void **state) {
  BloomLayer a = lines_layer(7, 9);
  (void)state;
  assert_true(bloom_same_layer(&a, &a));
  for (unsigned field = 0; field < 7; field++) {
    BloomLayer b = a;
    if (field == 0) b.geometry.k++;
    if (field == 1) b.geometry.L++;
    if (field == 2) b.geometry.lines++;
    if (field == 3) b.geometry.line_bits++;
    if (field == 4) b.capacity++;
    if (field == 5) b.rate = nextafterf(b.rate, 1);
    if (field == 6) b.offset++; /* where it lies does not matter */
    assert_int_equal(bloom_same_layer(&a, &b), field == 6);
  }
}

static void may_merge(void **state) {
  BloomFilter a = {.kind = BLOOM_PLAIN, .n = 9, .p = 0.25f, .layer_count = 1};
  (void)state;
  a.layers[0] = flat_layer(2, 64);
  for (unsigned field = 0; field < 6; field++) {
    BloomFilter b = a;
    if (field == 0) b.kind = BLOOM_COUNTING;
    if (field == 1) b.n++;
    if (field == 2) b.p = nextafterf(b.p, 1);
    if (field == 3) b.layers[0].geometry.line_bits++;
    if (field == 4) b.layers[1].capacity = 7; /* later layers and the kinds of keys may differ */
    if (field == 5) b.key_types++;
    assert_int_equal(bloom_may_merge(&a, &b), field >= 4);
  }
}

/* ---- growth ---- */

/* The first layer is full where its rate is 1.5 p, or half way from p to 1; a later one where it
** has the keys that it was made for. A flat layer of m cells has a rate of (occupied / m)^k, and
** (1 - (1 - 1/m)^(k keys)) m of its cells are occupied. */
static void full_layers(void **state) {
  static const float rates[] = {1e-6f, 0.01f, 0.4f, 0.9f, 0.99f};
  static uint8_t bytes[MOST_BYTES];
  uint64_t seed = 10;
  (void)state;
  for (unsigned i = 0; i < COUNT(rates); i++) {
    double p = rates[i], most = 1.5 * p < (1 + p) / 2 ? 1.5 * p : (1 + p) / 2;
    BloomFilter filter = {
        .bytes = bytes, .cell_bits = 1, .n = 100, .p = rates[i], .layer_count = 1};
    BloomLayer *layer = &filter.layers[0];
    BloomFill fill;
    assert_true(bloom_geometry(100, rates[i], &layer->geometry));
    layer->capacity = 100;
    double m = (double)layer->geometry.line_bits, k = layer->geometry.k;
    memset(bytes, 0, sizeof bytes);
    fill_cells(layer, 1, bytes, 90, &seed);
    bloom_count_fill(&filter, &fill);
    assert_true(fill.occupied == (double)count_cells(layer, 1, bytes, 0, (uint64_t)m));
    CHECK(fabs(pow(fill.full / m, k) / most - 1) < 1e-9, "p = %g: %.12g of %g", p, fill.full, m);
    filter.layer_count = 2;
    filter.layers[1] = filter.layers[0];
    filter.layers[1].capacity = 31;
    bloom_count_fill(&filter, &fill);
    double expected = m * (1 - pow(1 - 1 / m, 31 * k));
    CHECK(fabs(fill.full / expected - 1) < 1e-9, "p = %g: %.12g %.12g", p, fill.full, expected);
  }
}

/* One more key sets k (1 - 500/1000) = 2 of the cells that are free. */
static void full_or_not(void **state) {
  BloomFilter filter = {.cell_bits = 1, .layer_count = 2};
  (void)state;
  filter.layers[1] = flat_layer(4, 1000);
  assert_false(bloom_is_full(&filter, &(BloomFill){500, 502}));
  assert_true(bloom_is_full(&filter, &(BloomFill){500, 501.999}));
  assert_false(bloom_is_full(&filter, &(BloomFill){0, 0.001})); /* an empty one has room for one */
  assert_true(bloom_is_full(&filter, &(BloomFill){1, 0.001}));
}

static void next_layers(void **state) {
  BloomFilter filter = {.p = 0.01f, .layer_count = 3};
  float rate;
  (void)state;
  filter.layers[0].capacity = 5;
  filter.layers[1].capacity = 10;
  filter.layers[2].capacity = 15;
  filter.layers[3].capacity = 1000; /* is no layer */
  assert_int_equal(bloom_next_layer(&filter, &rate), 30);
  CHECK(fabs(rate / (0.4 * 0.01 / 8) - 1) < 1e-6, "%g", (double)rate);
  filter.layer_count = 1;
  assert_int_equal(bloom_next_layer(&filter, &rate), 5);
  CHECK(fabs(rate / (0.4 * 0.01 / 2) - 1) < 1e-6, "%g", (double)rate);
  filter.p = 1e-9f;
  filter.layer_count = 63;
  for (unsigned i = 0; i < 63; i++) filter.layers[i].capacity = UINT64_C(1) << 62;
  assert_int_equal(bloom_next_layer(&filter, &rate), UINT64_C(1) << 62); /* and no overflow */
  assert_true(rate == 0x1p-64f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions),
      cmocka_unit_test(bits_of_every_k),
      cmocka_unit_test(many_of_every_k),
      cmocka_unit_test(counters_of_every_k),
      cmocka_unit_test(counters_saturate_and_stick),
      cmocka_unit_test(removal_undoes_addition),
      cmocka_unit_test(twice_drawn_cell_pays_twice),
      cmocka_unit_test(facts),
      cmocka_unit_test(facts_of_full_cells),
      cmocka_unit_test(facts_behind_a_full_layer),
      cmocka_unit_test(any_layer_contains),
      cmocka_unit_test(merges),
      cmocka_unit_test(same_layer),
      cmocka_unit_test(may_merge),
      cmocka_unit_test(full_layers),
      cmocka_unit_test(full_or_not),
      cmocka_unit_test(next_layers),
  };
  return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
