/* merge: two blobs into bloom_union and bloom_intersect, scalar and aggregate, plain and bloom_ref.
**
** Input: a byte of options (REPAIR_ bits, fuzz.h; bit 4: the second blob gets the first one's
** header and table), two bytes with the first blob's length, both blobs. What the cells of the
** result are is computed here by ext/FORMAT.md, "Merging".
*/
#include "fuzz.h"

const char fuzz_name[] = "merge";

enum {
  SAME_HEADER = 16,
  FORMS = 5
};

/* The same merge in several forms, which must give the same bytes. */
static const char *const forms[FORMS] = {
    "SELECT bloom_%s(?1, ?2)",
    "SELECT bloom_%s((SELECT bloom_ref(?1)), ?2)",
    "SELECT bloom_%s(?1, (SELECT bloom_ref(?2)))",
    "SELECT bloom_%s(column1) FROM (VALUES (?1), (NULL), (?2))",
    "SELECT bloom_%s(bloom_ref(column1)) FROM (VALUES (?1), (?2))",
};

static const char *const names[] = {"bloom_union", "bloom_intersect"};

static sqlite3 *db;
static sqlite3_stmt *statements[2][FORMS];

static void open_all(void) {
  db = open_bloom();
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 * MOST_BYTES);
  for (unsigned m = 0; m < 2; m++) {
    for (unsigned i = 0; i < FORMS; i++) {
      char sql[200];
      snprintf(sql, sizeof sql, forms[i], names[m] + 6);
      statements[m][i] = prepare(db, sql);
    }
  }
}

/* ---- what must come out ---- */

/* A layer of the result: of the first filter, the second, or both. */
typedef struct Source {
  const Layer *a;
  const Layer *b;
} Source;

static bool same_entry(const Layer *a, const Layer *b) {
  return a->capacity == b->capacity && a->rate == b->rate && a->lines == b->lines &&
         a->line_bits == b->line_bits && a->k == b->k && a->L == b->L;
}

static bool may_merge(const Filter *a, const Filter *b) {
  return a->cell_bits == b->cell_bits && same_entry(&a->layers[0], &b->layers[0]);
}

/* The layers of a union, as many as 128. */
static unsigned plan_union(const Filter *a, const Filter *b, Source sources[128]) {
  unsigned count = a->layer_count;
  for (unsigned i = 0; i < count; i++) sources[i] = (Source){&a->layers[i], NULL};
  for (unsigned j = 0; j < b->layer_count; j++) {
    unsigned i = 0;
    while (i < a->layer_count && (sources[i].b || !same_entry(sources[i].a, &b->layers[j]))) i++;
    if (i == a->layer_count) sources[i = count++] = (Source){NULL, NULL};
    sources[i].b = &b->layers[j];
  }
  return count;
}

static unsigned merged(unsigned x, unsigned y, unsigned cell_bits, bool intersect) {
  if (intersect) return x < y ? x : y;
  if (cell_bits == 1) return x | y;
  return x + y > 15 ? 15 : x + y;
}

static void check_layer(const Filter *made, unsigned number, const Filter *a, const Filter *b,
                        Source source, bool intersect) {
  const Layer *layer = &made->layers[number];
  if (!same_entry(layer, source.a ? source.a : source.b)) finding("layer %u is another", number);
  uint64_t cells = layer->lines * layer->line_bits;
  for (uint64_t i = 0; i < cells; i++) {
    unsigned x = source.a ? cell_of(a, source.a, i) : 0;
    unsigned y = source.b ? cell_of(b, source.b, i) : 0;
    unsigned z = source.a && source.b ? merged(x, y, a->cell_bits, intersect) : x | y;
    if (cell_of(made, layer, i) != z) finding("layer %u, cell %u", number, (unsigned)i);
  }
}

