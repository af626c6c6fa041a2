/* filter.c: the kernel. From one 64-bit hash to the cells of a key, and what is done with them.
**
** The positions of a key (DESIGN: one formula for both layouts). With h the hash,
**     a_j = (h | 1) * C^j  mod 2^64
** line number l of the key is mulhi64(a_l, lines), l < L, and its i-th cell is number
** mulhi64(a_(L+i), line_bits) of its line, i < k; the cells are dealt to the lines in order, the
** first k mod L lines taking one more:
**
**     L = 2, k = 7:   a_0 -> line A   a_1 -> line B
**                     a_2 a_3 a_4 a_5 -> 4 cells of A     a_6 a_7 a_8 -> 3 cells of B
**
** C is a multiplier with good lattice structure in all dimensions (Steele and Vigna,
** Computationally easy, spectrally good multipliers, table 5). The articles' double hashing a + i b
** was left: its rate has a floor of its own (25 to 193 times p at p = 1e-6).
**
** The bodies below, and those of probes in probe.h, are always inlined with constant k and L, so
** that the powers of C become constants and the loops straight code.
*/
#include "filter.h"

#include <math.h>

#include "probe.h"

enum {
  MERGE_AHEAD = 2048, /* bytes that a merge asks for before it needs them */
  BATCH = 32          /* hashes whose lines are fetched at once */
};

/* Both set a bit and return it when it was free, otherwise 0. */
BLOOM_INLINE uint64_t set_bit_of_line(uint8_t *line, uint64_t a) {
  uint8_t *at = line + (a >> 61) * 8;
  uint64_t old = load_le64(at), word = old | UINT64_C(1) << (a >> LINE_SHIFT & 63);
  BLOOM_OPAQUE(word); /* one instruction sets the bit; ~old & bit would need the bit itself */
  store_le64(at, word);
  return old ^ word;
}

BLOOM_INLINE uint64_t set_bit(uint8_t *cells, uint64_t cell) {
  unsigned old = cells[cell >> 3], byte = old | 1u << (cell & 7);
  cells[cell >> 3] = (uint8_t)byte;
  return old ^ byte;
}

BLOOM_INLINE uint64_t flat_insert_all(const BloomGeometry *g, uint8_t *cells,
                                      const uint64_t *hashes, uint64_t count, unsigned k) {
  uint64_t inserted = 0;
  for (uint64_t n = 0; n < count; n++) {
    uint64_t a = hashes[n] | 1, power = C, fresh = 0;
    BLOOM_UNROLL
    for (unsigned i = 0; i < k; i++) {
      fresh |= set_bit(cells, mulhi64(wrapping_mul(a, power), g->line_bits));
      power = wrapping_mul(power, C);
    }
    inserted += fresh != 0;
  }
  return inserted;
}

/* Up to BATCH hashes: first all lines are asked for, then they are written. */
BLOOM_INLINE uint64_t lines_insert_batch(const BloomGeometry *g, uint8_t *cells,
                                         const uint64_t *hashes, uint64_t count, unsigned k,
                                         unsigned L) {
  uint8_t *lines[BATCH][(MAX_SPECIAL_K + 3) / 4];
  uint64_t inserted = 0, first_power = 1;
  BLOOM_UNROLL
  for (unsigned l = 0; l < L; l++) first_power = wrapping_mul(first_power, C);
  for (uint64_t n = 0; n < count; n++) {
    uint64_t a = hashes[n] | 1, power = 1;
    BLOOM_UNROLL
    for (unsigned l = 0; l < L; l++) {
      lines[n][l] = cells + mulhi64(wrapping_mul(a, power), g->lines) * LINE_BYTES;
      BLOOM_PREFETCH(lines[n][l]);
      power = wrapping_mul(power, C);
    }
  }
  for (uint64_t n = 0; n < count; n++) {
    uint64_t a = hashes[n] | 1, power = first_power, fresh = 0;
    BLOOM_UNROLL
    for (unsigned l = 0; l < L; l++) {
      BLOOM_UNROLL
      for (unsigned i = 0; i < bloom_cells_in_line(k, L, l); i++) {
        fresh |= set_bit_of_line(lines[n][l], wrapping_mul(a, power));
        power = wrapping_mul(power, C);
      }
    }
    inserted += fresh != 0;
  }
  return inserted;
}

