/* args.c: arguments checked, filters read, filters made, errors said. See args.h. */
#include "args.h"

#include <math.h>
#include <stdarg.h>

static const double DEFAULT_P = 0.01;

/* ---- errors ---- */

void bloom_fail_code(sqlite3_context *context, int code) {
  if (code == SQLITE_TOOBIG) {
    sqlite3_result_error_toobig(context);
  } else {
    sqlite3_result_error_nomem(context);
  }
}

void bloom_fail(sqlite3_context *context, const char *name, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *reason = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  char *message = reason ? sqlite3_mprintf("%s: %s", name, reason) : NULL;
  if (message) {
    sqlite3_result_error(context, message, -1);
  } else {
    sqlite3_result_error_nomem(context);
  }
  sqlite3_free(message);
  sqlite3_free(reason);
}

/* Text is quoted when it is short printable ASCII, and counted otherwise: it may be a filter. */
static char *shown_text(sqlite3_value *value) {
  const unsigned char *text = sqlite3_value_text(value);
  int size = sqlite3_value_bytes(value), printable = 0;
  if (text == NULL) return NULL; /* it could not be converted to UTF-8 */
  while (printable < size && text[printable] >= ' ' && text[printable] < 127) printable++;
  if (size <= 40 && printable == size) return sqlite3_mprintf("the text '%s'", text);
  return sqlite3_mprintf("a text of %d bytes", size);
}

/* A value as an error message shows it, in memory of sqlite3_malloc; NULL when that ran out. */
static char *shown_value(sqlite3_value *value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_mprintf("%lld", sqlite3_value_int64(value));
    case SQLITE_FLOAT:
      return sqlite3_mprintf("%.15g", sqlite3_value_double(value));
    case SQLITE_TEXT:
      return shown_text(value);
    case SQLITE_BLOB:
      return sqlite3_mprintf("a blob of %d bytes", sqlite3_value_bytes(value));
    default:
      return sqlite3_mprintf("NULL");
  }
}

/* "<what> is <value shown>, <rule>", from sqlite3_malloc; NULL when memory ran out. */
static char *reason_value(const char *what, sqlite3_value *value, const char *rule) {
  char *shown = shown_value(value);
  return shown ? sqlite3_mprintf("%s is %z, %s", what, shown, rule) : NULL;
}

/* Fails with a reason that is freed here; NULL: out of memory. */
static void fail_reason(sqlite3_context *context, const char *name, char *reason) {
  if (reason) {
    bloom_fail(context, name, "%s", reason);
  } else {
    sqlite3_result_error_nomem(context);
  }
  sqlite3_free(reason);
}

/* ---- n, p and kind ---- */

static const char *const N_RULE = "it must be an integer of at least 1";
static const char *const N_RULE_BUILD =
    "it must be an integer of at least 1, or NULL to size the filter by its keys";
static const char *const P_RULE = "it must be a number from 1e-9 to below 1";

