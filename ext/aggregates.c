/* aggregates.c: bloom_build, bloom_union and bloom_intersect over rows.
**
**   bloom_build(key[, n[, p[, kind]]])   a filter of the group's keys
**   bloom_union(filter)                  of all keys in any of the group's filters
**   bloom_intersect(filter)              of the keys that are in all of them
**
** How a build keeps its rate when n was wrong. Layer 0 takes keys until half of its error budget is
** used. Later hashes that are not in it wait in a tail:
**
**     layer 0 (geometry of n, p) | tail of at most n - limit hashes     -> one layer, in any order
**     layer 0 at p/2             | tail of more                         -> layer 1 of its size
**     layer 0 | layer 1 of 2^24  | 2^25 | 2^26 ...                      when the tail is full
**
** A hash is counted when it sets a bit that was 0, so a count never exceeds the distinct keys, and
** a build of at most n keys always has one layer and the bytes that any order of rows gives.
*/
#include <math.h>

#include "args.h"
#include "extension.h"
#include "format.h"
#include "hashes.h"

enum {
  RING = 32,                   /* hashes whose cells are on their way to the cache */
  TAIL_HASHES = 1 << 24,       /* 128 MiB: a fuller tail becomes a layer */
  TAIL_FOR_N = TAIL_HASHES / 2 /* of them may turn out to be within n, see first_limit */
};

/* A growing array of hashes; duplicates go when it is full. */
typedef struct Waiting {
  uint64_t *hashes;
  uint64_t count;
  uint64_t room;
} Waiting;

typedef struct Build {
  BloomDraft *draft;     /* NULL until the first key, and when the data decide the size */
  BloomParams params;    /* of the first row; every other row must agree */
  sqlite3_int64 first_n; /* the first row's n and p if they were an INTEGER and a REAL, */
  double first_p;        /* to see quickly that a row's are the same */
  Waiting waiting;       /* the tail, or all hashes when the data decide the size */
  uint64_t counted;      /* hashes that set a new bit in the last layer */
  uint64_t limit;        /* of counted: then the last layer takes no more */
  double budget;         /* error rate that the layers made so far leave to the next ones */
  bool started;
  bool failed;
  bool direct; /* the tail overflowed: layers of doubling capacity are opened at once */
  uint8_t key_types;
  unsigned pushed; /* hashes in the ring; stays above RING once it is full */
  uint64_t ring[RING];
} Build;

/* ---- waiting hashes ---- */

static unsigned copies_kept(const Build *build) {
  return build->params.kind == BLOOM_COUNTING ? BLOOM_COUNTER_MAX : 1;
}

/* Makes room for one more: by dropping duplicates, and when that frees less than half, by doubling
** what remains, to at most `most` hashes. SQLITE_FULL: more than half of `most` are different. */
static int make_room(Build *build, uint64_t most) {
  Waiting *waiting = &build->waiting;
  uint64_t *hashes, room;
  waiting->count = bloom_hashes_unique(waiting->hashes, waiting->count, copies_kept(build), NULL);
  if (waiting->room > 0 && waiting->count <= waiting->room / 2) return SQLITE_OK;
  if (waiting->room == most) return SQLITE_FULL;
  room = waiting->count < RING ? 2 * RING : 2 * waiting->count;
  if (room > most) room = most;
  hashes = sqlite3_realloc64(waiting->hashes, room * sizeof *hashes);
  if (hashes == NULL) return SQLITE_NOMEM;
  waiting->hashes = hashes;
  waiting->room = room;
  return SQLITE_OK;
}

static void free_waiting(Waiting *waiting) {
  sqlite3_free(waiting->hashes);
  memset(waiting, 0, sizeof *waiting);
}

/* ---- layers ---- */

static const BloomLayer *last_layer(const Build *build) {
  return &build->draft->filter.layers[build->draft->filter.layer_count - 1];
}

/* Puts all waiting hashes into the last layer. */
static void settle(Build *build) {
  const Waiting *waiting = &build->waiting;
  const BloomLayer *layer = last_layer(build);
  uint8_t *bytes = build->draft->bytes;
  for (uint64_t i = 0; i < waiting->count; i++) {
    if (i + RING < waiting->count) bloom_layer_prefetch(layer, bytes, waiting->hashes[i + RING]);
    if (build->params.kind == BLOOM_COUNTING) {
      bloom_layer_increment(layer, bytes, waiting->hashes[i]);
    } else {
      bloom_layer_insert(layer, bytes, waiting->hashes[i]);
    }
  }
}

