/* store.c: the chunks of a bloom table. See store.h for the layout and the rules. */
#include "store.h"

#include <stdarg.h>

#include "format.h"
#include "hash.h"

enum {
  CHUNK_LOADED = 1,
  CHUNK_DIRTY = 2,
  CHUNK_SAVED = 4,
  CHECK_BYTES = 8,
  CHUNK_BYTES = 4032, /* 63 lines of bits: with checksum and row header one page of 4096 */
  CELLS_ALIGNMENT = 64,
  BLIND_ADDS = 16 /* keys added without knowing how full the last layer is */
};

/* ---- errors ---- */

static int fail(BloomStore *store, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sqlite3_vsnprintf(sizeof store->error, store->error, format, arguments);
  va_end(arguments);
  return code;
}

int bloom_store_fail(BloomStore *store, int code) {
  return fail(store, code, "%s", sqlite3_errmsg(store->db));
}

static int fail_damaged(BloomStore *store, sqlite3_int64 id, const char *what) {
  return fail(store, SQLITE_CORRUPT_VTAB, "the table %s_data is damaged: row %lld %s", store->name,
              id, what);
}

static int fail_limit(BloomStore *store) {
  return fail(store, SQLITE_TOOBIG, "the filter of %s would pass the limit of %d bytes",
              store->name, sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, -1));
}

/* ---- statements ---- */

static const char *const STATEMENT_SQL[BLOOM_STATEMENTS] = {
    "SELECT block FROM \"%w\".\"%w_data\" WHERE id = ?1",
    "UPDATE \"%w\".\"%w_data\" SET block = ?2 WHERE id = ?1",
    "INSERT INTO \"%w\".\"%w_data\"(id, block) VALUES(?1, ?2)", "PRAGMA \"%w\".data_version",
    "SELECT block FROM \"%w\".\"%w_data\" WHERE id = 0"};

int bloom_store_prepare(BloomStore *store, sqlite3_stmt **statement, char *sql) {
  int code = SQLITE_NOMEM;
  *statement = NULL;
  if (sql) {
    code = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  }
  sqlite3_free(sql);
  return code == SQLITE_OK || code == SQLITE_NOMEM ? code : bloom_store_fail(store, code);
}

int bloom_store_ask(BloomStore *store, sqlite3_int64 *number, char *sql) {
  sqlite3_stmt *query;
  int code = bloom_store_prepare(store, &query, sql);
  if (code != SQLITE_OK) return code;
  sqlite3_step(query);
  *number = sqlite3_column_int64(query, 0);
  code = sqlite3_finalize(query);
  return code == SQLITE_OK ? SQLITE_OK : bloom_store_fail(store, code);
}

int bloom_store_run(BloomStore *store, char *sql) {
  sqlite3_int64 unused;
  return bloom_store_ask(store, &unused, sql);
}

static int prepare(BloomStore *store, enum BloomStatement which, sqlite3_stmt **result) {
  return bloom_store_prepare(store, result,
                             sqlite3_mprintf(STATEMENT_SQL[which], store->schema, store->name));
}

static int statement(BloomStore *store, enum BloomStatement which, sqlite3_stmt **result) {
  int code = SQLITE_OK;
  if (store->statements[which] == NULL) code = prepare(store, which, &store->statements[which]);
  *result = store->statements[which];
  return code;
}

static void finalize_statements(BloomStore *store) {
  for (int i = 0; i < BLOOM_STATEMENTS; i++) {
    if (i == BLOOM_PIN && store->pinned) continue; /* its user resets it, and comes back */
    sqlite3_finalize(store->statements[i]);
    store->statements[i] = NULL;
  }
}

/* Runs a statement that returns no rows, its parameters bound. */
static int run(BloomStore *store, sqlite3_stmt *change) {
  sqlite3_step(change);
  int code = sqlite3_reset(change);
  return code == SQLITE_OK ? SQLITE_OK : bloom_store_fail(store, code);
}

/* ---- geometry of the memory ---- */

static uint64_t layer_bytes(const BloomStore *store, unsigned layer) {
  return bloom_layer_bytes(&store->filter.layers[layer].geometry, store->filter.cell_bits);
}

static sqlite3_int64 chunk_id(uint64_t layer, uint64_t chunk) {
  return (sqlite3_int64)(1 + layer * (UINT64_C(1) << 32) + chunk);
}

static unsigned layer_of(const BloomStore *store, uint64_t chunk) {
  unsigned layer = 0;
  while (chunk >= store->first_chunk[layer + 1]) layer++;
  return layer;
}

/* Where a chunk lies in memory, and its length. */
static uint8_t *chunk_at(const BloomStore *store, uint64_t chunk, uint64_t *size) {
  unsigned layer = layer_of(store, chunk);
  uint64_t at = (chunk - store->first_chunk[layer]) * (uint64_t)CHUNK_BYTES;
  uint64_t left = layer_bytes(store, layer) - at;
  *size = left < (uint64_t)CHUNK_BYTES ? left : (uint64_t)CHUNK_BYTES;
  return store->cells + store->filter.layers[layer].offset + at;
}