BLOOM_INLINE uint64_t lines_insert_all(const BloomGeometry *g, uint8_t *cells,
                                       const uint64_t *hashes, uint64_t count, unsigned k,
                                       unsigned L) {
  uint64_t inserted = 0;
  for (uint64_t at = 0; at < count; at += BATCH) {
    uint64_t batch = count - at < BATCH ? count - at : BATCH;
    inserted += lines_insert_batch(g, cells, hashes + at, batch, k, L);
  }
  return inserted;
}

void bloom_layer_positions(const BloomLayer *layer, uint64_t hash, uint64_t cells[BLOOM_MAX_K]) {
  const BloomGeometry *g = &layer->geometry;
  uint64_t lines[BLOOM_MAX_L], a = hash | 1;
  for (unsigned l = 0; l < g->L; l++) {
    lines[l] = mulhi64(a, g->lines);
    a = wrapping_mul(a, C);
  }
  unsigned i = 0;
  for (unsigned l = 0; l < g->L; l++) {
    for (unsigned t = bloom_cells_in_line(g->k, g->L, l); t > 0; t--) {
      cells[i++] = lines[l] * g->line_bits + mulhi64(a, g->line_bits);
      a = wrapping_mul(a, C);
    }
  }
}

/* Counters are 4 bits each, the even cell in the low half of its byte. */
static unsigned counter_at(const uint8_t *cells, uint64_t cell) {
  return cells[cell / 2] >> (cell % 2 * 4) & 15u;
}

bool bloom_any_contains(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                        uint64_t hash) {
  const uint8_t *cells = bytes + layer->offset;
  uint64_t positions[BLOOM_MAX_K];
  bloom_layer_positions(layer, hash, positions);
  for (unsigned i = 0; i < layer->geometry.k; i++) {
    if ((cell_bits == 1 ? bit_at(cells, positions[i]) : counter_at(cells, positions[i])) == 0) {
      return false;
    }
  }
  return true;
}

bool bloom_layer_contains(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                          uint64_t hash) {
  return layer_contains(layer, cell_bits, bytes, hash);
}

bool bloom_contains(const BloomFilter *filter, uint64_t hash) {
  return filter_contains(filter, hash);
}

unsigned bloom_layer_insert(const BloomLayer *layer, uint8_t *bytes, uint64_t hash) {
  uint64_t positions[BLOOM_MAX_K];
  unsigned fresh = 0;
  bloom_layer_positions(layer, hash, positions);
  for (unsigned i = 0; i < layer->geometry.k; i++) {
    fresh += set_bit(bytes + layer->offset, positions[i]) != 0;
  }
  return fresh;
}

uint64_t bloom_layer_insert_all(const BloomLayer *layer, uint8_t *bytes, const uint64_t *hashes,
                                uint64_t count) {
  const BloomGeometry *g = &layer->geometry;
  uint8_t *cells = bytes + layer->offset;
  uint64_t fresh = 0;
  switch (special_case(g)) {
#define CASE(K) \
  case K: \
    return flat_insert_all(g, cells, hashes, count, K); \
  case K + BLOOM_MAX_K: \
    return lines_insert_all(g, cells, hashes, count, K, (K + 3) / 4);
    FOR_EACH_SPECIAL_K(CASE)
#undef CASE
    default:
      for (uint64_t i = 0; i < count; i++) fresh += bloom_layer_insert(layer, bytes, hashes[i]) > 0;
      return fresh;
  }
}