/* Opens a layer of `keys` keys that spends `share` of the budget. */
static int open_layer(Build *build, uint64_t keys, double share) {
  double rate = fmax(build->budget * share, BLOOM_MIN_RATE);
  int code = bloom_draft_append(build->draft, keys, (float)rate);
  if (code != SQLITE_OK) return code;
  build->budget -= rate;
  build->counted = 0;
  build->limit = keys;
  return SQLITE_OK;
}

/* The tail becomes a layer of exactly its size. */
static int settle_tail(Build *build, double share) {
  int code = open_layer(build, build->waiting.count, share);
  if (code != SQLITE_OK) return code;
  settle(build);
  build->counted = build->limit;
  free_waiting(&build->waiting);
  return SQLITE_OK;
}

/* Layer 0 takes keys until its rate is p/2; but of n keys no more are left to the tail than fill it
** half, so that a tail that is fuller has certainly outgrown n. */
static void first_limit(Build *build) {
  const BloomGeometry *geometry = &last_layer(build)->geometry;
  double n = (double)build->params.n, half = bloom_keys_at(geometry, build->params.p / 2.0);
  build->limit = (uint64_t)fmax(half, n - TAIL_FOR_N);
  build->budget = build->params.p - bloom_rate_at(geometry, (double)build->limit);
}

static int start_draft(Build *build, sqlite3_context *context) {
  int code;
  build->draft = sqlite3_malloc64(sizeof *build->draft);
  if (build->draft == NULL) return SQLITE_NOMEM;
  code = bloom_draft_sized(context, build->draft, &build->params);
  if (code != SQLITE_OK) {
    sqlite3_free(build->draft);
    build->draft = NULL;
    return code;
  }
  if (build->params.kind == BLOOM_PLAIN) first_limit(build);
  return SQLITE_OK;
}

static bool in_earlier_layer(const BloomFilter *filter, uint64_t hash) {
  for (unsigned i = 0; i + 1u < filter->layer_count; i++) {
    if (bloom_layer_contains(&filter->layers[i], 1, filter->bytes, hash)) return true;
  }
  return false;
}

/* A hash that layer 0 has no budget for. */
static int place_late(Build *build, uint64_t hash) {
  int code = SQLITE_OK;
  if (bloom_contains(&build->draft->filter, hash)) return SQLITE_OK;
  if (!build->direct) {
    if (build->waiting.count == build->waiting.room) code = make_room(build, TAIL_HASHES);
    if (code == SQLITE_OK) build->waiting.hashes[build->waiting.count++] = hash;
    if (code != SQLITE_FULL) return code;
    code = settle_tail(build, 0.5);
    if (code != SQLITE_OK) return code;
    build->direct = true;
    if (bloom_contains(&build->draft->filter, hash)) return SQLITE_OK;
  }
  code = open_layer(build, 2 * last_layer(build)->capacity, 0.5);
  if (code != SQLITE_OK) return code;
  build->counted += bloom_layer_insert(last_layer(build), build->draft->bytes, hash) > 0;
  return SQLITE_OK;
}

static int place(Build *build, uint64_t hash) {
  BloomDraft *draft = build->draft;
  if (BLOOM_UNLIKELY(build->params.kind == BLOOM_COUNTING)) {
    bloom_layer_increment(&draft->filter.layers[0], draft->bytes, hash);
    return SQLITE_OK;
  }
  if (BLOOM_UNLIKELY(build->counted >= build->limit)) return place_late(build, hash);
  if (build->direct && in_earlier_layer(&draft->filter, hash)) return SQLITE_OK;
  build->counted += bloom_layer_insert(last_layer(build), draft->bytes, hash) > 0;
  return SQLITE_OK;
}

/* Takes one hash: into the waiting ones, or into the ring, whose oldest is placed. */
static int push(Build *build, uint64_t hash) {
  unsigned slot = build->pushed % RING;
  uint64_t oldest = build->ring[slot];
  if (build->draft == NULL) {
    int code = SQLITE_OK;
    if (build->waiting.count == build->waiting.room) code = make_room(build, UINT64_MAX / 8);
    if (code == SQLITE_OK) build->waiting.hashes[build->waiting.count++] = hash;
    return code;
  }
  build->ring[slot] = hash;
  bloom_layer_prefetch(last_layer(build), build->draft->bytes, hash);
  build->pushed++;
  if (build->pushed <= RING) return SQLITE_OK;
  if (build->pushed == 3 * RING) build->pushed -= RING;
  return place(build, oldest);
}