static uint64_t round_up(uint64_t size) {
  return (size + CELLS_ALIGNMENT - 1) / CELLS_ALIGNMENT * CELLS_ALIGNMENT;
}

/* Lays the layers of store->filter out in memory, what is in it kept, and counts their chunks. The
** flags of new chunks are 0. */
static int lay_out(BloomStore *store, unsigned old_layers) {
  uint64_t at = 0, old_chunks = store->first_chunk[old_layers], chunks = 0;
  for (unsigned i = 0; i < store->filter.layer_count; i++) {
    store->filter.layers[i].offset = at;
    at += round_up(layer_bytes(store, i));
    store->first_chunk[i] = chunks;
    chunks += (layer_bytes(store, i) + (uint64_t)CHUNK_BYTES - 1) / (uint64_t)CHUNK_BYTES;
  }
  store->first_chunk[store->filter.layer_count] = chunks;
  uint8_t *flags = sqlite3_realloc64(store->flags, chunks + 1);
  if (flags == NULL) return SQLITE_NOMEM;
  store->flags = flags;
  uint64_t *dirty = sqlite3_realloc64(store->dirty, (chunks + 1) * sizeof *dirty);
  if (dirty == NULL) return SQLITE_NOMEM;
  store->dirty = dirty;
  uint64_t old_shift = store->memory ? (uint64_t)(store->cells - store->memory) : 0;
  uint8_t *memory = sqlite3_realloc64(store->memory, at + CELLS_ALIGNMENT);
  if (memory == NULL) return SQLITE_NOMEM;
  uint64_t shift = (CELLS_ALIGNMENT - (uintptr_t)memory % CELLS_ALIGNMENT) % CELLS_ALIGNMENT;
  if (old_layers > 0 && shift != old_shift) {
    unsigned last = old_layers - 1;
    memmove(memory + shift, memory + old_shift,
            (size_t)(store->filter.layers[last].offset + layer_bytes(store, last)));
  }
  store->memory = memory;
  store->cells = memory + shift;
  store->filter.bytes = store->cells;
  memset(store->flags + old_chunks, 0, (size_t)(chunks - old_chunks));
  store->unloaded += chunks - old_chunks;
  return SQLITE_OK;
}

/* Nothing of the filter is known any more. */
static void forget(BloomStore *store) {
  store->valid = false;
  store->checked = false;
  store->header_dirty = false;
  store->fill.occupied = -1;
  store->blind_adds = 0;
  store->dirty_count = 0;
  store->undo.count = 0;
  store->undo.open = false;
}

bool bloom_store_is_written(const BloomStore *store) {
  return store->dirty_count == 0 && !store->header_dirty;
}

static void set_written(BloomStore *store) {
  for (uint64_t i = 0; i < store->dirty_count; i++) {
    store->flags[store->dirty[i]] &= (uint8_t)~CHUNK_DIRTY;
  }
  store->dirty_count = 0;
  store->header_dirty = false;
}

/* ---- the list of a connection ---- */

static void link_store(BloomStore *store, BloomStores *stores) {
  store->stores = stores;
  store->next = stores->first;
  stores->first = store;
  stores->generation++;
}

/* It is found by name no more; whoever has it keeps it. */
static void unlink_store(BloomStore *store) {
  if (store->stores == NULL) return;
  BloomStore **link = &store->stores->first;
  while (*link != store) link = &(*link)->next;
  *link = store->next;
  store->stores->generation++;
  store->stores = NULL;
}

/* ---- undoing a statement ---- */

static int save_chunk(BloomStore *store, uint64_t chunk) {
  BloomUndo *undo = &store->undo;
  uint64_t size;
  if (undo->count == undo->room) {
    uint64_t room = 2 * undo->room + 16;
    BloomImage *images = sqlite3_realloc64(undo->images, room * sizeof *images);
    if (images == NULL) return SQLITE_NOMEM;
    undo->images = images;
    undo->room = room;
  }
  BloomImage *image = &undo->images[undo->count++];
  const uint8_t *at = chunk_at(store, chunk, &size);
  image->chunk = chunk;
  memcpy(image->bytes, at, (size_t)size);
  store->flags[chunk] |= CHUNK_SAVED;
  return SQLITE_OK;
}

/* A savepoint that SQLite opens for a statement, as opposed to one of the user: then a statement
** that writes is running, and the user may open none. */
static bool statement_is_writing(sqlite3 *db) {
  sqlite3_stmt *running = sqlite3_next_stmt(db, NULL);
  while (running && (!sqlite3_stmt_busy(running) || sqlite3_stmt_readonly(running))) {
    running = sqlite3_next_stmt(db, running);
  }
  return running != NULL;
}

