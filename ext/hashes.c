/* hashes.c: sort and deduplicate 64-bit hashes in place.
**
** American flag sort (McIlroy, Bostic and McIlroy, Engineering Radix Sort, 1993): one byte at a
** time from the top, in place, so that the peak of a build is its buffer. qsort takes five times as
** long. Hashes are uniform, so a million of them are in order after two passes and short insertion
** sorts; equal ones go down all eight.
*/
#include "hashes.h"

enum {
  BUCKETS = 256,
  SHORT_RUN = 32,
  AHEAD = 16 /* hashes of each bucket that are fetched before their turn */
};

static void insertion_sort(uint64_t *hashes, uint64_t count) {
  for (uint64_t i = 1; i < count; i++) {
    uint64_t hash = hashes[i], at = i;
    for (; at > 0 && hashes[at - 1] > hash; at--) hashes[at] = hashes[at - 1];
    hashes[at] = hash;
  }
}

/* Sorts by the byte at `shift` and, within equal bytes, by those below it: at most eight deep. */
static void sort_from(uint64_t *hashes, uint64_t count, unsigned shift) {
  uint64_t next[BUCKETS], end[BUCKETS];
  if (count <= SHORT_RUN) {
    insertion_sort(hashes, count);
    return;
  }
  memset(next, 0, sizeof next);
  for (uint64_t i = 0; i < count; i++) next[hashes[i] >> shift & 0xff]++;
  for (uint64_t b = 0, at = 0; b < BUCKETS; b++) {
    uint64_t size = next[b];
    next[b] = at;
    at += size;
    end[b] = at;
  }
  for (unsigned b = 0; b < BUCKETS; b++) {
    while (next[b] < end[b]) {
      uint64_t hash = hashes[next[b]];
      for (unsigned to = hash >> shift & 0xff; to != b; to = hash >> shift & 0xff) {
        uint64_t other = hashes[next[to]];
        BLOOM_PREFETCH(hashes + next[to] + AHEAD);
        hashes[next[to]++] = hash;
        hash = other;
      }
      hashes[next[b]++] = hash;
    }
  }
  if (shift == 0) return;
  for (uint64_t b = 0, start = 0; b < BUCKETS; start = end[b], b++) {
    sort_from(hashes + start, end[b] - start, shift - 8);
  }
}

uint64_t bloom_hashes_unique(uint64_t *hashes, uint64_t count, unsigned copies,
                             uint64_t *distinct) {
  uint64_t kept = 0, different = 0, run = 0;
  sort_from(hashes, count, 56);
  for (uint64_t i = 0; i < count; i++) {
    bool again = kept > 0 && hashes[kept - 1] == hashes[i];
    run = again ? run + 1 : 1;
    different += !again;
    if (run <= copies) hashes[kept++] = hashes[i];
  }
  if (distinct) *distinct = different;
  return kept;
}

uint64_t bloom_hashes_new(uint64_t *hashes, uint64_t sorted, uint64_t count) {
  uint64_t kept = sorted, known = 0;
  sort_from(hashes + sorted, count - sorted, 56);
  for (uint64_t i = sorted; i < count; i++) {
    while (known < sorted && hashes[known] < hashes[i]) known++;
    if (known < sorted && hashes[known] == hashes[i]) continue;
    if (kept == sorted || hashes[kept - 1] != hashes[i]) hashes[kept++] = hashes[i];
  }
  return kept;
}

void bloom_hashes_merge(uint64_t *hashes, uint64_t sorted, uint64_t count) {
  uint64_t *second = hashes + count, left = count - sorted;
  if (left > 0) memcpy(second, hashes + sorted, (size_t)left * sizeof *hashes);
  while (left > 0) {
    /* Without a branch, which would be mispredicted half of the time. */
    bool first = sorted > 0 && hashes[sorted - 1] > second[left - 1];
    const uint64_t *from = first ? hashes + sorted : second + left;
    hashes[--count] = from[-1];
    sorted -= first;
    left -= !first;
  }
}
