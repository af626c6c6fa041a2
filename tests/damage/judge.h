/* judge.h: a second reader of ext/FORMAT.md, written from the document and not from ext/: what a
** blob is, what it answers, and what is in it. The tests hold the extension against it. */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Verdict {
  REFUSED,      /* by its header */
  BODY_DAMAGED, /* the header is right, the cells are not what it says */
  RIGHT
} Verdict;

typedef struct Layer {
  uint64_t capacity, lines, line_bits;
  size_t offset; /* of its cells in the blob */
  float rate;
  unsigned k, L;
} Layer;

typedef struct Judged {
  Verdict verdict;
  const char *why; /* how the reason begins, when it is not RIGHT */
  const uint8_t *bytes;
  size_t size;
  uint64_t n;
  float p;
  unsigned kind, key_types, layer_count, cell_bits;
  Layer layers[64];
} Judged;

void judge(const uint8_t *bytes, size_t size, Judged *judged);

/* The hash of an integer key; what the cells say of a hash; its cells in one layer. */
uint64_t hash_of(int64_t key);
bool judged_contains(const Judged *judged, uint64_t hash);
void judged_cells(const Layer *layer, uint64_t hash, uint64_t cells[64]);
unsigned judged_cell(const Judged *judged, unsigned layer, uint64_t cell);

/* Cells that are not 0 in a layer, and the estimates of keys and rate from them. */
uint64_t judged_occupied(const Judged *judged, unsigned layer);
void judged_estimates(const Judged *judged, double *count, double *rate);

/* Numbers of the format, and both checksums made right where the header is all there. */
uint64_t get_number(const uint8_t *at, unsigned width);
void put_number(uint8_t *at, unsigned width, uint64_t number);
void repair_header(uint8_t *bytes, size_t size);
void repair_body(uint8_t *bytes, size_t size);

#endif