int bloom_store_savepoint(BloomStore *store, int level) {
  BloomUndo *undo = &store->undo;
  bool known = level <= store->level; /* a second table object of this store is told of it */
  if (!known) store->level = level;
  if (undo->open) { /* of a statement that this one runs, as we do ourselves */
    undo->inner_level = level;
    undo->inner_changes = store->changes;
    return SQLITE_OK;
  }
  if (known || bloom_store_is_written(store)) return SQLITE_OK;
  if (!statement_is_writing(store->db)) return bloom_store_flush(store);
  undo->open = true;
  undo->level = level;
  undo->count = 0;
  undo->chunks = store->first_chunk[store->filter.layer_count];
  undo->dirty_count = store->dirty_count;
  undo->header_dirty = store->header_dirty;
  undo->key_types = store->filter.key_types;
  undo->layer_count = store->filter.layer_count;
  undo->size = store->filter.size;
  undo->fill = store->fill;
  return SQLITE_OK;
}

static void close_undo(BloomStore *store) {
  BloomUndo *undo = &store->undo;
  if (store->renamed_in) { /* the table goes on in another store */
    store->renamed_in = NULL;
    forget(store);
    return;
  }
  for (uint64_t i = 0; i < undo->count; i++) {
    store->flags[undo->images[i].chunk] &= (uint8_t)~CHUNK_SAVED;
  }
  undo->count = 0;
  undo->open = false;
}

void bloom_store_released(BloomStore *store, int level) {
  if (store->level >= level) store->level = level - 1;
  if (store->undo.open && level <= store->undo.level) close_undo(store);
}

/* Back to what memory was when the statement began: the layers that it appended go, then the chunks
** that it changed get their bytes back. */
static void undo_statement(BloomStore *store) {
  const BloomUndo *undo = &store->undo;
  uint64_t size;
  if (store->renamed_in) link_store(store, store->renamed_in);
  store->renamed_in = NULL;
  for (uint64_t i = undo->dirty_count; i < store->dirty_count; i++) {
    store->flags[store->dirty[i]] &= (uint8_t)~CHUNK_DIRTY;
  }
  store->dirty_count = undo->dirty_count;
  store->filter.layer_count = undo->layer_count;
  store->filter.size = undo->size;
  store->filter.key_types = undo->key_types;
  store->header_dirty = undo->header_dirty;
  store->fill = undo->fill;
  for (uint64_t i = 0; i < undo->count; i++) {
    uint8_t *at = chunk_at(store, undo->images[i].chunk, &size);
    memcpy(at, undo->images[i].bytes, (size_t)size);
  }
}

/* Changes that a statement inside the statement made cannot be told from its own: when those are
** rolled back, the transaction can only be rolled back as a whole. */
void bloom_store_rolled_back_to(BloomStore *store, int level) {
  if (store->level > level) store->level = level;
  if (!store->undo.open || level < store->undo.level) {
    forget(store);
  } else if (level > store->undo.level) {
    store->lost = store->lost || level != store->undo.inner_level ||
                  store->changes != store->undo.inner_changes;
  } else {
    undo_statement(store);
    close_undo(store);
    store->undo.open = true;
  }
}

/* ---- chunks ---- */

/* Reads the block of an id into *block, borrowed until the statement is reset. */
static int read_block(BloomStore *store, sqlite3_int64 id, sqlite3_stmt **read,
                      const uint8_t **block, uint64_t *size) {
  int code = statement(store, BLOOM_READ_BLOCK, read);
  if (code != SQLITE_OK) return code;
  sqlite3_bind_int64(*read, 1, id);
  code = sqlite3_step(*read);
  if (code == SQLITE_DONE) return fail_damaged(store, id, "is missing");
  if (code != SQLITE_ROW) return bloom_store_fail(store, code);
  if (sqlite3_column_type(*read, 0) != SQLITE_BLOB) {
    return fail_damaged(store, id, "is not a blob");
  }
  *block = sqlite3_column_blob(*read, 0);
  *size = (uint64_t)sqlite3_column_bytes(*read, 0);
  if (*block == NULL) return fail_damaged(store, id, "is empty");
  return SQLITE_OK;
}

/* A layer's last chunk may have bits behind the last cell: they are 0, as in every filter. */
static bool padding_holds(const BloomStore *store, unsigned layer, uint64_t chunk) {
  const BloomFilter *filter = &store->filter;
  return chunk + 1 < store->first_chunk[layer + 1] ||
         bloom_padding_is_zero(&filter->layers[layer], filter->cell_bits, store->cells);
}

