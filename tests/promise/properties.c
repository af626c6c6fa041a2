/* Properties: random operations on a few filters, each beside the naive set of what is in it.
**
** After every operation the filter is asked for all of its keys (never a 0) and for absent ones.
** Over the whole run the absent keys answered with 1 must be as many as the filters' own
** bloom_fpr says, within 4 sigma (each answer is a coin of that chance: sigma = sqrt(sum f(1-f))),
** and for filters that kept to their documented rate (p within n, p outgrown by a build, 2p by
** additions) no more than that, within 3 sigma (which includes the scatter of small filters, up to
** a third of a filter's own rate each).
*/
#include "promise.h"

enum {
  SLOTS = 4,
  UNIVERSE = 600, /* keys 0 .. 599 are put in, those from 1000 on never */
  PROBES = 40
};

/* A filter and what is in it. */
typedef struct Slot {
  Filter filter;
  uint8_t copies[UNIVERSE]; /* of each key; plain filters: 0 or 1 */
  bool counting;
  uint64_t n;
  double p;
  double documented; /* rate, over p; 0: merged, so bloom_fpr is what is documented */
  unsigned adds;     /* a counter that took 15 additions is stuck: then nothing is removed */
} Slot;

typedef struct Tally {
  double passed, expected, variance;  /* against bloom_fpr */
  double bound, held, bound_variance; /* against the documented rate */
  uint64_t missing, asked, refused, unchanged;
  uint64_t operations[8];
} Tally;

static Slot slots[SLOTS];
static Tally tally;
static uint64_t seed = 20;

static unsigned below(unsigned n) {
  return (unsigned)(next_random(&seed) % n);
}

/* Keys of all types: integers, reals, text, blobs. */
static void bind_key(sqlite3_stmt *query, int at, unsigned key) {
  char text[32];
  snprintf(text, sizeof text, "key %u of many", key);
  switch (key % 4) {
    case 0:
      sqlite3_bind_int64(query, at, (sqlite3_int64)key * 1000003 - 300000000);
      break;
    case 1:
      sqlite3_bind_double(query, at, key + 0.25);
      break;
    case 2:
      sqlite3_bind_text(query, at, text, -1, SQLITE_TRANSIENT);
      break;
    default:
      sqlite3_bind_blob(query, at, text, (int)strlen(text), SQLITE_TRANSIENT);
  }
}

static bool contains(const Filter *filter, unsigned key) {
  sqlite3_stmt *query = statement("SELECT bloom_contains(?1, ?2)");
  sqlite3_bind_blob64(query, 1, filter->bytes, filter->size, SQLITE_STATIC);
  bind_key(query, 2, key);
  if (sqlite3_step(query) != SQLITE_ROW) stop("bloom_contains");
  bool answer = sqlite3_column_int(query, 0);
  sqlite3_reset(query);
  return answer;
}

static unsigned distinct(const Slot *slot) {
  unsigned count = 0;
  for (unsigned key = 0; key < UNIVERSE; key++) count += slot->copies[key] > 0;
  return count;
}

/* ---- what is checked after each operation ---- */

static void check(const Slot *slot) {
  BloomFacts facts;
  unsigned passed = 0;
  bloom_facts(&slot->filter.view, &facts);
  for (unsigned key = 0; key < UNIVERSE; key++) {
    if (slot->copies[key] == 0) continue;
    tally.asked++;
    tally.missing += !contains(&slot->filter, key);
  }
  for (unsigned i = 0; i < PROBES; i++) {
    passed += contains(&slot->filter, 1000 + below(1u << 30));
  }
  tally.passed += passed;
  tally.expected += PROBES * facts.rate;
  tally.variance += PROBES * facts.rate * (1 - facts.rate);
  if (slot->documented == 0) return;
  double rate = fmin(1, slot->documented * slot->p);
  tally.held += passed;
  tally.bound += PROBES * rate;
  tally.bound_variance += PROBES * rate + pow(PROBES * rate / 3, 2);
}

/* ---- operations: each leaves slots[s] and its set in step ---- */

static void replace(Slot *slot, Filter filter) {
  free_filter(&slot->filter);
  slot->filter = filter;
}

