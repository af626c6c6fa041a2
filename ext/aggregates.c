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
#include "keyhash.h"

enum {
  FEW_HASHES = 64,       /* that wait before anything looks for duplicates */
  RING = 32,             /* hashes that are placed at once, their cells fetched ahead */
  AHEAD_BYTES = 1 << 21, /* from here on with each row: all at once is more than memory can bring */
  TAIL_HASHES = 2 * BLOOM_LATE_KEYS, /* 128 MiB: a fuller tail becomes a layer */
  TAIL_UNSORTED = TAIL_HASHES / 8    /* so far a tail that outgrew n is not looked through */
};

/* A growing array of hashes; duplicates go when it is full. */
typedef struct Waiting {
  uint64_t *hashes;
  uint64_t count;
  uint64_t room;
  uint64_t sorted; /* of them, at the front, are in order and different */
} Waiting;

typedef struct Glance {
  double number;
  bool null;
} Glance;

typedef struct Build {
  BloomDraft *draft;  /* NULL until the ring is full, and when the data decide the size */
  BloomParams params; /* of the first row; every other row must agree */
  Glance first_n;     /* the first row's n and p, to see quickly that a row's are the same */
  Glance first_p;
  bool glance;      /* false: every row is looked at closely */
  Waiting waiting;  /* the tail, or all hashes when the data decide the size */
  uint64_t counted; /* hashes that set a new bit in the last layer */
  uint64_t limit;   /* of counted: then the last layer takes no more */
  double budget;    /* error rate that the layers made so far leave to the next ones */
  bool started;
  bool failed;   /* and that was said: SQLite then calls only build_final */
  bool outgrown; /* the tail has more different hashes than n leaves to it */
  bool direct;   /* the tail overflowed: layers of doubling capacity are opened at once */
  uint8_t key_types;
  const BloomLayer *ahead; /* whose cells are fetched with each row; or NULL */
  unsigned ringed;         /* hashes in the ring */
  uint64_t ring[RING];
} Build;

/* ---- waiting hashes ---- */

static unsigned copies_kept(const Build *build) {
  return build->params.kind == BLOOM_COUNTING ? BLOOM_COUNTER_MAX : 1;
}

/* Drops the waiting hashes that the draft has already, and those that wait twice. Returns how many
** different ones are left. Only hashes without a draft are kept in order. */
static uint64_t drop_known(Build *build) {
  Waiting *waiting = &build->waiting;
  const BloomFilter *filter = build->draft ? &build->draft->filter : NULL;
  uint64_t kept = 0, distinct;
  for (uint64_t i = 0; filter && i < waiting->count; i++) {
    if (i + RING < waiting->count) {
      bloom_layer_prefetch(&filter->layers[0], filter->bytes, waiting->hashes[i + RING]);
    }
    if (!bloom_contains(filter, waiting->hashes[i])) waiting->hashes[kept++] = waiting->hashes[i];
  }
  if (filter) waiting->count = kept;
  if (waiting->sorted > 0) {
    waiting->count = bloom_hashes_new(waiting->hashes, waiting->sorted, waiting->count);
    return waiting->count;
  }
  waiting->count =
      bloom_hashes_unique(waiting->hashes, waiting->count, copies_kept(build), &distinct);
  return distinct;
}

static int resize_waiting(Waiting *waiting, uint64_t room) {
  uint64_t *hashes = sqlite3_realloc64(waiting->hashes, room * sizeof *hashes);
  if (hashes == NULL) return SQLITE_NOMEM;
  waiting->hashes = hashes;
  waiting->room = room;
  return SQLITE_OK;
}

/* Room for one more in the tail: of n keys it has at most n - limit, and a quarter more for those
** that turn out to be known. When it has outgrown that it grows fourfold, at first without looking
** for duplicates, since sorting costs as much as the rest of a row. SQLITE_FULL: more than half of
** TAIL_HASHES are different. */
static int make_tail_room(Build *build) {
  Waiting *waiting = &build->waiting;
  uint64_t late = build->params.n - build->limit, spare = late / 4, room;
  if (waiting->room == 0) {
    return resize_waiting(waiting, late + (spare < FEW_HASHES ? FEW_HASHES : spare));
  }
  if (!build->outgrown || waiting->room >= TAIL_UNSORTED) {
    drop_known(build);
    build->outgrown = waiting->count > late;
    if (!build->outgrown || waiting->count <= waiting->room / 2) return SQLITE_OK;
    if (waiting->room == TAIL_HASHES) return SQLITE_FULL;
  }
  room = 4 * waiting->count;
  return resize_waiting(waiting, room < TAIL_HASHES ? room : TAIL_HASHES);
}