static int load_chunk(BloomStore *store, uint64_t chunk) {
  unsigned layer = layer_of(store, chunk);
  sqlite3_int64 id = chunk_id(layer, chunk - store->first_chunk[layer]);
  uint64_t size, given = 0;
  uint8_t *at = chunk_at(store, chunk, &size);
  const uint8_t *block;
  sqlite3_stmt *read;
  int code = read_block(store, id, &read, &block, &given);
  if (code == SQLITE_OK && given != size + CHECK_BYTES) {
    code = fail_damaged(store, id, "has another length");
  }
  if (code == SQLITE_OK) {
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): read_block has set it */
    XXH64_hash_t hash = XXH3_64bits_withSeed(block + CHECK_BYTES, (size_t)size, (XXH64_hash_t)id);
    if (hash != load_le64(block)) code = fail_damaged(store, id, "does not match its checksum");
  }
  if (code == SQLITE_OK) {
    memcpy(at, block + CHECK_BYTES, (size_t)size);
    if (!padding_holds(store, layer, chunk)) {
      code = fail_damaged(store, id, "has bits behind the last cell");
    }
  }
  if (code == SQLITE_OK) {
    store->flags[chunk] |= CHUNK_LOADED;
    store->unloaded--;
  }
  sqlite3_reset(read);
  return code;
}

static int need(BloomStore *store, uint64_t chunk) {
  return store->flags[chunk] & CHUNK_LOADED ? SQLITE_OK : load_chunk(store, chunk);
}

/* Before a chunk is changed: it is in memory, can be undone, and will be written. */
static int touch(BloomStore *store, uint64_t chunk) {
  int code = need(store, chunk);
  if (code == SQLITE_OK && store->undo.open && chunk < store->undo.chunks &&
      (store->flags[chunk] & CHUNK_SAVED) == 0) {
    code = save_chunk(store, chunk);
  }
  if (code != SQLITE_OK) return code;
  if ((store->flags[chunk] & CHUNK_DIRTY) == 0) store->dirty[store->dirty_count++] = chunk;
  store->flags[chunk] |= CHUNK_DIRTY;
  store->changes++;
  return SQLITE_OK;
}

/* Does one of these to every chunk of a layer. */
static int each_chunk(BloomStore *store, unsigned layer, int (*act)(BloomStore *, uint64_t)) {
  int code = SQLITE_OK;
  for (uint64_t i = store->first_chunk[layer];
       i < store->first_chunk[layer + 1] && code == SQLITE_OK; i++) {
    code = act(store, i);
  }
  return code;
}

int bloom_store_load(BloomStore *store) {
  int code = SQLITE_OK;
  for (unsigned i = 0; i < store->filter.layer_count && code == SQLITE_OK; i++) {
    code = each_chunk(store, i, need);
  }
  return code;
}

/* The chunks of a key in a layer, as numbers in flags; some may come twice. Returns how many. */
static unsigned chunks_of(const BloomStore *store, unsigned layer, uint64_t hash,
                          uint64_t chunks[BLOOM_MAX_K]) {
  const BloomLayer *at = &store->filter.layers[layer];
  uint64_t cells_per_chunk = (uint64_t)CHUNK_BYTES * 8 / store->filter.cell_bits;
  unsigned count = 0;
  bloom_layer_positions(at, hash, chunks);
  for (unsigned i = 0; i < at->geometry.k; i++) {
    uint64_t chunk = store->first_chunk[layer] + chunks[i] / cells_per_chunk;
    if (count == 0 || chunks[count - 1] != chunk) chunks[count++] = chunk;
  }
  return count;
}

static int load_key(BloomStore *store, unsigned layer, uint64_t hash) {
  uint64_t chunks[BLOOM_MAX_K];
  int code = SQLITE_OK;
  if (store->unloaded == 0) return SQLITE_OK;
  unsigned count = chunks_of(store, layer, hash, chunks);
  for (unsigned i = 0; i < count && code == SQLITE_OK; i++) code = need(store, chunks[i]);
  return code;
}

static int touch_key(BloomStore *store, unsigned layer, uint64_t hash) {
  uint64_t chunks[BLOOM_MAX_K];
  int code = SQLITE_OK;
  unsigned count = chunks_of(store, layer, hash, chunks);
  for (unsigned i = 0; i < count && code == SQLITE_OK; i++) code = touch(store, chunks[i]);
  return code;
}

/* Writes a block with the statement `which`. */
static int write_block(BloomStore *store, enum BloomStatement which, sqlite3_int64 id,
                       const uint8_t *block, uint64_t size) {
  sqlite3_stmt *write;
  int code = statement(store, which, &write);
  if (code != SQLITE_OK) return code;
  sqlite3_bind_int64(write, 1, id);
  code = sqlite3_bind_blob64(write, 2, block, size, SQLITE_STATIC);
  if (code != SQLITE_OK) return bloom_store_fail(store, code); /* as over SQLITE_LIMIT_LENGTH */
  code = run(store, write);
  if (code == SQLITE_OK && which == BLOOM_UPDATE_BLOCK && sqlite3_changes(store->db) != 1) {
    code = fail_damaged(store, id, "is missing");
  }
  return code;
}

