/* Unit tests of sizing: against the classical formulas, and against exact occupancy chains that
** share no formula with ext/sizing.c. */
#include "sizing.h"

#include <math.h>

#include "filter.h"
#include "unit.h"

/* `sizing dense` scans finer grids than `make check` has time for. */
static bool dense;

static const double LN2 = 0.69314718055994530942;

static BloomGeometry geometry_of(uint64_t keys, double rate) {
  BloomGeometry g;
  CHECK(bloom_geometry(keys, (float)rate, &g), "n %llu p %g", (unsigned long long)keys, rate);
  return g;
}

/* Rates from `high` down to `low`, `steps` to each power of ten; call until it returns false. */
static bool next_rate(double *rate, double high, double low, int steps) {
  *rate = *rate == 0 ? high : *rate * pow(10, -1.0 / steps);
  return *rate >= low * (1 - 1e-9);
}

/* ---- k and the classical numbers ---- */

static void k_is_near_log2_of_p(void **state) {
  (void)state;
  for (double p = 0; next_rate(&p, 0.999, 1e-9, 50);) {
    static const uint64_t keys[] = {1, 2, 10, 100, 1000, 1000000, 100000000};
    for (unsigned i = 0; i < COUNT(keys); i++) {
      BloomGeometry g = geometry_of(keys[i], p);
      double ideal = -log2((double)(float)p);
      CHECK(g.k >= 1 && fabs(g.k - ideal) < 1, "p %g k %d", p, g.k);
      CHECK(p < 0.5 || g.k == 1, "p %g k %d", p, g.k);
      CHECK(g.L == (g.lines == 1 ? 1 : (g.k + 3) / 4), "p %g k %d L %d", p, g.k, g.L);
      CHECK(g.lines == 1 || g.line_bits == 512, "p %g", p);
    }
  }
  assert_int_equal(geometry_of(1, 0.001).k, 10);
  assert_int_equal(geometry_of(1000000, 0.001).k, 10);
  assert_int_equal(geometry_of(1, 0.01).k, geometry_of(1000, 0.01).k);
}

static void classical_numbers(void **state) {
  (void)state;
  /* 1 % needs 9.585 bits a key, 0.1 % needs 14.378: the textbook's numbers, which are a bound */
  double percent = -log(0.01) / LN2 / LN2, permille = -log(0.001) / LN2 / LN2;
  assert_true(fabs(percent - 9.585) < 0.0005 && fabs(permille - 14.378) < 0.0005);
  BloomGeometry g = geometry_of(10000, 0.01);
  double cells = (double)bloom_cells(&g) / 10000;
  CHECK(cells >= percent && cells < percent * 1.007, "%g", cells);
  g = geometry_of(1000000, 0.001);
  cells = (double)bloom_cells(&g) / 1000000;
  CHECK(cells >= permille && cells < permille * 1.014, "%g", cells);
  /* n = 1000, m = 10,000, k = 10 gives 0.0102 */
  BloomGeometry textbook = {1, 10000, 10, 1};
  CHECK(fabs(bloom_rate_at(&textbook, 1000) - 0.0102) < 0.00005, "%g",
        bloom_rate_at(&textbook, 1000));
}

/* More keys never need fewer cells. Neither does a lower rate, but for 0.3 % of a lines layer: the
** two k that are tried change at powers of two, where a third k may be better by so much. */
static void monotone(void **state) {
  (void)state;
  for (double p = 0; next_rate(&p, 0.9, 1e-9, dense ? 5 : 1);) {
    uint64_t before = 0;
    for (double n = 1; n < 1e9; n = n < 300 ? n + 1 : ceil(n * (dense ? 1.003 : 1.03))) {
      BloomGeometry g = geometry_of((uint64_t)n, p);
      CHECK(bloom_cells(&g) >= before, "p %g n %g", p, n);
      before = bloom_cells(&g);
    }
  }
  static const uint64_t keys[] = {1, 7, 100, 5000, 1000000, 1000000000};
  for (unsigned i = 0; i < COUNT(keys); i++) {
    uint64_t before = 0;
    for (double p = 0; next_rate(&p, 0.999, 1e-9, dense ? 200 : 40);) {
      BloomGeometry g = geometry_of(keys[i], p);
      double slack = g.lines > 1 ? 512 + 0.003 * (double)before : 0;
      CHECK((double)bloom_cells(&g) + slack >= (double)before, "p %g n %llu", p,
            (unsigned long long)keys[i]);
      if (bloom_cells(&g) > before) before = bloom_cells(&g);
    }
  }
}

/* ---- space ---- */

