/* fuzz: what the fuzzers share. See fuzz.h.
**
** With -DREPLAY there is a main that runs the files and folders that it is given, for compilers
** without libFuzzer; otherwise libFuzzer brings it.
*/
#include "fuzz.h"

#include <math.h>

#include "hash.h"

int sqlite3_bloom_init(sqlite3 *db, char **error, const void *api);

static const char *current = "an input"; /* the file that is replayed */

void finding(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "not ok %s: %s: ", fuzz_name, current);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  abort();
}

/* Sebastiano Vigna's splitmix64. */
uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* ---- input ---- */

size_t left(const Input *input) {
  return (size_t)(input->end - input->at);
}

uint8_t take_byte(Input *input) {
  return input->at < input->end ? *input->at++ : 0;
}

uint64_t take_number(Input *input, unsigned bytes) {
  uint64_t number = 0;
  for (unsigned i = 0; i < bytes; i++) number |= (uint64_t)take_byte(input) << 8 * i;
  return number;
}

const uint8_t *take_bytes(Input *input, size_t *size) {
  const uint8_t *at = input->at;
  if (*size > left(input)) *size = left(input);
  input->at += *size;
  return at;
}

static void take_spelt(Input *input, Value *value) {
  static const char *const formats[] = {"%.15g", "%.17g", "%.0f", " %.14e ", "+0%.15g", "%.3f"};
  uint8_t format = take_byte(input);
  uint64_t bits = take_number(input, 8);
  double number;
  memcpy(&number, &bits, 8);
  if (format & 128) number = (double)(int64_t)bits;
  if (!isfinite(number) || fabs(number) > 1e60) number = (double)format;
  value->type = SQLITE_TEXT;
  /* The formats are the literals above. */
  value->size =
      (size_t)snprintf(value->bytes, sizeof value->bytes, formats[format % COUNT(formats)], number);
}

void take_value(Input *input, Value *value) {
  uint8_t tag = take_byte(input);
  memset(value, 0, sizeof *value);
  value->type = SQLITE_INTEGER;
  switch (tag & 7) {
    case 0:
      value->type = SQLITE_NULL;
      break;
    case 1:
      value->integer = (int8_t)take_byte(input);
      break;
    case 2:
      value->integer = (int64_t)take_number(input, 8);
      break;
    case 3: {
      uint64_t bits = take_number(input, 8);
      memcpy(&value->real, &bits, 8);
      value->type = SQLITE_FLOAT;
      break;
    }
    case 4:
    case 5: {
      value->type = (tag & 7) == 4 ? SQLITE_TEXT : SQLITE_BLOB;
      value->size = take_byte(input) % sizeof value->bytes;
      const uint8_t *bytes = take_bytes(input, &value->size);
      if (value->size > 0) memcpy(value->bytes, bytes, value->size);
      break;
    }
    case 6:
      take_spelt(input, value);
      break;
    default: /* near a power of two, as an integer or a real */
      value->integer = (int64_t)((UINT64_C(1) << tag / 8 * 2) + take_byte(input) - 128);
      value->real = (double)value->integer;
      if (tag & 8) value->type = SQLITE_FLOAT;
  }
}

void bind_value(sqlite3_stmt *statement, int at, const Value *value) {
  switch (value->type) {
    case SQLITE_INTEGER:
      sqlite3_bind_int64(statement, at, value->integer);
      break;
    case SQLITE_FLOAT:
      sqlite3_bind_double(statement, at, value->real);
      break;
    case SQLITE_TEXT:
      sqlite3_bind_text(statement, at, value->bytes, (int)value->size, SQLITE_TRANSIENT);
      break;
    case SQLITE_BLOB:
      sqlite3_bind_blob(statement, at, value->bytes, (int)value->size, SQLITE_TRANSIENT);
      break;
    default:
      sqlite3_bind_null(statement, at);
  }
}

/* ---- SQLite ---- */

static void must(sqlite3 *db, int code, const char *what) {
  if (code != SQLITE_OK) finding("%s: code %d: %s", what, code, db ? sqlite3_errmsg(db) : "");
}

void load_bloom(sqlite3 *db) {
#ifdef SQLITE_CORE
  must(db, sqlite3_bloom_init(db, NULL, NULL), "the entry point");
#else
  const char *bloom = getenv("BLOOM");
  sqlite3_enable_load_extension(db, 1);
  must(db, sqlite3_load_extension(db, bloom ? bloom : "build/bloom.so", NULL, NULL), "loading");
#endif
}

sqlite3 *open_bare(void) {
  sqlite3 *db = NULL;
  must(db, sqlite3_open(":memory:", &db), "open");
  return db;
}

