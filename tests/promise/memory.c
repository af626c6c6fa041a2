/* Memory that a build holds at its peak, by SQLite's own account. */
#include "promise.h"

enum {
  MIB = 1024 * 1024
};

/* Bytes beyond what was in use, at the peak of `SELECT length(bloom_build(...))`. */
static double peak(uint64_t distinct, uint64_t copies, uint64_t n, double p, double *size) {
  sqlite3_stmt *query;
  char sql[400];
  snprintf(
      sql, sizeof sql,
      "WITH RECURSIVE numbers(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 "
      "< %llu) SELECT length(bloom_build(i %% %llu, %s%.0llu, %g)) FROM numbers",
      (unsigned long long)(distinct * copies), (unsigned long long)distinct, n ? "" : "NULL",
      (unsigned long long)n, p);
  if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK) stop(sql);
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  if (sqlite3_step(query) != SQLITE_ROW) stop(sql);
  double most = (double)(sqlite3_memory_highwater(0) - before);
  *size = sqlite3_column_double(query, 0);
  sqlite3_finalize(query);
  return most;
}

/* n NULL: at most 24 bytes for each distinct key. */
static void test_sized_by_data(uint64_t distinct, uint64_t copies, double p) {
  double size, most = peak(distinct, copies, 0, p, &size);
  test(most <= 24 * (double)distinct + 64 * 1024,
       "bloom_build n NULL: %llu distinct keys %llu times, p %g: %.2f bytes a key at the peak "
       "(limit 24), %.2f of them the filter",
       (unsigned long long)distinct, (unsigned long long)copies, p, most / (double)distinct,
       size / (double)distinct);
}

/* n given: the filter, 1 MB, and the tail: the keys from where the rate is p/2 to n. */
static void test_given_n(uint64_t n, double p) {
  BloomGeometry g;
  bloom_geometry(n, (float)p, &g);
  double size, most = peak(n, 1, n, p, &size), tail = (double)n - bloom_keys_at(&g, p / 2);
  if (tail > 1 << 23) tail = 1 << 23;
  test(most <= size + MIB + 8 * tail && size > 0,
       "bloom_build n %llu p %g: %.0f bytes beyond the filter (limit 1 MiB and a tail of %.0f "
       "bytes)",
       (unsigned long long)n, p, most - size, 8 * tail);
}

/* n was far too small: the filter and 128 MiB. */
static void test_outgrown(uint64_t n, uint64_t keys, double p) {
  double size, most = peak(keys, 1, n, p, &size);
  test(most <= size + 129.0 * MIB && size > (double)keys / 8,
       "bloom_build n %llu with %llu keys, p %g: %.1f MiB beyond the filter of %.1f MiB (limit 128 "
       "and 1)",
       (unsigned long long)n, (unsigned long long)keys, p, (most - size) / MIB, size / MIB);
}

/* n = 1,000,000 with 40,000,000 keys: the rate and every key, beside the memory. */
static void test_forty_million(void) {
  uint64_t keys = 40000000, probes = 2000000;
  double p = 0.01;
  Filter filter = build(INTEGERS, 1, keys, 1000000, p);
  uint64_t missing = keys - ask(&filter, INTEGERS, 1, keys);
  uint64_t passed = ask(&filter, INTEGERS, UINT64_C(1) << 40, probes);
  double rate = (double)passed / (double)probes / p;
  test(missing == 0 && rate <= 1.03 && rate > 0.5,
       "bloom_build n 1000000 with 40000000 keys, p %g: %.4f p (limit 1.03, sigma 0.007), %u "
       "layers, "
       "%llu missing",
       p, rate, filter.view.layer_count, (unsigned long long)missing);
  free_filter(&filter);
}

void test_memory(void) {
  test_sized_by_data(100000, 1, 0.01);
  test_sized_by_data((1 << 17) + 1, 1, 0.01); /* just beyond a doubling */
  test_sized_by_data(50000, 5, 0.001);
  test_given_n(200000, 0.01);
  if (extent == QUICK) return;
  test_sized_by_data(1000000, 2, 0.01);
  test_sized_by_data((1 << 20) + 1, 1, 1e-4);
  test_given_n(1000000, 0.1);
  test_given_n(2000000, 0.01);
  test_given_n(1000000, 1e-4);
  test_outgrown(100000, 5000000, 1e-4);
  if (extent != LONG) return;
  test_outgrown(1000000, 40000000, 0.01);
  test_forty_million();
}