typedef struct Worst {
  double ratio, p, n;
} Worst;

static void keep_worst(Worst *worst, double ratio, double p, double n) {
  if (ratio > worst->ratio) *worst = (Worst){ratio, p, n};
}

/* Cells over -n ln p / (ln 2)^2, up to what is the same for every n: a lines layer has 80 extra
** cells and fills its last line, 592 in all, which show near 16 KiB; a flat layer's last byte is
** filled. */
static void space(void **state) {
  const double fixed = 80 + 512;
  Worst flat = {0}, flat_bytes = {0}, lines = {0}, lines_all = {0};
  (void)state;
  for (double p = 0; next_rate(&p, 0.1, 1e-9, dense ? 100 : 20);) {
    double rate = (double)(float)p;
    for (double n = 1000; n < 1e9; n = ceil(n * (dense ? 1.01 : 1.1))) {
      BloomGeometry g = geometry_of((uint64_t)n, p);
      double ideal = -n * log(rate) / LN2 / LN2, cells = (double)bloom_cells(&g);
      double bytes = (double)bloom_layer_bytes(&g, 1);
      if (g.lines == 1) {
        keep_worst(&flat, cells / ideal, p, n);
        keep_worst(&flat_bytes, bytes * 8 / ideal, p, n);
        CHECK(bytes * 8 < cells + 8, "p %g n %g", p, n);
      } else {
        CHECK(bytes * 8 == cells, "p %g n %g", p, n);
        keep_worst(&lines, (cells - fixed) / ideal, p, n);
        keep_worst(&lines_all, cells / ideal, p, n);
        CHECK(cells < 192 * 1024 * 8 || cells <= 1.014 * ideal, "p %g n %g", p, n);
      }
    }
  }
  printf("# space: flat %.5f (p %.3g n %.0f), with its last byte %.5f (p %.3g n %.0f)\n",
         flat.ratio, flat.p, flat.n, flat_bytes.ratio, flat_bytes.p, flat_bytes.n);
  printf("# space: lines %.5f (p %.3g n %.0f), with 592 cells %.5f (p %.3g n %.0f)\n", lines.ratio,
         lines.p, lines.n, lines_all.ratio, lines_all.p, lines_all.n);
  CHECK(flat.ratio <= 1.007, "%.5f at p %g n %g", flat.ratio, flat.p, flat.n);
  CHECK(lines.ratio <= 1.014, "%.5f at p %g n %g", lines.ratio, lines.p, lines.n);
}

/* ---- flat: the exact bound ---- */

/* E[(X/m)^k] after `draws` uniform draws of one cell of m, X the cells drawn at least once. Chances
** below 1e-30 are dropped. */
static double chain_rate(unsigned m, unsigned draws, unsigned k) {
  double *chance = calloc(m + 2, sizeof *chance), rate = 0;
  unsigned low = 0, high = 0;
  assert_non_null(chance);
  chance[0] = 1;
  for (unsigned d = 1; d <= draws; d++) {
    if (high < m) high++;
    for (unsigned x = high; x > low; x--) {
      chance[x] = chance[x] * x / m + chance[x - 1] * (m - x + 1) / m;
    }
    chance[low] *= (double)low / m;
    while (chance[low] < 1e-30) chance[low++] = 0;
    while (chance[high] < 1e-30) chance[high--] = 0;
  }
  for (unsigned x = low; x <= high; x++) rate += chance[x] * pow((double)x / m, k);
  free(chance);
  return rate;
}

static void flat_rate_is_at_most_p(void **state) {
  static const double rates[] = {0.99, 0.9,  0.7,  0.51, 0.5,  0.49, 0.3,  0.25, 0.2,
                                 0.13, 0.12, 0.1,  0.07, 0.05, 0.03, 0.01, 5e-3, 3e-3,
                                 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-9};
  Worst worst = {0};
  (void)state;
  for (unsigned i = 0; i < COUNT(rates); i++) {
    for (unsigned n = 1; n <= 60; n++) {
      BloomGeometry g = geometry_of(n, rates[i]);
      assert_int_equal(g.lines, 1);
      double p = (double)(float)rates[i];
      double rate = chain_rate((unsigned)g.line_bits, n * g.k, g.k);
      keep_worst(&worst, rate / p, p, n);
      CHECK(rate <= p * (1 + 1e-12), "p %g n %u: %.12g", p, n, rate);
      /* not so much below it that the test could not fail; the few extra cells weigh at n = 1 */
      CHECK(rate > p / (n < 10 ? 8 : 2), "p %g n %u: %.12g is far too good", p, n, rate);
    }
  }
  printf("# flat: exact rate at most %.6f p (p %.3g n %.0f)\n", worst.ratio, worst.p, worst.n);
}

