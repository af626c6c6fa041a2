/* blob: any bytes as the filter of every function.
**
** Input: a byte of options (REPAIR_ bits, fuzz.h), then the blob. The reader of fuzz.c decides
** whether it is a filter and what it contains; the functions must agree, and refuse in words what
** is none.
*/
#include "fuzz.h"

const char fuzz_name[] = "blob";

enum {
  KEYS = 6 /* the integers 0 .. 5 */
};

/* ?1 is the blob, ?2 the key. */
enum Query {
  CONTAINS,
  CONTAINS_TWO,
  CONTAINS_REF,
  EXPLAIN,
  REF,
  INFO,
  COUNT_KEYS,
  FPR,
  ADD,
  REMOVE,
  UNION,
  UNION_SELF,
  UNION_ALL,
  INTERSECT,
  INTERSECT_SELF,
  INTERSECT_ALL,
  AS_KEY,
  AS_TABLE,
  QUERIES
};

static const struct {
  const char *name; /* how its errors begin */
  const char *sql;
  bool whole; /* reads the body */
} queries[QUERIES] = {
    [CONTAINS] = {"bloom_contains", "SELECT bloom_contains(?1, ?2)", false},
    [CONTAINS_TWO] = {"bloom_contains",
                      "SELECT min(bloom_contains(?1, k)) FROM (SELECT ?2 AS k UNION ALL SELECT ?2)",
                      true},
    [CONTAINS_REF] = {"bloom_ref", "SELECT bloom_contains((SELECT bloom_ref(?1)), ?2)", true},
    [EXPLAIN] = {"bloom_explain", "SELECT json_extract(bloom_explain(?1, ?2), '$.contains')", true},
    [REF] = {"bloom_ref", "SELECT bloom_ref(?1)", true},
    [INFO] = {"bloom_info", "SELECT json_extract(bloom_info(?1), '$.layers')", true},
    [COUNT_KEYS] = {"bloom_count", "SELECT bloom_count(?1)", true},
    [FPR] = {"bloom_fpr", "SELECT bloom_fpr(?1)", true},
    [ADD] = {"bloom_add", "SELECT bloom_add(?1, ?2)", true},
    [REMOVE] = {"bloom_remove", "SELECT bloom_remove(?1, ?2)", true},
    [UNION] = {"bloom_union", "SELECT bloom_union(?1)", true},
    [UNION_SELF] = {"bloom_union", "SELECT bloom_union(?1, ?1)", true},
    [UNION_ALL] = {"bloom_union", "SELECT bloom_union(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?1)",
                   true},
    [INTERSECT] = {"bloom_intersect", "SELECT bloom_intersect(?1)", true},
    [INTERSECT_SELF] = {"bloom_intersect", "SELECT bloom_intersect(?1, ?1)", true},
    [INTERSECT_ALL] = {"bloom_intersect",
                       "SELECT bloom_intersect(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?1)", true},
    [AS_KEY] = {"bloom_build", "SELECT bloom_contains(bloom_build(?1), ?1)", false},
    [AS_TABLE] = {"bloom", "INSERT INTO seen(filter) VALUES (?1)", true},
};

static sqlite3 *db;
static sqlite3_stmt *statements[QUERIES];

static void open_all(void) {
  db = open_bloom();
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 * MOST_BYTES);
  run_sql(db, "CREATE VIRTUAL TABLE seen USING bloom(n=10, p=0.1)");
  for (unsigned i = 0; i < QUERIES; i++) statements[i] = prepare(db, queries[i].sql);
}

static bool run(enum Query query, const Filter *filter, int64_t key) {
  sqlite3_bind_blob64(statements[query], 1, filter->bytes, filter->size, SQLITE_STATIC);
  if (sqlite3_bind_parameter_count(statements[query]) > 1) {
    sqlite3_bind_int64(statements[query], 2, key);
  }
  return first_row(statements[query]);
}

static void done(enum Query query) {
  reset_statement(statements[query]);
}

/* Runs what must be an error. */
static void refuse(enum Query query, const Filter *filter) {
  if (run(query, filter, 1)) finding("%s of what is no filter", queries[query].sql);
  check_error(db, queries[query].name);
  done(query);
}

/* The result of a query that is a filter; false when it was an error in words. */
static bool result(enum Query query, const Filter *from, int64_t key, Filter *made) {
  if (!run(query, from, key)) {
    check_error(db, queries[query].name);
    done(query);
    return false;
  }
  uint64_t size = (uint64_t)sqlite3_column_bytes(statements[query], 0);
  if (read_filter(sqlite3_column_blob(statements[query], 0), size, made) != SOUND) {
    finding("%s gives what is no filter", queries[query].sql);
  }
  return true;
}

static void has_all_of(enum Query query, const Filter *made, const Filter *from) {
  for (int64_t key = 0; key < KEYS; key++) {
    uint64_t hash = hash_of_integer(key);
    if (filter_contains(from, hash) && !filter_contains(made, hash)) {
      finding("%s loses the key %d", queries[query].sql, (int)key);
    }
  }
}

/* Cells behind the headers, which may differ in unused flags. */
static bool same_cells(const Filter *a, const Filter *b) {
  uint64_t body = 40 + 32 * (uint64_t)a->layer_count;
  return a->size == b->size && a->layer_count == b->layer_count &&
         memcmp(a->bytes + body, b->bytes + body, a->size - body) == 0;
}