static void start_again(Slot *slot) {
  static const double rates[] = {0.3, 0.1, 0.03, 0.01, 0.001};
  static const uint64_t sizes[] = {1, 10, 40, 100};
  sqlite3_stmt *query = statement("SELECT bloom_new(?1, ?2, ?3)");
  free_filter(&slot->filter);
  memset(slot, 0, sizeof *slot);
  slot->counting = below(3) == 0;
  slot->n = sizes[below(COUNT(sizes))];
  slot->p = rates[below(COUNT(rates))];
  slot->documented = 1;
  sqlite3_bind_int64(query, 1, (sqlite3_int64)slot->n);
  sqlite3_bind_double(query, 2, slot->p);
  sqlite3_bind_text(query, 3, slot->counting ? "counting" : "plain", -1, SQLITE_STATIC);
  slot->filter = take_filter(query);
}

/* Counting filters do not grow: past n only bloom_fpr says what their rate is. */
static void note_growth(Slot *slot, double documented) {
  if (distinct(slot) <= slot->n) return;
  slot->documented = slot->counting || slot->documented == 0 ? 0 : documented;
}

/* A build of random keys, some of them twice, perhaps many more than n. */
static void rebuild(Slot *slot) {
  start_again(slot);
  sqlite3_stmt *query = statement(
      "SELECT bloom_build(CASE value % 4 WHEN 0 THEN value * 1000003 - 300000000 WHEN 1 THEN value "
      "+ 0.25 WHEN 2 THEN 'key ' || value || ' of many' ELSE CAST('key ' || value || ' of many' AS "
      "BLOB) END, ?1, ?2, ?3) FROM json_each(?4)");
  char list[UNIVERSE * 8] = "[";
  unsigned count = 1 + below(below(4) == 0 ? UNIVERSE / 2 : (unsigned)slot->n);
  for (unsigned i = 0; i < count; i++) {
    unsigned key = below(UNIVERSE);
    snprintf(list + strlen(list), 8, "%s%u", i ? "," : "", key);
    slot->copies[key] = (uint8_t)(slot->counting ? slot->copies[key] + 1 : 1);
    slot->adds++;
  }
  sqlite3_bind_int64(query, 1, (sqlite3_int64)slot->n);
  sqlite3_bind_double(query, 2, slot->p);
  sqlite3_bind_text(query, 3, slot->counting ? "counting" : "plain", -1, SQLITE_STATIC);
  sqlite3_bind_text(query, 4, strcat(list, "]"), -1, SQLITE_STATIC);
  replace(slot, take_filter(query));
  note_growth(slot, 1);
}

static void add(Slot *slot) {
  sqlite3_stmt *query = statement("SELECT bloom_add(?1, ?2, ?3)");
  unsigned keys[2] = {below(UNIVERSE), below(UNIVERSE)};
  sqlite3_bind_blob64(query, 1, slot->filter.bytes, slot->filter.size, SQLITE_STATIC);
  for (int i = 0; i < 2; i++) {
    bind_key(query, 2 + i, keys[i]);
    slot->copies[keys[i]] = (uint8_t)(slot->counting ? slot->copies[keys[i]] + 1 : 1);
    slot->adds++;
  }
  replace(slot, take_filter(query));
  note_growth(slot, 2);
}

static bool may_merge(const Slot *a, const Slot *b) {
  return a->n == b->n && a->p == b->p && a->counting == b->counting;
}

/* Runs a merge; false when SQLite reports an error. */
static bool merge(const char *sql, Slot *into, const Slot *from) {
  sqlite3_stmt *query = statement(sql);
  sqlite3_bind_blob64(query, 1, into->filter.bytes, into->filter.size, SQLITE_STATIC);
  sqlite3_bind_blob64(query, 2, from->filter.bytes, from->filter.size, SQLITE_STATIC);
  if (sqlite3_step(query) != SQLITE_ROW) {
    sqlite3_reset(query);
    return false;
  }
  sqlite3_reset(query);
  replace(into, take_filter(query));
  into->documented = 0;
  return true;
}

static void unite(Slot *slot, const Slot *other) {
  bool merged = merge("SELECT bloom_union(?1, ?2)", slot, other);
  if (merged != may_merge(slot, other)) stop("bloom_union: merged what differs, or refused");
  tally.refused += !merged;
  if (!merged) return;
  for (unsigned key = 0; key < UNIVERSE; key++) {
    unsigned sum = slot->copies[key] + (unsigned)other->copies[key];
    slot->copies[key] = (uint8_t)(slot->counting ? (sum < 200 ? sum : 200) : sum > 0);
  }
  slot->adds += other->adds;
}

