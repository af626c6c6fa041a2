/* Laws that hold byte for byte: order and duplicates do not matter, and what union obeys. */
#include "promise.h"

/* A set of keys as rows, in table `rows(i, at)`: numbers first .. first + count - 1. */
static void run(const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) stop(sql);
}

static bool same(const Filter *a, const Filter *b) {
  return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* What a query with a filter, or several, as its parameters gives. */
static Filter call(const char *sql, const Filter *a, const Filter *b, const Filter *c) {
  sqlite3_stmt *query = statement(sql);
  sqlite3_bind_blob64(query, 1, a->bytes, a->size, SQLITE_STATIC);
  if (b) sqlite3_bind_blob64(query, 2, b->bytes, b->size, SQLITE_STATIC);
  if (c) sqlite3_bind_blob64(query, 3, c->bytes, c->size, SQLITE_STATIC);
  return take_filter(query);
}

/* ---- order and duplicates ---- */

static Filter build_rows(const char *sql, uint64_t n, double p, const char *kind) {
  sqlite3_stmt *query = statement(sql);
  sqlite3_bind_null(query, 1);
  if (n > 0) sqlite3_bind_int64(query, 1, (sqlite3_int64)n);
  sqlite3_bind_double(query, 2, p);
  sqlite3_bind_text(query, 3, kind, -1, SQLITE_STATIC);
  return take_filter(query);
}

static void make_rows(uint64_t count, enum KeyKind kind, unsigned seed) {
  char sql[500];
  run("CREATE TABLE IF NOT EXISTS rows(id INTEGER PRIMARY KEY, key, shuffled, again);"
      "DELETE FROM rows;");
  snprintf(sql, sizeof sql,
           "WITH RECURSIVE numbers(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM numbers WHERE i < "
           "%llu) INSERT INTO rows SELECT i, test_key(%d, i), (i * 2654435761 + %u) %% 4294967296 "
           "* 40503 %% 1000003, (i * 7919 + %u) %% 3 FROM numbers",
           (unsigned long long)count, kind, seed, seed);
  run(sql);
}

static void test_order(uint64_t count, uint64_t n, double p, enum KeyKind kind, unsigned seed) {
  static const char *const orders[] = {
      "SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT key FROM rows ORDER BY id)",
      "SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT key FROM rows ORDER BY id DESC)",
      "SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT key FROM rows ORDER BY shuffled)",
      "SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT key FROM rows UNION ALL SELECT key FROM "
      "rows WHERE again ORDER BY 1)",
      "SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT a.key FROM rows AS a, (SELECT 1 UNION ALL "
      "SELECT 2 UNION ALL SELECT 3) ORDER BY a.shuffled * 3 % 1009)"};
  bool good[2] = {true, true};
  make_rows(count, kind, seed);
  for (unsigned counting = 0; counting < 2; counting++) {
    const char *name = counting ? "counting" : "plain";
    Filter first = build_rows(orders[0], n, p, name);
    uint64_t missing = count - ask(&first, kind, 1, count);
    /* a counting filter is a multiset: only the orders of the same rows are the same */
    for (unsigned i = 1; i < (counting ? 3 : COUNT(orders)); i++) {
      Filter other = build_rows(orders[i], n, p, name);
      good[counting] = good[counting] && same(&first, &other) && missing == 0;
      free_filter(&other);
    }
    free_filter(&first);
  }
  test(good[0] && good[1],
       "bloom_build: %llu %s, n %llu, p %g: the order of rows and duplicates leave the bytes alone",
       (unsigned long long)count, key_names[kind], (unsigned long long)n, p);
}

/* The data decide the size: n NULL is n = the distinct keys. */
static void test_null_n(uint64_t count, double p) {
  Filter a = build(HEX, 1, count, 0, p), b = build(HEX, 1, count, count, p);
  test(same(&a, &b), "bloom_build: n NULL is n %llu for so many distinct keys, p %g",
       (unsigned long long)count, p);
  free_filter(&a);
  free_filter(&b);
}

/* Filters of no more than n keys are the same whether built or added to. */
static void test_added_is_built(uint64_t n, double p) {
  Filter built = build(URLS, 1, n, n, p), part = build(URLS, 1, n - 3, n, p);
  sqlite3_stmt *query = statement(
      "SELECT bloom_add(?1, test_key(2, ?2 - 2), test_key(2, ?2 - 1), NULL, test_key(2, ?2))");
  sqlite3_bind_blob64(query, 1, part.bytes, part.size, SQLITE_STATIC);
  sqlite3_bind_int64(query, 2, (sqlite3_int64)n);
  Filter added = take_filter(query);
  test(same(&built, &added), "bloom_add: n %llu p %g up to n keys gives the bytes of bloom_build",
       (unsigned long long)n, p);
  free_filter(&built);
  free_filter(&part);
  free_filter(&added);
}

/* ---- union ---- */

#define UNION2 "SELECT bloom_union(?1, ?2)"
#define UNION3 "SELECT bloom_union(?1, ?2, ?3)"
#define UNION_ROWS \
  "SELECT bloom_union(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?2 UNION ALL SELECT NULL UNION " \
  "ALL SELECT ?3)"

static void test_union(uint64_t third, uint64_t n, double p, enum KeyKind kind) {
  uint64_t overlap = third / 4;
  Filter a = build(kind, 1, third, n, p), b = build(kind, 1 + third - overlap, third, n, p);
  Filter c = build(kind, 1 + 2 * third - overlap, third, n, p);
  Filter all = build(kind, 1, 3 * third - overlap, n, p);
  sqlite3_stmt *none = statement("SELECT bloom_build(NULL)");
  Filter empty = take_filter(none);
  Filter results[] = {call(UNION3, &a, &b, &c),       call(UNION3, &c, &a, &b),
                      call(UNION_ROWS, &b, &c, &a),   call(UNION3, &a, &empty, &a),
                      call(UNION2, &empty, &a, NULL), call(UNION2, &a, &a, NULL)};
  Filter ab = call(UNION2, &a, &b, NULL), bc = call(UNION2, &b, &c, NULL);
  Filter ab_c = call(UNION2, &ab, &c, NULL), a_bc = call(UNION2, &a, &bc, NULL);
  Filter ba = call(UNION2, &b, &a, NULL),
         both = call("SELECT bloom_intersect(?1, ?2)", &ab, &b, NULL);
  bool is_all = same(&ab_c, &all) && same(&a_bc, &all);
  for (unsigned i = 0; i < 3; i++) is_all = is_all && same(&results[i], &all);
  test(is_all, "bloom_union: n %llu p %g %s: associative, and the bytes of one build over all rows",
       (unsigned long long)n, p, key_names[kind]);
  test(same(&ab, &ba) && !same(&ab, &a), "bloom_union: n %llu p %g %s: commutative",
       (unsigned long long)n, p, key_names[kind]);
  test(same(&results[3], &a) && same(&results[4], &a) && same(&results[5], &a),
       "bloom_union: n %llu p %g %s: idempotent, and the unsized empty filter changes nothing",
       (unsigned long long)n, p, key_names[kind]);
  test(same(&both, &b), "bloom_intersect: n %llu p %g %s: absorbs, (a or b) and b is b",
       (unsigned long long)n, p, key_names[kind]);
  for (unsigned i = 0; i < COUNT(results); i++) free_filter(&results[i]);
  Filter *rest[] = {&a, &b, &c, &all, &empty, &ab, &bc, &ab_c, &a_bc, &ba, &both};
  for (unsigned i = 0; i < COUNT(rest); i++) free_filter(rest[i]);
}

/* Grown filters: no key is lost in either order, and a filter united with itself stays itself. */
static void test_grown_union(uint64_t n, double p) {
  Filter a = build(HEX, 1, 7 * n, n, p), b = build(HEX, 1 + 5 * n, 9 * n, n, p);
  Filter plain = build(HEX, 1 + 20 * n, n, n, p);
  Filter ab = call(UNION3, &a, &b, &plain), ba = call(UNION3, &plain, &b, &a);
  Filter aa = call(UNION2, &a, &a, NULL);
  uint64_t kept = ask(&ab, HEX, 1, 14 * n) + ask(&ab, HEX, 1 + 20 * n, n);
  kept += ask(&ba, HEX, 1, 14 * n) + ask(&ba, HEX, 1 + 20 * n, n);
  test(kept == 30 * n && a.view.layer_count > 1,
       "bloom_union of grown filters: n %llu p %g loses "
       "none of %llu keys",
       (unsigned long long)n, p, (unsigned long long)(15 * n));
  test(same(&aa, &a), "bloom_union of grown filters: n %llu p %g: idempotent",
       (unsigned long long)n, p);
  Filter *all[] = {&a, &b, &plain, &ab, &ba, &aa};
  for (unsigned i = 0; i < COUNT(all); i++) free_filter(all[i]);
}

void test_laws(void) {
  static const uint64_t sizes[] = {1, 2, 31, 32, 33, 64, 65, 1000, 30000};
  for (unsigned i = 0; i < COUNT(sizes); i++) {
    test_order(sizes[i], sizes[i], 0.01, (enum KeyKind)(i % KEY_KINDS), i);
    test_order(sizes[i], 0, 0.001, (enum KeyKind)((i + 1) % KEY_KINDS), i + 100);
    if (extent == QUICK && sizes[i] > 1000) continue;
    test_order(sizes[i], sizes[i] * 2, 0.5, (enum KeyKind)((i + 2) % KEY_KINDS), i + 200);
    test_null_n(sizes[i], 0.01);
  }
  test_added_is_built(5, 0.1);
  test_added_is_built(1000, 0.01);
  test_added_is_built(20000, 1e-4);
  test_union(4, 12, 0.01, INTEGERS);
  test_union(1000, 3000, 0.1, HEX);
  test_union(8000, 30000, 0.001, URLS);
  test_grown_union(20, 0.01);
  test_grown_union(2000, 0.001);
}
