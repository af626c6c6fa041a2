/* judge.c: see judge.h. Section names are those of ext/FORMAT.md. */
#include "judge.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- Conventions, Checksums ---- */

uint64_t get_number(const uint8_t *at, unsigned width) {
  uint64_t number = 0;
  while (width-- > 0) number = number << 8 | at[width];
  return number;
}

void put_number(uint8_t *at, unsigned width, uint64_t number) {
  for (unsigned i = 0; i < width; i++) at[i] = (uint8_t)(number >> 8 * i);
}

static float get_float(const uint8_t *at) {
  uint32_t bits = (uint32_t)get_number(at, 4);
  float number;
  memcpy(&number, &bits, 4);
  return number;
}

static size_t header_size(const uint8_t *bytes, size_t size) {
  size_t header = size < 40 ? SIZE_MAX : 40 + 32 * (size_t)bytes[9];
  return header <= size ? header : SIZE_MAX;
}

void repair_header(uint8_t *bytes, size_t size) {
  size_t header = header_size(bytes, size);
  if (header == SIZE_MAX) return;
  put_number(bytes + header - 8, 8, XXH3_64bits(bytes, header - 8));
}

void repair_body(uint8_t *bytes, size_t size) {
  size_t header = header_size(bytes, size);
  if (header == SIZE_MAX) return;
  put_number(bytes + 24, 8, XXH3_64bits(bytes + header, size - header));
}

/* ---- Reading ---- */

static void say(Judged *judged, Verdict verdict, const char *why) {
  judged->verdict = verdict;
  judged->why = why;
}

static bool in_range(float number, double least) {
  return number >= (float)least && number < 1; /* NaN is in no range */
}

/* Step 10 for one entry. */
static bool read_layer(const uint8_t *at, Layer *layer) {
  layer->capacity = get_number(at, 8);
  layer->lines = get_number(at + 8, 8);
  layer->line_bits = get_number(at + 16, 8);
  layer->rate = get_float(at + 24);
  layer->k = at[28];
  layer->L = at[29];
  if (layer->capacity < 1 || layer->capacity >> 63 != 0 || get_number(at + 30, 2) != 0)
    return false;
  if (!in_range(layer->rate, ldexp(1, -64)) || layer->k < 1 || layer->k > 64) return false;
  if (layer->lines == 1) {
    return layer->L == 1 && layer->line_bits >= 2 && layer->line_bits <= UINT64_C(1) << 48;
  }
  return layer->lines >= 2 && layer->lines <= UINT64_C(1) << 39 && layer->line_bits == 512 &&
         layer->L == (layer->k + 3) / 4;
}

static uint64_t layer_bits(const Judged *judged, const Layer *layer) {
  return layer->lines * layer->line_bits * judged->cell_bits;
}

/* Steps 8 to 13. */
static bool read_fields(Judged *judged, size_t header) {
  const uint8_t *bytes = judged->bytes;
  uint64_t end = header;
  judged->key_types = bytes[8];
  judged->p = get_float(bytes + 12);
  judged->n = get_number(bytes + 16, 8);
  judged->cell_bits = judged->kind == 2 ? 4 : 1;
  if (bytes[7] >> 4 != 0 || bytes[8] >> 4 != 0 || get_number(bytes + 10, 2) != 0) return false;
  if (judged->layer_count == 0) {
    if (judged->n != 0 || get_number(bytes + 12, 4) != 0 || judged->kind != 1) return false;
  } else if (judged->n < 1 || !in_range(judged->p, 1e-9)) {
    return false;
  }
  for (unsigned i = 0; i < judged->layer_count; i++) {
    if (!read_layer(bytes + 32 + 32 * i, &judged->layers[i])) return false;
    judged->layers[i].offset = (size_t)end;
    end += (layer_bits(judged, &judged->layers[i]) + 7) / 8;
  }
  if (end != judged->size || (judged->kind == 2 && judged->layer_count > 1)) return false;
  return judged->layer_count == 0 ||
         (judged->layers[0].capacity == judged->n && judged->layers[0].rate == judged->p);
}

/* Step 14. */
static bool body_is_right(const Judged *judged, size_t header) {
  const uint8_t *bytes = judged->bytes;
  if (get_number(bytes + 24, 8) != XXH3_64bits(bytes + header, judged->size - header)) return false;
  for (unsigned i = 0; i < judged->layer_count; i++) {
    uint64_t bits = layer_bits(judged, &judged->layers[i]);
    if (bits % 8 != 0 && bytes[judged->layers[i].offset + bits / 8] >> bits % 8 != 0) return false;
  }
  return true;
}

