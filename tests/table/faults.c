/* faults: writes that fail, a full disk, locks, read-only databases, and which pages are read.
**
** A VFS in front of the default one counts what is done to the main database file and its journal,
** and makes the n-th write, sync or truncation fail. */
#include "table.h"

/* ---- the VFS ---- */

typedef struct File {
  sqlite3_file base;
  bool main;
  sqlite3_file *real; /* behind this struct */
} File;

static sqlite3_vfs *real_vfs;
static int countdown;    /* the operation that fails; 0: none */
static int fault_code;   /* and how */
static bool fault_stays; /* and all that follow */
static unsigned pages_read;
static unsigned char page_seen[4096];

static File *of(sqlite3_file *file) {
  return (File *)file;
}

static int fault(void) {
  if (countdown == 0 || --countdown > 0) return SQLITE_OK;
  if (fault_stays) countdown = 1;
  return fault_code;
}

static int file_close(sqlite3_file *file) {
  return of(file)->real->pMethods->xClose(of(file)->real);
}

static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at) {
  if (of(file)->main && size >= 512 && at / 4096 < (sqlite3_int64)COUNT(page_seen)) {
    if (!page_seen[at / 4096]) pages_read++;
    page_seen[at / 4096] = 1;
  }
  return of(file)->real->pMethods->xRead(of(file)->real, to, size, at);
}

static int file_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at) {
  int code = fault();
  return code ? code : of(file)->real->pMethods->xWrite(of(file)->real, from, size, at);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = fault();
  return code ? code : of(file)->real->pMethods->xTruncate(of(file)->real, size);
}

