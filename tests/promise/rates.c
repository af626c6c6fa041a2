/* Rates: a filter of at most n keys answers 1 to absent keys at no more than p; and after growth.
**
** Sigma of a measured rate over p: from 30 filters on it is measured, the deviation of the filters'
** own results over sqrt(F), F the filters. For fewer it is sqrt(1/E + s^2/F) with E the expected
** false positives and s the scatter of one filter's own rate, which comes from its fill:
** s = k sd(X)/X, X the occupied cells. The limits 1.03 (1.10 at p = 1e-4) are about three sigma
** above the truth, which is at most 1 (tests/unit/sizing.c proves that for one layer), and every
** test also demands that its sigma is so small.
*/
#include "promise.h"

static double scatter(const BloomGeometry *g, double keys) {
  return g->k * sqrt(occupied_variance(g, keys)) / bloom_cells_at(g, keys);
}

typedef struct Cell {
  double p;
  uint64_t n;
  uint64_t keys;    /* put into each filter */
  uint64_t filters; /* made */
  double expected;  /* false positives, in all of them, if the rate is p */
} Cell;

typedef struct Measured {
  uint64_t missing; /* keys that were put in and are answered with 0 */
  double rate;      /* over p */
  double sigma;     /* of that */
  double bytes;     /* of a filter, on average */
  unsigned layers;  /* of the last filter */
} Measured;

/* Present keys have the numbers below 2^40, absent ones those above. */
static Measured measure(const Cell *cell, enum KeyKind kind) {
  Measured result = {0};
  uint64_t each = (uint64_t)ceil(cell->expected / cell->p / (double)cell->filters), passed = 0;
  double spread = 0, squares = 0;
  for (uint64_t f = 0; f < cell->filters; f++) {
    Filter filter = build(kind, 1 + f * cell->keys, cell->keys, cell->n, cell->p);
    result.missing += cell->keys - ask(&filter, kind, 1 + f * cell->keys, cell->keys);
    uint64_t own = ask(&filter, kind, (UINT64_C(1) << 40) + f * each, each);
    passed += own;
    squares += (double)own * (double)own;
    result.bytes += (double)filter.size / (double)cell->filters;
    result.layers = filter.view.layer_count;
    const BloomLayer *layer = &filter.view.layers[0];
    if (f == 0) spread = scatter(&layer->geometry, (double)layer->capacity);
    free_filter(&filter);
  }
  result.rate = (double)passed / (double)(each * cell->filters) / cell->p;
  double filters = (double)cell->filters, mean = (double)passed / filters;
  result.sigma = sqrt(1 / cell->expected + spread * spread / filters);
  if (filters >= 30) {
    result.sigma = sqrt((squares / filters - mean * mean) / filters) / ((double)each * cell->p);
  }
  return result;
}

static void test_cell(Cell cell, enum KeyKind kind) {
  double limit = cell.p < 0.001 ? 1.10 : 1.03;
  Measured m = measure(&cell, kind);
  /* small filters hold whole bits and stay well below p; larger ones must be near it, or the
  ** absent keys were not what they should be */
  double least = cell.n >= 1000 ? 0.97 - 3 * m.sigma : cell.n >= 10 ? 0.5 : 0.1;
  test(m.missing == 0 && m.rate <= limit && m.rate >= least && m.layers == 1 &&
           3 * m.sigma <= limit - 1 + 0.005,
       "bloom_build p %g n %llu %s: %.4f p (limit %.2f, sigma %.4f), %llu filters, %llu missing",
       cell.p, (unsigned long long)cell.n, key_names[kind], m.rate, limit, m.sigma,
       (unsigned long long)cell.filters, (unsigned long long)m.missing);
}

/* Filters enough that their scatter adds little to the sigma of the false positives. */
static uint64_t filters_for(double p, uint64_t n, double expected) {
  BloomGeometry g;
  bloom_geometry(n, (float)p, &g);
  double spread = scatter(&g, (double)n);
  double filters = ceil(spread * spread * expected * 10);
  return filters < 1 ? 1 : filters > expected * 3 ? (uint64_t)(expected * 3) : (uint64_t)filters;
}

void test_rates(void) {
  static const double rates[] = {0.9, 0.5, 0.1, 0.01, 0.001, 1e-4};
  static const uint64_t keys[] = {1, 2, 5, 10, 50, 1000, 100000, 1000000, 10000000};
  for (unsigned i = 0; i < COUNT(rates); i++) {
    for (unsigned j = 0; j < COUNT(keys); j++) {
      for (int kind = 0; kind < KEY_KINDS; kind++) {
        Cell cell = {rates[i], keys[j], keys[j], 1, rates[i] < 0.001 ? 1000 : 10000};
        if (extent == QUICK && (keys[j] > 100000 || rates[i] < 0.001)) continue;
        if (extent == QUICK && (i + j) % KEY_KINDS != (unsigned)kind) continue;
        if (keys[j] > 1000000 && (rates[i] != 0.01 || extent == QUICK)) continue;
        if (extent == SHORT && keys[j] > 100000 && kind != HEX) continue;
        cell.filters = filters_for(cell.p, cell.n, cell.expected);
        test_cell(cell, (enum KeyKind)kind);
      }
    }
  }
}