/* Two sound filters and what came of them; false in `refused`: it must not have been an error. */
static void check_sound(const Filter *a, const Filter *b, const Filter *made, bool intersect,
                        bool refused) {
  Source sources[128];
  unsigned count = 0;
  bool expected = true;
  if (a->layer_count == 0 || b->layer_count == 0) {
    const Filter *one = a->layer_count == 0 ? b : a;
    for (; !intersect && count < one->layer_count; count++) {
      sources[count] =
          one == a ? (Source){&a->layers[count], NULL} : (Source){NULL, &b->layers[count]};
    }
  } else if (intersect) {
    expected = may_merge(a, b) && a->layer_count == 1 && b->layer_count == 1;
    sources[count++] = (Source){&a->layers[0], &b->layers[0]};
  } else {
    expected = may_merge(a, b);
    if (expected) count = plan_union(a, b, sources);
    expected = expected && count <= 64;
  }
  if (refused == expected) {
    finding("%s: %s", names[intersect], refused ? sqlite3_errmsg(db) : "is no error");
  }
  if (refused) return;
  if (made->layer_count != count) finding("%u layers, not %u", made->layer_count, count);
  for (unsigned i = 0; i < count; i++) check_layer(made, i, a, b, sources[i], intersect);
}

/* ---- the forms ---- */

/* Errors of bloom_ref have its own name. */
static void check_refusal(bool intersect, unsigned form) {
  bool refs = form == 1 || form == 2 || form == 4;
  const char *words = sqlite3_errmsg(db);
  check_error(db, refs && strncmp(words, "bloom_ref", 9) == 0 ? "bloom_ref" : names[intersect]);
}

static void check_merge(const Filter *a, const Filter *b, bool sound, bool intersect) {
  uint8_t *first = NULL;
  size_t size = 0;
  bool refused = false;
  for (unsigned i = 0; i < FORMS; i++) {
    sqlite3_stmt *statement = statements[intersect][i];
    sqlite3_bind_blob64(statement, 1, a->bytes, a->size, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, b->bytes, b->size, SQLITE_STATIC);
    bool good = first_row(statement);
    if (!good) check_refusal(intersect, i);
    if (good && !sound) finding("%s merges what is no filter", names[intersect]);
    if (i > 0 && good == refused) finding("%s differs from form 0", forms[i]);
    if (i == 0) refused = !good;
    const void *bytes = good ? sqlite3_column_blob(statement, 0) : NULL;
    size_t now = good ? (size_t)sqlite3_column_bytes(statement, 0) : 0;
    if (i == 0 && good) {
      Filter made;
      if (read_filter(bytes, now, &made) != SOUND) finding("%s is no filter", names[intersect]);
      check_sound(a, b, &made, intersect, false);
      first = malloc(size = now);
      if (first == NULL) abort();
      memcpy(first, bytes, size);
    } else if (i == 0 && sound) {
      check_sound(a, b, NULL, intersect, true);
    } else if (good && (now != size || memcmp(first, bytes, size) != 0)) {
      finding("%s gives other bytes than form 0", forms[i]);
    }
    reset_statement(statement);
  }
  free(first);
}

void fuzz_one(Input input) {
  if (db == NULL) open_all();
  unsigned options = take_byte(&input);
  size_t sizes[2] = {(size_t)take_number(&input, 2), 0};
  const uint8_t *from = take_bytes(&input, &sizes[0]);
  sizes[1] = left(&input);
  uint8_t *second = malloc(sizes[1] + sizes[0] + 1);
  if (second == NULL) abort();
  size_t shared = sizes[0] >= 72 && (options & SAME_HEADER) ? 72 : 0;
  if (shared > 0) memcpy(second, from, shared);
  if (sizes[1] > 0) memcpy(second + shared, input.at, sizes[1]);
  sizes[1] += shared;
  uint8_t *bytes[2] = {repair(from, &sizes[0], options), repair(second, &sizes[1], options)};
  Filter filters[2];
  bool sound = true;
  for (unsigned i = 0; i < 2; i++) {
    sound = read_filter(bytes[i], sizes[i], &filters[i]) == SOUND && sound;
    filters[i].bytes = bytes[i];
    filters[i].size = sizes[i];
  }
  check_merge(&filters[0], &filters[1], sound, false);
  check_merge(&filters[0], &filters[1], sound, true);
  free(second);
  free(bytes[0]);
  free(bytes[1]);
}

void fuzz_end(void) {}
