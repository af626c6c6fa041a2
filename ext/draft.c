/* draft.c: filters in the making. See draft.h. */
#include "draft.h"

#include <math.h>

bool bloom_read_p(double number, float *p) {
  *p = (float)number; /* or infinity */
  return number >= BLOOM_MIN_P * (1 - 1e-12) && *p < 1;
}

/* ---- made, and given layers ---- */

void bloom_draft_start(BloomDraft *draft, uint64_t limit, void *(*resize)(void *, uint64_t)) {
  draft->bytes = NULL;
  draft->limit = limit;
  draft->resize = resize;
  memset(&draft->filter, 0, offsetof(BloomFilter, layers));
}

/* Gives the draft `size` bytes, old ones kept. */
static int resize_draft(BloomDraft *draft, uint64_t size) {
  uint8_t *bytes;
  if (size > draft->limit) return BLOOM_TOO_LARGE;
  bytes = draft->resize(draft->bytes, size);
  if (bytes == NULL) return BLOOM_NO_MEMORY;
  large_pages(bytes, size);
  draft->bytes = bytes;
  draft->filter.bytes = bytes;
  return BLOOM_DONE;
}

int bloom_draft_start_empty(BloomDraft *draft) {
  draft->filter.kind = BLOOM_PLAIN;
  draft->filter.cell_bits = 1;
  draft->filter.body = draft->filter.size = bloom_header_bytes(0);
  return resize_draft(draft, draft->filter.size);
}

/* Makes room for one more layer: its cells at the end, its table entry before the body. */
static int append_geometry(BloomDraft *draft, uint64_t capacity, float rate,
                           const BloomGeometry *geometry) {
  uint64_t body = draft->filter.body, size = draft->filter.size;
  uint64_t cells = bloom_layer_bytes(geometry, draft->filter.cell_bits);
  int code;
  if (draft->filter.layer_count == BLOOM_MAX_LAYERS) return BLOOM_NO_LAYER;
  code = resize_draft(draft, size + BLOOM_LAYER_BYTES + cells);
  if (code != BLOOM_DONE) return code;
  bloom_append_layer(&draft->filter, capacity, rate, geometry);
  memmove(draft->bytes + draft->filter.body, draft->bytes + body, (size_t)(size - body));
  return BLOOM_DONE;
}

static int append_empty(BloomDraft *draft, uint64_t capacity, float rate,
                        const BloomGeometry *geometry) {
  int code = append_geometry(draft, capacity, rate, geometry);
  if (code == BLOOM_DONE) {
    uint64_t at = draft->filter.layers[draft->filter.layer_count - 1].offset;
    memset(draft->bytes + at, 0, (size_t)(draft->filter.size - at));
  }
  return code;
}

int bloom_draft_append(BloomDraft *draft, uint64_t capacity, float rate) {
  BloomGeometry geometry;
  if (!bloom_geometry(capacity, rate, &geometry)) return BLOOM_TOO_LARGE;
  return append_empty(draft, capacity, rate, &geometry);
}

int bloom_draft_append_copy(BloomDraft *draft, const BloomFilter *from, unsigned layer) {
  const BloomLayer *source = &from->layers[layer];
  int code = append_geometry(draft, source->capacity, source->rate, &source->geometry);
  if (code == BLOOM_DONE) {
    memcpy(draft->bytes + draft->filter.layers[draft->filter.layer_count - 1].offset,
           from->bytes + source->offset,
           (size_t)bloom_layer_bytes(&source->geometry, from->cell_bits));
  }
  return code;
}

int bloom_draft_start_sized(BloomDraft *draft, const BloomParams *params,
                            const BloomGeometry *geometry) {
  draft->filter.n = params->n;
  draft->filter.p = params->p;
  draft->filter.kind = params->kind;
  draft->filter.cell_bits = params->kind == BLOOM_COUNTING ? 4 : 1;
  draft->filter.body = draft->filter.size = bloom_header_bytes(0);
  return geometry ? append_empty(draft, params->n, params->p, geometry)
                  : bloom_draft_append(draft, params->n, params->p);
}

/* Layer by layer: those of a bloom_ref do not lie as in a blob. */
int bloom_draft_start_copy(BloomDraft *draft, const BloomFilter *from) {
  BloomFilter *filter = &draft->filter;
  int code;
  memcpy(filter, from, offsetof(BloomFilter, layers));
  filter->layer_count = 0;
  filter->body = filter->size = bloom_header_bytes(0);
  for (unsigned i = 0; i < from->layer_count; i++) {
    const BloomLayer *layer = &from->layers[i];
    bloom_append_layer(filter, layer->capacity, layer->rate, &layer->geometry);
  }
  code = resize_draft(draft, filter->size);
  if (code != BLOOM_DONE) return code;
  for (unsigned i = 0; i < from->layer_count; i++) {
    memcpy(draft->bytes + filter->layers[i].offset, from->bytes + from->layers[i].offset,
           (size_t)bloom_layer_bytes(&from->layers[i].geometry, from->cell_bits));
  }
  return BLOOM_DONE;
}

