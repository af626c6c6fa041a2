/* faults: an allocator and a VFS in front of SQLite's own ones that fail on demand. */
#include "oom.h"

static enum FaultKind armed;
static unsigned countdown; /* the operation that fails, counted from now on; 0: no more */
static bool fault_stays;
static bool struck;

/* Whether this operation is the one. */
static bool fails(enum FaultKind kind) {
  if (armed != kind || countdown == 0 || --countdown > 0) return false;
  if (fault_stays) countdown = 1;
  struck = true;
  count_fault(kind);
  return true;
}

void fault_arm(enum FaultKind kind, unsigned n, bool stays) {
  armed = kind;
  countdown = n;
  fault_stays = stays;
  struck = false;
}

bool fault_disarm(void) {
  armed = FAULT_NONE;
  return struck;
}

int fault_code(enum FaultKind kind) {
  static const int codes[FAULT_KINDS] = {SQLITE_OK,    SQLITE_NOMEM, SQLITE_IOERR,
                                         SQLITE_IOERR, SQLITE_FULL,  SQLITE_INTERRUPT};
  return codes[kind];
}

/* ---- interrupts ---- */

static int on_progress(void *db) {
  if (fails(FAULT_INTERRUPT)) sqlite3_interrupt(db);
  return 0;
}

void fault_watch(sqlite3 *db) {
  sqlite3_progress_handler(db, 1, on_progress, db);
}

/* ---- memory ---- */

static sqlite3_mem_methods real_memory;

static void *faulty_malloc(int size) {
  return fails(FAULT_MEMORY) ? NULL : real_memory.xMalloc(size);
}

static void *faulty_realloc(void *memory, int size) {
  return fails(FAULT_MEMORY) ? NULL : real_memory.xRealloc(memory, size);
}

/* ---- files ---- */

typedef struct File {
  sqlite3_file base;
  sqlite3_file *real; /* behind this struct */
} File;

static sqlite3_vfs *real_vfs;

static sqlite3_file *real(sqlite3_file *file) {
  return ((File *)file)->real;
}

static int file_close(sqlite3_file *file) {
  return real(file)->pMethods->xClose(real(file));
}

static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at) {
  if (fails(FAULT_READ)) return SQLITE_IOERR_READ;
  return real(file)->pMethods->xRead(real(file), to, size, at);
}

static int file_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at) {
  if (fails(FAULT_WRITE)) return SQLITE_IOERR_WRITE;
  if (fails(FAULT_FULL)) return SQLITE_FULL;
  return real(file)->pMethods->xWrite(real(file), from, size, at);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  if (fails(FAULT_WRITE)) return SQLITE_IOERR_TRUNCATE;
  return real(file)->pMethods->xTruncate(real(file), size);
}

/* The machine does not crash here, so nothing is really synced. */
static int file_sync(sqlite3_file *file, int flags) {
  (void)file;
  (void)flags;
  return fails(FAULT_WRITE) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int file_reserved(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int file_traits(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **result) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, result);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void shm_barrier(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int shm_unmap(sqlite3_file *file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

static const sqlite3_io_methods methods = {.iVersion = 2,
                                           .xClose = file_close,
                                           .xRead = file_read,
                                           .xWrite = file_write,
                                           .xTruncate = file_truncate,
                                           .xSync = file_sync,
                                           .xFileSize = file_size,
                                           .xLock = file_lock,
                                           .xUnlock = file_unlock,
                                           .xCheckReservedLock = file_reserved,
                                           .xFileControl = file_control,
                                           .xSectorSize = file_sector,
                                           .xDeviceCharacteristics = file_traits,
                                           .xShmMap = shm_map,
                                           .xShmLock = shm_lock,
                                           .xShmBarrier = shm_barrier,
                                           .xShmUnmap = shm_unmap};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  File *to = (File *)file;
  (void)vfs;
  memset(to, 0, sizeof *to);
  to->real = (sqlite3_file *)(to + 1);
  int code = real_vfs->xOpen(real_vfs, name, to->real, flags, out);
  if (to->real->pMethods) file->pMethods = &methods;
  return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  (void)vfs;
  (void)sync;
  if (fails(FAULT_WRITE)) return SQLITE_IOERR_DELETE;
  return real_vfs->xDelete(real_vfs, name, 0);
}

void faults_install(void) {
  static sqlite3_vfs vfs;
  sqlite3_mem_methods memory;
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
  memory = real_memory;
  memory.xMalloc = faulty_malloc;
  memory.xRealloc = faulty_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0); /* small pieces are allocations too */
  sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
  sqlite3_initialize();
  real_vfs = sqlite3_vfs_find(NULL);
  vfs = *real_vfs;
  vfs.zName = "faults";
  vfs.szOsFile = (int)sizeof(File) + real_vfs->szOsFile;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  sqlite3_vfs_register(&vfs, 1);
}
