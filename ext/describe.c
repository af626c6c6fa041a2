/* describe.c: what a filter knows of itself, as JSON. */
#include "describe.h"

#include <math.h>

#include "args.h"
#include "format.h"

/* A string in the making, not empty, becomes the result. Without an error so far it is there. */
static void result_text(sqlite3_context *context, sqlite3_str *text) {
  int code = sqlite3_str_errcode(text);
  char *result = sqlite3_str_finish(text);
  if (code == SQLITE_OK) {
    sqlite3_result_text(context, result, -1, sqlite3_free);
  } else {
    sqlite3_free(result);
    bloom_fail_code(context, code);
  }
}

static const char *layout_name(const BloomFilter *filter) {
  if (filter->layer_count == 0) return "empty";
  return filter->layers[0].geometry.lines == 1 ? "flat" : "lines";
}

static void write_key_types(sqlite3_str *text, uint8_t key_types) {
  static const char *const names[] = {"integer", "real", "text", "blob"};
  const char *comma = "";
  for (unsigned i = 0; i < 4; i++) {
    if ((key_types >> i & 1) == 0) continue;
    sqlite3_str_appendf(text, "%s\"%s\"", comma, names[i]);
    comma = ",";
  }
}

static void write_layers(sqlite3_str *text, const BloomFilter *filter) {
  for (unsigned i = 0; i < filter->layer_count; i++) {
    const BloomLayer *layer = &filter->layers[i];
    sqlite3_str_appendf(text,
                        "%s{\"capacity\":%llu,\"rate\":%!.7g,\"k\":%d,\"L\":%d,\"lines\":%llu,"
                        "\"line_bits\":%llu,\"bits_set\":%llu}",
                        i > 0 ? "," : "", layer->capacity, (double)layer->rate, layer->geometry.k,
                        layer->geometry.L, layer->geometry.lines, layer->geometry.line_bits,
                        bloom_layer_occupied(layer, filter->cell_bits, filter->bytes));
  }
}

void bloom_describe(sqlite3_context *context, const BloomFilter *filter) {
  BloomFacts facts;
  sqlite3_str *text;
  bloom_facts(filter, &facts);
  text = sqlite3_str_new(sqlite3_context_db_handle(context));
  sqlite3_str_appendf(text, "{\"version\":%d,\"kind\":\"%s\",\"layout\":\"%s\"",
                      BLOOM_FORMAT_VERSION, bloom_kind_name(filter->kind), layout_name(filter));
  if (filter->layer_count > 0) {
    sqlite3_str_appendf(text, ",\"n\":%llu,\"p\":%!.7g,\"k\":%d", filter->n, (double)filter->p,
                        filter->layers[0].geometry.k);
  } else {
    sqlite3_str_appendf(text, ",\"n\":null,\"p\":null,\"k\":0");
  }
  sqlite3_str_appendf(text, ",\"bits\":%llu,\"bytes\":%llu,\"layers\":%d,\"bits_set\":%llu",
                      facts.cells, filter->size, filter->layer_count, facts.occupied);
  sqlite3_str_appendf(text, ",\"fill\":%!.7g",
                      facts.cells > 0 ? (double)facts.occupied / (double)facts.cells : 0.0);
  if (facts.count < (double)INT64_MAX) {
    sqlite3_str_appendf(text, ",\"count\":%lld", (sqlite3_int64)llround(facts.count));
  } else {
    sqlite3_str_appendf(text, ",\"count\":null");
  }
  sqlite3_str_appendf(text, ",\"fpr\":%!.7g,\"key_types\":[", facts.rate);
  write_key_types(text, filter->key_types);
  sqlite3_str_appendf(text, "],\"checksum\":\"ok\",\"layer_table\":[");
  write_layers(text, filter);
  sqlite3_str_appendf(text, "]}");
  result_text(context, text);
}

/* One layer of bloom_explain: the lines of the key, its cells in the layer, what is in them. */
static void explain_layer(sqlite3_str *text, const BloomFilter *filter, const BloomLayer *layer,
                          uint64_t hash) {
  uint64_t cells[BLOOM_MAX_K];
  const BloomGeometry *g = &layer->geometry;
  const uint8_t *bytes = filter->bytes + layer->offset;
  unsigned at = 0;
  bloom_layer_positions(layer, hash, cells);
  sqlite3_str_appendf(text, "{\"lines\":[");
  for (unsigned l = 0; l < g->L; l++) {
    sqlite3_str_appendf(text, "%s%llu", l > 0 ? "," : "", cells[at] / g->line_bits);
    at += bloom_cells_in_line(g->k, g->L, l);
  }
  sqlite3_str_appendf(text, "],\"positions\":[");
  for (unsigned i = 0; i < g->k; i++) {
    sqlite3_str_appendf(text, "%s%llu", i > 0 ? "," : "", cells[i]);
  }
  sqlite3_str_appendf(text, "],\"%s\":[", filter->cell_bits == 1 ? "bits" : "counters");
  for (unsigned i = 0; i < g->k; i++) {
    uint64_t bit = cells[i] * filter->cell_bits;
    sqlite3_str_appendf(text, "%s%d", i > 0 ? "," : "",
                        bytes[bit / 8] >> bit % 8 & ((1 << filter->cell_bits) - 1));
  }
  sqlite3_str_appendf(text, "],\"contains\":%d}",
                      bloom_layer_contains(layer, filter->cell_bits, filter->bytes, hash));
}

void bloom_describe_key(sqlite3_context *context, const BloomFilter *filter, uint64_t hash,
                        uint8_t type) {
  sqlite3_str *text;
  text = sqlite3_str_new(sqlite3_context_db_handle(context));
  sqlite3_str_appendf(text, "{\"key_type\":");
  write_key_types(text, type);
  sqlite3_str_appendf(text, ",\"hash\":\"%016llx\",\"contains\":%d,\"layers\":[", hash,
                      bloom_contains(filter, hash));
  for (unsigned i = 0; i < filter->layer_count; i++) {
    if (i > 0) sqlite3_str_appendf(text, ",");
    explain_layer(text, filter, &filter->layers[i], hash);
  }
  sqlite3_str_appendf(text, "]}");
  result_text(context, text);
}