/* ---- growth: bloom_build with more than n keys ---- */

/* Bytes of the filter with the right n. */
static double right_bytes(double p, uint64_t keys) {
  sqlite3_stmt *query = statement("SELECT bloom_size(?1, ?2)");
  sqlite3_bind_int64(query, 1, (sqlite3_int64)keys);
  sqlite3_bind_double(query, 2, p);
  if (sqlite3_step(query) != SQLITE_ROW) stop("bloom_size");
  double bytes = sqlite3_column_double(query, 0);
  sqlite3_reset(query);
  return bytes;
}

/* `most` is the limit of the rate over p, `most_bytes` that of the bytes over the right n's; 0:
** none, where a layer of one key weighs more than what it holds. */
static void test_outgrown(Cell cell, enum KeyKind kind, double most, double most_bytes) {
  Measured m = measure(&cell, kind);
  double bytes = m.bytes / right_bytes(cell.p, cell.keys);
  test(m.missing == 0 && m.rate <= most && m.rate > 0.3 &&
           (m.layers > 1 || (double)cell.keys < 1.005 * (double)cell.n) &&
           (most_bytes == 0 || bytes <= most_bytes) && 3 * m.sigma <= most - 1 + 0.005,
       "bloom_build p %g n %llu with %llu %s: %.4f p (limit %.2f, sigma %.4f), %llu filters of %u "
       "layers, %.3f of the right bytes (limit %.2f), %llu missing",
       cell.p, (unsigned long long)cell.n, (unsigned long long)cell.keys, key_names[kind], m.rate,
       most, m.sigma, (unsigned long long)cell.filters, m.layers, bytes, most_bytes,
       (unsigned long long)m.missing);
}

static void test_wrong_n(void) {
  static const uint64_t times[] = {2, 10, 50};
  for (unsigned i = 0; i < COUNT(times); i++) {
    if (extent != LONG && times[i] == 10) continue;
    /* 50,000,000 absent keys, 5,000 expected */
    Cell cell = {1e-4, 100000, 100000 * times[i], 1, extent == LONG ? 5000 : 1000};
    test_outgrown(cell, (enum KeyKind)(i % KEY_KINDS), 1.10, 1.12);
  }
}

/* Two layers of half the rate: one more bit in k, so 1/ln 2 = 1.4427 bits a key more than the
** -log2(p)/ln 2 of one. */
static double bytes_of_two(double p) {
  return 1 - 1 / log2(p);
}

/* The rate is far below p where a layer has a few keys: whole bits are as many as a key. */
static void test_few_cell(const Cell *cell, enum KeyKind kind, double bytes) {
  Measured m = measure(cell, kind);
  double found = m.bytes / right_bytes(cell->p, cell->keys);
  /* from n = 64 on the one key too many may look known to layer 0, and then it needs no layer */
  bool grew = m.layers == 2 || (m.layers == 1 && cell->n >= 64 && cell->keys == cell->n + 1);
  test(m.missing == 0 && m.rate <= 1.03 && m.rate > 0.1 && grew &&
           (bytes == 0 || fabs(found - bytes) < 1e-9) && 3 * m.sigma <= 0.035,
       "bloom_build p %g n %llu with %llu %s: %.4f p (limit 1.03, sigma %.4f), %llu filters, the "
       "last of %u layers, %.4f of the right bytes (expected %.4f), %llu missing",
       cell->p, (unsigned long long)cell->n, (unsigned long long)cell->keys, key_names[kind],
       m.rate, m.sigma, (unsigned long long)cell->filters, m.layers, found, bytes,
       (unsigned long long)m.missing);
}

static void test_tiny_n(void) {
  static const double rates[] = {0.1, 0.01, 0.001, 1e-4};
  for (unsigned i = 0; i < COUNT(rates); i++) {
    for (uint64_t n = 1; n <= 100; n *= 10) {
      Cell cell = {rates[i], n, (n < 100 ? 1000 : 100) * n, 0, rates[i] < 0.001 ? 1000 : 10000};
      if (extent == QUICK && (rates[i] < 0.01 || n > 1)) continue;
      cell.filters = n == 1 ? 6000 : n == 10 ? 800 : 400;
      double most = rates[i] < 0.001 ? 1.10 : 1.03;
      test_outgrown(cell, (enum KeyKind)(i % KEY_KINDS), most, n == 1 ? 0 : bytes_of_two(rates[i]));
    }
  }
}

