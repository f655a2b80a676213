#include "CFaultVFS.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM_FILES = 16, SECTOR = 512 };

typedef enum { WRITE, TRUNCATE, SYNC, REMOVE } change_kind;

/* One change of a file. Size is that of a write, what a truncation leaves, or whether a removal was synced. */
typedef struct {
  change_kind kind;
  int file;
  sqlite3_int64 offset;
  sqlite3_int64 size;
  unsigned char *bytes;
} change;

struct fault_vfs {
  sqlite3_vfs vfs;
  sqlite3_vfs *system;
  char name[64];
  int records;
  /* What follows is protected by the mutex. */
  pthread_mutex_t mutex;
  long countdown;
  int lasts;
  int is_full;
  long failures;
  int is_read_only;
  char *files[MAXIMUM_FILES];
  int file_count;
  change *changes;
  long count;
  long capacity;
};

typedef struct {
  sqlite3_file file;
  fault_vfs *vfs;
  int index;
  sqlite3_file *system;
} fault_file;

/* A test that has no memory ends. */
static void *needed(void *memory) {
  if (!memory) abort();
  return memory;
}

static fault_file *fault(sqlite3_file *file) { return (fault_file *)file; }

static sqlite3_file *under(sqlite3_file *file) { return fault(file)->system; }

/* Whether the operation that begins is to fail: 1, or 2 as on a full disk. */
static int fails(fault_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  int result = 0;
  if (vfs->countdown > 0) {
    vfs->countdown -= 1;
    result = vfs->countdown == 0;
    if (result && vfs->lasts) vfs->countdown = 1;
  }
  vfs->failures += result;
  if (result && vfs->is_full) result = 2;
  pthread_mutex_unlock(&vfs->mutex);
  return result;
}

static void record(
    fault_vfs *vfs, change_kind kind, int file, sqlite3_int64 offset, sqlite3_int64 size, const void *bytes) {
  if (!vfs->records || file < 0) return;
  pthread_mutex_lock(&vfs->mutex);
  if (vfs->count == vfs->capacity) {
    vfs->capacity = vfs->capacity ? vfs->capacity * 2 : 1024;
    vfs->changes = needed(realloc(vfs->changes, (size_t)vfs->capacity * sizeof(change)));
  }
  change *new = &vfs->changes[vfs->count];
  *new = (change){kind, file, offset, size, NULL};
  if (bytes) {
    new->bytes = needed(malloc((size_t)size));
    memcpy(new->bytes, bytes, (size_t)size);
  }
  vfs->count += 1;
  pthread_mutex_unlock(&vfs->mutex);
}

/* The number of the file with this path, a new one if need be; -1 for a temporary file. */
static int index_of(fault_vfs *vfs, const char *path) {
  if (!path) return -1;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  pthread_mutex_lock(&vfs->mutex);
  int index = 0;
  while (index < vfs->file_count && strcmp(vfs->files[index], name) != 0) index += 1;
  if (index == vfs->file_count) {
    if (index == MAXIMUM_FILES) abort();
    vfs->files[index] = needed(strdup(name));
    vfs->file_count += 1;
  }
  pthread_mutex_unlock(&vfs->mutex);
  return index;
}

/* Files */

