/* platform.h: the few things that C11 leaves to the compiler, each with a portable branch.
**
** Nothing here knows what a filter is. All loads and stores of numbers are little-endian,
** whatever the machine is.
*/
#ifndef BLOOM_PLATFORM_H
#define BLOOM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(BLOOM_COVERAGE) /* plain code: each branch that is written is counted once */
#define BLOOM_INLINE static inline
#define BLOOM_NOINLINE
#define BLOOM_PREFETCH(address) ((void)(address))
#define BLOOM_LIKELY(condition) (condition)
#define BLOOM_UNLIKELY(condition) (condition)
#define BLOOM_UNROLL
#define BLOOM_OPAQUE(word) ((void)(word))
#elif defined(__GNUC__)
#define BLOOM_INLINE static inline __attribute__((always_inline))
#define BLOOM_NOINLINE __attribute__((noinline))
#define BLOOM_PREFETCH(address) __builtin_prefetch(address)
#define BLOOM_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define BLOOM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define BLOOM_UNROLL _Pragma("GCC unroll 32")
#define BLOOM_OPAQUE(word) __asm__("" : "+r"(word)) /* keeps a compiler from rewriting its value */
#else
#define BLOOM_INLINE static inline
#define BLOOM_NOINLINE
#define BLOOM_PREFETCH(address) ((void)(address))
#define BLOOM_LIKELY(condition) (condition)
#define BLOOM_UNLIKELY(condition) (condition)
#define BLOOM_UNROLL
#define BLOOM_OPAQUE(word) ((void)(word))
#endif

/* What always or never holds, with the proof in a comment beside it. The check stays in a release,
** so that a wrong proof does no harm. Counting coverage, it is a constant, so that the branch that
** no test can take is no branch; with BLOOM_DEBUG it is asserted. */
#if defined(BLOOM_COVERAGE)
#define BLOOM_ALWAYS(condition) 1
#define BLOOM_NEVER(condition) 0
#elif defined(BLOOM_DEBUG)
#include <assert.h>
#define BLOOM_ALWAYS(condition) ((condition) ? 1 : (assert(!"always: " #condition), 0))
#define BLOOM_NEVER(condition) ((condition) ? (assert(!"never: " #condition), 1) : 0)
#else
#define BLOOM_ALWAYS(condition) (condition)
#define BLOOM_NEVER(condition) (condition)
#endif

/* Arithmetic mod 2^64 where the wrap is meant; clang's -fsanitize=integer reports any other. */
#if defined(__clang__)
#define BLOOM_WRAPS __attribute__((no_sanitize("unsigned-integer-overflow")))
#else
#define BLOOM_WRAPS
#endif

BLOOM_INLINE BLOOM_WRAPS uint64_t wrapping_mul(uint64_t a, uint64_t b) {
  return a * b;
}

BLOOM_INLINE BLOOM_WRAPS uint64_t wrapping_sub(uint64_t a, uint64_t b) {
  return a - b;
}

/* The high 64 bits of a 128-bit product: maps a uniform a onto 0 .. b-1 without a division. */
BLOOM_INLINE uint64_t mulhi64(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(BLOOM_NO_INT128)
  __extension__ typedef unsigned __int128 uint128;
  return (uint64_t)(((uint128)a * b) >> 64);
#else
  uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu);
  uint64_t mid = (a >> 32) * (b & 0xffffffffu) + (low >> 32);
  uint64_t mid2 = (a & 0xffffffffu) * (b >> 32) + (mid & 0xffffffffu);
  return (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
#endif
}

BLOOM_INLINE uint64_t load_le64(const uint8_t *at) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t word;
  memcpy(&word, at, 8);
  return word;
#else
  uint64_t word = 0;
  for (int i = 7; i >= 0; i--) word = word << 8 | at[i];
  return word;
#endif
}

BLOOM_INLINE uint32_t load_le32(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

BLOOM_INLINE void store_le64(uint8_t *at, uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(at, &word, 8);
#else
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(word >> (8 * i));
#endif
}

BLOOM_INLINE void store_le32(uint8_t *at, uint32_t word) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(word >> (8 * i));
}

/* IEEE-754 numbers and their bit patterns; every platform that SQLite runs on has them. */
BLOOM_INLINE uint32_t bits_of_float(float number) {
  uint32_t bits;
  memcpy(&bits, &number, 4);
  return bits;
}

BLOOM_INLINE float float_of_bits(uint32_t bits) {
  float number;
  memcpy(&number, &bits, 4);
  return number;
}

/* Large memory that is read or written at random: in large pages if the system is asked for them.
** Only asked: nothing depends on the answer. The pages that the memory shares with others are left
** out by rounding inwards; call it before the memory is first written. */
BLOOM_INLINE void large_pages(void *memory, uint64_t size) {
#if defined(MADV_HUGEPAGE)
  const uintptr_t page = (uintptr_t)1 << 21;
  uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t)memory + (uintptr_t)size) & ~(page - 1);
  if (start < end) madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)size;
#endif
}

/* Set bits of a word, without an instruction that the oldest x86-64 lacks. */
BLOOM_INLINE unsigned popcount64(uint64_t word) {
  word -= word >> 1 & UINT64_C(0x5555555555555555);
  word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
  word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (unsigned)(wrapping_mul(word, UINT64_C(0x0101010101010101)) >> 56);
}

#endif
