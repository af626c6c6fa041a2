/* library.c: filters for programs without SQLite. See bloom.h.
**
** Above the kernel rooms, beside the SQL rooms. The loadable extension does without it.
*/
#include "bloom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "draft.h"
#include "hashes.h"
#include "key.h"

struct BloomReader {
  BloomFilter filter;
};

/* ---- keys ---- */

static uint64_t hash_of(const BloomKey *key, unsigned *types) {
  if (types) *types |= key->type;
  return bloom_key_hash(key);
}

uint64_t bloom_hash_integer(int64_t integer, unsigned *types) {
  BloomKey key;
  bloom_key_integer(&key, integer);
  return hash_of(&key, types);
}

uint64_t bloom_hash_real(double real, unsigned *types) {
  BloomKey key;
  bloom_key_real(&key, real);
  return hash_of(&key, types);
}

uint64_t bloom_hash_text(const char *utf8, size_t size, unsigned *types) {
  BloomKey key;
  bloom_key_text(&key, utf8, size);
  return hash_of(&key, types);
}

uint64_t bloom_hash_blob(const void *bytes, size_t size, unsigned *types) {
  BloomKey key;
  bloom_key_blob(&key, bytes, size);
  return hash_of(&key, types);
}

/* ---- errors and memory ---- */

static bool say(char *error, const char *reason) {
  if (error) snprintf(error, BLOOM_ERROR_BYTES, "%s", reason);
  return false;
}

static bool say_code(char *error, int code) {
  switch (code) {
    case BLOOM_NO_MEMORY:
      return say(error, "out of memory");
    case BLOOM_NO_LAYER:
      return say(error, "the filter would have too many layers: build it with a larger n");
    case BLOOM_DIFFERENT:
      return say(error, "the filters differ in n, p or kind");
    case BLOOM_DAMAGED:
      return say(error, BLOOM_BODY_DAMAGED);
    default:
      return say(error, "the filter would be too large for this n and p");
  }
}

static void *resize_on_heap(void *bytes, uint64_t size) {
  if (size == 0) {
    free(bytes);
    return NULL;
  }
  return size <= SIZE_MAX ? realloc(bytes, (size_t)size) : NULL;
}

static void start_on_heap(BloomDraft *draft) {
  bloom_draft_start(draft, INT64_MAX, resize_on_heap);
}

/* The draft's bytes become the blob's. */
static void hand_over(BloomDraft *draft, BloomBlob *blob) {
  bloom_encode(&draft->filter, draft->bytes);
  blob->bytes = draft->bytes;
  blob->size = (size_t)draft->filter.size;
}

void bloom_blob_free(BloomBlob *blob) {
  free(blob->bytes);
  blob->bytes = NULL;
  blob->size = 0;
}

/* ---- build ---- */

static void put_all(BloomDraft *draft, const uint64_t *hashes, uint64_t count) {
  const BloomLayer *layer = &draft->filter.layers[draft->filter.layer_count - 1];
  if (draft->filter.kind == BLOOM_PLAIN) {
    bloom_layer_insert_all(layer, draft->bytes, hashes, count);
    return;
  }
  for (uint64_t i = 0; i < count; i++) bloom_layer_increment(layer, draft->bytes, hashes[i]);
}

/* As aggregates.c does it, which explains why: the first keys go into the layer of n and p; later
** ones too if there are at most n in all, and otherwise into a second layer of their number. */
static int put_plain(BloomDraft *draft, uint64_t *hashes, uint64_t count) {
  const BloomLayer *layer = &draft->filter.layers[0];
  double budget;
  uint64_t early = bloom_draft_early_keys(draft, &budget), put = 0, at = 0, late = 0;
  for (; at < count && put < early; at++) {
    put += bloom_layer_insert(layer, draft->bytes, hashes[at]) > 0;
  }
  for (; at < count; at++) {
    if (!bloom_contains(&draft->filter, hashes[at])) hashes[late++] = hashes[at];
  }
  late = bloom_hashes_unique(hashes, late, 1, NULL);
  if (late > 0 && put + late > draft->filter.n) {
    int code = bloom_draft_append(draft, late, (float)fmax(budget, BLOOM_MIN_RATE));
    if (code != BLOOM_DONE) return code;
  }
  put_all(draft, hashes, late);
  return BLOOM_DONE;
}

