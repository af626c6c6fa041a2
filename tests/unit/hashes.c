/* Unit tests of hashes: the in-place sort against qsort. */
#include "hashes.h"

#include "unit.h"

static int compare(const void *a, const void *b) {
  uint64_t x, y;
  memcpy(&x, a, 8);
  memcpy(&y, b, 8);
  return x < y ? -1 : x > y;
}

/* What bloom_hashes_unique promises, the slow way. */
static uint64_t expected_unique(uint64_t *hashes, uint64_t count, unsigned copies,
                                uint64_t *distinct) {
  uint64_t kept = 0, run = 0, before = 0;
  qsort(hashes, count, sizeof *hashes, compare);
  *distinct = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t hash = hashes[i];
    run = i > 0 && hash == before ? run + 1 : 1;
    *distinct += run == 1;
    before = hash;
    if (run <= copies) hashes[kept++] = hash;
  }
  return kept;
}

/* Values whose bits are `bits` & random: few of them, or all in one bucket of some pass. */
static void check(uint64_t count, uint64_t bits, unsigned copies, uint64_t seed) {
  uint64_t *hashes = malloc((count + 1) * sizeof *hashes), *copy = malloc((count + 1) * 8);
  uint64_t distinct = 0, wanted;
  assert_true(hashes && copy);
  for (uint64_t i = 0; i < count; i++) copy[i] = hashes[i] = next_random(&seed) & bits;
  hashes[count] = UINT64_C(0x5151515151515151); /* must stay */
  uint64_t kept = bloom_hashes_unique(hashes, count, copies, &distinct);
  uint64_t expected = expected_unique(copy, count, copies, &wanted);
  CHECK(kept == expected && distinct == wanted, "count %llu bits %llx copies %u",
        (unsigned long long)count, (unsigned long long)bits, copies);
  assert_memory_equal(hashes, copy, kept * sizeof *hashes);
  assert_true(hashes[count] == UINT64_C(0x5151515151515151));
  free(hashes);
  free(copy);
}

static void as_qsort(void **state) {
  static const uint64_t bits[] = {UINT64_MAX,
                                  0,
                                  0xff,
                                  0xff00,
                                  0xf,
                                  0x7,
                                  UINT64_MAX << 60,
                                  UINT64_MAX << 48,
                                  UINT64_C(0x8000000000000001),
                                  UINT64_C(0x00ff00000000ff03)};
  static const uint64_t counts[] = {0, 1, 2, 3, 31, 32, 33, 34, 100, 255, 256, 257, 5000, 100000};
  static const unsigned copies[] = {1, 2, 15};
  (void)state;
  for (unsigned i = 0; i < COUNT(counts); i++) {
    for (unsigned j = 0; j < COUNT(bits); j++) {
      for (unsigned k = 0; k < COUNT(copies); k++)
        check(counts[i], bits[j], copies[k], i * 100 + j);
    }
  }
}

static void many_small_ones(void **state) {
  uint64_t seed = 1;
  (void)state;
  for (unsigned round = 0; round < 20000; round++) {
    uint64_t count = next_random(&seed) % 80;
    uint64_t bits = next_random(&seed) & next_random(&seed) & next_random(&seed);
    check(count, bits, 1 + round % 16, round);
  }
}

/* Sorted, reversed, and all equal input: nothing is quadratic or deep. */
static void ordered_input(void **state) {
  enum {
    N = 200000
  };
  static uint64_t hashes[N];
  (void)state;
  for (unsigned order = 0; order < 3; order++) {
    for (uint64_t i = 0; i < N; i++) {
      uint64_t rank = order == 0 ? i : order == 1 ? N - 1 - i : 7;
      hashes[i] = rank * UINT64_C(0x0000100000000001);
    }
    uint64_t kept = bloom_hashes_unique(hashes, N, 1, NULL);
    assert_int_equal(kept, order == 2 ? 1 : N);
    for (uint64_t i = 1; i < kept; i++) assert_true(hashes[i - 1] < hashes[i]);
  }
}

/* New hashes behind a sorted run, and both in one order, against one sort of all. */
static void runs(void **state) {
  enum {
    MOST = 3000
  };
  static uint64_t hashes[3 * MOST], copy[MOST];
  uint64_t seed = 2;
  (void)state;
  for (unsigned round = 0; round < 20000; round++) {
    uint64_t bits = next_random(&seed) | next_random(&seed) << 60, distinct, wanted;
    uint64_t count = next_random(&seed) % (round % 50 ? 90 : MOST);
    uint64_t first = next_random(&seed) % (count + 1);
    if (round % 3 == 0) bits &= next_random(&seed) & next_random(&seed) & next_random(&seed);
    for (uint64_t i = 0; i < count; i++) copy[i] = hashes[i] = next_random(&seed) & bits;
    uint64_t sorted = bloom_hashes_unique(hashes, first, 1, &distinct);
    memmove(hashes + sorted, hashes + first, (count - first) * sizeof *hashes);
    uint64_t kept = bloom_hashes_new(hashes, sorted, sorted + count - first);
    expected_unique(copy, first, 1, &wanted);
    assert_memory_equal(hashes, copy, sorted * sizeof *hashes); /* the first run stays */
    for (uint64_t i = sorted + 1; i < kept; i++) assert_true(hashes[i - 1] < hashes[i]);
    memmove(copy + sorted, copy + first, (count - first) * sizeof *copy);
    uint64_t all = expected_unique(copy, sorted + count - first, 1, &wanted);
    assert_int_equal(kept, all);
    memset(hashes + kept + (kept - sorted), 0x51, sizeof *hashes); /* must stay */
    bloom_hashes_merge(hashes, sorted, kept);
    assert_memory_equal(hashes, copy, all * sizeof *hashes);
    assert_true(hashes[kept + (kept - sorted)] == UINT64_C(0x5151515151515151));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_qsort),
      cmocka_unit_test(many_small_ones),
      cmocka_unit_test(ordered_input),
      cmocka_unit_test(runs),
  };
  return cmocka_run_group_tests_name("hashes", tests, NULL, NULL);
}
