/* Estimates: bloom_count and bloom_fpr from the bits alone; and a log deduplicated by a filter. */
#include "promise.h"

static void count_and_fpr(const Filter *filter, double *count, double *rate) {
  sqlite3_stmt *query = statement("SELECT bloom_count(?1), bloom_fpr(?1)");
  sqlite3_bind_blob64(query, 1, filter->bytes, filter->size, SQLITE_STATIC);
  if (sqlite3_step(query) != SQLITE_ROW) stop("bloom_count");
  *count =
      sqlite3_column_type(query, 0) == SQLITE_NULL ? INFINITY : sqlite3_column_double(query, 0);
  *rate = sqlite3_column_double(query, 1);
  sqlite3_reset(query);
}

/* Standard deviation of the estimated keys: that of the occupied cells, over the cells that one
** more key occupies; and 0.29 for rounding to a whole number. */
static double count_sigma(const BloomGeometry *g, double keys) {
  double slope = (bloom_cells_at(g, keys * 1.001) - bloom_cells_at(g, keys)) / (keys * 0.001);
  return sqrt(occupied_variance(g, keys) / slope / slope + 1.0 / 12);
}

/* Of R filters, z = (count - keys) / sigma has mean 0 and variance 1; 3 sigma hold for all but
** 0.3 % of them (R = 200: at most 5 outside, 1 in 1e4 of such tests would see more). The mean z is
** within 4 / sqrt(R), and the mean of z^2 within 4 sqrt(2 / R) of 1 (less where sigma is under one
** key, for the count is a whole number). bloom_fpr is on average the rate that sizing expects,
** within 4 sigma of that mean and 1 % for what the formula leaves out. */
static void test_count(double p, uint64_t n, double full, unsigned runs) {
  uint64_t keys = (uint64_t)fmax(1, round((double)n * full));
  double sum = 0, squares = 0, fpr = 0, fpr_squares = 0;
  unsigned outside = 0;
  bool sane = true;
  for (unsigned r = 0; r < runs; r++) {
    double count, rate;
    Filter filter = build(HEX, 1 + (uint64_t)r * keys, keys, n, p);
    count_and_fpr(&filter, &count, &rate);
    double z = (count - (double)keys) / count_sigma(&filter.view.layers[0].geometry, (double)keys);
    sane = sane && count >= 0 && rate > 0 && rate <= 1;
    outside += fabs(z) > 3;
    sum += z;
    squares += z * z;
    fpr += rate / runs;
    fpr_squares += rate * rate / runs;
    free_filter(&filter);
  }
  BloomGeometry g;
  bloom_geometry(n, (float)p, &g);
  double mean = sum / runs, variance = squares / runs, expected = bloom_rate_at(&g, (double)keys);
  double sigma = count_sigma(&g, (double)keys);
  double fpr_sigma = sqrt((fpr_squares - fpr * fpr) / runs);
  test(
      sane && outside <= 5 + runs / 100 && fabs(mean) <= 4 / sqrt(runs) + 0.1 &&
          variance <= 1 + 4 * sqrt(2.0 / runs) + 0.1 && (variance >= 0.6 || sigma < 1) &&
          fabs(fpr - expected) <= 4 * fpr_sigma + 0.01 * expected,
      "bloom_count p %g n %llu with %llu keys: %u of %u outside 3 sigma, mean %.3f sigma, variance "
      "%.3f; bloom_fpr %.4f of the expected rate",
      p, (unsigned long long)n, (unsigned long long)keys, outside, runs, mean, variance,
      fpr / expected);
}

/* A grown filter: each layer's keys are corrected for those that an earlier one took for
** present. */
static void test_grown_count(void) {
  Filter filter = build(HEX, 1, 50000, 1000, 0.01);
  double count, rate;
  uint64_t probes = 1000000, passed = ask(&filter, HEX, UINT64_C(1) << 40, probes);
  count_and_fpr(&filter, &count, &rate);
  double sigma = sqrt((double)passed) / (double)probes;
  test(fabs(count - 50000) <= 3 * count_sigma(&filter.view.layers[1].geometry, 49000) + 3,
       "bloom_count of a grown filter: %.0f of 50000 keys", count);
  test(fabs(rate - (double)passed / (double)probes) <= 4 * sigma && filter.view.layer_count > 1,
       "bloom_fpr of a grown filter: %.5f, measured %.5f (sigma %.5f)", rate,
       (double)passed / (double)probes, sigma);
  free_filter(&filter);
}