/* Room for one more of those whose number will be n: 20 bytes a key. Every hash is sorted once, and
** merged 0.7 times. */
static int make_room(Build *build) {
  Waiting *waiting = &build->waiting;
  int code = SQLITE_OK;
  if (waiting->room == 0) return resize_waiting(waiting, FEW_HASHES);
  drop_known(build);
  if (waiting->count > waiting->room / 2) code = resize_waiting(waiting, waiting->count / 2 * 5);
  if (code == SQLITE_OK && copies_kept(build) == 1) {
    bloom_hashes_merge(waiting->hashes, waiting->sorted, waiting->count);
    waiting->sorted = waiting->count;
  }
  return code;
}

static int wait(Build *build, uint64_t hash) {
  Waiting *waiting = &build->waiting;
  int code = SQLITE_OK;
  if (waiting->count == waiting->room) {
    code = build->draft ? make_tail_room(build) : make_room(build);
  }
  if (code == SQLITE_OK) waiting->hashes[waiting->count++] = hash;
  return code;
}

static void free_waiting(Waiting *waiting) {
  sqlite3_free(waiting->hashes);
  memset(waiting, 0, sizeof *waiting);
}

/* ---- layers ---- */

static const BloomLayer *last_layer(const Build *build) {
  return &build->draft->filter.layers[build->draft->filter.layer_count - 1];
}

/* Puts hashes into the last layer; returns how many set a free bit. */
static uint64_t insert_all(Build *build, const uint64_t *hashes, uint64_t count) {
  const BloomLayer *layer = last_layer(build);
  uint8_t *bytes = build->draft->bytes;
  if (BLOOM_UNLIKELY(build->params.kind == BLOOM_COUNTING)) {
    for (uint64_t i = 0; i < count; i++) bloom_layer_increment(layer, bytes, hashes[i]);
    return 0;
  }
  return bloom_layer_insert_all(layer, bytes, hashes, count);
}