/* Larger flat filters, to where lines begin. */
static void large_flat_rate_is_at_most_p(void **state) {
  static const double rates[] = {0.9, 0.5, 0.1, 0.01, 0.001, 1e-4};
  static const unsigned keys[] = {100, 300, 1000, 2000};
  (void)state;
  for (unsigned i = 0; i < COUNT(rates); i++) {
    for (unsigned j = 0; j < COUNT(keys); j++) {
      BloomGeometry g = geometry_of(keys[j], rates[i]);
      if (g.lines > 1) continue;
      double rate = chain_rate((unsigned)g.line_bits, keys[j] * g.k, g.k);
      double p = (double)(float)rates[i];
      CHECK(rate <= p * (1 + 1e-12) && rate > 0.9 * p, "p %g n %u: %.12g", p, keys[j], rate);
    }
  }
}

/* ---- lines: the exact bound ----
**
** Line by line. The draws that fall into a given line are the sum of binomial numbers of visitors;
** the cells that they occupy follow the exact chain on 512 cells. A key's lines may coincide: the
** rate is summed over all ways in which they do. Occupancies of different lines are negatively
** associated (multinomial loads, monotone functions), so their product of means is an upper bound
** of the mean of their product.
*/
enum {
  LINE = 512,
  MOST_DRAWS = 3000,
  MOST_T = 44
};

/* moment[t][d] = E[(X/512)^t] after d draws. */
static double moment[MOST_T + 1][MOST_DRAWS + 1];

static int make_moments(void **state) {
  static double chance[LINE + 1];
  (void)state;
  chance[0] = 1;
  moment[0][0] = 1;
  for (unsigned d = 1; d <= MOST_DRAWS; d++) {
    for (unsigned x = LINE; x > 0; x--) {
      chance[x] = chance[x] * x / LINE + chance[x - 1] * (LINE - x + 1) / LINE;
    }
    chance[0] = 0;
    for (unsigned x = 1; x <= LINE; x++) {
      double term = chance[x];
      for (unsigned t = 0; t <= MOST_T; t++) {
        moment[t][d] += term;
        term *= (double)x / LINE;
      }
    }
  }
  return 0;
}

static double binomial(double n, double x, double chance) {
  if (x > n) return 0;
  return exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(chance) +
             (n - x) * log1p(-chance));
}

/* load[d] = chance that d draws fall into a given line: visitors_low binomial numbers of t_low
** draws each and visitors_high of t_low + 1. */
static void line_load(double low, double high, unsigned t_low, double lines, double *load) {
  static double chance_high[MOST_DRAWS + 1];
  memset(load, 0, (MOST_DRAWS + 1) * sizeof *load);
  for (unsigned w = 0; w <= MOST_DRAWS; w++) chance_high[w] = binomial(high, w, 1 / lines);
  for (unsigned v = 0; v * t_low <= MOST_DRAWS; v++) {
    double chance_low = binomial(low, v, 1 / lines);
    if (chance_low < 1e-30) continue;
    for (unsigned w = 0; v * t_low + w * (t_low + 1) <= MOST_DRAWS; w++) {
      load[v * t_low + w * (t_low + 1)] += chance_low * chance_high[w];
    }
  }
}

/* Rates of a key whose lines so far form `groups` of cells; the next line, number l, joins one of
** them or is a new one. */
static double sum_partitions(const BloomGeometry *g, const double *mean, unsigned l,
                             unsigned *group, unsigned groups) {
  double lines = (double)g->lines, rate = 0;
  if (l == g->L) {
    rate = 1;
    for (unsigned i = 0; i < groups; i++) rate *= mean[group[i]];
    return rate;
  }
  unsigned t = g->k / g->L + (l < g->k % g->L ? 1 : 0);
  for (unsigned i = 0; i < groups; i++) {
    group[i] += t;
    rate += sum_partitions(g, mean, l + 1, group, groups) / lines;
    group[i] -= t;
  }
  group[groups] = t;
  return rate + sum_partitions(g, mean, l + 1, group, groups + 1) * (lines - groups) / lines;
}

static double exact_lines_rate(const BloomGeometry *g, double n) {
  static double load[MOST_DRAWS + 1];
  double mean[MOST_T + 1], total = 0;
  unsigned group[BLOOM_MAX_L], high = g->k % g->L;
  line_load(n * (g->L - high), n * high, g->k / g->L, (double)g->lines, load);
  for (unsigned d = 0; d <= MOST_DRAWS; d++) total += load[d];
  CHECK(fabs(total - 1) < 1e-6, "the loads add up to %.12g", total);
  for (unsigned t = 0; t <= g->k; t++) {
    mean[t] = 0;
    for (unsigned d = 0; d <= MOST_DRAWS; d++) mean[t] += load[d] * moment[t][d];
  }
  return sum_partitions(g, mean, 0, group, 0);
}

