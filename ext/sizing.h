/* sizing.h: from (keys, rate) to the geometry of a layer, and back from bits to keys and rates.
**
** Kernel room: no SQLite. Keys are counted, sizes are bits or bytes, rates are in (0, 1).
*/
#ifndef BLOOM_SIZING_H
#define BLOOM_SIZING_H

#include "platform.h"

enum {
  BLOOM_MAX_LAYERS = 64,
  BLOOM_MAX_K = 64,      /* cells of a key in one layer */
  BLOOM_MAX_L = 16,      /* lines of a key in one layer */
  BLOOM_LINE_CELLS = 512 /* cells of a line in the lines layout: 64 bytes of bits */
};

/* Where the k cells of a key lie: L of `lines` lines of `line_bits` cells each. A flat layer is
** one line (L = 1, lines = 1) of any length; a lines layer has lines of 512 cells and
** L = ceil(k / 4). */
typedef struct BloomGeometry {
  uint64_t lines;
  uint64_t line_bits;
  uint8_t k;
  uint8_t L;
} BloomGeometry;

/* A layer of `keys` distinct keys (>= 1) at false-positive rate `rate` (in (0, 1)). Returns
** false, with *geometry untouched, when it would have more than 2^48 cells. */
bool bloom_geometry(uint64_t keys, float rate, BloomGeometry *geometry);

/* Cells that such a layer would need, for keys of any number; for messages. */
double bloom_cells_needed(double keys, float rate);

/* Expected false-positive rate of a layer that holds `keys` keys (>= 0, need not be whole). */
double bloom_rate_at(const BloomGeometry *geometry, double keys);

/* The number of keys (not whole) at which bloom_rate_at reaches `rate`. */
double bloom_keys_at(const BloomGeometry *geometry, double rate);

/* Expected number of occupied cells with `keys` keys, and its inverse: the maximum-likelihood
** estimate of the keys from the number of occupied cells, +Inf when all are. */
double bloom_cells_at(const BloomGeometry *geometry, double keys);
double bloom_keys_from_cells(const BloomGeometry *geometry, double occupied);

BLOOM_INLINE uint64_t bloom_cells(const BloomGeometry *geometry) {
  return geometry->lines * geometry->line_bits;
}

/* Keys that line number `line` of a key's L lines carries: the first k mod L have one more. */
BLOOM_INLINE unsigned bloom_cells_in_line(unsigned k, unsigned L, unsigned line) {
  return k / L + (line < k % L);
}

#endif