static bool is_number(sqlite3_value *value) {
  int type = sqlite3_value_type(value);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static bool read_n(sqlite3_value *value, uint64_t *n) {
  double number;
  if (sqlite3_value_type(value) == SQLITE_INTEGER) {
    sqlite3_int64 integer = sqlite3_value_int64(value);
    *n = (uint64_t)integer;
    return integer >= 1;
  }
  if (sqlite3_value_type(value) != SQLITE_FLOAT) return false;
  number = sqlite3_value_double(value);
  if (!(number >= 1 && number < 9223372036854775808.0) || floor(number) != number) return false;
  *n = (uint64_t)number;
  return true;
}

static bool read_p(sqlite3_value *value, float *p) {
  return is_number(value) && bloom_read_p(sqlite3_value_double(value), p);
}

static bool read_kind(sqlite3_value *value, uint8_t *kind) {
  const char *text;
  if (sqlite3_value_type(value) != SQLITE_TEXT) return false;
  text = (const char *)sqlite3_value_text(value); /* NULL, out of memory, is neither */
  if (sqlite3_stricmp(text, "counting") == 0) {
    *kind = BLOOM_COUNTING;
    return true;
  }
  return sqlite3_stricmp(text, "plain") == 0;
}

static bool swapped(sqlite3_value *n, sqlite3_value *p) {
  return is_number(n) && is_number(p) && sqlite3_value_double(n) > 0 &&
         sqlite3_value_double(n) < 1 && sqlite3_value_double(p) >= 1;
}

bool bloom_read_params(int argc, sqlite3_value **argv, bool n_may_be_null, BloomParams *params,
                       char **reason) {
  bool n_given = argc > 0 && sqlite3_value_type(argv[0]) != SQLITE_NULL;
  bool p_given = argc > 1 && sqlite3_value_type(argv[1]) != SQLITE_NULL;
  params->n = 0;
  params->p = (float)DEFAULT_P;
  params->kind = BLOOM_PLAIN;
  if (n_given && p_given && swapped(argv[0], argv[1])) {
    *reason = sqlite3_mprintf("n is %.15g and p is %.15g: are they swapped? n comes first",
                              sqlite3_value_double(argv[0]), sqlite3_value_double(argv[1]));
  } else if (!n_given && !n_may_be_null) {
    *reason = sqlite3_mprintf("n is NULL, %s", N_RULE);
  } else if (n_given && !read_n(argv[0], &params->n)) {
    *reason = reason_value("n", argv[0], n_may_be_null ? N_RULE_BUILD : N_RULE);
  } else if (p_given && !read_p(argv[1], &params->p)) {
    *reason = reason_value("p", argv[1], P_RULE);
  } else if (argc > 2 && !read_kind(argv[2], &params->kind)) {
    *reason = reason_value("kind", argv[2], "it must be 'plain' or 'counting'");
  } else {
    return true;
  }
  return false;
}

bool bloom_params(sqlite3_context *context, const char *name, int argc, sqlite3_value **argv,
                  BloomParams *params) {
  bool build = strcmp(name, "bloom_build") == 0;
  char *reason = NULL;
  if (bloom_read_params(argc, argv, build, params, &reason)) return true;
  fail_reason(context, name, reason);
  return false;
}

/* ---- filters and keys ---- */

static bool is_filter_blob(sqlite3_value *value) {
  const void *bytes = sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_blob(value) : NULL;
  return bytes && bloom_looks_like_filter(bytes, (uint64_t)sqlite3_value_bytes(value));
}

/* Says what is wrong with an argument that is no filter; always NULL. */
static const BloomFilter *fail_filter(sqlite3_context *context, const char *name,
                                      sqlite3_value *value, sqlite3_value *other,
                                      const char *reason) {
  if (other && is_filter_blob(other)) {
    bloom_fail(context, name, "the filter is the first argument and the key the second: swapped?");
  } else if (sqlite3_value_type(value) == SQLITE_NULL) {
    bloom_fail(context, name,
               "the filter is NULL (a bloom_ref is lost unless it is the direct argument; for rows "
               "without a filter write CASE WHEN filter IS NULL THEN 1 ELSE "
               "bloom_contains(filter, key) END)");
  } else if (sqlite3_value_type(value) != SQLITE_BLOB) {
    fail_reason(context, name,
                reason_value("the filter", value, "it must be a blob made by bloom_build"));
  } else {
    bloom_fail(context, name, "%s", reason);
  }
  return NULL;
}

const BloomFilter *bloom_filter_arg(sqlite3_context *context, const char *name,
                                    sqlite3_value *value, sqlite3_value *other, BloomFilter *room,
                                    bool whole) {
  char reason[BLOOM_REASON_BYTES];
  int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) {
    const BloomFilter *ref = sqlite3_value_pointer(value, BLOOM_POINTER_TYPE);
    return ref ? ref : fail_filter(context, name, value, other, NULL);
  }
  if (type != SQLITE_BLOB) return fail_filter(context, name, value, other, NULL);
  const void *bytes = sqlite3_value_blob(value);
  uint64_t size = (uint64_t)sqlite3_value_bytes(value);
  if (bytes == NULL && sqlite3_value_type(value) != SQLITE_BLOB) {
    sqlite3_result_error_nomem(context); /* a zeroblob that could not be expanded is NULL now */
    return NULL;
  }
  if (!bloom_decode(bytes, size, room, reason)) {
    return fail_filter(context, name, value, other, reason);
  }
  if (whole && !bloom_intact(room)) {
    bloom_fail(context, name, BLOOM_BODY_DAMAGED);
    return NULL;
  }
  return room;
}

bool bloom_key_arg(sqlite3_context *context, sqlite3_value *value, uint64_t *hash, int *type) {
  *type = bloom_key_hash_value(value, hash);
  if (*type < 0) sqlite3_result_error_nomem(context);
  return *type >= 0;
}

/* ---- drafts ---- */

static void *resize_bytes(void *bytes, uint64_t size) {
  return sqlite3_realloc64(bytes, size);
}

static void start_in_sql(sqlite3_context *context, BloomDraft *draft) {
  int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  bloom_draft_start(draft, (uint64_t)limit, resize_bytes);
}

int bloom_draft_empty(sqlite3_context *context, BloomDraft *draft) {
  start_in_sql(context, draft);
  return bloom_draft_start_empty(draft);
}

int bloom_draft_sized(sqlite3_context *context, BloomDraft *draft, const BloomParams *params,
                      const BloomGeometry *geometry) {
  start_in_sql(context, draft);
  return bloom_draft_start_sized(draft, params, geometry);
}