void bloom_layer_prefetch(const BloomLayer *layer, const uint8_t *bytes, uint64_t hash) {
  const BloomGeometry *g = &layer->geometry;
  uint64_t a = hash | 1;
  if (g->lines == 1) return; /* a flat layer fits the first cache */
  for (unsigned l = 0; l < g->L; l++) {
    BLOOM_PREFETCH(bytes + layer->offset + mulhi64(a, g->lines) * LINE_BYTES);
    a = wrapping_mul(a, C);
  }
}

/* ---- counters ---- */

static void add_to_counter(uint8_t *cells, uint64_t cell, int step) {
  unsigned shift = cell % 2 * 4;
  cells[cell / 2] = (uint8_t)(cells[cell / 2] + step * (1 << shift));
}

void bloom_layer_increment(const BloomLayer *layer, uint8_t *bytes, uint64_t hash) {
  uint64_t positions[BLOOM_MAX_K];
  uint8_t *cells = bytes + layer->offset;
  bloom_layer_positions(layer, hash, positions);
  for (unsigned i = 0; i < layer->geometry.k; i++) {
    if (counter_at(cells, positions[i]) < BLOOM_COUNTER_MAX) add_to_counter(cells, positions[i], 1);
  }
}

/* A key may draw one cell twice, and then counted it twice. When a counter cannot pay for all its
** draws, the key was certainly never put in: what was taken is given back. */
bool bloom_layer_decrement(const BloomLayer *layer, uint8_t *bytes, uint64_t hash) {
  uint64_t positions[BLOOM_MAX_K];
  uint8_t *cells = bytes + layer->offset;
  unsigned i;
  bloom_layer_positions(layer, hash, positions);
  for (i = 0; i < layer->geometry.k; i++) {
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the first k positions are set */
    unsigned counter = counter_at(cells, positions[i]);
    if (counter == 0) break;
    if (counter < BLOOM_COUNTER_MAX) add_to_counter(cells, positions[i], -1);
  }
  if (i == layer->geometry.k) return true;
  for (; i > 0; i--) {
    uint64_t cell = positions[i - 1];
    if (counter_at(cells, cell) < BLOOM_COUNTER_MAX) add_to_counter(cells, cell, 1);
  }
  return false;
}

/* ---- estimates from the cells ---- */

/* A counter that is not 0, as one bit for each. */
static uint64_t occupied_bits(uint64_t word, unsigned cell_bits) {
  if (cell_bits == 1) return word;
  word |= word >> 2;
  word |= word >> 1;
  return word & UINT64_C(0x1111111111111111);
}

/* Adds three words bit by bit: *sum keeps the ones, the carries are returned. */
BLOOM_INLINE uint64_t add_bits(uint64_t *sum, uint64_t a, uint64_t b) {
  uint64_t differ = *sum ^ a, carry = (*sum & a) | (differ & b);
  *sum = differ ^ b;
  return carry;
}

/* The same for the occupied bits of four words: *sum and *twos keep theirs, the carries of four are
** returned. */
BLOOM_INLINE uint64_t add_words(uint64_t *sum, uint64_t *twos, const uint8_t *words,
                                unsigned cell_bits) {
  uint64_t two = add_bits(sum, occupied_bits(load_le64(words), cell_bits),
                          occupied_bits(load_le64(words + 8), cell_bits));
  uint64_t more = add_bits(sum, occupied_bits(load_le64(words + 16), cell_bits),
                           occupied_bits(load_le64(words + 24), cell_bits));
  return add_bits(twos, two, more);
}