static int drain(Build *build) {
  unsigned count = build->pushed < RING ? build->pushed : RING;
  for (unsigned i = build->pushed - count; count > 0; i++, count--) {
    int code = place(build, build->ring[i % RING]);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

/* ---- bloom_build ---- */

/* true when a row's parameters are those of the first row, at a glance. */
BLOOM_INLINE bool same_at_a_glance(const Build *build, int argc, sqlite3_value **argv) {
  if (argc > 3) return false;
  if (argc > 1 && (sqlite3_value_type(argv[1]) != SQLITE_INTEGER ||
                   sqlite3_value_int64(argv[1]) != build->first_n)) {
    return false;
  }
  return argc < 3 ||
         (sqlite3_value_type(argv[2]) == SQLITE_FLOAT &&
          bits_of_double(sqlite3_value_double(argv[2])) == bits_of_double(build->first_p));
}

static void fail_changed(sqlite3_context *context, const BloomParams *a, const BloomParams *b) {
  if (a->kind != b->kind) {
    bloom_fail(context, "bloom_build", "kind changes within a group");
  } else if (a->n != b->n) {
    bloom_fail(context, "bloom_build", "n changes within a group: %llu and %llu", a->n, b->n);
  } else {
    bloom_fail(context, "bloom_build", "p changes within a group: %.7g and %.7g", (double)a->p,
               (double)b->p);
  }
}

/* Reads the first row's parameters, or compares a later row's with them. */
static bool check_params(Build *build, sqlite3_context *context, int argc, sqlite3_value **argv) {
  BloomParams params;
  if (!bloom_params(context, "bloom_build", argc - 1, argv + 1, &params)) return false;
  if (!build->started) {
    build->params = params;
    build->started = true;
    if (argc > 1) build->first_n = sqlite3_value_int64(argv[1]);
    if (argc > 2) build->first_p = sqlite3_value_double(argv[2]);
    return true;
  }
  if (params.n == build->params.n && params.p == build->params.p &&
      params.kind == build->params.kind) {
    return true;
  }
  fail_changed(context, &build->params, &params);
  return false;
}

static void fail_build(sqlite3_context *context, const Build *build, int code) {
  bloom_fail_draft(context, "bloom_build", code, build->params.n, build->params.p,
                   build->params.kind == BLOOM_COUNTING ? 4 : 1);
}

static void free_build(Build *build) {
  free_waiting(&build->waiting);
  if (build->draft) bloom_draft_free(build->draft);
  sqlite3_free(build->draft);
  build->draft = NULL;
}

static void build_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Build *build = sqlite3_aggregate_context(context, sizeof *build);
  uint64_t hash;
  int type, code = SQLITE_OK;
  if (build == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  if (build->failed) return;
  build->failed = true; /* until the end of this function */
  if (BLOOM_UNLIKELY(!build->started || !same_at_a_glance(build, argc, argv)) &&
      !check_params(build, context, argc, argv)) {
    return;
  }
  if (!bloom_key_arg(context, argv[0], &hash, &type)) return;
  if (type > 0) {
    if (BLOOM_UNLIKELY(build->draft == NULL && build->params.n > 0)) {
      code = start_draft(build, context);
    }
    if (code == SQLITE_OK) code = push(build, hash);
    build->key_types |= (uint8_t)type;
  }
  if (code == SQLITE_OK) {
    build->failed = false;
  } else {
    fail_build(context, build, code);
  }
}

/* Brings every hash into a layer. */
static int finish(Build *build, sqlite3_context *context) {
  Waiting *waiting = &build->waiting;
  uint64_t distinct;
  int code = build->draft ? drain(build) : SQLITE_OK;
  if (code != SQLITE_OK || waiting->count == 0) return code;
  waiting->count =
      bloom_hashes_unique(waiting->hashes, waiting->count, copies_kept(build), &distinct);
  if (build->draft == NULL) {
    build->params.n = distinct;
    code = start_draft(build, context);
    if (code != SQLITE_OK) return code;
  } else if (build->counted + distinct > build->params.n) {
    return settle_tail(build, 1);
  }
  settle(build);
  return SQLITE_OK;
}

static void result_empty(sqlite3_context *context) {
  BloomDraft draft;
  int code = bloom_draft_empty(context, &draft);
  if (code == SQLITE_OK) {
    bloom_draft_result(context, &draft);
  } else {
    bloom_fail_code(context, code);
  }
}

static void build_final(sqlite3_context *context) {
  Build *build = sqlite3_aggregate_context(context, 0);
  int code;
  if (build == NULL) {
    result_empty(context);
    return;
  }
  if (!build->failed) {
    code = finish(build, context);
    if (code != SQLITE_OK) {
      fail_build(context, build, code);
    } else if (build->draft == NULL) {
      result_empty(context);
    } else {
      build->draft->filter.key_types = build->key_types;
      bloom_draft_result(context, build->draft);
    }
  }
  free_build(build);
}

/* ---- bloom_union and bloom_intersect ---- */

typedef struct Merge {
  BloomDraft *draft; /* NULL until the first filter */
  bool failed;
} Merge;

static bool merge_filter(Merge *merge, sqlite3_context *context, sqlite3_value *value,
                         const char *name, enum BloomMerge how) {
  BloomFilter room;
  const BloomFilter *filter = bloom_filter_arg(context, name, value, NULL, &room, true);
  int code;
  if (filter == NULL) return false;
  if (merge->draft) return bloom_draft_merge(context, name, merge->draft, filter, how);
  merge->draft = sqlite3_malloc64(sizeof *merge->draft);
  code = merge->draft ? bloom_draft_copy(context, merge->draft, filter) : SQLITE_NOMEM;
  if (code != SQLITE_OK) bloom_fail_code(context, code);
  return code == SQLITE_OK;
}

static void merge_step(sqlite3_context *context, sqlite3_value *value, const char *name,
                       enum BloomMerge how) {
  Merge *merge = sqlite3_aggregate_context(context, sizeof *merge);
  if (merge == NULL) {
    sqlite3_result_error_nomem(context);
  } else if (sqlite3_value_type(value) == SQLITE_NULL &&
             sqlite3_value_pointer(value, BLOOM_POINTER_TYPE) == NULL) {
    return; /* a row without a filter */
  } else if (!merge->failed) {
    merge->failed = !merge_filter(merge, context, value, name, how);
  }
}

static void merge_final(sqlite3_context *context, const char *name) {
  Merge *merge = sqlite3_aggregate_context(context, 0);
  if (merge == NULL) return;
  if (merge->draft == NULL) {
    if (!merge->failed) bloom_fail(context, name, "every filter is NULL");
    return;
  }
  if (!merge->failed) bloom_draft_result(context, merge->draft);
  bloom_draft_free(merge->draft);
  sqlite3_free(merge->draft);
}

static void union_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  merge_step(context, argv[0], "bloom_union", BLOOM_UNION);
}

static void union_final(sqlite3_context *context) {
  if (sqlite3_aggregate_context(context, 0) == NULL) result_empty(context);
  merge_final(context, "bloom_union");
}

static void intersect_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  merge_step(context, argv[0], "bloom_intersect", BLOOM_INTERSECT);
}

static void intersect_final(sqlite3_context *context) {
  if (sqlite3_aggregate_context(context, 0) == NULL) {
    bloom_fail(context, "bloom_intersect",
               "no filters: the intersection of none would contain every key");
  }
  merge_final(context, "bloom_intersect");
}

const BloomFunction bloom_aggregate_functions[] = {
    {"bloom_build", 1, SQLITE_INNOCUOUS, NULL, build_step, build_final, 0},
    {"bloom_build", 2, SQLITE_INNOCUOUS, NULL, build_step, build_final, 0},
    {"bloom_build", 3, SQLITE_INNOCUOUS, NULL, build_step, build_final, 0},
    {"bloom_build", 4, SQLITE_INNOCUOUS, NULL, build_step, build_final, 0},
    {"bloom_union", 1, SQLITE_INNOCUOUS, NULL, union_step, union_final, 0},
    {"bloom_intersect", 1, SQLITE_INNOCUOUS, NULL, intersect_step, intersect_final, 0},
    {NULL, 0, 0, NULL, NULL, NULL, 0}};
