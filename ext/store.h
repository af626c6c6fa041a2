/* store.h: where a bloom table keeps its filter: in a shadow table and, while in use, in memory.
**
** The shadow table is NAME_data(id INTEGER PRIMARY KEY, block BLOB):
**
**   id 0                    the header and layer table of FORMAT.md, its body checksum 0
**   id 1 + layer*2^32 + c   chunk c of a layer: checksum (8 bytes, XXH3 of the rest with seed id),
**                           then 4,032 bytes of its cells (the last one less)
**
** One store serves all virtual table objects of a table in a connection: after a schema reset a
** second object is connected while the first still waits in its transaction. Its memory is what a
** read transaction on the schema shows, plus this connection's own changes:
**
**   loaded   the chunk is in memory
**   dirty    memory is ahead of the shadow table
**   saved    its bytes before this statement are kept
**
** Dirty chunks are written when the user opens a savepoint and when the transaction is synced, so
** that the shadow table is complete wherever SQLite can roll back to; rolling back forgets all that
** is in memory, and the next use reads it again. The savepoint of a single statement is not worth
** two pages: there the chunks' bytes before are kept, and put back. Nothing is read from memory
** before the data version was compared inside a transaction.
**
** All functions that return int return an SQLite code; the text for the user is in store->error.
*/
#ifndef BLOOM_STORE_H
#define BLOOM_STORE_H

#include "args.h"

enum BloomStatement {
  BLOOM_READ_BLOCK,   /* a block by its id */
  BLOOM_UPDATE_BLOCK, /* a block that is there */
  BLOOM_INSERT_BLOCK, /* a block that is not */
  BLOOM_DATA_VERSION, /* PRAGMA data_version */
  BLOOM_PIN,          /* the header, stepped for as long as a caller needs the snapshot */
  BLOOM_STATEMENTS
};

typedef struct BloomStore BloomStore;

/* The stores of a connection. */
typedef struct BloomStores {
  sqlite3 *db;
  BloomStore *first;
  unsigned references;  /* the module's and the functions' */
  unsigned generation;  /* changes when a store comes or goes */
  BloomStore *resolved; /* what bloom_lookup found last, while generation is resolved_at */
  unsigned resolved_at;
  char resolved_text[128];
} BloomStores;

typedef struct BloomImage {
  uint64_t chunk;
  uint8_t bytes[4032];
} BloomImage;

/* What a statement that is running may have to undo. */
typedef struct BloomUndo {
  BloomImage *images;
  uint64_t count;
  uint64_t room;
  uint64_t chunks; /* how many there were when it began; and the state then: */
  uint64_t dirty_count;
  uint64_t size;
  BloomFill fill;
  int level;       /* SQLite's number of the savepoint */
  int inner_level; /* of one that opened inside it, and store->changes then */
  uint64_t inner_changes;
  bool open;
  bool header_dirty;
  uint8_t key_types;
  uint8_t layer_count;
} BloomUndo;