/* The bits of a line are added up before they are counted (Harley's and Seal's method: Warren,
** Hacker's Delight, 2nd edition, section 5-1), which takes half the time. */
static uint64_t occupied_in(const uint8_t *cells, uint64_t size, unsigned cell_bits) {
  uint8_t tail[8] = {0};
  uint64_t count = 0, at = 0, ones = 0, twos = 0, fours = 0;
  for (; at + LINE_BYTES <= size; at += LINE_BYTES) {
    uint64_t four = add_words(&ones, &twos, cells + at, cell_bits);
    uint64_t more = add_words(&ones, &twos, cells + at + LINE_BYTES / 2, cell_bits);
    count += 8 * (uint64_t)popcount64(add_bits(&fours, four, more));
  }
  count += 4 * (uint64_t)popcount64(fours) + 2 * (uint64_t)popcount64(twos) + popcount64(ones);
  for (; at + 8 <= size; at += 8) {
    count += popcount64(occupied_bits(load_le64(cells + at), cell_bits));
  }
  memcpy(tail, cells + at, (size_t)(size - at));
  return count + popcount64(occupied_bits(load_le64(tail), cell_bits));
}

uint64_t bloom_layer_occupied(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes) {
  return occupied_in(bytes + layer->offset, bloom_layer_bytes(&layer->geometry, cell_bits),
                     cell_bits);
}

static double raised(double base, unsigned exponent) {
  double result = 1;
  for (; exponent > 0; exponent--) result *= base;
  return result;
}

/* The rate of one layer from its cells: a key's lines are drawn independently, so it is the
** product over them of the mean, over all lines, of the chance that its t cells are occupied. */
static double layer_rate(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                         uint64_t *occupied) {
  const BloomGeometry *g = &layer->geometry;
  const uint8_t *cells = bytes + layer->offset;
  uint64_t line_bytes = bloom_layer_bytes(g, cell_bits) / g->lines;
  unsigned low = g->k / g->L, high = g->k % g->L;
  double sum = 0, sum_high = 0;
  *occupied = 0;
  for (uint64_t line = 0; line < g->lines; line++) {
    uint64_t in_line = occupied_in(cells + line * line_bytes, line_bytes, cell_bits);
    double fill = (double)in_line / (double)g->line_bits, chance = raised(fill, low);
    sum += chance;
    sum_high += chance * fill;
    *occupied += in_line;
  }
  return raised(sum / (double)g->lines, g->L - high) * raised(sum_high / (double)g->lines, high);
}

void bloom_facts(const BloomFilter *filter, BloomFacts *facts) {
  double none = 1; /* chance that an absent key passes no layer so far */
  memset(facts, 0, sizeof *facts);
  for (unsigned i = 0; i < filter->layer_count; i++) {
    const BloomLayer *layer = &filter->layers[i];
    uint64_t occupied;
    double rate = layer_rate(layer, filter->cell_bits, filter->bytes, &occupied);
    double keys = bloom_keys_from_cells(&layer->geometry, (double)occupied);
    /* A key that an earlier layer took for present never reached this one. */
    if (occupied > 0) facts->count += none > 0 ? keys / none : INFINITY;
    facts->occupied += occupied;
    facts->cells += bloom_cells(&layer->geometry);
    facts->rate += rate * none;
    none *= 1 - rate;
  }
  if (facts->rate > 1) facts->rate = 1; /* the sum's roundings */
}

/* ---- growth by additions ----
**
** The first layer takes keys until its rate is 1.5 p: that is past n by so much (1.09 n at
** p = 0.01) that a set of n keys practically never reaches it, and a filter of at most n keys has
** the same bytes whether it was built or added to. Then layers of n, 2n, 4n ... keys at p/5, p/10,
** p/20 ...: in total 1.9 p, so that the scatter of small layers stays below 2p.
*/
static const double FIRST_RATE = 1.5, NEXT_RATE = 0.4;

void bloom_count_fill(const BloomFilter *filter, BloomFill *fill) {
  const BloomLayer *last = &filter->layers[filter->layer_count - 1];
  double rate = fmin(FIRST_RATE * filter->p, (1 + (double)filter->p) / 2);
  double keys =
      filter->layer_count > 1 ? (double)last->capacity : bloom_keys_at(&last->geometry, rate);
  fill->occupied = (double)bloom_layer_occupied(last, filter->cell_bits, filter->bytes);
  fill->full = bloom_cells_at(&last->geometry, keys);
}