int bloom_draft_copy(sqlite3_context *context, BloomDraft *draft, const BloomFilter *from) {
  start_in_sql(context, draft);
  return bloom_draft_start_copy(draft, from);
}

void bloom_draft_result(sqlite3_context *context, BloomDraft *draft) {
  bloom_encode(&draft->filter, draft->bytes);
  sqlite3_result_blob64(context, draft->bytes, draft->filter.size, sqlite3_free);
  draft->bytes = NULL;
}

/* The largest n, and the smallest p, that fit `cells` cells. */
static double fitting_n(double cells, float p) {
  double per_key = bloom_cells_needed(1e9, p) / 1e9;
  return floor((cells - 8 * BLOOM_LINE_CELLS) / per_key * (1 - 1e-9));
}

static double fitting_p(double cells, double n) {
  double low = BLOOM_MIN_P, high = 1;
  for (int step = 0; step < 40; step++) {
    double middle = sqrt(low * high);
    if (middle < 1 - 1e-7 && bloom_cells_needed(n, (float)middle) > cells) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

/* Bytes of a filter as it is asked for, also where no layer has so many cells. */
static double bytes_needed(uint64_t n, float p, unsigned cell_bits) {
  BloomGeometry geometry;
  double cells = bloom_geometry(n, p, &geometry) ? (double)bloom_layer_bytes(&geometry, cell_bits)
                                                 : bloom_cells_needed((double)n, p) * cell_bits / 8;
  return cells + (double)bloom_header_bytes(1);
}

void bloom_fail_draft(sqlite3_context *context, const char *name, int code, uint64_t n, float p,
                      unsigned cell_bits) {
  int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  double cells = ((double)limit - 128) * 8 / cell_bits;
  double needed = bytes_needed(n, p, cell_bits);
  if (code == SQLITE_FULL) {
    bloom_fail(context, name,
               "the filter would have more than %d layers: rebuild it with a larger n",
               BLOOM_MAX_LAYERS);
  } else if (code != SQLITE_TOOBIG) {
    bloom_fail_code(context, code);
  } else if (needed <= limit) {
    bloom_fail(context, name,
               "the filter outgrew its n of %llu at p = %.7g and would pass the limit of %d bytes",
               n, p, limit);
  } else {
    double n_fits = fitting_n(cells, p), p_fits = fitting_p(cells, (double)n);
    char *fits_n = n_fits < 1 ? NULL : sqlite3_mprintf(": n of at most %.0f fits", n_fits);
    char *fits_p = p_fits > 0.95 ? NULL
                                 : sqlite3_mprintf("%s p of at least %.2g", fits_n ? ", or" : ":",
                                                   p_fits * 1.05);
    bloom_fail(context, name, "n = %llu at p = %.7g needs %.0f bytes, the limit is %d%z%z", n, p,
               needed, limit, fits_n, fits_p);
  }
}

/* ---- merging ---- */

char *bloom_why_not_merge(const BloomFilter *a, const BloomFilter *b) {
  const BloomGeometry *first = &a->layers[0].geometry, *second = &b->layers[0].geometry;
  if (a->kind != b->kind) {
    return sqlite3_mprintf("kind differs (%s and %s)", bloom_kind_name(a->kind),
                           bloom_kind_name(b->kind));
  }
  if (a->n != b->n) {
    return sqlite3_mprintf(
        "n differs (%llu and %llu): filters sized by their own keys do not merge, give the shards "
        "the same n",
        a->n, b->n);
  }
  if (a->p != b->p) {
    return sqlite3_mprintf("p differs (%.7g and %.7g)", (double)a->p, (double)b->p);
  }
  return sqlite3_mprintf("the first layer's geometry differs (k %d and %d, cells %llu and %llu)",
                         first->k, second->k, bloom_cells(first), bloom_cells(second));
}

static void fail_merge(sqlite3_context *context, const char *name, int code,
                       const BloomDraft *draft, const BloomFilter *filter) {
  switch (code) {
    case BLOOM_DIFFERENT:
      fail_reason(context, name, bloom_why_not_merge(&draft->filter, filter));
      break;
    case BLOOM_OUTGROWN:
      bloom_fail(context, name,
                 "a filter that outgrew its n has a key in any of its layers, so two of them "
                 "cannot be intersected: build both with a larger n");
      break;
    case BLOOM_DAMAGED:
      bloom_fail(context, name, BLOOM_BODY_DAMAGED);
      break;
    default:
      bloom_fail_draft(context, name, code, filter->n, filter->p, filter->cell_bits);
  }
}

bool bloom_draft_merge(sqlite3_context *context, const char *name, BloomDraft *draft,
                       const BloomFilter *filter, bool verified, enum BloomMerge merge) {
  int code = bloom_draft_take(draft, filter, verified, merge);
  if (code == BLOOM_DONE) return true;
  fail_merge(context, name, code, draft, filter);
  return false;
}