/* lgamma at large n costs digits: 1e-6 relative at n = 1e8. */
static void lines_rate_is_at_most_p(void **state) {
  static const double rates[] = {0.9,  0.5,  0.3,  0.2,  0.1,  0.06, 0.05, 0.03, 0.02, 0.01,
                                 5e-3, 2e-3, 1e-3, 5e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9, 1e-12};
  Worst worst = {0};
  (void)state;
  for (unsigned i = 0; i < COUNT(rates); i++) {
    double p = (double)(float)rates[i], first = 1;
    while (geometry_of((uint64_t)first, p).lines == 1) first = ceil(first * 1.001);
    static const double times[] = {1, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 1000};
    for (unsigned j = 0; j < COUNT(times); j++) {
      double n = ceil(first * times[j]);
      BloomGeometry g = geometry_of((uint64_t)n, p);
      double rate = exact_lines_rate(&g, n), computed = bloom_rate_at(&g, n);
      keep_worst(&worst, rate / p, p, n);
      CHECK(rate <= p * (1 + 1e-6), "p %g n %.0f: %.9g p", p, n, rate / p);
      CHECK(rate > 0.9 * p, "p %g n %.0f: %.9g p is far too good", p, n, rate / p);
      CHECK(fabs(computed / rate - 1) < 0.03, "p %g n %.0f: %.9g, exact %.9g", p, n, computed,
            rate);
    }
  }
  printf("# lines: exact rate at most %.6f p (p %.3g n %.0f)\n", worst.ratio, worst.p, worst.n);
}

/* ---- inverse functions ---- */

static void keys_and_rates_are_inverse(void **state) {
  (void)state;
  for (double p = 0; next_rate(&p, 0.9, 1e-9, 2);) {
    for (double n = 1; n < 1e9; n *= 7) {
      BloomGeometry g = geometry_of((uint64_t)n, p);
      CHECK(bloom_rate_at(&g, 0) == 0, "p %g n %g", p, n);
      CHECK(bloom_rate_at(&g, n) <= (double)(float)p * (1 + 1e-6), "p %g n %g", p, n);
      CHECK(bloom_keys_at(&g, (double)(float)p) >= n * (1 - 1e-6), "p %g n %g", p, n);
      for (double times = 0.25; times < 4; times *= 1.5) {
        double rate = bloom_rate_at(&g, n * times);
        if (rate > 1 - 1e-3) continue; /* too flat there to come back */
        double back = bloom_keys_at(&g, rate) / (n * times);
        CHECK(fabs(back - 1) < 1e-6, "p %g n %g times %g: %.9g", p, n, times, back);
      }
    }
  }
}

static void keys_and_cells_are_inverse(void **state) {
  (void)state;
  for (double p = 0; next_rate(&p, 0.9, 1e-9, 2);) {
    for (double n = 1; n < 1e9; n *= 7) {
      BloomGeometry g = geometry_of((uint64_t)n, p);
      double cells = (double)bloom_cells(&g), before = 0;
      for (double times = 0.01; times < 4; times *= 1.5) {
        double occupied = bloom_cells_at(&g, n * times);
        CHECK(occupied > before && occupied < cells, "p %g n %g", p, n);
        double back = bloom_keys_from_cells(&g, occupied) / (n * times);
        CHECK(fabs(back - 1) < 1e-9, "p %g n %g times %g: %.12g", p, n, times, back);
        before = occupied;
      }
      CHECK(bloom_keys_from_cells(&g, 0) == 0, "p %g n %g", p, n);
      CHECK(isinf(bloom_keys_from_cells(&g, cells)), "p %g n %g", p, n);
    }
  }
}

/* One key in an empty filter: k draws among m cells, or t among the 512 of each of its lines. */
static void one_key_occupies(void **state) {
  BloomGeometry flat = {1, 1000, 7, 1}, lines = {10, 512, 7, 2};
  (void)state;
  double expected = 1000 * (1 - pow(0.999, 7));
  CHECK(fabs(bloom_cells_at(&flat, 1) - expected) < 1e-9, "%.12g", bloom_cells_at(&flat, 1));
  /* two lines with 4 and 3 draws, which may be one line: a cell is free in a tenth of the lines
  ** with chance (511/512)^4 and so on; the logarithms are added, not the chances */
  double low = 512 * (1 - pow(511 / 512.0, 4)), high = 512 * (1 - pow(511 / 512.0, 3));
  CHECK(fabs(bloom_cells_at(&lines, 1) / (low + high) - 1) < 1e-3, "%.12g",
        bloom_cells_at(&lines, 1));
}