/* More and more keys into a small filter whose bits cannot grow: the counting kind. Full: NULL. */
static void test_saturation(void) {
  sqlite3_stmt *query = statement(
      "WITH RECURSIVE numbers(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM numbers WHERE i < ?1) "
      "SELECT bloom_build(i, 10, 0.1, 'counting') FROM numbers");
  bool sane = true, null = false;
  double before = 0;
  for (int keys = 1; keys < 5000; keys *= 2) {
    double count, rate;
    sqlite3_bind_int(query, 1, keys);
    Filter filter = take_filter(query);
    count_and_fpr(&filter, &count, &rate);
    BloomFacts facts;
    bloom_facts(&filter.view, &facts);
    sane = sane && count >= before && rate >= 0 && rate <= 1;
    sane = sane && isinf(count) == (facts.occupied == facts.cells);
    null = null || isinf(count);
    before = count;
    free_filter(&filter);
  }
  test(sane && null, "bloom_count is NULL when, and only when, every cell is occupied");
}

void test_estimates(void) {
  static const double full[] = {0.01, 0.1, 0.5, 0.9, 1};
  unsigned runs = extent == QUICK ? 100 : extent == SHORT ? 200 : 1000;
  for (unsigned i = 0; i < COUNT(full); i++) {
    test_count(0.01, 1000, full[i], runs);
    if (extent == QUICK) continue;
    test_count(0.1, 1000, full[i], runs);
    test_count(1e-4, 1000, full[i], runs);
    test_count(0.01, 20000, full[i], runs / 2); /* lines */
    test_count(1e-6, 20000, full[i], runs / 2);
  }
  test_grown_count();
  test_saturation();
}

/* ---- dedupe ---- */

/* N different events, each put in when the filter does not know it, and dropped when it does.
** Those dropped are the false positives on the way: the sum of the rates at each fill, which is as
** if they had been put in too, since they would have set no new bit. Sigma: sqrt of that sum, and
** the scatter of the fill, together at most 1.2 sqrt. */
void test_dedupe(void) {
  static const double rates[] = {0.1, 0.01};
  uint64_t n = extent == QUICK ? 100000 : 1000000;
  for (unsigned i = 0; i < COUNT(rates); i++) {
    sqlite3_stmt *query = statement("SELECT bloom_new(?1, ?2)");
    sqlite3_bind_int64(query, 1, (sqlite3_int64)n);
    sqlite3_bind_double(query, 2, rates[i]);
    Filter filter = take_filter(query);
    const BloomLayer *layer = &filter.view.layers[0];
    double dropped = 0, expected = 0;
    uint64_t again = 0;
    for (uint64_t event = 0; event < n; event++) {
      uint64_t hash = key_hash(URLS, event);
      if (event % 100 == 0) {
        expected += 100 * bloom_rate_at(&layer->geometry, (double)event + 50);
      }
      if (bloom_contains(&filter.view, hash)) {
        dropped++;
      } else {
        bloom_layer_insert(layer, filter.bytes, hash);
      }
    }
    for (uint64_t event = 0; event < n; event++) {
      again += bloom_contains(&filter.view, key_hash(URLS, event));
    }
    double sigma = 1.2 * sqrt(expected);
    test(fabs(dropped - expected) <= 3 * sigma + 0.002 * expected && again == n &&
             dropped <= rates[i] * (double)n,
         "dedupe p %g: %.0f of %llu new events dropped, expected %.0f (sigma %.0f), at most %.0f; "
         "repeated ones all",
         rates[i], dropped, (unsigned long long)n, expected, sigma, rates[i] * (double)n);
    free_filter(&filter);
  }
}