struct BloomStore {
  BloomStores *stores; /* NULL once it is unlinked: found by name no more */
  BloomStore *next;
  sqlite3 *db;
  char *schema;
  char *name;
  unsigned references; /* table objects, and statements that use bloom_lookup */
  bool valid;          /* filter and flags are of the versions below */
  bool header_dirty;
  bool fresh;             /* created in this transaction, see bloom_store_arm */
  sqlite3_file *file;     /* of the pager whose versions these are: */
  unsigned pager_version; /* SQLITE_FCNTL_DATA_VERSION when last seen valid */
  int data_version;       /* PRAGMA data_version, of other connections' commits */
  BloomFilter filter;     /* bytes: cells; offsets are multiples of 64 */
  uint8_t *memory;        /* owned: the cells, not aligned yet */
  uint8_t *cells;
  uint8_t *flags;                             /* of each chunk: CHUNK_ bits */
  uint64_t first_chunk[BLOOM_MAX_LAYERS + 1]; /* of each layer, in flags */
  uint64_t unloaded;                          /* chunks that are not in memory */
  uint64_t *dirty;                            /* chunks, with room for all */
  uint64_t dirty_count;
  int level;        /* the innermost savepoint that the store was told of, or -1 */
  uint64_t changes; /* ever made to chunks */
  BloomUndo undo;
  bool lost;               /* what was to be undone is not known: see bloom_store_rolled_back_to */
  BloomStores *renamed_in; /* where it was linked before this statement renamed the table */
  BloomFill fill;          /* of the last layer; occupied less than 0: not known */
  unsigned blind_adds;     /* keys added while that was not known */
  sqlite3_stmt *statements[BLOOM_STATEMENTS];
  bool pinned; /* statements[BLOOM_PIN] is in use */
  BloomParams
      asked;     /* n, p and kind of CREATE VIRTUAL TABLE; n is 0 when it was left to the source */
  char *of;      /* source(column) that the table follows, see follow.h; or NULL */
  bool attached; /* its triggers stood when the schema and the file had these versions: */
  bool checked;
  int checked_schema;
  unsigned checked_pager;
  char error[256];
};

/* Statements, for follow.h too. Their texts are from sqlite3_mprintf, and are freed. */
int bloom_store_prepare(BloomStore *store, sqlite3_stmt **statement, char *sql);
int bloom_store_ask(BloomStore *store, sqlite3_int64 *number, char *sql); /* what a query gives */
int bloom_store_run(BloomStore *store, char *sql);
int bloom_store_fail(BloomStore *store, int code); /* an error of SQLite's own, in its words */

/* The store of a table, new or of one that exists; it has one more reference. *of, from
** sqlite3_malloc or NULL, becomes the store's. */
int bloom_store_open(BloomStores *stores, const char *schema, const char *name,
                     const BloomParams *asked, char **of, bool create, BloomStore **result);
void bloom_store_release(BloomStore *store);
BloomStore *bloom_store_find(BloomStores *stores, const char *schema, const char *name);

/* Inside a transaction on the schema: memory is made to agree with it. */
int bloom_store_validate(BloomStore *store);

/* Nothing in memory is ahead of the shadow table: it may be forgotten. */
bool bloom_store_is_written(const BloomStore *store);

int bloom_store_contains(BloomStore *store, uint64_t hash, bool *found);

/* Inside a write transaction, validated: changes. */
int bloom_store_add(BloomStore *store, uint64_t hash, uint8_t type);
int bloom_store_remove(BloomStore *store, uint64_t hash);
int bloom_store_merge(BloomStore *store, const BloomFilter *filter);
int bloom_store_clear(BloomStore *store);

/* To be called before the first change of a transaction. */
int bloom_store_arm(BloomStore *store);

/* Transactions. Levels are SQLite's numbers of savepoints. */
int bloom_store_flush(BloomStore *store);
int bloom_store_savepoint(BloomStore *store, int level);
void bloom_store_released(BloomStore *store, int level);
void bloom_store_rolled_back_to(BloomStore *store, int level);
void bloom_store_committed(BloomStore *store);
void bloom_store_rolled_back(BloomStore *store);

/* The shadow table of a new bloom table, and the one empty layer of a table that follows none. */
int bloom_store_make(BloomStore *store);

/* Replaces all that is in the shadow table by a filter that has layers. */
int bloom_store_adopt(BloomStore *store, const void *blob, uint64_t size);

/* Reads every chunk: then store->filter is a whole filter. */
int bloom_store_load(BloomStore *store);

int bloom_store_rename(BloomStore *store, const char *name);
int bloom_store_drop(BloomStore *store);

/* Opens a read transaction on the schema until bloom_store_unpin: *pin is stepped. */
int bloom_store_pin(BloomStore *store, sqlite3_stmt **pin);
void bloom_store_unpin(BloomStore *store, sqlite3_stmt *pin);

#endif