static int write_chunk(BloomStore *store, enum BloomStatement which, uint64_t chunk) {
  uint8_t block[CHECK_BYTES + CHUNK_BYTES];
  unsigned layer = layer_of(store, chunk);
  sqlite3_int64 id = chunk_id(layer, chunk - store->first_chunk[layer]);
  uint64_t size;
  const uint8_t *at = chunk_at(store, chunk, &size);
  memcpy(block + CHECK_BYTES, at, (size_t)size);
  store_le64(block, XXH3_64bits_withSeed(at, (size_t)size, (XXH64_hash_t)id));
  return write_block(store, which, id, block, size + CHECK_BYTES);
}

static int write_header(BloomStore *store, enum BloomStatement which) {
  uint8_t header[BLOOM_FIXED_BYTES + BLOOM_MAX_LAYERS * BLOOM_LAYER_BYTES + BLOOM_CHECK_BYTES];
  BloomFilter *filter = &store->filter;
  filter->body = bloom_header_bytes(filter->layer_count);
  bloom_encode_header(filter, 0, header);
  return write_block(store, which, 0, header, filter->body);
}

/* SQLite tells a table that was created in an open savepoint of no rollback to it, until another
** one has opened since. So before the first change a statement is run that copies no row, but could
** fail half way: a savepoint opens for it. */
int bloom_store_arm(BloomStore *store) {
  if (!store->fresh) return SQLITE_OK;
  store->fresh = false;
  return bloom_store_run(
      store,
      sqlite3_mprintf("INSERT INTO \"%w\".\"%w_data\" SELECT id, block FROM \"%w\".\"%w_data\" "
                      "WHERE id < 0",
                      store->schema, store->name, store->schema, store->name));
}

int bloom_store_flush(BloomStore *store) {
  sqlite3_int64 rowid = sqlite3_last_insert_rowid(store->db);
  uint64_t changes = store->changes;
  int code = SQLITE_OK;
  if (store->lost) return fail(store, SQLITE_ABORT, "the transaction must be rolled back");
  for (uint64_t i = 0; i < store->dirty_count && code == SQLITE_OK; i++) {
    code = write_chunk(store, BLOOM_UPDATE_BLOCK, store->dirty[i]);
  }
  if (code == SQLITE_OK && store->header_dirty) code = write_header(store, BLOOM_UPDATE_BLOCK);
  if (code == SQLITE_OK && store->changes != changes) {
    code = fail(store, SQLITE_CORRUPT_VTAB, "the table %s_data has a trigger", store->name);
  }
  if (code == SQLITE_OK && !store->undo.open) set_written(store); /* else it may yet be undone */
  sqlite3_set_last_insert_rowid(store->db, rowid);
  return code;
}

/* No savepoint is open, and none is known. */
static void end_transaction(BloomStore *store) {
  store->fresh = false;
  store->lost = false;
  store->level = -1;
}

void bloom_store_committed(BloomStore *store) {
  end_transaction(store);
  close_undo(store);
  set_written(store);
}

void bloom_store_rolled_back(BloomStore *store) {
  end_transaction(store);
  forget(store);
}

/* ---- validity ---- */

/* Reads the header and forgets every chunk. */
static int read_header(BloomStore *store) {
  char reason[BLOOM_REASON_BYTES];
  const uint8_t *block = NULL;
  uint64_t size = 0;
  sqlite3_stmt *read;
  int code = read_block(store, 0, &read, &block, &size);
  if (code == SQLITE_OK && !bloom_decode_header(block, size, &store->filter, reason)) {
    code =
        fail(store, SQLITE_CORRUPT_VTAB, "the table %s_data is damaged: %s", store->name, reason);
  }
  if (code == SQLITE_OK && (size != store->filter.body || store->filter.layer_count == 0)) {
    code = fail_damaged(store, 0, "is not a table's header");
  }
  if (code == SQLITE_OK &&
      store->filter.size > (uint64_t)sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, -1)) {
    code = fail_limit(store);
  }
  sqlite3_reset(read);
  if (code != SQLITE_OK) return code;
  store->unloaded = 0;
  memset(store->first_chunk, 0, sizeof store->first_chunk);
  return lay_out(store, 0);
}

static int read_data_version(BloomStore *store, int *version) {
  sqlite3_stmt *read;
  int code = statement(store, BLOOM_DATA_VERSION, &read);
  if (code != SQLITE_OK) return code;
  code = sqlite3_step(read);
  *version = sqlite3_column_int(read, 0);
  sqlite3_reset(read);
  return code == SQLITE_ROW ? SQLITE_OK : bloom_store_fail(store, code);
}

/* The pager's own version is quick to ask, but this connection's commits change it too; then the
** pragma tells whether another connection's did. The file is another one when the schema's name was
** given to another database. */
int bloom_store_validate(BloomStore *store) {
  sqlite3_file *file = NULL;
  unsigned pager = 0;
  int data, code;
  sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_DATA_VERSION, &pager);
  sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_FILE_POINTER, &file);
  if (store->valid && pager == store->pager_version && file == store->file) return SQLITE_OK;
  code = read_data_version(store, &data);
  if (code != SQLITE_OK) return code;
  if (!store->valid || data != store->data_version || file != store->file) {
    forget(store);
    code = read_header(store);
    if (code != SQLITE_OK) return code;
  }
  store->pager_version = pager;
  store->file = file;
  store->data_version = data;
  store->valid = true;
  return SQLITE_OK;
}