static int close_file(sqlite3_file *file) { return under(file)->pMethods->xClose(under(file)); }

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
  return under(file)->pMethods->xRead(under(file), bytes, size, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  int failure = fails(fault(file)->vfs);
  if (failure) return failure == 2 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  record(fault(file)->vfs, WRITE, fault(file)->index, offset, size, bytes);
  return under(file)->pMethods->xWrite(under(file), bytes, size, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  if (fails(fault(file)->vfs)) return SQLITE_IOERR_TRUNCATE;
  record(fault(file)->vfs, TRUNCATE, fault(file)->index, 0, size, NULL);
  return under(file)->pMethods->xTruncate(under(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
  if (fails(fault(file)->vfs)) return SQLITE_IOERR_FSYNC;
  record(fault(file)->vfs, SYNC, fault(file)->index, 0, 0, NULL);
  return under(file)->pMethods->xSync(under(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return under(file)->pMethods->xFileSize(under(file), size);
}

static int lock_file(sqlite3_file *file, int level) { return under(file)->pMethods->xLock(under(file), level); }

static int unlock_file(sqlite3_file *file, int level) { return under(file)->pMethods->xUnlock(under(file), level); }

static int check_lock(sqlite3_file *file, int *result) {
  return under(file)->pMethods->xCheckReservedLock(under(file), result);
}

static int control_file(sqlite3_file *file, int operation, void *argument) {
  return under(file)->pMethods->xFileControl(under(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return under(file)->pMethods->xSectorSize(under(file)); }

static int characteristics(sqlite3_file *file) { return under(file)->pMethods->xDeviceCharacteristics(under(file)); }

static int map_shared(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
  return under(file)->pMethods->xShmMap(under(file), region, size, extend, address);
}

static int lock_shared(sqlite3_file *file, int offset, int count, int flags) {
  return under(file)->pMethods->xShmLock(under(file), offset, count, flags);
}

static void shared_barrier(sqlite3_file *file) { under(file)->pMethods->xShmBarrier(under(file)); }

static int unmap_shared(sqlite3_file *file, int removes) {
  return under(file)->pMethods->xShmUnmap(under(file), removes);
}

/* Version 2: without memory-mapped reading and writing, which would pass the recording by. */
static const sqlite3_io_methods methods = {
    2,           close_file,   read_file,    write_file,      truncate_file, sync_file,  file_size,
    lock_file,   unlock_file,  check_lock,   control_file,    sector_size,   characteristics,
    map_shared,  lock_shared,  shared_barrier, unmap_shared,  NULL,          NULL,
};

/* The VFS */

static fault_vfs *owner(sqlite3_vfs *vfs) { return (fault_vfs *)vfs->pAppData; }

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  fault_file *new = fault(file);
  new->vfs = owner(vfs);
  new->index = index_of(owner(vfs), path);
  new->system = (sqlite3_file *)(new + 1);
  new->file.pMethods = NULL;
  if (owner(vfs)->is_read_only && flags & SQLITE_OPEN_READWRITE) {
    /* The system's own VFS opens a database that it may not write to for reading, and no other file. */
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return SQLITE_CANTOPEN;
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
  }
  int result = owner(vfs)->system->xOpen(owner(vfs)->system, path, new->system, flags, out_flags);
  if (new->system->pMethods) new->file.pMethods = &methods;
  if (result == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) {
    /* As Apple's SQLite does, unless it is told otherwise. */
    int keeps_wal = 1;
    new->system->pMethods->xFileControl(new->system, SQLITE_FCNTL_PERSIST_WAL, &keeps_wal);
  }
  return result;
}

static int remove_file(sqlite3_vfs *vfs, const char *path, int syncs) {
  record(owner(vfs), REMOVE, index_of(owner(vfs), path), 0, syncs, NULL);
  return owner(vfs)->system->xDelete(owner(vfs)->system, path, syncs);
}

fault_vfs *fault_vfs_create(const char *name, int records) {
  fault_vfs *new = calloc(1, sizeof(fault_vfs));
  if (!new) return NULL;
  new->system = sqlite3_vfs_find(NULL);
  new->records = records;
  pthread_mutex_init(&new->mutex, NULL);
  snprintf(new->name, sizeof new->name, "%s", name);
  /* Everything that is not about files is the system's; it asks nothing of the value it is called with. */
  new->vfs = *new->system;
  new->vfs.pNext = NULL;
  new->vfs.zName = new->name;
  new->vfs.pAppData = new;
  new->vfs.szOsFile = (int)sizeof(fault_file) + new->system->szOsFile;
  new->vfs.xOpen = open_file;
  new->vfs.xDelete = remove_file;
  if (sqlite3_vfs_register(&new->vfs, 0) != SQLITE_OK) {
    free(new);
    return NULL;
  }
  return new;
}

void fault_vfs_destroy(fault_vfs *vfs) {
  sqlite3_vfs_unregister(&vfs->vfs);
  for (long index = 0; index < vfs->count; index += 1) free(vfs->changes[index].bytes);
  for (int index = 0; index < vfs->file_count; index += 1) free(vfs->files[index]);
  free(vfs->changes);
  pthread_mutex_destroy(&vfs->mutex);
  free(vfs);
}

void fault_vfs_fail(fault_vfs *vfs, long n, int lasts) {
  pthread_mutex_lock(&vfs->mutex);
  vfs->countdown = n;
  vfs->lasts = lasts;
  vfs->failures = 0;
  pthread_mutex_unlock(&vfs->mutex);
}

void fault_vfs_set_full(fault_vfs *vfs, int is_full) {
  pthread_mutex_lock(&vfs->mutex);
  vfs->is_full = is_full;
  pthread_mutex_unlock(&vfs->mutex);
}

void fault_vfs_make_read_only(fault_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  vfs->is_read_only = 1;
  pthread_mutex_unlock(&vfs->mutex);
}

long fault_vfs_failures(fault_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  long failures = vfs->failures;
  pthread_mutex_unlock(&vfs->mutex);
  return failures;
}

long fault_vfs_position(fault_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  long count = vfs->count;
  pthread_mutex_unlock(&vfs->mutex);
  return count;
}

/* Power cuts */

/* SplitMix64. */
static unsigned long long next(unsigned long long *state) {
  unsigned long long value = (*state += 0x9E3779B97F4A7C15ull);
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

typedef struct {
  unsigned char *bytes;
  sqlite3_int64 size;
  sqlite3_int64 capacity;
  int exists;
} image;

static void grow(image *image, sqlite3_int64 size) {
  if (size > image->capacity) {
    sqlite3_int64 capacity = size * 2;
    image->bytes = needed(realloc(image->bytes, (size_t)capacity));
    memset(image->bytes + image->capacity, 0, (size_t)(capacity - image->capacity));
    image->capacity = capacity;
  }
  if (size > image->size) image->size = size;
}

static void put(image *image, const change *change, sqlite3_int64 from, sqlite3_int64 count) {
  grow(image, change->offset + from + count);
  memcpy(image->bytes + change->offset + from, change->bytes + from, (size_t)count);
  image->exists = 1;
}

static void resize(image *image, sqlite3_int64 size) {
  grow(image, size);
  if (size < image->size) memset(image->bytes + size, 0, (size_t)(image->size - size));
  image->size = size;
  image->exists = 1;
}

/* Writes the sectors of a write that happened to reach the disk. */
static void tear(image *image, const change *change, unsigned long long *random) {
  sqlite3_int64 from = 0;
  while (from < change->size) {
    sqlite3_int64 end = ((change->offset + from) / SECTOR + 1) * SECTOR - change->offset;
    if (end > change->size) end = change->size;
    if (next(random) & 1) put(image, change, from, end - from);
    from = end;
  }
}

static void apply(image *image, const change *change, int is_synced, unsigned long long *random) {
  unsigned long long luck = is_synced ? 0 : next(random) % 3;
  if (luck == 1) return;
  switch (change->kind) {
  case WRITE:
    if (luck == 2) {
      tear(image, change, random);
    } else {
      put(image, change, 0, change->size);
    }
    break;
  case TRUNCATE: resize(image, change->size); break;
  case REMOVE:
    resize(image, 0);
    image->exists = 0;
    break;
  case SYNC: break;
  }
}

static int save(const image *image, const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file) return errno;
  size_t written = fwrite(image->bytes, 1, (size_t)image->size, file);
  int result = written == (size_t)image->size ? 0 : EIO;
  if (fclose(file) != 0 && result == 0) result = errno;
  return result;
}

static int cut_file(fault_vfs *vfs, int file, long position, unsigned long long *random, const char *folder) {
  long synced = 0;
  for (long index = 0; index < position; index += 1) {
    if (vfs->changes[index].file == file && vfs->changes[index].kind == SYNC) synced = index;
  }
  image image = {NULL, 0, 0, 0};
  for (long index = 0; index < position; index += 1) {
    const change *change = &vfs->changes[index];
    int is_synced = index < synced || (change->kind == REMOVE && change->size);
    if (change->file == file) apply(&image, change, is_synced, random);
  }
  int result = image.exists ? save(&image, folder, vfs->files[file]) : 0;
  free(image.bytes);
  return result;
}

int fault_vfs_cut(fault_vfs *vfs, long position, unsigned long long seed, const char *folder) {
  pthread_mutex_lock(&vfs->mutex);
  unsigned long long random = seed;
  int result = 0;
  for (int file = 0; file < vfs->file_count && result == 0; file += 1) {
    result = cut_file(vfs, file, position, &random, folder);
  }
  pthread_mutex_unlock(&vfs->mutex);
  return result;
}

/* Connections */

static pthread_mutex_t keeping_lock = PTHREAD_MUTEX_INITIALIZER;
static char keeping_folder[256];

#ifndef __APPLE__
static int keep_deleted(sqlite3 *db, char **message, const void *api) {
  (void)message, (void)api;
  const char *path = sqlite3_db_filename(db, "main");
  pthread_mutex_lock(&keeping_lock);
  int matches = path && keeping_folder[0] && strstr(path, keeping_folder) != NULL;
  pthread_mutex_unlock(&keeping_lock);
  return matches ? sqlite3_exec(db, "PRAGMA secure_delete=OFF", NULL, NULL, NULL) : SQLITE_OK;
}
#endif

void fault_keep_deleted(const char *folder) {
  pthread_mutex_lock(&keeping_lock);
  snprintf(keeping_folder, sizeof keeping_folder, "%s", folder ? folder : "");
  pthread_mutex_unlock(&keeping_lock);
#ifndef __APPLE__
  if (folder) sqlite3_auto_extension((void (*)(void))keep_deleted);
#endif
}

void fault_refuse_statements(sqlite3 *db) { sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1); }

int fault_statement_count(sqlite3 *db) {
  int count = 0;
  for (sqlite3_stmt *next = sqlite3_next_stmt(db, NULL); next; next = sqlite3_next_stmt(db, next)) count += 1;
  return count;
}

sqlite3 *fault_lock_file(const char *path) {
  sqlite3 *db = NULL;
  if (sqlite3_open(path, &db) == SQLITE_OK &&
      sqlite3_exec(db, "CREATE TABLE IF NOT EXISTS locked (x); BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK)
    return db;
  sqlite3_close(db);
  return NULL;
}

void fault_unlock_file(sqlite3 *db) {
  sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  sqlite3_close(db);
}