/* An empty layer takes a key in any case. */
bool bloom_is_full(const BloomFilter *filter, const BloomFill *fill) {
  const BloomGeometry *last = &filter->layers[filter->layer_count - 1].geometry;
  double next = last->k * (1 - fill->occupied / (double)bloom_cells(last));
  return fill->occupied > 0 && fill->occupied + next > fill->full;
}

uint64_t bloom_next_layer(const BloomFilter *filter, float *rate) {
  uint64_t capacity = 0;
  /* A crafted table may state capacities up to 2^63; half of that fits no geometry already. */
  for (unsigned i = 0; i < filter->layer_count && capacity < INT64_MAX / 2; i++) {
    capacity += filter->layers[i].capacity;
  }
  *rate = (float)fmax(ldexp(NEXT_RATE * filter->p, -(int)filter->layer_count), BLOOM_MIN_RATE);
  return capacity;
}

/* ---- merging ---- */

/* Two counters a byte: saturating sum, or minimum. */
static uint8_t merge_counters(unsigned a, unsigned b, enum BloomMerge merge) {
  unsigned low = (a & 15) + (b & 15), high = (a >> 4) + (b >> 4);
  if (merge == BLOOM_INTERSECT) {
    low = (a & 15) < (b & 15) ? a & 15 : b & 15;
    high = (a >> 4) < (b >> 4) ? a >> 4 : b >> 4;
  }
  if (low > BLOOM_COUNTER_MAX) low = BLOOM_COUNTER_MAX;
  if (high > BLOOM_COUNTER_MAX) high = BLOOM_COUNTER_MAX;
  return (uint8_t)(low | high << 4);
}

/* A line at a time, word by word: arrays of words were copied to the stack; then what is left. */
BLOOM_INLINE void merge_bits(uint8_t *restrict into, const uint8_t *restrict from, uint64_t size,
                             enum BloomMerge merge) {
  uint64_t at = 0;
  for (; at + LINE_BYTES <= size; at += LINE_BYTES) {
    BLOOM_PREFETCH(into + at + MERGE_AHEAD);
    BLOOM_UNROLL
    for (unsigned i = 0; i < LINE_BYTES; i += 8) {
      uint64_t a, b;
      memcpy(&a, into + at + i, 8);
      memcpy(&b, from + at + i, 8);
      a = merge == BLOOM_UNION ? a | b : a & b;
      memcpy(into + at + i, &a, 8);
    }
  }
  for (; at < size; at++) {
    into[at] = (uint8_t)(merge == BLOOM_UNION ? into[at] | from[at] : into[at] & from[at]);
  }
}

void bloom_merge_cells(uint8_t *into, const uint8_t *from, uint64_t size, unsigned cell_bits,
                       enum BloomMerge merge) {
  if (cell_bits != 1) {
    for (uint64_t at = 0; at < size; at++) into[at] = merge_counters(into[at], from[at], merge);
  } else if (merge == BLOOM_UNION) {
    merge_bits(into, from, size, BLOOM_UNION);
  } else {
    merge_bits(into, from, size, BLOOM_INTERSECT);
  }
}

bool bloom_same_layer(const BloomLayer *a, const BloomLayer *b) {
  return a->capacity == b->capacity && a->rate == b->rate &&
         a->geometry.lines == b->geometry.lines && a->geometry.line_bits == b->geometry.line_bits &&
         a->geometry.k == b->geometry.k && a->geometry.L == b->geometry.L;
}

unsigned bloom_place_layer(const BloomFilter *filter, unsigned count, bool taken[BLOOM_MAX_LAYERS],
                           const BloomLayer *layer) {
  unsigned into = 0;
  while (into < count && (taken[into] || !bloom_same_layer(&filter->layers[into], layer))) into++;
  if (into < count) taken[into] = true;
  return into;
}

bool bloom_may_merge(const BloomFilter *a, const BloomFilter *b) {
  return a->kind == b->kind && a->n == b->n && a->p == b->p &&
         bloom_same_layer(&a->layers[0], &b->layers[0]);
}