/* ---- keys ---- */

int bloom_store_contains(BloomStore *store, uint64_t hash, bool *found) {
  const BloomFilter *filter = &store->filter;
  *found = false;
  for (unsigned i = 0; i < filter->layer_count && !*found; i++) {
    int code = load_key(store, i, hash);
    if (code != SQLITE_OK) return code;
    *found = bloom_layer_contains(&filter->layers[i], filter->cell_bits, store->cells, hash);
  }
  return SQLITE_OK;
}

static void note_type(BloomStore *store, uint8_t type) {
  if ((store->filter.key_types & type) == type) return;
  store->filter.key_types |= type;
  store->header_dirty = true;
}

/* Adds the rows of a new layer, of zeros, behind the others. */
static int append_layer(BloomStore *store, uint64_t capacity, float rate,
                        const BloomGeometry *geometry) {
  BloomFilter *filter = &store->filter;
  unsigned layer = filter->layer_count;
  uint64_t size = filter->size, body = filter->body;
  int code;
  if (layer == BLOOM_MAX_LAYERS) return fail(store, SQLITE_ERROR, "more than 64 layers");
  if (filter->size + BLOOM_LAYER_BYTES + bloom_layer_bytes(geometry, filter->cell_bits) >
      (uint64_t)sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, -1)) {
    return fail_limit(store);
  }
  bloom_append_layer(filter, capacity, rate, geometry);
  code = lay_out(store, layer);
  if (code != SQLITE_OK) { /* as if nothing had been: earlier changes are still in memory */
    filter->layer_count--;
    filter->size = size;
    filter->body = body;
    return code;
  }
  store->header_dirty = true;
  memset(store->cells + filter->layers[layer].offset, 0, (size_t)layer_bytes(store, layer));
  for (uint64_t i = store->first_chunk[layer]; i < store->first_chunk[layer + 1]; i++) {
    store->flags[i] = CHUNK_LOADED;
    store->unloaded--;
    code = write_chunk(store, BLOOM_INSERT_BLOCK, i);
    if (code != SQLITE_OK) return code;
  }
  bloom_count_fill(filter, &store->fill);
  return SQLITE_OK;
}

/* Whether one chunk of the last layer is far from full. Its load strays 1.2 % (one sigma) from the
** layer's, and a full layer is at least at its capacity, so a chunk at nine tenths of that tells
** that the layer has room, without a look at the other chunks. */
static bool has_room(BloomStore *store, uint64_t hash) {
  const BloomLayer *last = &store->filter.layers[store->filter.layer_count - 1];
  uint64_t cells[BLOOM_MAX_K], cells_per_chunk = (uint64_t)CHUNK_BYTES * 8, size;
  if (last->geometry.lines == 1 || store->blind_adds >= BLIND_ADDS) return false;
  bloom_layer_positions(last, hash, cells);
  const uint8_t *at = chunk_at(
      store, store->first_chunk[store->filter.layer_count - 1] + cells[0] / cells_per_chunk, &size);
  uint64_t occupied = 0;
  for (uint64_t i = 0; i + 8 <= size; i += 8) occupied += popcount64(load_le64(at + i));
  store->blind_adds++;
  return (double)occupied / ((double)size * 8) <
         bloom_cells_at(&last->geometry, 0.9 * (double)last->capacity) /
             (double)bloom_cells(&last->geometry);
}

/* Opens a new layer when the last one is full. */
static int make_room_for(BloomStore *store, uint64_t hash) {
  BloomGeometry geometry;
  float rate;
  if (store->fill.occupied < 0) {
    if (has_room(store, hash)) return SQLITE_OK;
    int code = each_chunk(store, store->filter.layer_count - 1u, need);
    if (code != SQLITE_OK) return code;
    bloom_count_fill(&store->filter, &store->fill);
  }
  if (!bloom_is_full(&store->filter, &store->fill)) return SQLITE_OK;
  uint64_t capacity = bloom_next_layer(&store->filter, &rate);
  if (!bloom_geometry(capacity, rate, &geometry)) return fail_limit(store);
  return append_layer(store, capacity, rate, &geometry);
}

int bloom_store_add(BloomStore *store, uint64_t hash, uint8_t type) {
  const BloomFilter *filter = &store->filter;
  bool counting = filter->kind == BLOOM_COUNTING, found;
  int code = bloom_store_contains(store, hash, &found);
  if (code != SQLITE_OK) return code;
  note_type(store, type);
  if (found && !counting) return SQLITE_OK;
  if (!counting) code = make_room_for(store, hash);
  const BloomLayer *last = &filter->layers[filter->layer_count - 1];
  if (code == SQLITE_OK) code = touch_key(store, filter->layer_count - 1u, hash);
  if (code != SQLITE_OK) return code;
  if (counting) {
    bloom_layer_increment(last, store->cells, hash);
  } else {
    unsigned fresh = bloom_layer_insert(last, store->cells, hash);
    if (store->fill.occupied >= 0) store->fill.occupied += fresh;
  }
  return SQLITE_OK;
}

