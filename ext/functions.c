/* functions.c: the scalar functions.
**
**   bloom_contains(filter, key)        1: perhaps in, 0: certainly not; NULL key -> NULL
**   bloom_ref(filter)                  pointer value: the filter read and checked once
**   bloom_new(n, p[, kind])            an empty filter
**   bloom_add(filter, key, ...)        a new filter with the keys added
**   bloom_remove(filter, key, ...)     counting filters: a new filter without them
**   bloom_union(f, g, ...)             a filter of all keys of both
**   bloom_intersect(f, g, ...)         a filter of the keys that are in both
**   bloom_count(filter)                estimated distinct keys; NULL when saturated
**   bloom_fpr(filter)                  false-positive rate now
**   bloom_info(filter)                 JSON with all that the filter knows of itself
**   bloom_explain(filter, key)         JSON with the bits that a key touches
**   bloom_size(n, p)                   bytes of such a filter
**   bloom_key(a, b, ...)               one key made of several values
**   bloom_version()                    text
*/
#include <math.h>

#include "args.h"
#include "describe.h"
#include "extension.h"
#include "format.h"
#include "keyhash.h"
#include "probe.h"

/* ---- bloom_contains and bloom_ref ---- */

/* What a connection remembers of the filters that came as unbound blobs. */
typedef struct Probes {
  const uint8_t *bytes; /* of the last one: address, size and the hash that its header states, */
  uint64_t size;        /* to see whether it is the same again; never read through */
  uint64_t body_hash;
  uint64_t rows;   /* that it was used for, one after the other */
  uint64_t due;    /* of rows: then its body is verified */
  unsigned copied; /* calls with a blob that an old SQLite copies for every row */
} Probes;

enum {
  COPIES_BLOBS_BEFORE = 3043000, /* SQLite: a subquery's blob is copied for every row */
  LARGE_BLOB = 64 * 1024,
  WARN_AFTER = 1000,
  CHECKED_BYTES_PER_ROW = 4096, /* what a row may cost more so that damage is found */
  COPIED_BYTES_PER_ROW = 256    /* and so that later rows are faster */
};

/* A bound filter, decoded once per statement. SQLite keeps it only for an argument that cannot
** change while the statement runs, and frees it at the statement's end. */
typedef struct BoundFilter {
  const BloomFilter *filter; /* what rows use: the view below, later the copy */
  BloomFilter *copy;         /* NULL, or its layers aligned, see aligned_copy */
  uint64_t rows_left;        /* until keep_bound has something to do */
  bool intact;               /* the body's checksum was verified: at the second row */
  BloomFilter view;
} BoundFilter;

static void warn_of_copies(Probes *probes, uint64_t size) {
  if (size <= LARGE_BLOB || probes->copied > WARN_AFTER ||
      sqlite3_libversion_number() >= COPIES_BLOBS_BEFORE) {
    return;
  }
  if (++probes->copied > WARN_AFTER) {
    sqlite3_log(SQLITE_WARNING,
                "bloom_contains: this SQLite copies the filter (%llu bytes) for every row: bind it "
                "as a parameter, or write bloom_contains((SELECT bloom_ref(filter) FROM ...), key)",
                size);
  }
}

/* A filter that is neither bound nor a bloom_ref: a literal, a column, a subquery. Each row decodes
** the header. The body is verified once the same filter was used for so many rows that it does not
** show, from the second on, and again whenever that number has doubled. One that has moved may be
** another copy, with other bits: it is verified after the first so many rows. */
static bool check_unbound(sqlite3_context *context, const BloomFilter *filter) {
  Probes *probes = sqlite3_user_data(context);
  uint64_t first = filter->size / CHECKED_BYTES_PER_ROW;
  if (first < 2) first = 2;
  warn_of_copies(probes, filter->size);
  if (probes->size != filter->size || probes->body_hash != filter->body_hash) {
    probes->bytes = filter->bytes;
    probes->size = filter->size;
    probes->body_hash = filter->body_hash;
    probes->rows = 1;
    probes->due = first;
    return true;
  }
  if (probes->bytes != filter->bytes) {
    probes->bytes = filter->bytes;
    if (probes->due > probes->rows + first) probes->due = probes->rows + first;
  }
  if (++probes->rows < probes->due) return true;
  probes->due = 2 * probes->rows;
  if (bloom_intact(filter)) return true;
  probes->size = 0; /* no filter has this size: the next one is new */
  bloom_fail(context, "bloom_contains", BLOOM_BODY_DAMAGED);
  return false;
}