void bloom_draft_free(BloomDraft *draft) {
  if (draft->bytes) draft->resize(draft->bytes, 0);
  draft->bytes = NULL;
}

/* ---- growth by additions ---- */

int bloom_draft_add(BloomDraft *draft, uint64_t hash, BloomFill *fill) {
  const BloomFilter *filter = &draft->filter;
  if (filter->kind == BLOOM_COUNTING) {
    bloom_layer_increment(&filter->layers[0], draft->bytes, hash);
    return BLOOM_DONE;
  }
  if (bloom_contains(filter, hash)) return BLOOM_DONE;
  if (fill->occupied < 0) bloom_count_fill(filter, fill);
  if (bloom_is_full(filter, fill)) {
    float rate;
    uint64_t capacity = bloom_next_layer(filter, &rate);
    int code = bloom_draft_append(draft, capacity, rate);
    if (code != BLOOM_DONE) return code;
    bloom_count_fill(filter, fill);
  }
  fill->occupied +=
      bloom_layer_insert(&filter->layers[filter->layer_count - 1], draft->bytes, hash);
  return BLOOM_DONE;
}

/* ---- builds ---- */

/* Layer 0 takes keys until its rate is p/2; but of n keys no more are left to the tail than fill it
** half, so that a fuller tail has certainly outgrown n. With few keys the rate of a layer is above
** what its mean says, so then the tail takes all. */
uint64_t bloom_draft_early_keys(const BloomDraft *draft, double *budget) {
  enum {
    FEW_KEYS = 64
  };
  const BloomGeometry *geometry = &draft->filter.layers[0].geometry;
  double n = (double)draft->filter.n, half, early;
  *budget = draft->filter.p;
  if (draft->filter.n < FEW_KEYS) return 0;
  half = bloom_keys_at(geometry, draft->filter.p / 2.0);
  early = floor(fmin(n, fmax(half, n - BLOOM_LATE_KEYS)));
  *budget -= bloom_rate_at(geometry, early);
  return (uint64_t)early;
}

/* ---- merging ---- */

static void merge_key_types(BloomDraft *draft, const BloomFilter *filter, enum BloomMerge merge) {
  if (merge == BLOOM_UNION) {
    draft->filter.key_types |= filter->key_types;
  } else {
    draft->filter.key_types &= filter->key_types;
  }
}

static int merge_layers(BloomDraft *draft, const BloomFilter *filter, enum BloomMerge merge) {
  unsigned count = draft->filter.layer_count;
  bool taken[BLOOM_MAX_LAYERS] = {false};
  for (unsigned i = 0; i < filter->layer_count; i++) {
    const BloomLayer *from = &filter->layers[i];
    unsigned into = bloom_place_layer(&draft->filter, count, taken, from);
    if (into == count) {
      int code = bloom_draft_append_copy(draft, filter, i);
      if (code != BLOOM_DONE) return code;
      continue;
    }
    bloom_merge_cells(
        draft->bytes + draft->filter.layers[into].offset, filter->bytes + from->offset,
        bloom_layer_bytes(&from->geometry, filter->cell_bits), filter->cell_bits, merge);
  }
  merge_key_types(draft, filter, merge);
  return BLOOM_DONE;
}

/* Union: nothing and a filter; intersection: a filter and nothing. The second it is, if they are
** not both nothing. */
static int take_unsized(BloomDraft *draft, const BloomFilter *filter, enum BloomMerge merge) {
  bool draft_unsized = draft->filter.layer_count == 0, unsized = filter->layer_count == 0;
  BloomDraft copy;
  int code;
  if (draft_unsized == unsized || draft_unsized != (merge == BLOOM_UNION)) return BLOOM_DONE;
  bloom_draft_start(&copy, draft->limit, draft->resize);
  code = bloom_draft_start_copy(&copy, filter);
  if (code != BLOOM_DONE) return code;
  bloom_draft_free(draft);
  *draft = copy;
  return BLOOM_DONE;
}

int bloom_draft_take(BloomDraft *draft, const BloomFilter *filter, bool verified,
                     enum BloomMerge merge) {
  bool sized = draft->filter.layer_count > 0 && filter->layer_count > 0;
  if (sized && !bloom_may_merge(&draft->filter, filter)) return BLOOM_DIFFERENT;
  if (sized && merge == BLOOM_INTERSECT &&
      (draft->filter.layer_count > 1 || filter->layer_count > 1)) {
    return BLOOM_OUTGROWN;
  }
  if (sized && filter->layer_count == 1 && !verified) {
    uint8_t *into = draft->bytes + draft->filter.layers[0].offset;
    if (!bloom_merge_intact(into, filter, merge)) return BLOOM_DAMAGED;
    merge_key_types(draft, filter, merge);
    return BLOOM_DONE;
  }
  if (!verified && !bloom_intact(filter)) return BLOOM_DAMAGED;
  return sized ? merge_layers(draft, filter, merge) : take_unsized(draft, filter, merge);
}