static int build(BloomDraft *draft, uint64_t *hashes, uint64_t count, BloomParams *params) {
  bool counting = params->kind == BLOOM_COUNTING, sized_by_keys = params->n == 0;
  int code;
  if (count == 0) return bloom_draft_start_empty(draft);
  if (sized_by_keys) {
    count = bloom_hashes_unique(hashes, count, counting ? BLOOM_COUNTER_MAX : 1, &params->n);
  }
  code = bloom_draft_start_sized(draft, params, NULL);
  if (code != BLOOM_DONE) return code;
  if (counting || sized_by_keys) {
    put_all(draft, hashes, count);
    return BLOOM_DONE;
  }
  return put_plain(draft, hashes, count);
}

bool bloom_blob_build(BloomBlob *blob, uint64_t *hashes, size_t count, unsigned types, uint64_t n,
                      double p, bool counting, char error[BLOOM_ERROR_BYTES]) {
  BloomParams params = {n, 0, counting ? BLOOM_COUNTING : BLOOM_PLAIN};
  BloomDraft draft;
  int code;
  if (n > INT64_MAX) return say(error, "n is more than 2^63-1");
  if (!bloom_read_p(p, &params.p)) return say(error, "p is not from 1e-9 to below 1");
  start_on_heap(&draft);
  code = build(&draft, hashes, count, &params);
  if (code != BLOOM_DONE) {
    bloom_draft_free(&draft);
    return say_code(error, code);
  }
  draft.filter.key_types = (uint8_t)(count > 0 ? types & BLOOM_TYPE_ALL : 0);
  hand_over(&draft, blob);
  return true;
}

/* ---- union ---- */

/* Decodes, and checks the body too. */
static bool decode_whole(const void *bytes, size_t size, BloomFilter *filter, char *error) {
  char reason[BLOOM_REASON_BYTES];
  if (!bloom_decode(bytes, size, filter, reason)) return say(error, reason);
  if (!bloom_intact(filter)) return say_code(error, BLOOM_DAMAGED);
  return true;
}

bool bloom_blob_union(BloomBlob *blob, const void *other, size_t size,
                      char error[BLOOM_ERROR_BYTES]) {
  BloomFilter first, second;
  BloomDraft draft;
  int code;
  if (!decode_whole(other, size, &second, error)) return false;
  if (blob->bytes && !decode_whole(blob->bytes, blob->size, &first, error)) return false;
  start_on_heap(&draft);
  code = bloom_draft_start_copy(&draft, blob->bytes ? &first : &second);
  if (code == BLOOM_DONE && blob->bytes)
    code = bloom_draft_take(&draft, &second, true, BLOOM_UNION);
  if (code != BLOOM_DONE) {
    bloom_draft_free(&draft);
    return say_code(error, code);
  }
  bloom_blob_free(blob);
  hand_over(&draft, blob);
  return true;
}

/* ---- readers ---- */

BloomReader *bloom_reader_open(const void *bytes, size_t size, char error[BLOOM_ERROR_BYTES]) {
  BloomReader *reader = malloc(sizeof *reader);
  if (reader == NULL) {
    say_code(error, BLOOM_NO_MEMORY);
  } else if (!decode_whole(bytes, size, &reader->filter, error)) {
    free(reader);
    reader = NULL;
  }
  return reader;
}

bool bloom_reader_contains(const BloomReader *reader, uint64_t hash) {
  return bloom_contains(&reader->filter, hash);
}

void bloom_reader_close(BloomReader *reader) {
  free(reader);
}