/* Bytes of a BloomFilter that has no more than `layers` layers. */
static size_t view_size(unsigned layers) {
  return offsetof(BloomFilter, layers) + layers * sizeof(BloomLayer);
}

/* A copy of the filter whose layers each start at a multiple of 64, so that no line straddles two
** lines of the cache, in large pages where the system has them. One allocation: the view, then the
** cells. */
static BloomFilter *aligned_copy(const BloomFilter *from) {
  enum {
    ALIGNMENT = 64
  };
  uint64_t view = view_size(from->layer_count), cells = from->size - from->body;
  uint64_t total = view + cells + (from->layer_count + (uint64_t)1) * ALIGNMENT;
  BloomFilter *copy = sqlite3_malloc64(total);
  if (copy == NULL) return NULL;
  large_pages(copy, total);
  memcpy(copy, from, (size_t)view);
  uint8_t *start = (uint8_t *)copy, *at = start + view;
  copy->bytes = start;
  for (unsigned i = 0; i < from->layer_count; i++) {
    uint64_t size = bloom_layer_bytes(&from->layers[i].geometry, from->cell_bits);
    at += (ALIGNMENT - (uintptr_t)at % ALIGNMENT) % ALIGNMENT;
    memcpy(at, from->bytes + from->layers[i].offset, (size_t)size);
    copy->layers[i].offset = (uint64_t)(at - start);
    at += size;
  }
  return copy;
}

static void free_bound(void *memory) {
  BoundFilter *bound = memory;
  sqlite3_free(bound->copy);
  sqlite3_free(bound);
}

/* Keeps the decoded header for the statement's later rows. */
static void remember_bound(sqlite3_context *context, const BloomFilter *filter) {
  size_t size = view_size(filter->layer_count);
  BoundFilter *bound = sqlite3_malloc64(offsetof(BoundFilter, view) + size);
  if (bound == NULL) return; /* the next row decodes again */
  memcpy(&bound->view, filter, size);
  bound->filter = &bound->view;
  bound->copy = NULL;
  bound->rows_left = 1;
  bound->intact = false;
  sqlite3_set_auxdata(context, 0, bound, free_bound);
}

/* Verifies the body, and later, when the filter was used for so many rows that it pays, makes the
** copy. False: the filter is damaged, and that is said. */
static BLOOM_NOINLINE bool keep_bound(sqlite3_context *context, BoundFilter *bound) {
  if (bound->intact) {
    bound->rows_left = UINT64_MAX;
    bound->copy = aligned_copy(&bound->view);
    if (bound->copy) bound->filter = bound->copy;
    return true;
  }
  bound->intact = bloom_intact(&bound->view);
  bound->rows_left = bound->view.size / COPIED_BYTES_PER_ROW + 1; /* an error ends the statement */
  if (!bound->intact) bloom_fail(context, "bloom_contains", BLOOM_BODY_DAMAGED);
  return bound->intact;
}

BLOOM_INLINE void answer(sqlite3_context *context, const BloomFilter *filter, sqlite3_value *key) {
  uint64_t hash;
  int type = hash_of_value(key, &hash);
  if (BLOOM_LIKELY(type > 0)) {
    sqlite3_result_int(context, filter_contains(filter, hash));
  } else if (type < 0) {
    sqlite3_result_error_nomem(context);
  } /* else a NULL key: the result is NULL as it stands */
}

/* The filter of a statement's first row, and of all rows where it is neither bound nor a bloom_ref.
** NULL: that was an error, and it is said. */
static BLOOM_NOINLINE const BloomFilter *filter_again(sqlite3_context *context,
                                                      sqlite3_value **argv, BloomFilter *room) {
  const BloomFilter *filter =
      bloom_filter_arg(context, "bloom_contains", argv[0], argv[1], room, false);
  if (filter == room) {
    if (sqlite3_value_frombind(argv[0])) {
      remember_bound(context, filter);
    } else if (!check_unbound(context, filter)) {
      return NULL;
    }
  }
  return filter;
}

static void contains_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BoundFilter *bound = sqlite3_get_auxdata(context, 0);
  const BloomFilter *filter;
  BloomFilter room;
  (void)argc;
  if (bound) {
    if (BLOOM_UNLIKELY(--bound->rows_left == 0) && !keep_bound(context, bound)) return;
    filter = bound->filter;
  } else {
    filter = sqlite3_value_pointer(argv[0], BLOOM_POINTER_TYPE);
    if (BLOOM_UNLIKELY(filter == NULL)) filter = filter_again(context, argv, &room);
    if (BLOOM_UNLIKELY(filter == NULL)) return;
  }
  answer(context, filter, argv[1]);
}

