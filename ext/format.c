/* format.c: the one decode gate, and the one writer. FORMAT.md says what the bytes mean.
**
**     0       4  5  6  7  8  9  10  12    16        24          32                32+32t     40+32t
**     | magic |v |k |s |f |t |l | 0 |  p  |    n    | body hash | t layer entries | checksum |
*cells
**
** v version, k kind, s hash scheme, f flags, t key types, l layer count.
*/
#include "format.h"

#include <stdio.h>

#include "hash.h"

/* 0xc1 and 0xf5 occur in no UTF-8 text, so a filter that went through a string is found out. */
static const uint8_t MAGIC[4] = {0xc1, 'B', 'F', 0xf5};

enum {
  AT_VERSION = 4,
  AT_KIND = 5,
  AT_SCHEME = 6,
  AT_FLAGS = 7,
  AT_KEY_TYPES = 8,
  AT_LAYER_COUNT = 9,
  AT_RESERVED = 10,
  AT_P = 12,
  AT_N = 16,
  AT_BODY_HASH = 24,
  RESERVED_FLAGS = 0xf0, /* the low four may get a meaning that a reader may ignore */
  ALL_KEY_TYPES = 0x0f,
  LAYER_CAPACITY = 0, /* offsets within a layer entry */
  LAYER_LINES = 8,
  LAYER_LINE_BITS = 16,
  LAYER_RATE = 24,
  LAYER_K = 28,
  LAYER_L = 29,
  LAYER_RESERVED = 30
};

static const uint64_t MAX_CELLS = UINT64_C(1) << 48;

/* A reason with up to two numbers; false, so that a check can end with it. */
static bool refuse(char *reason, const char *format, uint64_t a, uint64_t b) {
  /* The formats are literals of this file with at most two %llu each. */
  snprintf(reason, BLOOM_REASON_BYTES, format, (unsigned long long)a, (unsigned long long)b);
  return false;
}

static bool refuse_in_words(char *reason, const char *text) {
  return refuse(reason, text, 0, 0);
}

bool bloom_looks_like_filter(const void *bytes, uint64_t size) {
  return size >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}

static bool rate_in_range(float rate, double least) {
  return rate >= (float)least && rate < 1;
}

static size_t entry_offset(unsigned layer) {
  return BLOOM_FIXED_BYTES + (size_t)layer * BLOOM_LAYER_BYTES;
}

/* One entry of the layer table. Everything later code divides by, shifts by or loops to is bounded
** here. */
static bool decode_layer(const uint8_t *entry, BloomLayer *layer) {
  BloomGeometry *g = &layer->geometry;
  layer->capacity = load_le64(entry + LAYER_CAPACITY);
  layer->rate = float_of_bits(load_le32(entry + LAYER_RATE));
  g->lines = load_le64(entry + LAYER_LINES);
  g->line_bits = load_le64(entry + LAYER_LINE_BITS);
  g->k = entry[LAYER_K];
  g->L = entry[LAYER_L];
  if (layer->capacity < 1 || layer->capacity > INT64_MAX) return false;
  if (!rate_in_range(layer->rate, BLOOM_MIN_RATE)) return false;
  if (g->k < 1 || g->k > BLOOM_MAX_K) return false;
  if (entry[LAYER_RESERVED] != 0 || entry[LAYER_RESERVED + 1] != 0) return false;
  if (g->lines == 1) return g->L == 1 && g->line_bits >= 2 && g->line_bits <= MAX_CELLS;
  return g->lines > 1 && g->lines <= MAX_CELLS / BLOOM_LINE_CELLS &&
         g->line_bits == BLOOM_LINE_CELLS && g->L == (g->k + 3) / 4;
}

