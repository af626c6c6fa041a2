/* unit.h: what the unit tests share. Each program is one file, named after the room it tests. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Fails with the numbers that matter. */
#define CHECK(condition, ...) \
  do { \
    if (!(condition)) fail_msg(#condition ": " __VA_ARGS__); \
  } while (0)

/* Sebastiano Vigna's splitmix64: one state word, every seed is good. */
static inline uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

#endif
