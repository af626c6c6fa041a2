/* sizing.c: exact false-positive mathematics. See sizing.h for the units.
**
** Sources. Flat: Bloom 1970, in the form of Mitzenmacher and Upfal, Probability and Computing,
** section 5.5.3: rate = (1 - e^(-kn/m))^k, solved for m/n at fixed k. Lines: Putze, Sanders and
** Singler, Cache-, Hash- and Space-Efficient Bloom Filters, section 3, but with the occupancy of
** a line computed exactly instead of bounded (the formula stands at line_moment).
**
** Every result that reaches a blob goes through an integer (cells per key in units of 2^-16), so
** that the last bit of a platform's libm does not show. Built with -ffp-contract=off.
*/
#include "sizing.h"

#include <math.h>

enum {
  UNIT_BITS = 16,             /* cells per key are whole multiples of 2^-16 */
  MAX_UNITS = 1 << 23,        /* 128 cells a key; 1e-9 needs 44, 2^-64 of a late layer 93 */
  FLAT_BELOW = 16 * 1024 * 8, /* cells: a smaller filter is flat, whole lines would waste 6-42 % */
  SAME_LINE_CELLS = 80 /* pays for two of a key's lines being the same one (see size_lines) */
};

#define MAX_LAYER_CELLS 281474976710656.0 /* 2^48: no layer is longer, in the format either */

/* Probability that t positions drawn at random from the 512 of a line are all occupied, when each
** visitor of the line set t_low or t_low + 1 positions, drawn at random too, and the visitors are
** Poisson with means low and high. With U the fraction of free cells:
**   P = E[(1-U)^t] = sum_j (-1)^j C(t,j) E[U^j]
**   E[U^j] = sum_d P(j draws hit d distinct cells) g(d)
**   g(d) = P(d given cells are free) = exp(-low (1-(1-d/512)^t_low) - high (1-(1-d/512)^(t_low+1)))
** t is at most 4, so everything is a sum of a few terms and exact up to rounding.
*/
typedef struct LineLoad {
  double low;     /* mean visitors that set t_low cells */
  double high;    /* mean visitors that set t_low + 1 cells */
  unsigned t_low; /* cells of a visitor of the first kind */
} LineLoad;

static double power(double base, unsigned exponent) {
  double result = 1;
  for (; exponent > 0; exponent--) result *= base;
  return result;
}

static double all_free(const LineLoad *load, unsigned cells) {
  double miss = 1 - cells / (double)BLOOM_LINE_CELLS;
  return exp(-load->low * (1 - power(miss, load->t_low)) -
             load->high * (1 - power(miss, load->t_low + 1)));
}