static void ref_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomFilter room;
  const BloomFilter *filter = bloom_filter_arg(context, "bloom_ref", argv[0], NULL, &room, true);
  (void)argc;
  if (filter == NULL) return;
  BloomFilter *copy = aligned_copy(filter);
  if (copy == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_pointer(context, copy, BLOOM_POINTER_TYPE, sqlite3_free);
}

/* ---- filters from filters ---- */

static void new_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomParams params;
  BloomDraft draft;
  int code;
  if (!bloom_params(context, "bloom_new", argc, argv, &params)) return;
  code = bloom_draft_sized(context, &draft, &params, NULL);
  if (code != SQLITE_OK) {
    bloom_fail_draft(context, "bloom_new", code, params.n, params.p,
                     params.kind == BLOOM_COUNTING ? 4 : 1);
    return;
  }
  bloom_draft_result(context, &draft);
}

static void size_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomParams params;
  BloomGeometry geometry;
  if (!bloom_params(context, "bloom_size", argc, argv, &params)) return;
  if (!bloom_geometry(params.n, params.p, &geometry) ||
      bloom_layer_bytes(&geometry, 1) + bloom_header_bytes(1) >
          (uint64_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) {
    bloom_fail_draft(context, "bloom_size", SQLITE_TOOBIG, params.n, params.p, 1);
  } else {
    sqlite3_result_int64(context,
                         (sqlite3_int64)(bloom_layer_bytes(&geometry, 1) + bloom_header_bytes(1)));
  }
}

/* The first argument's filter, read whole, as a draft to change. */
static bool draft_arg(sqlite3_context *context, const char *name, int argc, sqlite3_value **argv,
                      BloomDraft *draft) {
  BloomFilter room;
  const BloomFilter *filter;
  int code;
  filter = bloom_filter_arg(context, name, argv[0], argc > 1 ? argv[1] : NULL, &room, true);
  if (filter == NULL) return false;
  code = bloom_draft_copy(context, draft, filter);
  if (code == SQLITE_OK) return true;
  bloom_fail_code(context, code);
  return false;
}

static bool enough_arguments(sqlite3_context *context, const char *name, int argc, int least,
                             const char *usage) {
  if (argc >= least) return true;
  bloom_fail(context, name, "%d arguments given, the call is %s", argc, usage);
  return false;
}

static bool add_keys(sqlite3_context *context, BloomDraft *draft, int argc, sqlite3_value **argv) {
  BloomFill fill = {-1, 0};
  for (int i = 1; i < argc; i++) {
    uint64_t hash;
    int type, code;
    if (!bloom_key_arg(context, argv[i], &hash, &type)) return false;
    if (type == 0) continue;
    code = bloom_draft_add(draft, hash, &fill);
    if (code != SQLITE_OK) {
      bloom_fail_draft(context, "bloom_add", code, draft->filter.n, draft->filter.p,
                       draft->filter.cell_bits);
      return false;
    }
    draft->filter.key_types |= (uint8_t)type;
  }
  return true;
}

static void add_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomDraft draft;
  if (!enough_arguments(context, "bloom_add", argc, 2, "bloom_add(filter, key, ...)")) return;
  if (!draft_arg(context, "bloom_add", argc, argv, &draft)) return;
  if (draft.filter.layer_count == 0) {
    bloom_fail(context, "bloom_add",
               "this filter was built from no keys and has no size: start from bloom_new(n, p)");
  } else if (add_keys(context, &draft, argc, argv)) {
    bloom_draft_result(context, &draft);
  }
  bloom_draft_free(&draft);
}

static void remove_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomDraft draft;
  uint64_t hash;
  int type;
  if (!enough_arguments(context, "bloom_remove", argc, 2, "bloom_remove(filter, key, ...)")) return;
  if (!draft_arg(context, "bloom_remove", argc, argv, &draft)) return;
  if (draft.filter.kind != BLOOM_COUNTING && draft.filter.layer_count > 0) {
    bloom_fail(context, "bloom_remove",
               "a plain filter cannot forget a key, since its bits belong to other keys too: "
               "build it with kind 'counting', or rebuild it without the key");
    bloom_draft_free(&draft);
    return;
  }
  for (int i = 1; i < argc; i++) {
    if (!bloom_key_arg(context, argv[i], &hash, &type)) break;
    if (type == 0 || draft.filter.layer_count == 0) continue;
    bloom_layer_decrement(&draft.filter.layers[0], draft.bytes, hash);
  }
  if (type >= 0) bloom_draft_result(context, &draft);
  bloom_draft_free(&draft);
}