int bloom_store_remove(BloomStore *store, uint64_t hash) {
  int code = touch_key(store, 0, hash);
  if (code == SQLITE_OK) bloom_layer_decrement(&store->filter.layers[0], store->cells, hash);
  return code;
}

/* ---- whole filters ---- */

/* One layer of a filter, into the one at `into`, or behind the others. */
static int merge_layer(BloomStore *store, const BloomFilter *filter, unsigned index,
                       unsigned into) {
  const BloomLayer *layer = &filter->layers[index];
  int code = SQLITE_OK;
  if (into == store->filter.layer_count) {
    code = append_layer(store, layer->capacity, layer->rate, &layer->geometry);
  }
  if (code == SQLITE_OK) code = each_chunk(store, into, touch);
  if (code != SQLITE_OK) return code;
  bloom_merge_cells(store->cells + store->filter.layers[into].offset, filter->bytes + layer->offset,
                    layer_bytes(store, into), filter->cell_bits, BLOOM_UNION);
  return SQLITE_OK;
}

int bloom_store_merge(BloomStore *store, const BloomFilter *filter) {
  unsigned count = store->filter.layer_count;
  bool taken[BLOOM_MAX_LAYERS] = {false};
  int code = SQLITE_OK;
  if (filter->layer_count == 0) return SQLITE_OK;
  if (!bloom_may_merge(&store->filter, filter)) {
    char *reason = bloom_why_not_merge(&store->filter, filter);
    code = reason ? fail(store, SQLITE_ERROR, "%s", reason) : SQLITE_NOMEM;
    sqlite3_free(reason);
    return code;
  }
  for (unsigned i = 0; i < filter->layer_count && code == SQLITE_OK; i++) {
    unsigned into = bloom_place_layer(&store->filter, count, taken, &filter->layers[i]);
    code = merge_layer(store, filter, i, into < count ? into : store->filter.layer_count);
  }
  note_type(store, filter->key_types);
  store->fill.occupied = -1;
  return code;
}

/* Empties the shadow table, also of what is damaged. What is in memory is no filter then, and a
** statement that is to be undone could not put it back. */
static int delete_all(BloomStore *store) {
  if (store->undo.open) {
    return fail(store, SQLITE_ERROR, "this cannot be done by a trigger, or for several rows");
  }
  int code = bloom_store_run(
      store, sqlite3_mprintf("DELETE FROM \"%w\".\"%w_data\"", store->schema, store->name));
  forget(store);
  return code;
}

/* ---- life ---- */

BloomStore *bloom_store_find(BloomStores *stores, const char *schema, const char *name) {
  BloomStore *store = stores->first;
  while (store &&
         (sqlite3_stricmp(store->name, name) != 0 || sqlite3_stricmp(store->schema, schema) != 0)) {
    store = store->next;
  }
  return store;
}

void bloom_store_release(BloomStore *store) {
  if (--store->references > 0) return;
  unlink_store(store);
  finalize_statements(store);
  sqlite3_free(store->schema);
  sqlite3_free(store->name);
  sqlite3_free(store->memory);
  sqlite3_free(store->flags);
  sqlite3_free(store->dirty);
  sqlite3_free(store->of);
  sqlite3_free(store->undo.images);
  sqlite3_free(store);
}

static BloomStore *new_store(BloomStores *stores, const char *schema, const char *name) {
  BloomStore *store = sqlite3_malloc64(sizeof *store);
  if (store == NULL) return NULL;
  memset(store, 0, sizeof *store);
  link_store(store, stores);
  store->db = stores->db;
  store->references = 1;
  store->level = -1;
  store->schema = sqlite3_mprintf("%s", schema);
  store->name = sqlite3_mprintf("%s", name);
  if (store->schema && store->name) return store;
  bloom_store_release(store);
  return NULL;
}

int bloom_store_open(BloomStores *stores, const char *schema, const char *name,
                     const BloomParams *asked, char **of, bool create, BloomStore **result) {
  BloomStore *store = bloom_store_find(stores, schema, name);
  if (store && create) { /* of a table that is gone */
    unlink_store(store);
    store = NULL;
  }
  if (store) {
    store->references++;
  } else {
    store = new_store(stores, schema, name);
    if (store == NULL) return SQLITE_NOMEM;
  }
  if (bloom_store_is_written(store)) { /* another table of the name: rolled back to, or attached */
    forget(store);
    sqlite3_free(store->of);
    store->asked = *asked;
    store->of = *of;
    *of = NULL;
  }
  *result = store;
  return SQLITE_OK;
}