/* Puts all waiting hashes into the last layer. */
static void settle(Build *build) {
  insert_all(build, build->waiting.hashes, build->waiting.count);
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

/* What a connection remembers of the last group: the next one has often the same size. */
typedef struct LastSize {
  uint64_t n; /* 0: there was none */
  float p;
  BloomGeometry geometry;
} LastSize;

/* Sizes the filter, in a draft that the caller has room for. */
static int start_draft(Build *build, sqlite3_context *context, BloomDraft *room) {
  LastSize *last = sqlite3_user_data(context);
  bool same = last->n == build->params.n && last->p == build->params.p;
  int code = bloom_draft_sized(context, room, &build->params, same ? &last->geometry : NULL);
  if (code != SQLITE_OK) return code;
  last->n = build->params.n;
  last->p = build->params.p;
  last->geometry = room->filter.layers[0].geometry;
  build->draft = room;
  build->limit = UINT64_MAX; /* counting: no key is ever late */
  if (build->params.kind == BLOOM_PLAIN) {
    build->limit = bloom_draft_early_keys(build->draft, &build->budget);
    if (room->filter.size >= AHEAD_BYTES) build->ahead = &room->filter.layers[0];
  }
  return SQLITE_OK;
}

static bool in_earlier_layer(const BloomFilter *filter, uint64_t hash) {
  for (unsigned i = 0; i + 1u < filter->layer_count; i++) {
    if (bloom_layer_contains(&filter->layers[i], 1, filter->bytes, hash)) return true;
  }
  return false;
}

/* The tail has outgrown both n and its memory. It becomes a layer, and from then on layers of
** doubling capacity are opened, with half of what is left of the budget each. */
static int place_direct(Build *build, uint64_t hash) {
  int code = SQLITE_OK;
  if (!build->direct) code = settle_tail(build, 0.5);
  if (code != SQLITE_OK) return code;
  build->direct = true;
  if (build->counted < build->limit ? in_earlier_layer(&build->draft->filter, hash)
                                    : bloom_contains(&build->draft->filter, hash)) {
    return SQLITE_OK;
  }
  if (build->counted >= build->limit) {
    code = open_layer(build, 2 * last_layer(build)->capacity, 0.5);
    if (code != SQLITE_OK) return code;
  }
  build->counted += insert_all(build, &hash, 1);
  return SQLITE_OK;
}

static int place(Build *build, uint64_t hash) {
  int code = SQLITE_FULL;
  if (!build->direct) {
    if (build->counted < build->limit) {
      build->counted += insert_all(build, &hash, 1);
      return SQLITE_OK;
    }
    code = wait(build, hash);
  }
  return code == SQLITE_FULL ? place_direct(build, hash) : code;
}

/* The draft, if its size is given, when the first keys are to be placed. */
static int ready_draft(Build *build, sqlite3_context *context) {
  BloomDraft *room;
  int code;
  if (build->draft || build->params.n == 0) return SQLITE_OK;
  room = sqlite3_malloc64(sizeof *room);
  if (room == NULL) return SQLITE_NOMEM;
  code = start_draft(build, context, room);
  if (code != SQLITE_OK) sqlite3_free(room);
  return code;
}

/* Places what the ring holds: all at once where nothing can make it late. */
static int empty_ring(Build *build, sqlite3_context *context) {
  unsigned count = build->ringed;
  int code = ready_draft(build, context);
  build->ringed = 0;
  if (code != SQLITE_OK) return code;
  if (BLOOM_LIKELY(build->draft && !build->direct && build->limit - build->counted >= count)) {
    build->counted += insert_all(build, build->ring, count);
    return SQLITE_OK;
  }
  build->ahead = NULL; /* the layer is full by now: later keys wait */
  for (unsigned i = 0; i < count && build->direct; i++) {
    bloom_layer_prefetch(last_layer(build), build->draft->bytes, build->ring[i]);
  }
  for (unsigned i = 0; i < count && code == SQLITE_OK; i++) code = place(build, build->ring[i]);
  return code;
}

/* ---- bloom_build ---- */

/* What a row's n or p must be for the row to pass at a glance: the first row's number, or NULL. */
BLOOM_INLINE bool same_number(const Glance *first, sqlite3_value *value) {
  if (BLOOM_UNLIKELY(first->null)) return sqlite3_value_type(value) == SQLITE_NULL;
  return !islessgreater(sqlite3_value_double(value), first->number); /* neither is a NaN */
}

BLOOM_INLINE bool same_at_a_glance(const Build *build, int argc, sqlite3_value **argv) {
  return build->glance && (argc < 2 || same_number(&build->first_n, argv[1])) &&
         (argc < 3 || same_number(&build->first_p, argv[2]));
}

static void note_number(Glance *first, sqlite3_value *value) {
  first->null = sqlite3_value_type(value) == SQLITE_NULL;
  first->number = sqlite3_value_double(value);
}

static void note_first(Build *build, int argc, sqlite3_value **argv) {
  build->started = true;
  build->glance = argc < 4;
  if (argc > 1) note_number(&build->first_n, argv[1]);
  if (argc > 2) note_number(&build->first_p, argv[2]);
}

static void show_n(uint64_t n, char text[24]) {
  sqlite3_snprintf(24, text, n > 0 ? "%llu" : "NULL", n);
}

static void fail_changed(sqlite3_context *context, const BloomParams *a, const BloomParams *b) {
  if (a->kind != b->kind) {
    bloom_fail(context, "bloom_build", "kind changes within a group");
  } else if (a->n != b->n) {
    char first[24];
    char second[24];
    show_n(a->n, first);
    show_n(b->n, second);
    bloom_fail(context, "bloom_build", "n changes within a group: %s and %s", first, second);
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
    note_first(build, argc, argv);
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

static BLOOM_NOINLINE int take_slowly(Build *build, sqlite3_context *context, uint64_t hash) {
  int code = empty_ring(build, context);
  build->ring[build->ringed++] = hash;
  return code;
}

static BLOOM_NOINLINE Build *slow_context(sqlite3_context *context, int argc, sqlite3_value **argv,
                                          Build *build) {
  if (build == NULL) {
    sqlite3_result_error_nomem(context);
  } else if (!check_params(build, context, argc, argv)) {
    build->failed = true;
    return NULL;
  }
  return build;
}

static void build_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Build *build = sqlite3_aggregate_context(context, sizeof *build);
  uint64_t hash;
  int type, code = SQLITE_OK;
  if (BLOOM_UNLIKELY(build == NULL || !same_at_a_glance(build, argc, argv))) {
    build = slow_context(context, argc, argv, build);
    if (build == NULL) return;
  }
  type = hash_of_value(argv[0], &hash);
  if (BLOOM_LIKELY(type > 0)) {
    build->key_types |= (uint8_t)type;
    if (build->ahead) bloom_layer_prefetch(build->ahead, build->draft->bytes, hash);
    if (BLOOM_LIKELY(build->ringed < RING)) {
      build->ring[build->ringed++] = hash;
      return;
    }
    code = take_slowly(build, context, hash);
  } else if (type < 0) {
    code = SQLITE_NOMEM;
  }
  if (code != SQLITE_OK) {
    build->failed = true;
    fail_build(context, build, code);
  }
}

/* At most n keys, whatever duplicates are among those that are not placed yet. */
static bool all_fit(const Build *build) {
  return build->draft && !build->direct &&
         build->counted + build->waiting.count + build->ringed <= build->params.n;
}

/* Brings every hash into a layer. A group of few keys has no draft before: `room` is for its. */
static int finish(Build *build, sqlite3_context *context, BloomDraft *room) {
  uint64_t distinct;
  int code = SQLITE_OK;
  if (build->params.n == 0 && build->waiting.count == 0) {
    build->ringed = (unsigned)bloom_hashes_unique(build->ring, build->ringed, copies_kept(build),
                                                  &build->params.n);
  }
  if (build->draft == NULL && build->params.n > 0) code = start_draft(build, context, room);
  if (code != SQLITE_OK) return code;
  if (all_fit(build)) {
    insert_all(build, build->ring, build->ringed);
    settle(build);
    return SQLITE_OK;
  }
  code = empty_ring(build, context);
  if (code != SQLITE_OK || build->waiting.count == 0) return code;
  distinct = drop_known(build);
  if (build->draft == NULL) {
    build->params.n = distinct;
    code = start_draft(build, context, room);
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

static void free_build(Build *build, const BloomDraft *room) {
  free_waiting(&build->waiting);
  if (build->draft) bloom_draft_free(build->draft);
  if (build->draft != room) sqlite3_free(build->draft);
  build->draft = NULL;
}

static void build_final(sqlite3_context *context) {
  Build *build = sqlite3_aggregate_context(context, 0);
  BloomDraft room;
  int code;
  if (build == NULL) {
    result_empty(context);
    return;
  }
  if (!build->failed && build->key_types == 0) {
    result_empty(context);
  } else if (!build->failed) {
    code = finish(build, context, &room);
    if (code != SQLITE_OK) {
      fail_build(context, build, code);
    } else {
      build->draft->filter.key_types = build->key_types;
      bloom_draft_result(context, build->draft);
    }
  }
  free_build(build, &room);
}

/* ---- bloom_union and bloom_intersect ---- */

typedef struct Merge {
  BloomDraft *draft; /* NULL until the first filter */
  bool failed;       /* as in Build */
} Merge;

static bool merge_filter(Merge *merge, sqlite3_context *context, sqlite3_value *value,
                         const char *name, enum BloomMerge how) {
  BloomFilter room;
  bool first = merge->draft == NULL;
  const BloomFilter *filter = bloom_filter_arg(context, name, value, NULL, &room, first);
  int code;
  if (filter == NULL) return false;
  if (!first) {
    return bloom_draft_merge(context, name, merge->draft, filter, filter != &room, how);
  }
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
  } else {
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
    {"bloom_build", 1, SQLITE_INNOCUOUS, NULL, build_step, build_final, sizeof(LastSize)},
    {"bloom_build", 2, SQLITE_INNOCUOUS, NULL, build_step, build_final, sizeof(LastSize)},
    {"bloom_build", 3, SQLITE_INNOCUOUS, NULL, build_step, build_final, sizeof(LastSize)},
    {"bloom_build", 4, SQLITE_INNOCUOUS, NULL, build_step, build_final, sizeof(LastSize)},
    {"bloom_union", 1, SQLITE_INNOCUOUS, NULL, union_step, union_final, 0},
    {"bloom_intersect", 1, SQLITE_INNOCUOUS, NULL, intersect_step, intersect_final, 0},
    {0}};