static void intersect(Slot *slot, const Slot *other) {
  bool grown = slot->filter.view.layer_count > 1 || other->filter.view.layer_count > 1;
  bool merged = merge("SELECT bloom_intersect(?1, ?2)", slot, other);
  if (merged != (may_merge(slot, other) && !grown)) stop("bloom_intersect: merged or refused");
  tally.refused += !merged;
  if (!merged) return;
  for (unsigned key = 0; key < UNIVERSE; key++) {
    if (other->copies[key] < slot->copies[key]) slot->copies[key] = other->copies[key];
  }
  slot->adds = 1000; /* the minimum of two counters is not a multiset: nothing is removed from it */
}

/* Removes a key that is in, or one that certainly is not, which changes nothing. */
static void take_out(Slot *slot) {
  unsigned key = below(UNIVERSE);
  bool absent = !contains(&slot->filter, key);
  if (!slot->counting || slot->adds > 1000 || (slot->copies[key] == 0 && !absent)) return;
  sqlite3_stmt *query = statement("SELECT bloom_remove(?1, ?2)");
  sqlite3_bind_blob64(query, 1, slot->filter.bytes, slot->filter.size, SQLITE_STATIC);
  bind_key(query, 2, key);
  Filter removed = take_filter(query);
  if (absent) {
    if (removed.size != slot->filter.size ||
        memcmp(removed.bytes, slot->filter.bytes, removed.size) != 0) {
      stop("bloom_remove: an absent key changed the filter");
    }
    tally.unchanged++;
  } else {
    slot->copies[key]--;
  }
  replace(slot, removed);
}

static void operate(void) {
  Slot *slot = &slots[below(SLOTS)];
  const Slot *other = &slots[below(SLOTS)];
  unsigned what = below(24);
  tally.operations[what < 2    ? 0
                   : what < 4  ? 1
                   : what < 14 ? 2
                   : what < 16 ? 3
                   : what < 18 ? 4
                               : 5]++;
  if (what < 2) {
    start_again(slot);
  } else if (what < 4) {
    rebuild(slot);
    if (below(2)) { /* a partner that it merges with */
      Slot *partner = &slots[below(SLOTS)];
      if (partner != slot) {
        free_filter(&partner->filter);
        *partner = *slot;
        partner->filter.bytes = malloc(slot->filter.size);
        if (partner->filter.bytes == NULL) stop("out of memory");
        memcpy(partner->filter.bytes, slot->filter.bytes, slot->filter.size);
        partner->filter.view.bytes = partner->filter.bytes;
      }
    }
  } else if (what < 14) {
    add(slot);
  } else if (what < 16) {
    unite(slot, other);
  } else if (what < 18) {
    if (slot != other) intersect(slot, other);
  } else {
    take_out(slot);
  }
  if (slot->counting && slot->adds > 2000) start_again(slot);
  check(slot);
}

void test_properties(void) {
  unsigned rounds = extent == QUICK ? 4000 : extent == SHORT ? 30000 : 200000;
  memset(&tally, 0, sizeof tally);
  for (unsigned s = 0; s < SLOTS; s++) start_again(&slots[s]);
  for (unsigned round = 0; round < rounds; round++) operate();
  for (unsigned s = 0; s < SLOTS; s++) free_filter(&slots[s].filter);
  memset(slots, 0, sizeof slots);
  double sigma = sqrt(tally.variance), bound_sigma = sqrt(tally.bound_variance);
  test(tally.missing == 0 && tally.asked > rounds,
       "properties: %u rounds, %llu of %llu members "
       "missing",
       rounds, (unsigned long long)tally.missing, (unsigned long long)tally.asked);
  test(fabs(tally.passed - tally.expected) <= 4 * sigma && tally.expected > 500,
       "properties: %.0f absent keys passed, bloom_fpr says %.0f (sigma %.0f)", tally.passed,
       tally.expected, sigma);
  test(tally.held <= tally.bound + 3 * bound_sigma && tally.held > tally.bound / 20,
       "properties: %.0f of them in filters with a documented rate, at most %.0f (sigma %.0f)",
       tally.held, tally.bound, bound_sigma);
  test(tally.refused > rounds / 100 && tally.unchanged > rounds / 100,
       "properties: %llu merges of different filters refused, %llu removals of absent keys changed "
       "nothing",
       (unsigned long long)tally.refused, (unsigned long long)tally.unchanged);
}