/* Below 64 keys all of them wait, so that a build which outgrows its n has one layer with keys, of
** the size for all of them at the whole rate, beside the empty one of n. */
static void test_few(void) {
  static const double rates[] = {0.1, 0.01, 0.001};
  static const uint64_t expected[] = {1, 2, 5, 10, 30, 63, 64};
  for (unsigned i = 0; i < COUNT(rates); i++) {
    for (unsigned j = 0; j < COUNT(expected); j++) {
      uint64_t n = expected[j];
      for (unsigned more = 0; more < 2; more++) {
        Cell cell = {rates[i], n, more ? 3 * n : n + 1, 30000, 20000};
        if (extent == QUICK && (rates[i] < 0.01 || (i + j + more) % 4 > 0)) continue;
        double keys_bytes = right_bytes(cell.p, cell.keys), n_bytes = right_bytes(cell.p, n);
        double bytes = 1 + (n_bytes - 40) / keys_bytes; /* an entry of 32 bytes, no second header */
        cell.filters = cell.keys < 10 ? 30000 : 6000;
        test_few_cell(&cell, (enum KeyKind)((i + j) % KEY_KINDS), n < 64 ? bytes : 0);
      }
    }
  }
}

void test_growth(void) {
  test_tiny_n();
  test_few();
  if (extent == QUICK) {
    Cell cell = {0.01, 1000, 50000, 40, 10000};
    test_outgrown(cell, HEX, 1.03, bytes_of_two(0.01));
    return;
  }
  test_wrong_n();
  /* just beyond n, where one layer ends and two begin */
  for (unsigned more = 1; more <= 100; more *= 10) {
    Cell cell = {0.01, 1000, 1000 + more, 2000, 20000};
    test_outgrown(cell, URLS, 1.03, 0);
  }
}

/* ---- growth: bloom_add, at most 2p in total ---- */

static Filter new_filter(uint64_t n, double p) {
  sqlite3_stmt *query = statement("SELECT bloom_new(?1, ?2)");
  sqlite3_bind_int64(query, 1, (sqlite3_int64)n);
  sqlite3_bind_double(query, 2, p);
  return take_filter(query);
}

/* Adds four keys in one call. */
static void add_four(Filter *filter, enum KeyKind kind, uint64_t first) {
  sqlite3_stmt *query = statement(
      "SELECT bloom_add(?1, test_key(?2, ?3), test_key(?2, ?3 + 1), test_key(?2, ?3 + 2), "
      "test_key(?2, ?3 + 3))");
  sqlite3_bind_blob64(query, 1, filter->bytes, filter->size, SQLITE_STATIC);
  sqlite3_bind_int(query, 2, kind);
  sqlite3_bind_int64(query, 3, (sqlite3_int64)first);
  Filter added = take_filter(query);
  free_filter(filter);
  *filter = added;
}

/* The rate is measured every time that the filter has doubled, and must be at most 2p each time.
** Sigma: of the false positives, and of the filters among each other, which is measured. */
static void test_added(double p, uint64_t n, unsigned times, unsigned filters, double expected) {
  double sum[20] = {0}, squares[20] = {0}, worst = 0, worst_sigma = 0;
  uint64_t each = (uint64_t)ceil(expected / p / filters), missing = 0;
  unsigned stages = 0, layers = 0;
  for (unsigned f = 0; f < filters; f++) {
    Filter filter = new_filter(n, p);
    uint64_t first = 1 + f * n * times, check = n;
    stages = 0;
    for (uint64_t added = 0; added < n * times;) {
      add_four(&filter, HEX, first + added);
      added += 4;
      if (added < check && added < n * times) continue;
      double passed = (double)ask(&filter, HEX, (UINT64_C(1) << 40) + f * each, each);
      missing += added - ask(&filter, HEX, first, added);
      sum[stages] += passed;
      squares[stages++] += passed * passed;
      check += check / 3 + 1;
    }
    layers = filter.view.layer_count;
    free_filter(&filter);
  }
  for (unsigned s = 0; s < stages; s++) {
    double mean = sum[s] / filters, variance = squares[s] / filters - mean * mean;
    double scale = (double)each * p, rate = mean / scale;
    if (rate > worst) worst = rate, worst_sigma = sqrt(variance / filters) / scale;
  }
  test(missing == 0 && worst <= 2 && worst_sigma < 0.03 && worst > 0.5 && layers > 1,
       "bloom_add p %g n %llu, %u times: at most %.3f p (limit 2, sigma %.3f), %u filters "
       "of %u layers, %llu missing",
       p, (unsigned long long)n, times, worst, worst_sigma, filters, layers,
       (unsigned long long)missing);
}

void test_additions(void) {
  if (extent == QUICK) {
    test_added(0.01, 40, 20, 100, 20000);
    return;
  }
  test_added(0.1, 4, 50, 1000, 20000);
  test_added(0.01, 40, 50, 300, 20000);
  test_added(0.001, 40, 50, 300, 20000);
  test_added(0.01, 400, 20, 40, 20000);
  test_added(0.3, 40, 20, 300, 20000);
  if (extent == LONG) test_added(0.001, 2000, 20, 20, 10000);
}