/* ---- limits ---- */

/* FORMAT.md: 628684 units a key at p = 0.01, and no layer from 0.98 * 2^64 units on. */
static void largest_layer(void **state) {
  BloomGeometry g;
  const double most = 0.98 * 18446744073709551616.0 / 628684;
  (void)state;
  assert_true(bloom_geometry((uint64_t)(most * (1 - 1e-9)), 0.01f, &g));
  assert_false(bloom_geometry((uint64_t)(most * (1 + 1e-9)), 0.01f, &g));
}

static void sizes_over_2_48_are_refused(void **state) {
  BloomGeometry g = {7, 7, 7, 7};
  (void)state;
  assert_false(bloom_geometry(UINT64_C(1) << 62, 0.01f, &g));
  assert_false(bloom_geometry(INT64_MAX, 1e-9f, &g));
  assert_false(bloom_geometry(INT64_MAX, 0.9999999f, &g) && bloom_cells(&g) > UINT64_C(1) << 48);
  assert_false(bloom_geometry(UINT64_C(1) << 48, 0.01f, &g));
  assert_true(g.lines == 7 && g.line_bits == 7 && g.k == 7 && g.L == 7);
  assert_true(bloom_geometry(UINT64_C(1) << 44, 0.01f, &g));
  assert_true(bloom_cells(&g) > (UINT64_C(1) << 47) && bloom_cells(&g) <= UINT64_C(1) << 48);
  for (double p = 0; next_rate(&p, 0.99, 1e-9, 2);) {
    for (unsigned bits = 0; bits < 63; bits++) {
      if (!bloom_geometry(UINT64_C(1) << bits, (float)p, &g)) continue;
      CHECK(bloom_cells(&g) >= 2 && bloom_cells(&g) <= UINT64_C(1) << 48, "p %g bits %u", p, bits);
    }
  }
}

static void cells_needed_agrees(void **state) {
  (void)state;
  for (double p = 0; next_rate(&p, 0.9, 1e-9, 4);) {
    /* 65,536 keys need a whole number of cells before anything is rounded. */
    for (double n = 1; n < 1e10; n = n < 65536 && n > 38550 ? 65536 : ceil(n * 1.7)) {
      BloomGeometry g = geometry_of((uint64_t)n, p);
      double cells = (double)bloom_cells(&g), needed = bloom_cells_needed(n, (float)p);
      CHECK(g.lines == 1 ? cells == ceil(needed) : needed <= cells + 2 && needed > cells - 514,
            "p %g n %g: %g, %g", p, n, needed, cells);
    }
  }
}

/* The smallest rate of a late layer still has a geometry within the format's limits. */
static void smallest_rate(void **state) {
  (void)state;
  for (double n = 1; n < 1e9; n *= 10) {
    BloomGeometry g = geometry_of((uint64_t)n, 5.421010862427522e-20);
    CHECK(g.k <= BLOOM_MAX_K && g.L <= BLOOM_MAX_L, "k %d L %d", g.k, g.L);
    g = geometry_of((uint64_t)n, 1e-30); /* and a smaller one takes no more cells of a key */
    CHECK(g.k == BLOOM_MAX_K && g.L <= BLOOM_MAX_L, "k %d L %d", g.k, g.L);
  }
}

int main(int argc, char **argv) {
  dense = argc > 1 && strcmp(argv[1], "dense") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(k_is_near_log2_of_p),
      cmocka_unit_test(classical_numbers),
      cmocka_unit_test(monotone),
      cmocka_unit_test(space),
      cmocka_unit_test(flat_rate_is_at_most_p),
      cmocka_unit_test(large_flat_rate_is_at_most_p),
      cmocka_unit_test_setup(lines_rate_is_at_most_p, make_moments),
      cmocka_unit_test(keys_and_rates_are_inverse),
      cmocka_unit_test(keys_and_cells_are_inverse),
      cmocka_unit_test(one_key_occupies),
      cmocka_unit_test(largest_layer),
      cmocka_unit_test(sizes_over_2_48_are_refused),
      cmocka_unit_test(cells_needed_agrees),
      cmocka_unit_test(smallest_rate),
  };
  return cmocka_run_group_tests_name("sizing", tests, NULL, NULL);
}