static void check_answers(const Filter *filter, bool sound) {
  static const enum Query asked[] = {CONTAINS, EXPLAIN, CONTAINS_TWO, CONTAINS_REF};
  for (int64_t key = 0; key < KEYS; key++) {
    bool in = filter_contains(filter, hash_of_integer(key));
    for (unsigned i = 0; i < (sound ? COUNT(asked) : 1); i++) {
      if (!run(asked[i], filter, key)) finding("%s: %s", queries[asked[i]].sql, sqlite3_errmsg(db));
      if (sqlite3_column_int(statements[asked[i]], 0) != in) {
        finding("%s of key %d is not %d", queries[asked[i]].sql, (int)key, in);
      }
      done(asked[i]);
    }
  }
}

static void check_facts(const Filter *filter) {
  if (!run(REF, filter, 0) || !run(INFO, filter, 0) || !run(FPR, filter, 0) ||
      !run(COUNT_KEYS, filter, 0)) {
    finding("a sound filter is refused: %s", sqlite3_errmsg(db));
  }
  double fpr = sqlite3_column_double(statements[FPR], 0);
  if (sqlite3_column_type(statements[FPR], 0) != SQLITE_FLOAT || fpr < 0 || fpr > 1) {
    finding("bloom_fpr is %g", fpr);
  }
  if (sqlite3_column_type(statements[COUNT_KEYS], 0) != SQLITE_NULL &&
      sqlite3_column_int64(statements[COUNT_KEYS], 0) < 0) {
    finding("bloom_count is negative");
  }
  if (sqlite3_column_int(statements[INFO], 0) != (int)filter->layer_count) {
    finding("bloom_info counts %d layers", sqlite3_column_int(statements[INFO], 0));
  }
  done(REF);
  done(INFO);
  done(FPR);
  done(COUNT_KEYS);
}

/* One key more, and in a counting filter taken out again. */
static void check_changes(const Filter *filter) {
  Filter more, less;
  for (int64_t key = 0; key < KEYS; key += 2) {
    uint64_t hash = hash_of_integer(key);
    if (result(ADD, filter, key, &more)) {
      has_all_of(ADD, &more, filter);
      if (!filter_contains(&more, hash)) finding("bloom_add does not add %d", (int)key);
      done(ADD);
    }
    if (!result(REMOVE, filter, key, &less)) {
      if (filter->cell_bits == 4) finding("bloom_remove refuses a counting filter");
      continue;
    }
    if (filter->cell_bits == 1 && filter->layer_count > 0) finding("a plain filter forgets");
    bool same = same_cells(&less, filter);
    if (!filter_contains(filter, hash) && !same) finding("an absent key is removed");
    done(REMOVE);
  }
}

static void check_merges(const Filter *filter) {
  static const enum Query same[] = {UNION, INTERSECT, INTERSECT_SELF, INTERSECT_ALL};
  static const enum Query more[] = {UNION_SELF, UNION_ALL};
  Filter made;
  for (unsigned i = 0; i < COUNT(same); i++) {
    if (!result(same[i], filter, 0, &made)) {
      if (i == 0 || filter->layer_count < 2) finding("%s is refused", queries[same[i]].sql);
      continue;
    }
    if (!same_cells(&made, filter)) finding("%s changes it", queries[same[i]].sql);
    done(same[i]);
  }
  for (unsigned i = 0; i < COUNT(more); i++) {
    if (!result(more[i], filter, 0, &made)) {
      if (filter->layer_count <= 32) finding("%s is refused", queries[more[i]].sql);
      continue;
    }
    has_all_of(more[i], &made, filter);
    if (filter->layer_count < 2 && filter->cell_bits == 1 && !same_cells(&made, filter)) {
      finding("%s changes it", queries[more[i]].sql);
    }
    done(more[i]);
  }
}

/* The filter goes into a table, or is refused; the table works on. */
static void check_table(const Filter *filter, bool sound) {
  run_sql(db, "BEGIN; INSERT INTO seen(key) VALUES (3)");
  if (!run(AS_TABLE, filter, 0) && sqlite3_errcode(db) != SQLITE_DONE) {
    check_error(db, "bloom");
  } else if (!sound) {
    finding("a table takes what is no filter");
  } else {
    sqlite3_stmt *lookup = prepare(db, "SELECT bloom_lookup('seen', ?1)");
    for (int64_t key = 0; key < KEYS; key++) {
      sqlite3_bind_int64(lookup, 1, key);
      int64_t found = ask(lookup);
      if (!found && filter_contains(filter, hash_of_integer(key))) finding("a table lost a key");
      if (!found && key == 3) finding("a table lost its own key");
    }
    sqlite3_finalize(lookup);
  }
  done(AS_TABLE);
  run_sql(db, "ROLLBACK");
}

void fuzz_one(Input input) {
  if (db == NULL) open_all();
  unsigned options = take_byte(&input);
  size_t size = left(&input);
  uint8_t *bytes = repair(input.at, &size, options);
  Filter filter;
  int state = read_filter(bytes, size, &filter);
  filter.bytes = bytes;
  filter.size = size;
  if (state != HEADER_BAD) check_answers(&filter, state == SOUND);
  if (state == SOUND) {
    check_facts(&filter);
    check_changes(&filter);
    check_merges(&filter);
  } else {
    for (enum Query query = CONTAINS; query < AS_KEY; query++) {
      if (queries[query].whole || state == HEADER_BAD) refuse(query, &filter);
    }
  }
  check_table(&filter, state == SOUND);
  if (!run(AS_KEY, &filter, 0) || sqlite3_column_int(statements[AS_KEY], 0) != 1) {
    finding("as a key it is lost");
  }
  done(AS_KEY);
  free(bytes);
}

void fuzz_end(void) {}