static bool decode_fixed(const uint8_t *bytes, BloomFilter *filter, char *reason) {
  filter->kind = bytes[AT_KIND];
  filter->key_types = bytes[AT_KEY_TYPES];
  filter->n = load_le64(bytes + AT_N);
  filter->p = float_of_bits(load_le32(bytes + AT_P));
  filter->body_hash = load_le64(bytes + AT_BODY_HASH);
  filter->cell_bits = filter->kind == BLOOM_COUNTING ? 4 : 1;
  if (filter->kind != BLOOM_PLAIN && filter->kind != BLOOM_COUNTING) {
    return refuse(reason, "unsupported filter kind %llu", filter->kind, 0);
  }
  if ((bytes[AT_FLAGS] & RESERVED_FLAGS) != 0 || filter->key_types > ALL_KEY_TYPES ||
      bytes[AT_RESERVED] != 0 || bytes[AT_RESERVED + 1] != 0) {
    return refuse_in_words(reason, "damaged filter: reserved bits are set");
  }
  if (filter->layer_count == 0) {
    if (filter->n == 0 && bits_of_float(filter->p) == 0 && filter->kind == BLOOM_PLAIN) return true;
  } else if (filter->n >= 1 && rate_in_range(filter->p, BLOOM_MIN_P)) {
    return true;
  }
  return refuse_in_words(reason, "damaged filter: n or p is out of range");
}

/* The layers' entries; false, with the reason, at the first that is wrong. */
static bool decode_layers(BloomFilter *filter, char *reason) {
  uint64_t end = filter->body;
  for (unsigned i = 0; i < filter->layer_count; i++) {
    BloomLayer *layer = &filter->layers[i];
    if (!decode_layer(filter->bytes + entry_offset(i), layer)) {
      return refuse(reason, "damaged filter: layer %llu is out of range", i, 0);
    }
    layer->offset = end;
    end += bloom_layer_bytes(&layer->geometry, filter->cell_bits); /* at most 64 * 2^47 */
  }
  filter->size = end;
  return true;
}

/* What the parts say of each other. */
static bool decode_agrees(const BloomFilter *filter, char *reason) {
  if (filter->layer_count > 1 && filter->kind == BLOOM_COUNTING) {
    return refuse(reason, "damaged filter: a counting filter of %llu layers", filter->layer_count,
                  0);
  }
  if (filter->layer_count > 0 &&
      (filter->layers[0].capacity != filter->n || filter->layers[0].rate != filter->p)) {
    return refuse_in_words(reason, "damaged filter: its first layer is not one of n and p");
  }
  return true;
}

static bool decode_parts(const uint8_t *bytes, uint64_t size, BloomFilter *filter, char *reason) {
  if (!bloom_looks_like_filter(bytes, size)) {
    return refuse_in_words(reason, "not a bloom filter");
  }
  if (size < bloom_header_bytes(0)) {
    return refuse(reason, "damaged filter: only %llu bytes of a header", size, 0);
  }
  if (bytes[AT_VERSION] != BLOOM_FORMAT_VERSION) {
    return refuse(reason, "unsupported filter version %llu (this build reads version %llu)",
                  bytes[AT_VERSION], BLOOM_FORMAT_VERSION);
  }
  if (bytes[AT_SCHEME] != BLOOM_HASH_SCHEME) {
    return refuse(reason, "unsupported hash scheme %llu (this build reads scheme %llu)",
                  bytes[AT_SCHEME], BLOOM_HASH_SCHEME);
  }
  unsigned layers = bytes[AT_LAYER_COUNT];
  uint64_t header = bloom_header_bytes(layers);
  if (layers > BLOOM_MAX_LAYERS || size < header) {
    return refuse(reason, "damaged filter: %llu layers in %llu bytes", layers, size);
  }
  if (XXH3_64bits(bytes, (size_t)(header - BLOOM_CHECK_BYTES)) !=
      load_le64(bytes + header - BLOOM_CHECK_BYTES)) {
    return refuse_in_words(reason, "damaged filter: the header's checksum does not match");
  }
  filter->bytes = bytes;
  filter->body = header;
  filter->layer_count = (uint8_t)layers;
  return decode_fixed(bytes, filter, reason) && decode_layers(filter, reason);
}

bool bloom_decode_header(const void *blob, uint64_t size, BloomFilter *filter,
                         char reason[BLOOM_REASON_BYTES]) {
  return decode_parts(blob, size, filter, reason) && decode_agrees(filter, reason);
}

bool bloom_decode(const void *blob, uint64_t size, BloomFilter *filter,
                  char reason[BLOOM_REASON_BYTES]) {
  if (!decode_parts(blob, size, filter, reason)) return false;
  if (filter->size != size) {
    return refuse(reason, "damaged filter: %llu bytes where its header says %llu", size,
                  filter->size);
  }
  return decode_agrees(filter, reason);
}

