/* Memory that a build holds at its peak, by SQLite's own account. */
#include "promise.h"

enum {
  MIB = 1024 * 1024
};

/* The peak while rows came, noted at the last one. */
static sqlite3_int64 peak_of_rows;

/* note(key, last): the key; remembers the peak so far when it is the last. */
static void note_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  if (sqlite3_value_int(argv[1])) peak_of_rows = sqlite3_memory_highwater(0);
  sqlite3_result_value(context, argv[0]);
}

/* Bytes beyond what was in use, at the peak of a build: while rows came, and to the end, when
** SQLite copies the result once more. */
typedef struct Peak {
  double rows, all, size;
} Peak;

static Peak peak(uint64_t distinct, uint64_t copies, uint64_t n, double p) {
  sqlite3_stmt *query;
  char sql[400], keys[24] = "NULL";
  unsigned long long rows = distinct * copies;
  Peak result;
  if (n > 0) snprintf(keys, sizeof keys, "%llu", (unsigned long long)n);
  snprintf(sql, sizeof sql,
           "WITH RECURSIVE numbers(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM numbers WHERE i < "
           "%llu) SELECT bloom_build(note(i %% %llu, i = %llu), %s, %g) FROM numbers",
           rows, (unsigned long long)distinct, rows, keys, p);
  if (sqlite3_create_function(db, "note", 2, SQLITE_UTF8, NULL, note_function, NULL, NULL) ||
      sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK) {
    stop(sql);
  }
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  if (sqlite3_step(query) != SQLITE_ROW) stop(sql);
  result.all = (double)(sqlite3_memory_highwater(0) - before);
  result.rows = (double)(peak_of_rows - before);
  result.size = sqlite3_column_bytes(query, 0);
  sqlite3_finalize(query);
  return result;
}

/* n NULL: at most 24 bytes for each distinct key. */
static void test_sized_by_data(uint64_t distinct, uint64_t copies, double p) {
  Peak most = peak(distinct, copies, 0, p);
  test(most.all <= 24 * (double)distinct + 64 * 1024,
       "bloom_build n NULL: %llu distinct keys %llu times, p %g: %.2f bytes a key at the peak "
       "(limit 24), %.2f of them the filter",
       (unsigned long long)distinct, (unsigned long long)copies, p, most.all / (double)distinct,
       most.size / (double)distinct);
}

/* n given: the filter, 128 KiB, and the tail: the keys from where the rate is p/2 to n, and a
** quarter of them again for such as turn out to be known. Repeated keys wait there too, but add
** nothing. It must be as large as the keys that wait, or the test measures something else. */
static void test_given_n(uint64_t n, uint64_t copies, double p) {
  BloomGeometry g;
  bloom_geometry(n, (float)p, &g);
  double late = fmin(1 << 23, (double)n - bloom_keys_at(&g, p / 2)), tail = 8 * 1.25 * late;
  Peak most = peak(n, copies, n, p);
  test(most.rows <= most.size + MIB / 8 + tail && most.all <= 2 * most.size + MIB / 8 + tail &&
           most.rows >= most.size + 8 * late,
       "bloom_build n %llu p %g, each %llu times: %.0f bytes beyond the filter (limit 128 KiB and "
       "a tail of %.0f bytes), with SQLite's copy of it %.0f",
       (unsigned long long)n, p, (unsigned long long)copies, most.rows - most.size, tail,
       most.all - most.size);
}

/* n was far too small: the filter and 128 MiB, and 1 MiB for SQLite. */
static void test_outgrown(uint64_t n, uint64_t keys, double p) {
  Peak most = peak(keys, 1, n, p);
  test(most.all <= most.size + fmax(129.0 * MIB, most.size + MIB) && most.size > (double)keys / 8,
       "bloom_build n %llu with %llu keys, p %g: %.1f MiB beyond the filter of %.1f MiB (limit 128 "
       "and 1)",
       (unsigned long long)n, (unsigned long long)keys, p, (most.all - most.size) / MIB,
       most.size / MIB);
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
  test_given_n(200000, 1, 0.01);
  test_given_n(100000, 3, 0.01);
  if (extent == QUICK) return;
  test_sized_by_data(1000000, 2, 0.01);
  test_sized_by_data((1 << 20) + 1, 1, 1e-4);
  test_given_n(1000000, 1, 0.1);
  test_given_n(2000000, 2, 0.01);
  test_given_n(1000000, 1, 1e-4);
  test_outgrown(100000, 5000000, 1e-4);
  if (extent != LONG) return;
  test_outgrown(1000000, 40000000, 0.01);
  test_forty_million();
}