void judge(const uint8_t *bytes, size_t size, Judged *judged) {
  static const uint8_t magic[] = {0xc1, 'B', 'F', 0xf5};
  size_t header;
  memset(judged, 0, offsetof(Judged, layers));
  judged->bytes = bytes;
  judged->size = size;
  say(judged, REFUSED, "damaged filter: ");
  if (size < 4 || memcmp(bytes, magic, 4) != 0) {
    say(judged, REFUSED, "not a bloom filter");
  } else if (size < 40) {
    return;
  } else if (bytes[4] != 1) {
    say(judged, REFUSED, "unsupported filter version");
  } else if (bytes[6] != 1) {
    say(judged, REFUSED, "unsupported hash scheme");
  } else if (bytes[9] <= 64 && (header = header_size(bytes, size)) != SIZE_MAX &&
             XXH3_64bits(bytes, header - 8) == get_number(bytes + header - 8, 8)) {
    judged->kind = bytes[5];
    judged->layer_count = bytes[9];
    if (judged->kind != 1 && judged->kind != 2) {
      say(judged, REFUSED, "unsupported filter kind");
    } else if (read_fields(judged, header)) {
      say(judged, RIGHT, NULL);
      if (!body_is_right(judged, header)) {
        say(judged, BODY_DAMAGED, "damaged filter: the body's checksum does not match");
      }
    }
  }
}

/* ---- Keys, Positions, Cells ---- */

uint64_t hash_of(int64_t key) {
  uint8_t bytes[8];
  put_number(bytes, 8, (uint64_t)key);
  return XXH3_64bits_withSeed(bytes, 8, 1);
}

/* By halves, as on paper: 32-bit machines have no wider type. */
static uint64_t mulhi(uint64_t a, uint64_t b) {
  uint64_t low_a = a & UINT32_MAX, high_a = a >> 32, low_b = b & UINT32_MAX, high_b = b >> 32;
  uint64_t carry =
      (low_a * low_b >> 32) + (high_a * low_b & UINT32_MAX) + (low_a * high_b & UINT32_MAX);
  return high_a * high_b + (high_a * low_b >> 32) + (low_a * high_b >> 32) + (carry >> 32);
}

void judged_cells(const Layer *layer, uint64_t hash, uint64_t cells[64]) {
  const uint64_t C = UINT64_C(0xf1357aea2e62a9c5);
  uint64_t a = hash | 1, lines[16];
  unsigned drawn = 0;
  for (unsigned l = 0; l < layer->L; l++, a *= C) lines[l] = mulhi(a, layer->lines);
  for (unsigned l = 0; l < layer->L; l++) {
    unsigned draws = layer->k / layer->L + (l < layer->k % layer->L);
    for (; draws > 0; draws--, a *= C) {
      cells[drawn++] = lines[l] * layer->line_bits + mulhi(a, layer->line_bits);
    }
  }
}

unsigned judged_cell(const Judged *judged, unsigned layer, uint64_t cell) {
  const uint8_t *cells = judged->bytes + judged->layers[layer].offset;
  if (judged->cell_bits == 4) return cells[cell / 2] >> (cell % 2 == 0 ? 0 : 4) & 15;
  return cells[cell / 8] >> cell % 8 & 1;
}

bool judged_contains(const Judged *judged, uint64_t hash) {
  uint64_t cells[64];
  for (unsigned i = 0; i < judged->layer_count; i++) {
    unsigned in = 0;
    judged_cells(&judged->layers[i], hash, cells);
    while (in < judged->layers[i].k && judged_cell(judged, i, cells[in]) != 0) in++;
    if (in == judged->layers[i].k) return true;
  }
  return false;
}

/* ---- Estimates ---- */

uint64_t judged_occupied(const Judged *judged, unsigned layer) {
  uint64_t cells = judged->layers[layer].lines * judged->layers[layer].line_bits, occupied = 0;
  for (uint64_t i = 0; i < cells; i++) occupied += judged_cell(judged, layer, i) != 0;
  return occupied;
}

static double keys_of(const Layer *layer, uint64_t occupied) {
  double cells = (double)layer->lines * (double)layer->line_bits, f = 0;
  if (layer->lines == 1) {
    f = layer->k * log1p(-1 / cells);
  } else {
    for (unsigned l = 0; l < layer->L; l++) {
      f += expm1((layer->k / layer->L + (l < layer->k % layer->L)) * log1p(-1.0 / 512));
    }
    f /= (double)layer->lines;
  }
  return log1p(-(double)occupied / cells) / f;
}

static double layer_rate(const Judged *judged, unsigned number) {
  const Layer *layer = &judged->layers[number];
  unsigned t = layer->k / layer->L, q = layer->k % layer->L;
  double few = 0, more = 0;
  for (uint64_t line = 0; line < layer->lines; line++) {
    uint64_t occupied = 0;
    for (uint64_t i = 0; i < layer->line_bits; i++) {
      occupied += judged_cell(judged, number, line * layer->line_bits + i) != 0;
    }
    few += pow((double)occupied / (double)layer->line_bits, t);
    more += pow((double)occupied / (double)layer->line_bits, t + 1);
  }
  return pow(few / (double)layer->lines, layer->L - q) * pow(more / (double)layer->lines, q);
}

void judged_estimates(const Judged *judged, double *count, double *rate) {
  double none = 1;
  *count = *rate = 0;
  for (unsigned i = 0; i < judged->layer_count; i++) {
    uint64_t occupied = judged_occupied(judged, i);
    double of_layer = layer_rate(judged, i);
    if (occupied > 0) *count += none > 0 ? keys_of(&judged->layers[i], occupied) / none : INFINITY;
    *rate += of_layer * none;
    none *= 1 - of_layer;
  }
}