static int file_sync(sqlite3_file *file, int flags) {
  int code = fault();
  return code ? code : of(file)->real->pMethods->xSync(of(file)->real, flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return of(file)->real->pMethods->xFileSize(of(file)->real, size);
}

static int file_lock(sqlite3_file *file, int level) {
  return of(file)->real->pMethods->xLock(of(file)->real, level);
}

static int file_unlock(sqlite3_file *file, int level) {
  return of(file)->real->pMethods->xUnlock(of(file)->real, level);
}

static int file_reserved(sqlite3_file *file, int *result) {
  return of(file)->real->pMethods->xCheckReservedLock(of(file)->real, result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return of(file)->real->pMethods->xFileControl(of(file)->real, operation, argument);
}

static int file_sector(sqlite3_file *file) {
  return of(file)->real->pMethods->xSectorSize(of(file)->real);
}

static int file_traits(sqlite3_file *file) {
  return of(file)->real->pMethods->xDeviceCharacteristics(of(file)->real);
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **result) {
  return of(file)->real->pMethods->xShmMap(of(file)->real, page, size, extend, result);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return of(file)->real->pMethods->xShmLock(of(file)->real, offset, count, flags);
}

static void shm_barrier(sqlite3_file *file) {
  of(file)->real->pMethods->xShmBarrier(of(file)->real);
}

static int shm_unmap(sqlite3_file *file, int remove) {
  return of(file)->real->pMethods->xShmUnmap(of(file)->real, remove);
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
  (void)vfs;
  memset(file, 0, sizeof(File));
  of(file)->real = (sqlite3_file *)(of(file) + 1);
  of(file)->main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  int code = real_vfs->xOpen(real_vfs, name, of(file)->real, flags, out);
  if (of(file)->real->pMethods) file->pMethods = &methods;
  return code;
}

static void register_vfs(void) {
  static sqlite3_vfs vfs;
  real_vfs = sqlite3_vfs_find(NULL);
  vfs = *real_vfs;
  vfs.zName = "faults";
  vfs.szOsFile = (int)sizeof(File) + real_vfs->szOsFile;
  vfs.xOpen = vfs_open;
  sqlite3_vfs_register(&vfs, 0);
}

static sqlite3 *open_faulty(const char *path) {
  return open_flags(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "faults");
}

/* ---- the n-th write fails, for every n ---- */

/* Each is a step of an application; a failed one is followed by what `after` says. */
static const char *const script[] = {
    "INSERT INTO keys VALUES (nth(1))",
    "BEGIN",
    ("WITH RECURSIVE c(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM c WHERE i < 150)"
     "INSERT INTO keys SELECT nth(i) FROM c"),
    "SAVEPOINT a",
    "INSERT INTO keys SELECT nth(column1) FROM (VALUES (200), (201), (202))",
    "ROLLBACK TO a",
    "INSERT INTO keys VALUES (nth(203))",
    "RELEASE a",
    "COMMIT",
    "INSERT INTO keys VALUES (nth(204))",
    "BEGIN; INSERT INTO keys VALUES (nth(205)); ROLLBACK",
    "INSERT INTO keys VALUES (nth(206))"};
enum AfterError {
  GIVE_UP,
  GO_ON,
  AFTERS
};

/* The script with the n-th operation failing; false when it has no n-th operation. */
static bool run_script(const char *mode, int n, int code, bool stays, enum AfterError after) {
  bool good = true, met;
  sqlite3 *db = open_faulty(fresh("faults"));
  run(db, "PRAGMA journal_mode = %s; PRAGMA cache_size = 6; PRAGMA synchronous = FULL", mode);
  if (strcmp(ask(db, "PRAGMA journal_mode"), mode) != 0)
    stop("faults", "the journal mode is another one");
  run(db,
      "CREATE TABLE keys(key UNIQUE); CREATE VIRTUAL TABLE seen USING bloom(n=40000, p=0.001);"
      "CREATE VIRTUAL TABLE grow USING bloom(n=20); CREATE TRIGGER keep AFTER INSERT ON keys BEGIN"
      " INSERT INTO seen(key) VALUES (new.key); INSERT INTO grow(key) VALUES (new.key); END");
  countdown = n;
  fault_code = code;
  fault_stays = stays;
  for (unsigned i = 0; i < COUNT(script); i++) {
    int got = sqlite3_exec(db, script[i], NULL, NULL, NULL);
    if (got == SQLITE_OK) continue;
    if (strstr(sqlite3_errmsg(db), "damaged") || strstr(sqlite3_errmsg(db), "malformed")) {
      good = test(false, "faults: operation %d: %s", n, sqlite3_errmsg(db));
    }
    if (after == GIVE_UP) break;
  }
  met = countdown == 0 || stays;
  if (stays) met = countdown == 1;
  countdown = 0;
  if (!sqlite3_get_autocommit(db)) run(db, after == GIVE_UP ? "ROLLBACK" : "COMMIT");
  for (int i = 0; i < 2 && good; i++) { /* this connection, and another one */
    sqlite3 *reader = i == 0 ? db : open_database(scratch("faults"));
    good = has_all(reader, "seen", "SELECT key FROM keys") &&
           has_all(reader, "grow", "SELECT key FROM keys") &&
           (strcmp(ask(reader, "SELECT count(*) FROM keys"), "0") == 0 ||
            same_as_build(reader, "seen", "SELECT key FROM keys", "40000, 0.001"));
    if (!good)
      test(false, "faults, %s: operation %d fails with %d: the filter differs", mode, n, code);
    if (i == 1) close_database(reader);
  }
  close_database(db);
  return met && good;
}

static void test_sweep(void) {
  static const char *const modes[] = {"delete", "wal"};
  static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_WRITE};
  unsigned stride = extent == QUICK ? 9 : extent == SHORT ? 2 : 1;
  for (unsigned m = 0; m < COUNT(modes); m++) {
    for (unsigned c = 0; c < COUNT(codes); c++) {
      int n = 1;
      unsigned runs = 0;
      for (; run_script(modes[m], n, codes[c], n % 3 == 0, n % 2); n += (int)stride) runs++;
      test(runs > 10,
           "faults, %s: each of %u operations fails with code %d (of about %d): "
           "the keys that are in are found, and no other is",
           modes[m], runs, codes[c], n);
    }
  }
}

/* ---- the disk is full ---- */

static void test_full(void) {
  sqlite3 *db = open_database(fresh("full"));
  run(db,
      "CREATE TABLE keys(key); CREATE VIRTUAL TABLE seen USING bloom(n=10);"
      "CREATE TRIGGER keep AFTER INSERT ON keys BEGIN INSERT INTO seen(key) VALUES (new.key); END;"
      "INSERT INTO keys VALUES (nth(1))");
  run(db, "PRAGMA max_page_count = %d", atoi(ask(db, "PRAGMA page_count")) + 3);
  int errors = 0;
  for (int i = 2; i < 4000 && errors < 3; i++) {
    int code = try_sql(db, "INSERT INTO keys VALUES (nth(%d))", i);
    if (code == SQLITE_FULL)
      errors++;
    else if (code != SQLITE_OK)
      test(false, "full: %s", sqlite3_errmsg(db));
  }
  test(errors == 3, "full: the table says so");
  test(has_all(db, "seen", "SELECT key FROM keys"), "full: what was taken is found");
  expect_error(db, "full: a new table too", SQLITE_FULL, "full",
               "CREATE VIRTUAL TABLE more USING bloom(n=90000)");
  expect(db, "full: and nothing of it is left", "0",
         "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'more%%'");
  run(db, "PRAGMA max_page_count = 100000; INSERT INTO keys VALUES (nth(5000))");
  test(has_all(db, "seen", "SELECT key FROM keys"), "full: with more room it goes on");
  close_database(db);
}

/* ---- locked, and read-only ---- */

static void test_locked(void) {
  sqlite3 *db = open_database(fresh("locked")), *other = open_database(scratch("locked"));
  run(db, "CREATE VIRTUAL TABLE seen USING bloom(n=10); INSERT INTO seen(key) VALUES (1)");
  expect(other, "locked: before", "1", "SELECT bloom_lookup('seen', 1)");
  run(db, "BEGIN EXCLUSIVE");
  expect_error(other, "locked: bloom_lookup", SQLITE_BUSY, "locked",
               "SELECT bloom_lookup('seen', 1)");
  expect_error(other, "locked: bloom_snapshot", SQLITE_BUSY, "locked",
               "SELECT bloom_snapshot('seen')");
  expect_error(other, "locked: SELECT", SQLITE_BUSY, "locked", "SELECT 1 FROM seen WHERE key = 1");
  expect_error(other, "locked: INSERT", SQLITE_BUSY, "locked", "INSERT INTO seen(key) VALUES (2)");
  sqlite3 *third = open_database(scratch("locked"));
  const char *cold = ask(third, "SELECT bloom_lookup('seen', 1)");
  test(strncmp(cold, "code ", 5) == 0, "locked: a cold bloom_lookup is an error (%s)", cold);
  run(db, "COMMIT");
  expect(other, "locked: after", "1", "SELECT bloom_lookup('seen', 1)");
  expect(third, "locked: after, cold", "1", "SELECT bloom_lookup('seen', 1)");
  close_database(third);
  close_database(other);
  close_database(db);
}

static void test_read_only(void) {
  sqlite3 *db = open_database(fresh("read-only"));
  run(db,
      "CREATE VIRTUAL TABLE seen USING bloom(n=10, kind=counting); INSERT INTO seen(key) VALUES "
      "(1)");
  close_database(db);
  for (int i = 0; i < 3; i++) {
    char uri[200];
    static const char *const how[] = {"mode=ro", "immutable=1", "query_only"};
    snprintf(uri, sizeof uri, "file:%s?%s", scratch("read-only"), i < 2 ? how[i] : "mode=rw");
    db = open_database(uri);
    if (i == 2) run(db, "PRAGMA query_only = 1");
    expect(db, "read-only: bloom_lookup", "1", "SELECT bloom_lookup('seen', 1)");
    expect(db, "read-only: SELECT", "1", "SELECT 1 FROM seen WHERE key = 1");
    expect_error(db, "read-only: INSERT", SQLITE_READONLY, "readonly",
                 "INSERT INTO seen(key) VALUES (2)");
    expect_error(db, "read-only: DELETE", SQLITE_READONLY, "readonly",
                 "DELETE FROM seen WHERE key = 1");
    expect_error(db, "read-only: a command", SQLITE_READONLY, "readonly",
                 "INSERT INTO seen(seen) VALUES ('clear')");
    expect(db, "read-only: the table is as it was", "1 1",
           "SELECT bloom_lookup('seen', 1) || ' ' || bloom_count(bloom_snapshot('seen'))");
    close_database(db);
  }
}

/* ---- a cold statement with one key ---- */

static void test_cold(void) {
  static const struct {
    const char *arguments;
    int keys;
  } tables[] = {{"n=1000000, p=0.01", 1000},
                {"n=1000000, p=0.0001", 1000},
                {"n=1000, p=0.01", 20000},
                {"n=300000, p=0.01, kind=counting", 1000}};
  static const char *const ways[] = {"SELECT bloom_lookup('seen', %s(%d))",
                                     "SELECT EXISTS (SELECT 1 FROM seen WHERE key = %s(%d))",
                                     "SELECT count(*) FROM seen WHERE key = %s(%d)"};
  for (unsigned i = 0; i < COUNT(tables); i++) {
    sqlite3 *db = open_database(fresh("cold"));
    run(db, "PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE seen USING bloom(%s)",
        tables[i].arguments);
    run(db,
        "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
        "INSERT INTO seen(key) SELECT nth(i) FROM c",
        tables[i].keys);
    int lines = atoi(
        ask(db, "SELECT sum(value ->> 'L') FROM json_each(bloom_status('seen'), '$.layer_table')"));
    close_database(db);
    /* The schema's page and 2 L of each layer, root and header among them. A line of counters is not
    ** a whole part of a chunk: one in sixteen lies in two, so there the 2 L are chunks alone. */
    bool counting = strstr(tables[i].arguments, "counting") != NULL;
    unsigned limit = 1 + 2 * (unsigned)lines + (counting ? 2 : 0), most = 0;
    bool found = true;
    for (int key = 1; key <= 12; key++) {
      db = open_faulty(scratch("cold"));
      memset(page_seen, 0, sizeof page_seen);
      pages_read = 0;
      const char *answer = ask(db, ways[key % 3], key % 2 == 0 ? "nth" : "absent", key);
      found = (strcmp(answer, "1") == 0 || key % 2 == 1) && found;
      if (pages_read > most) most = pages_read;
      close_database(db);
    }
    test(found && most <= limit && most >= 3,
         "cold, %s: a statement with one key reads at most %u pages (allowed: %u)",
         tables[i].arguments, most, limit);
  }
}

void test_faults(void) {
  register_vfs();
  test_sweep();
  test_full();
  test_locked();
  test_read_only();
  test_cold();
}