static double line_moment(const LineLoad *load, unsigned t) {
  /* Stirling numbers of the second kind: ways to spread j draws over d cells. */
  static const double spread[5][5] = {{1}, {0, 1}, {0, 1, 1}, {0, 1, 3, 1}, {0, 1, 7, 6, 1}};
  static const double choose[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
  double free_cells[5];
  for (unsigned d = 0; d <= t; d++) free_cells[d] = all_free(load, d);
  double moment = 0;
  for (unsigned j = 0; j <= t; j++) {
    double expected = 0, falling = 1;
    for (unsigned d = 0; d <= j; d++) {
      expected += spread[j][d] * falling * free_cells[d];
      falling *= BLOOM_LINE_CELLS - d;
    }
    expected /= power(BLOOM_LINE_CELLS, j);
    moment += (j % 2 ? -1 : 1) * choose[t][j] * expected;
  }
  return moment;
}

/* Rate of a lines layer with `cells_per_key` cells for each key that it holds. */
static double lines_rate(unsigned k, unsigned L, double cells_per_key) {
  double visitors = BLOOM_LINE_CELLS / cells_per_key; /* of a line, by any one of a key's lines */
  LineLoad load = {(L - k % L) * visitors, (k % L) * visitors, k / L};
  double rate = power(line_moment(&load, load.t_low), L - k % L);
  if (k % L > 0) rate *= power(line_moment(&load, load.t_low + 1), k % L);
  return rate;
}

static unsigned lines_of_key(unsigned k) {
  return (k + 3) / 4;
}

/* Cells per key, in units of 2^-16, that a flat layer of k needs: -k / ln(1 - rate^(1/k)). */
static uint64_t flat_units(unsigned k, double rate) {
  return (uint64_t)ceil(-(double)k / log1p(-pow(rate, 1.0 / k)) * (1 << UNIT_BITS));
}

/* The same for a lines layer: the smallest multiple at which lines_rate keeps the rate. */
static uint64_t lines_units(unsigned k, double rate) {
  uint64_t low = 1, high = MAX_UNITS;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    double cells_per_key = (double)middle / (1 << UNIT_BITS);
    if (lines_rate(k, lines_of_key(k), cells_per_key) <= rate) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* The better of the two whole k around log2(1/rate), by the cells that it needs: *units a key. */
static unsigned best_k(double rate, uint64_t (*units_of)(unsigned k, double rate),
                       uint64_t *units) {
  double ideal = -log2(rate);
  unsigned k = ideal < 1 ? 1 : ideal > BLOOM_MAX_K ? BLOOM_MAX_K : (unsigned)ideal;
  *units = units_of(k, rate);
  if (k == BLOOM_MAX_K) return k;
  uint64_t next = units_of(k + 1, rate);
  if (next >= *units) return k;
  *units = next;
  return k + 1;
}

/* Cells beyond n c: two for rounding up, and the small-n correction to Bloom's formula, checked
** against exact occupancy chains for n = 1 .. 60. */
static uint64_t flat_extra(unsigned k) {
  return (uint64_t)ceil(0.22 * (k - 1)) + 1;
}

static uint64_t cells_for(uint64_t keys, uint64_t units) {
  uint64_t scaled = keys * units; /* the callers keep this under 2^48 * 2^16 */
  return (scaled >> UNIT_BITS) + ((scaled & ((1 << UNIT_BITS) - 1)) != 0);
}

double bloom_cells_needed(double keys, float rate) {
  uint64_t units;
  unsigned k = best_k(rate, flat_units, &units);
  double flat = keys * (double)units / (1 << UNIT_BITS) + (double)flat_extra(k);
  if (flat < FLAT_BELOW) return flat;
  best_k(rate, lines_units, &units);
  return keys * (double)units / (1 << UNIT_BITS) + SAME_LINE_CELLS;
}

/* With probability 1/lines two of a key's lines are one, and its rate is then up to a tenth
** higher for each of the L(L-1)/2 pairs; 80 cells outweigh that at every k. */
static void size_lines(uint64_t keys, float rate, BloomGeometry *geometry) {
  uint64_t units;
  unsigned k = best_k(rate, lines_units, &units);
  uint64_t cells = cells_for(keys, units) + SAME_LINE_CELLS;
  geometry->lines = (cells + BLOOM_LINE_CELLS - 1) / BLOOM_LINE_CELLS;
  geometry->line_bits = BLOOM_LINE_CELLS;
  geometry->k = (uint8_t)k;
  geometry->L = (uint8_t)lines_of_key(k);
}

bool bloom_geometry(uint64_t keys, float rate, BloomGeometry *geometry) {
  uint64_t units;
  unsigned k = best_k(rate, flat_units, &units);
  if ((double)keys * (double)units >= MAX_LAYER_CELLS * (1 << UNIT_BITS) * 0.98) return false;
  uint64_t cells = cells_for(keys, units) + flat_extra(k);
  if (cells >= FLAT_BELOW) {
    size_lines(keys, rate, geometry);
    return true;
  }
  geometry->lines = 1;
  geometry->line_bits = cells;
  geometry->k = (uint8_t)k;
  geometry->L = 1;
  return true;
}

/* Chance that one key leaves a given cell free: over the lines of the key for a lines layer, over
** its k draws for a flat one. Its logarithm makes cells and keys each other's inverse. */
static double log_left_free(const BloomGeometry *g) {
  if (g->lines == 1) return g->k * log1p(-1 / (double)g->line_bits);
  double miss = 1 - 1 / (double)g->line_bits, hit = 0;
  for (unsigned l = 0; l < g->L; l++) hit += 1 - power(miss, bloom_cells_in_line(g->k, g->L, l));
  return -hit / (double)g->lines;
}

double bloom_cells_at(const BloomGeometry *g, double keys) {
  return (double)bloom_cells(g) * -expm1(keys * log_left_free(g));
}

double bloom_keys_from_cells(const BloomGeometry *g, double occupied) {
  return fabs(log1p(-occupied / (double)bloom_cells(g)) / log_left_free(g));
}

double bloom_rate_at(const BloomGeometry *g, double keys) {
  if (keys <= 0) return 0;
  if (g->lines == 1) return power(bloom_cells_at(g, keys) / (double)g->line_bits, g->k);
  return lines_rate(g->k, g->L, (double)bloom_cells(g) / keys);
}

double bloom_keys_at(const BloomGeometry *g, double rate) {
  if (g->lines == 1) {
    return bloom_keys_from_cells(g, (double)g->line_bits * pow(rate, 1.0 / g->k));
  }
  double low = 0, high = (double)bloom_cells(g);
  /* Both loops end: with ever more keys the rate is 1 at last, with ever fewer it is 0. */
  while (bloom_rate_at(g, high) < rate) high *= 2;
  while (low < high * (1 - 1e-15)) {
    double middle = (low + high) / 2;
    if (bloom_rate_at(g, middle) <= rate) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