bool bloom_padding_is_zero(const BloomLayer *layer, unsigned cell_bits, const uint8_t *bytes) {
  uint64_t bits = bloom_cells(&layer->geometry) * cell_bits;
  return bits % 8 == 0 || bytes[layer->offset + bits / 8] >> bits % 8 == 0;
}

bool bloom_intact(const BloomFilter *filter) {
  if (XXH3_64bits(filter->bytes + filter->body, (size_t)(filter->size - filter->body)) !=
      filter->body_hash) {
    return false;
  }
  for (unsigned i = 0; i < filter->layer_count; i++) {
    if (!bloom_padding_is_zero(&filter->layers[i], filter->cell_bits, filter->bytes)) return false;
  }
  return true;
}

bool bloom_merge_intact(uint8_t *into, const BloomFilter *filter, enum BloomMerge merge) {
  enum {
    BLOCK = 4 * 1024
  }; /* stays in the first cache */
  const uint8_t *from = filter->bytes + filter->layers[0].offset;
  uint64_t size = bloom_layer_bytes(&filter->layers[0].geometry, filter->cell_bits);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (uint64_t at = 0; at < size; at += BLOCK) {
    uint64_t block = size - at < BLOCK ? size - at : BLOCK;
    XXH3_64bits_update(&state, from + at, (size_t)block);
    bloom_merge_cells(into + at, from + at, block, filter->cell_bits, merge);
  }
  return XXH3_64bits_digest(&state) == filter->body_hash &&
         bloom_padding_is_zero(&filter->layers[0], filter->cell_bits, filter->bytes);
}

void bloom_append_layer(BloomFilter *filter, uint64_t capacity, float rate,
                        const BloomGeometry *geometry) {
  BloomLayer *layer = &filter->layers[filter->layer_count++];
  layer->geometry = *geometry;
  layer->capacity = capacity;
  layer->rate = rate;
  layer->offset = filter->size + BLOOM_LAYER_BYTES; /* the table grew by this entry */
  for (unsigned i = 0; i + 1 < filter->layer_count; i++) {
    filter->layers[i].offset += BLOOM_LAYER_BYTES;
  }
  filter->body += BLOOM_LAYER_BYTES;
  filter->size = layer->offset + bloom_layer_bytes(geometry, filter->cell_bits);
}

void bloom_encode_header(const BloomFilter *filter, uint64_t body_hash, uint8_t *bytes) {
  memset(bytes, 0, BLOOM_FIXED_BYTES);
  memcpy(bytes, MAGIC, sizeof MAGIC);
  bytes[AT_VERSION] = BLOOM_FORMAT_VERSION;
  bytes[AT_KIND] = filter->kind;
  bytes[AT_SCHEME] = BLOOM_HASH_SCHEME;
  bytes[AT_KEY_TYPES] = filter->key_types;
  bytes[AT_LAYER_COUNT] = filter->layer_count;
  store_le32(bytes + AT_P, bits_of_float(filter->p));
  store_le64(bytes + AT_N, filter->n);
  store_le64(bytes + AT_BODY_HASH, body_hash);
  for (unsigned i = 0; i < filter->layer_count; i++) {
    const BloomLayer *layer = &filter->layers[i];
    uint8_t *entry = bytes + entry_offset(i);
    memset(entry, 0, BLOOM_LAYER_BYTES);
    store_le64(entry + LAYER_CAPACITY, layer->capacity);
    store_le64(entry + LAYER_LINES, layer->geometry.lines);
    store_le64(entry + LAYER_LINE_BITS, layer->geometry.line_bits);
    store_le32(entry + LAYER_RATE, bits_of_float(layer->rate));
    entry[LAYER_K] = layer->geometry.k;
    entry[LAYER_L] = layer->geometry.L;
  }
  uint64_t covered = filter->body - BLOOM_CHECK_BYTES;
  store_le64(bytes + covered, XXH3_64bits(bytes, (size_t)covered));
}

void bloom_encode(const BloomFilter *filter, uint8_t *bytes) {
  bloom_encode_header(
      filter, XXH3_64bits(bytes + filter->body, (size_t)(filter->size - filter->body)), bytes);
}