static void merge_function(sqlite3_context *context, int argc, sqlite3_value **argv,
                           const char *name, enum BloomMerge merge) {
  BloomDraft draft;
  BloomFilter room;
  if (!enough_arguments(context, name, argc, 1, "with one or more filters")) return;
  if (!draft_arg(context, name, 1, argv, &draft)) return;
  for (int i = 1; i < argc; i++) {
    const BloomFilter *filter = bloom_filter_arg(context, name, argv[i], NULL, &room, false);
    if (filter == NULL ||
        !bloom_draft_merge(context, name, &draft, filter, filter != &room, merge)) {
      bloom_draft_free(&draft);
      return;
    }
  }
  bloom_draft_result(context, &draft);
}

static void union_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  merge_function(context, argc, argv, "bloom_union", BLOOM_UNION);
}

static void intersect_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  merge_function(context, argc, argv, "bloom_intersect", BLOOM_INTERSECT);
}

/* ---- facts ---- */

static void count_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomFilter room;
  BloomFacts facts;
  const BloomFilter *filter = bloom_filter_arg(context, "bloom_count", argv[0], NULL, &room, true);
  (void)argc;
  if (filter == NULL) return;
  bloom_facts(filter, &facts);
  if (facts.count < (double)INT64_MAX) {
    sqlite3_result_int64(context, (sqlite3_int64)llround(facts.count));
  }
}

static void fpr_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomFilter room;
  BloomFacts facts;
  const BloomFilter *filter = bloom_filter_arg(context, "bloom_fpr", argv[0], NULL, &room, true);
  (void)argc;
  if (filter == NULL) return;
  bloom_facts(filter, &facts);
  sqlite3_result_double(context, facts.rate);
}

static void info_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomFilter room;
  const BloomFilter *filter = bloom_filter_arg(context, "bloom_info", argv[0], NULL, &room, true);
  (void)argc;
  if (filter) bloom_describe(context, filter);
}

static void explain_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomFilter room;
  uint64_t hash;
  int type;
  const BloomFilter *filter =
      bloom_filter_arg(context, "bloom_explain", argv[0], argv[1], &room, true);
  (void)argc;
  if (filter == NULL || !bloom_key_arg(context, argv[1], &hash, &type)) return;
  if (type != 0) bloom_describe_key(context, filter, hash, (uint8_t)type);
}

/* ---- keys, version ---- */

static void key_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomKey key;
  uint64_t size = 0;
  uint8_t *bytes, *end;
  if (!enough_arguments(context, "bloom_key", argc, 1, "bloom_key(a, b, ...)")) return;
  for (int i = 0; i < argc; i++) {
    if (bloom_key_read(argv[i], &key) != SQLITE_OK) {
      sqlite3_result_error_nomem(context);
      return;
    }
    if (key.type == 0) return; /* a part is NULL: so is the key */
    size += bloom_key_encoded_size(&key);
  }
  bytes = end = sqlite3_malloc64(size);
  if (bytes == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  for (int i = 0; i < argc; i++) {
    bloom_key_read(argv[i], &key); /* read before, and converted then */
    end = bloom_key_encode(&key, end);
  }
  sqlite3_result_blob64(context, bytes, size, sqlite3_free);
}

static void version_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, BLOOM_VERSION, -1, SQLITE_STATIC);
}

#define SCALAR(NAME, ARGUMENTS, FUNCTION) \
  { NAME, ARGUMENTS, BLOOM_PURE, FUNCTION, NULL, NULL, 0 }

const BloomFunction bloom_scalar_functions[] = {
    {"bloom_contains", 2, BLOOM_PURE, contains_function, NULL, NULL, sizeof(Probes)},
    SCALAR("bloom_ref", 1, ref_function),
    SCALAR("bloom_new", 2, new_function),
    SCALAR("bloom_new", 3, new_function),
    SCALAR("bloom_add", -1, add_function),
    SCALAR("bloom_remove", -1, remove_function),
    SCALAR("bloom_union", -1, union_function),
    SCALAR("bloom_intersect", -1, intersect_function),
    SCALAR("bloom_count", 1, count_function),
    SCALAR("bloom_fpr", 1, fpr_function),
    SCALAR("bloom_info", 1, info_function),
    SCALAR("bloom_explain", 2, explain_function),
    SCALAR("bloom_size", 2, size_function),
    SCALAR("bloom_key", -1, key_function),
    SCALAR("bloom_version", 0, version_function),
    {0}};
