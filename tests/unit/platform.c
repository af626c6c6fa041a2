/* Unit tests of platform.h. Compiled a second time with -DBLOOM_NO_INT128, and each time held
** against the compiler's own 128-bit product. */
#include "platform.h"

#include "unit.h"

__extension__ typedef unsigned __int128 uint128;

static void check_product(uint64_t a, uint64_t b) {
  CHECK(mulhi64(a, b) == (uint64_t)((uint128)a * b >> 64), "%llx %llx", (unsigned long long)a,
        (unsigned long long)b);
}

static void mulhi64_is_the_high_half(void **state) {
  uint64_t seed = 10, edges[64 * 3 + 1];
  unsigned count = 0;
  (void)state;
  for (unsigned bit = 0; bit < 64; bit++) {
    edges[count++] = UINT64_C(1) << bit;
    edges[count++] = (UINT64_C(1) << bit) - 1;
    edges[count++] = ~(UINT64_C(1) << bit);
  }
  edges[count++] = UINT64_MAX;
  for (unsigned i = 0; i < count; i++) {
    for (unsigned j = 0; j < count; j++) check_product(edges[i], edges[j]);
  }
  for (unsigned i = 0; i < 2000000; i++) {
    uint64_t a = next_random(&seed), b = next_random(&seed);
    check_product(a, b >> (i % 64));
  }
}

static void numbers_are_little_endian(void **state) {
  const uint8_t bytes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 0x88};
  uint8_t out[9] = {0xee};
  (void)state;
  assert_true(load_le64(bytes + 1) == UINT64_C(0x8807060504030201));
  assert_true(load_le32(bytes + 5) == UINT32_C(0x88070605));
  store_le64(out + 1, UINT64_C(0x8807060504030201));
  assert_memory_equal(out + 1, bytes + 1, 8);
  assert_int_equal(out[0], 0xee);
  store_le32(out + 1, UINT32_C(0x88070605));
  assert_memory_equal(out + 1, bytes + 5, 4);
}

static void bit_patterns(void **state) {
  (void)state;
  assert_true(bits_of_float(0.5f) == UINT32_C(0x3f000000));
  assert_true(float_of_bits(UINT32_C(0xbf800000)) == -1.0f);
}

static void popcount(void **state) {
  uint64_t seed = 11;
  (void)state;
  assert_true(popcount64(0) == 0 && popcount64(UINT64_MAX) == 64);
  for (unsigned i = 0; i < 100000; i++) {
    uint64_t word = next_random(&seed) & (i % 2 ? next_random(&seed) : UINT64_MAX);
    unsigned expected = 0;
    for (unsigned bit = 0; bit < 64; bit++) expected += word >> bit & 1;
    assert_int_equal(popcount64(word), expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mulhi64_is_the_high_half),
      cmocka_unit_test(numbers_are_little_endian),
      cmocka_unit_test(bit_patterns),
      cmocka_unit_test(popcount),
  };
  return cmocka_run_group_tests_name("platform", tests, NULL, NULL);
}
