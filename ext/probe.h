/* probe.h: the shortest way from a hash to an answer, for the functions that go it once a row.
**
** Kernel room: no SQLite. The bodies are always inlined with constant k and L, so that the powers
** of the multiplier become constants and the loops straight code; with variable loops a probe takes
** 1.3 times as long. filter.c says where the positions come from.
*/
#ifndef BLOOM_PROBE_H
#define BLOOM_PROBE_H

#include "filter.h"

static const uint64_t C = UINT64_C(0xf1357aea2e62a9c5);

enum {
  FIRST_CELLS = 4,                  /* of a flat layer, tested before the others are computed */
  MAX_SPECIAL_K = 20,               /* larger k run the same body with variable loops */
  LINE_SHIFT = 64 - 9,              /* mulhi64(a, 512) = a >> 55 */
  LINE_BYTES = BLOOM_LINE_CELLS / 8 /* of a line of bits */
};

/* Bit i of a layer is bit i % 8 of its byte i / 8, and so bit i % 64 of the little-endian word
** i / 64. A line is eight words; a flat layer ends with any byte and is read by bytes. */
BLOOM_INLINE unsigned bit_of_line(const uint8_t *line, uint64_t a) {
  return (unsigned)(load_le64(line + (a >> 61) * 8) >> (a >> LINE_SHIFT & 63)) & 1u;
}

BLOOM_INLINE unsigned bit_at(const uint8_t *cells, uint64_t cell) {
  return cells[cell >> 3] >> (cell & 7) & 1u;
}

/* Tests `count` bits of a flat layer without a branch; *power is C^j of the first of them. */
BLOOM_INLINE bool flat_stage(const BloomGeometry *g, const uint8_t *cells, uint64_t a,
                             uint64_t *power, unsigned count) {
  unsigned all = 1;
  BLOOM_UNROLL
  for (unsigned i = 0; i < count; i++) {
    all &= bit_at(cells, mulhi64(wrapping_mul(a, *power), g->line_bits));
    *power = wrapping_mul(*power, C);
  }
  return all;
}

BLOOM_INLINE bool flat_contains(const BloomGeometry *g, const uint8_t *cells, uint64_t a,
                                unsigned k) {
  uint64_t power = C;
  unsigned first = k < FIRST_CELLS ? k : FIRST_CELLS;
  if (!flat_stage(g, cells, a, &power, first)) return false;
  return flat_stage(g, cells, a, &power, k - first);
}

BLOOM_INLINE bool lines_contain(const BloomGeometry *g, const uint8_t *cells, uint64_t a,
                                unsigned k, unsigned L) {
  const uint8_t *lines[(MAX_SPECIAL_K + 3) / 4] = {0};
  uint64_t power = 1;
  BLOOM_UNROLL
  for (unsigned l = 0; l < L; l++) {
    lines[l] = cells + mulhi64(wrapping_mul(a, power), g->lines) * LINE_BYTES;
    if (l > 0) BLOOM_PREFETCH(lines[l]);
    power = wrapping_mul(power, C);
  }
  BLOOM_UNROLL
  for (unsigned l = 0; l < L; l++) {
    unsigned all = 1;
    BLOOM_UNROLL
    for (unsigned i = 0; i < bloom_cells_in_line(k, L, l); i++) {
      all &= bit_of_line(lines[l], wrapping_mul(a, power));
      power = wrapping_mul(power, C);
    }
    if (!all) return false;
  }
  return true;
}

#define FOR_EACH_SPECIAL_K(CASE) \
  CASE(1) \
  CASE(2) \
  CASE(3) \
  CASE(4) \
  CASE(5) \
  CASE(6) \
  CASE(7) \
  CASE(8) \
  CASE(9) \
  CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) CASE(17) CASE(18) CASE(19) CASE(20)

/* The layouts' cases share one switch: k for flat, k + 64 for lines. */
BLOOM_INLINE unsigned special_case(const BloomGeometry *g) {
  return g->lines == 1 ? g->k : g->k + BLOOM_MAX_K;
}

/* bloom_layer_contains for all layers that have no special case. */
bool bloom_any_contains(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                        uint64_t hash);

/* bloom_layer_contains, inlined. */
BLOOM_INLINE bool layer_contains(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes,
                                 uint64_t hash) {
  const BloomGeometry *g = &layer->geometry;
  const uint8_t *cells = bytes + layer->offset;
  if (BLOOM_UNLIKELY(cell_bits != 1)) return bloom_any_contains(layer, cell_bits, bytes, hash);
  switch (special_case(g)) {
#define CASE(K) \
  case K: \
    return flat_contains(g, cells, hash | 1, K); \
  case K + BLOOM_MAX_K: \
    return lines_contain(g, cells, hash | 1, K, (K + 3) / 4);
    FOR_EACH_SPECIAL_K(CASE)
#undef CASE
    default:
      return bloom_any_contains(layer, cell_bits, bytes, hash);
  }
}

/* bloom_contains, inlined. */
BLOOM_INLINE bool filter_contains(const BloomFilter *filter, uint64_t hash) {
  for (unsigned i = 0; i < filter->layer_count; i++) {
    if (layer_contains(&filter->layers[i], filter->cell_bits, filter->bytes, hash)) return true;
  }
  return false;
}

#endif