sqlite3 *open_image(const unsigned char *bytes, sqlite3_int64 size) {
  sqlite3 *db = open_bare();
  unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)size);
  if (copy == NULL) abort();
  memcpy(copy, bytes, (size_t)size);
  if (sqlite3_deserialize(db, "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)) {
    finding("deserialize: %s", sqlite3_errmsg(db));
  }
  return db;
}

sqlite3 *open_bloom(void) {
  sqlite3 *db = open_bare();
  load_bloom(db);
  return db;
}

void run_sql(sqlite3 *db, const char *sql) {
  must(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  must(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), sql);
  return statement;
}

bool first_row(sqlite3_stmt *statement) {
  return sqlite3_step(statement) == SQLITE_ROW;
}

void reset_statement(sqlite3_stmt *statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

int64_t ask(sqlite3_stmt *statement) {
  if (!first_row(statement)) {
    finding("%s: %s", sqlite3_sql(statement), sqlite3_errmsg(sqlite3_db_handle(statement)));
  }
  int64_t answer = sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  return answer;
}

void check_error(sqlite3 *db, const char *name) {
  int code = sqlite3_errcode(db) & 0xff;
  const char *words = sqlite3_errmsg(db);
  size_t length = strlen(name);
  if (code == SQLITE_TOOBIG) return;
  /* Corruption is told by tables, a constraint by rows that were there before they should. */
  bool usual = code == SQLITE_ERROR || code == SQLITE_CORRUPT || code == SQLITE_CONSTRAINT;
  if (!usual || strncmp(words, name, length) != 0 || words[length] != ':') {
    finding("%s fails with code %d and the words: %s", name, code, words);
  }
}

/* ---- filters ---- */

enum {
  FIXED = 32,
  ENTRY = 32,
  CHECKSUM = 8,
  AT_KIND = 5,
  AT_LAYERS = 9,
  AT_P = 12,
  AT_N = 16,
  AT_BODY_SUM = 24
};

static const uint8_t magic[4] = {0xc1, 'B', 'F', 0xf5};

static uint64_t load(const uint8_t *at, unsigned bytes) {
  uint64_t number = 0;
  for (unsigned i = 0; i < bytes; i++) number |= (uint64_t)at[i] << 8 * i;
  return number;
}

static void store(uint8_t *at, uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) at[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t header_size(const uint8_t *bytes) {
  return FIXED + (uint64_t)bytes[AT_LAYERS] * ENTRY + CHECKSUM;
}

static bool rate_between(uint32_t bits, uint32_t least) {
  return bits >= least && bits < 0x3f800000; /* positive floats are ordered as their bits are */
}

/* An entry of the layer table: FORMAT.md, "Layer table". */
static bool read_layer(const uint8_t *entry, unsigned cell_bits, Layer *layer) {
  const uint64_t most = UINT64_C(1) << 48;
  layer->capacity = load(entry, 8);
  layer->lines = load(entry + 8, 8);
  layer->line_bits = load(entry + 16, 8);
  layer->rate = (uint32_t)load(entry + 24, 4);
  layer->k = entry[28];
  layer->L = entry[29];
  if (layer->capacity == 0 || layer->capacity >> 63) return false;
  if (!rate_between(layer->rate, 0x1f800000)) return false; /* 2^-64 */
  if (layer->k < 1 || layer->k > 64 || entry[30] || entry[31]) return false;
  if (layer->lines == 1) {
    if (layer->line_bits < 2 || layer->line_bits > most || layer->L != 1) return false;
  } else if (layer->lines < 2 || layer->lines > UINT64_C(1) << 39 || layer->line_bits != 512 ||
             layer->L != (layer->k + 3) / 4) {
    return false;
  }
  layer->size = (layer->lines * layer->line_bits * cell_bits + 7) / 8;
  return true;
}

static bool read_layers(const uint8_t *bytes, uint64_t size, Filter *filter) {
  uint64_t end = header_size(bytes);
  for (unsigned i = 0; i < filter->layer_count; i++) {
    Layer *layer = &filter->layers[i];
    if (!read_layer(bytes + FIXED + i * ENTRY, filter->cell_bits, layer)) return false;
    layer->offset = end;
    end += layer->size;
  }
  return end == size;
}

/* Everything but the body: FORMAT.md, "Reading", 1 to 13. */
static bool read_header(const uint8_t *bytes, uint64_t size, Filter *filter) {
  if (size < FIXED + CHECKSUM || memcmp(bytes, magic, sizeof magic) != 0) return false;
  if (bytes[4] != 1 || bytes[6] != 1 || bytes[AT_LAYERS] > 64) return false;
  uint64_t header = header_size(bytes);
  if (size < header) return false;
  if (XXH3_64bits(bytes, header - CHECKSUM) != load(bytes + header - CHECKSUM, 8)) return false;
  if (bytes[AT_KIND] != 1 && bytes[AT_KIND] != 2) return false;
  if (bytes[7] > 15 || bytes[8] > 15 || bytes[10] || bytes[11]) return false;
  uint64_t n = load(bytes + AT_N, 8);
  uint32_t p = (uint32_t)load(bytes + AT_P, 4);
  filter->bytes = bytes;
  filter->size = size;
  filter->cell_bits = bytes[AT_KIND] == 2 ? 4 : 1;
  filter->layer_count = bytes[AT_LAYERS];
  if (filter->layer_count == 0) {
    if (n != 0 || p != 0 || bytes[AT_KIND] != 1) return false;
  } else if (!rate_between(p, 0x3089705f)) {
    return false;
  }
  if (!read_layers(bytes, size, filter)) return false;
  if (filter->cell_bits == 4 && filter->layer_count > 1) return false;
  return filter->layer_count == 0 ||
         (filter->layers[0].capacity == n && filter->layers[0].rate == p);
}

/* The bits behind the last cell of a layer. */
static uint8_t spare_bits(const Filter *filter, const Layer *layer) {
  uint64_t bits = layer->lines * layer->line_bits * filter->cell_bits;
  return bits % 8 == 0 ? 0 : (uint8_t)(0xff << bits % 8);
}

int read_filter(const uint8_t *bytes, uint64_t size, Filter *filter) {
  if (!read_header(bytes, size, filter)) return HEADER_BAD;
  uint64_t body = header_size(bytes);
  if (XXH3_64bits(bytes + body, size - body) != load(bytes + AT_BODY_SUM, 8)) return BODY_BAD;
  for (unsigned i = 0; i < filter->layer_count; i++) {
    const Layer *layer = &filter->layers[i];
    if (bytes[layer->offset + layer->size - 1] & spare_bits(filter, layer)) return BODY_BAD;
  }
  return SOUND;
}

unsigned cell_of(const Filter *filter, const Layer *layer, uint64_t cell) {
  const uint8_t *cells = filter->bytes + layer->offset;
  if (filter->cell_bits == 1) return cells[cell / 8] >> cell % 8 & 1;
  return cells[cell / 2] >> cell % 2 * 4 & 15;
}

static uint64_t mulhi(uint64_t a, uint64_t b) {
  uint64_t low = (a & 0xffffffff) * (b & 0xffffffff), high = (a >> 32) * (b >> 32);
  uint64_t one = (a >> 32) * (b & 0xffffffff), two = (a & 0xffffffff) * (b >> 32);
  uint64_t middle = (low >> 32) + (one & 0xffffffff) + (two & 0xffffffff);
  return high + (one >> 32) + (two >> 32) + (middle >> 32);
}

static bool layer_contains(const Filter *filter, const Layer *layer, uint64_t hash) {
  const uint64_t C = UINT64_C(0xf1357aea2e62a9c5);
  uint64_t lines[16], a = hash | 1;
  for (unsigned l = 0; l < layer->L; l++, a *= C) lines[l] = mulhi(a, layer->lines);
  for (unsigned l = 0; l < layer->L; l++) {
    unsigned draws = layer->k / layer->L + (l < layer->k % layer->L);
    for (; draws > 0; draws--, a *= C) {
      uint64_t cell = lines[l] * layer->line_bits + mulhi(a, layer->line_bits);
      if (cell_of(filter, layer, cell) == 0) return false;
    }
  }
  return true;
}

bool filter_contains(const Filter *filter, uint64_t hash) {
  for (unsigned i = 0; i < filter->layer_count; i++) {
    if (layer_contains(filter, &filter->layers[i], hash)) return true;
  }
  return false;
}

uint64_t hash_of_integer(int64_t key) {
  uint8_t bytes[8];
  store(bytes, (uint64_t)key, 8);
  return XXH3_64bits_withSeed(bytes, 8, 1);
}

/* ---- repairs ---- */

void seal_header(uint8_t *bytes, size_t size) {
  if (size < FIXED + CHECKSUM || bytes[AT_LAYERS] > 64 || size < header_size(bytes)) return;
  uint64_t covered = header_size(bytes) - CHECKSUM;
  store(bytes + covered, XXH3_64bits(bytes, covered), 8);
}

/* The bytes that the layers ask for, as far as they are in range; 0: more than MOST_BYTES. */
static size_t size_by_layers(const uint8_t *bytes) {
  uint64_t size = header_size(bytes);
  for (unsigned i = 0; i < bytes[AT_LAYERS]; i++) {
    Layer layer;
    if (!read_layer(bytes + FIXED + i * ENTRY, bytes[AT_KIND] == 2 ? 4 : 1, &layer)) return 0;
    size += layer.size;
    if (size > MOST_BYTES) return 0;
  }
  return (size_t)size;
}

static void repair_fixed(uint8_t *bytes) {
  memcpy(bytes, magic, sizeof magic);
  bytes[4] = bytes[6] = 1;
  bytes[7] &= 15;
  bytes[8] &= 15;
  bytes[10] = bytes[11] = 0;
  if (bytes[AT_LAYERS] == 0) return;
  memcpy(bytes + AT_N, bytes + FIXED, 8);
  memcpy(bytes + AT_P, bytes + FIXED + 24, 4);
}

static void repair_spare(uint8_t *bytes, size_t size) {
  uint64_t end = header_size(bytes);
  Filter filter = {bytes, size, bytes[AT_KIND] == 2 ? 4 : 1, 0, {{0}}};
  for (unsigned i = 0; i < bytes[AT_LAYERS]; i++) {
    Layer layer;
    if (!read_layer(bytes + FIXED + i * ENTRY, filter.cell_bits, &layer)) return;
    end += layer.size;
    if (end > size) return;
    bytes[end - 1] &= (uint8_t)~spare_bits(&filter, &layer);
  }
}

static void repair_body(uint8_t *bytes, size_t size) {
  uint64_t header = header_size(bytes);
  store(bytes + AT_BODY_SUM, XXH3_64bits(bytes + header, size - header), 8);
}

uint8_t *repair(const uint8_t *bytes, size_t *size, unsigned what) {
  bool whole = *size >= FIXED + CHECKSUM && bytes[AT_LAYERS] <= 64 && *size >= header_size(bytes);
  size_t wanted = whole && (what & REPAIR_SIZE) ? size_by_layers(bytes) : 0;
  if (wanted == 0) wanted = *size;
  uint8_t *copy = malloc(wanted > 0 ? wanted : 1); /* so that a byte too far is seen */
  if (copy == NULL) abort();
  if (*size > 0) memcpy(copy, bytes, wanted < *size ? wanted : *size);
  if (wanted > *size) memset(copy + *size, 0, wanted - *size);
  *size = wanted;
  if (whole && (what & REPAIR_FIXED)) repair_fixed(copy);
  if (whole && (what & REPAIR_SPARE)) repair_spare(copy, wanted);
  if (whole && (what & REPAIR_BODY)) repair_body(copy, wanted);
  if (whole && (what & REPAIR_HEADER)) seal_header(copy, wanted);
  return copy;
}

/* ---- running ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  /* Every piece from malloc, so that the sanitizers see where it ends. */
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  sqlite3_hard_heap_limit64(512 << 20);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t nothing[1];
  Input input = {size > 0 ? data : nothing, size > 0 ? data + size : nothing};
  fuzz_one(input);
  return 0;
}

#ifdef REPLAY
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Says which file it was, for crashes that finding() did not see. */
static void crashed(int number) {
  static const char words[] = "not ok crash: ";
  signal(number, SIG_DFL);
  if (write(1, words, sizeof words - 1) < 0 || write(1, current, strlen(current)) < 0) _exit(2);
  if (write(1, "\n", 1) < 0) _exit(2);
  raise(number);
}

static void replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) finding("%s cannot be read", path);
  size_t size = (size_t)ftell(file);
  uint8_t *data = malloc(size + 1);
  rewind(file);
  if (data == NULL || fread(data, 1, size, file) != size) finding("%s cannot be read", path);
  fclose(file);
  current = path;
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  printf("ok %s: %s\n", fuzz_name, path);
  fflush(stdout);
}

static void replay(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) finding("there is no %s", path);
  if (!S_ISDIR(facts.st_mode)) {
    replay_file(path);
    return;
  }
  struct dirent **names;
  int count = scandir(path, &names, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char inner[1000];
    snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
    if (names[i]->d_name[0] != '.') replay_file(inner);
    free(names[i]);
  }
  free(names);
}

int main(int argc, char **argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  signal(SIGSEGV, crashed);
  signal(SIGFPE, crashed);
  signal(SIGBUS, crashed);
  for (int i = 1; i < argc; i++) replay(argv[i]);
  current = "all inputs";
  fuzz_end();
  return 0;
}
#endif