static int make_first_layer(BloomStore *store) {
  const BloomParams *params = &store->asked;
  BloomFilter *filter = &store->filter;
  BloomGeometry geometry;
  filter->n = params->n;
  filter->p = params->p;
  filter->kind = params->kind;
  filter->cell_bits = params->kind == BLOOM_COUNTING ? 4 : 1;
  filter->key_types = 0;
  filter->layer_count = 0;
  filter->body = filter->size = bloom_header_bytes(0);
  store->unloaded = 0;
  memset(store->first_chunk, 0, sizeof store->first_chunk);
  if (!bloom_geometry(params->n, params->p, &geometry)) return fail_limit(store);
  int code = append_layer(store, params->n, params->p, &geometry);
  if (code == SQLITE_OK) code = write_header(store, BLOOM_INSERT_BLOCK);
  forget(store); /* the next use reads it as anybody's */
  return code;
}

int bloom_store_make(BloomStore *store) {
  int code = bloom_store_run(
      store, sqlite3_mprintf("CREATE TABLE \"%w\".\"%w_data\"(id INTEGER PRIMARY KEY, block BLOB)",
                             store->schema, store->name));
  if (code != SQLITE_OK) return code;
  store->fresh = true;
  return store->of ? SQLITE_OK : make_first_layer(store);
}

int bloom_store_clear(BloomStore *store) {
  int code = delete_all(store);
  return code == SQLITE_OK ? make_first_layer(store) : code;
}

int bloom_store_adopt(BloomStore *store, const void *blob, uint64_t size) {
  char reason[BLOOM_REASON_BYTES];
  int code = delete_all(store);
  if (code != SQLITE_OK) return code;
  if (!bloom_decode(blob, size, &store->filter, reason)) {
    return fail(store, SQLITE_ERROR, "%s", reason);
  }
  const uint8_t *from = store->filter.bytes + store->filter.body;
  store->unloaded = 0;
  memset(store->first_chunk, 0, sizeof store->first_chunk);
  code = lay_out(store, 0);
  for (unsigned i = 0; i < store->filter.layer_count && code == SQLITE_OK; i++) {
    memcpy(store->cells + store->filter.layers[i].offset, from, (size_t)layer_bytes(store, i));
    from += layer_bytes(store, i);
    for (uint64_t c = store->first_chunk[i]; c < store->first_chunk[i + 1] && code == SQLITE_OK;
         c++) {
      code = write_chunk(store, BLOOM_INSERT_BLOCK, c);
    }
  }
  if (code == SQLITE_OK) code = write_header(store, BLOOM_INSERT_BLOCK);
  forget(store);
  return code;
}

/* The shadow table follows; the next table object finds it by its new name. What this one has in
** memory stays for the case that the statement is undone. */
int bloom_store_rename(BloomStore *store, const char *name) {
  int code = bloom_store_flush(store);
  if (code != SQLITE_OK) return code;
  finalize_statements(store);
  code =
      bloom_store_run(store, sqlite3_mprintf("ALTER TABLE \"%w\".\"%w_data\" RENAME TO \"%w_data\"",
                                             store->schema, store->name, name));
  if (code != SQLITE_OK) return code;
  store->renamed_in = store->stores;
  unlink_store(store);
  if (!store->undo.open) forget(store);
  return SQLITE_OK;
}

int bloom_store_drop(BloomStore *store) {
  finalize_statements(store);
  int code = bloom_store_run(store, sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".\"%w_data\"",
                                                    store->schema, store->name));
  if (code == SQLITE_OK) {
    forget(store);
    unlink_store(store);
  }
  return code;
}

int bloom_store_pin(BloomStore *store, sqlite3_stmt **pin) {
  bool first = store->statements[BLOOM_PIN] == NULL;
  int code;
  store->references++;
  *pin = NULL;
  if (store->pinned) {
    code = prepare(store, BLOOM_PIN, pin); /* a second use at once: a statement of its own */
  } else {
    code = statement(store, BLOOM_PIN, pin);
  }
  if (code != SQLITE_OK) {
    bloom_store_release(store);
    return code;
  }
  if (*pin == store->statements[BLOOM_PIN]) store->pinned = true;
  code = sqlite3_step(*pin);
  if ((first || sqlite3_stmt_status(*pin, SQLITE_STMTSTATUS_REPREPARE, 1) > 0) &&
      bloom_store_is_written(store)) {
    store->valid = false; /* the schema may be another database's now */
  }
  if (code == SQLITE_ROW) return SQLITE_OK;
  code = code == SQLITE_DONE ? fail_damaged(store, 0, "is missing") : bloom_store_fail(store, code);
  bloom_store_unpin(store, *pin);
  return code;
}

void bloom_store_unpin(BloomStore *store, sqlite3_stmt *pin) {
  if (pin == store->statements[BLOOM_PIN]) {
    sqlite3_reset(pin);
    store->pinned = false;
  } else {
    sqlite3_finalize(pin);
  }
  bloom_store_release(store);
}
