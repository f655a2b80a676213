#ifndef C_FAULT_VFS_H
#define C_FAULT_VFS_H

/* A SQLite VFS over the system's whose writes can be made to fail, and that can tell what a power cut would leave. */
typedef struct fault_vfs fault_vfs;

/* Registers a VFS of this name; with records, it keeps every change of every file. Null if it cannot. */
fault_vfs *fault_vfs_create(const char *name, int records);

/* Unregisters the VFS; no file of it may be open. */
void fault_vfs_destroy(fault_vfs *vfs);

/* Makes the n-th write, truncation or sync from now fail, and with lasts all after it; 0 makes none fail. */
void fault_vfs_fail(fault_vfs *vfs, long n, int lasts);

/* Makes writes fail as on a full disk, or by an error of the disk. */
void fault_vfs_set_full(fault_vfs *vfs, int is_full);

/* How many operations have failed since fault_vfs_fail was called. */
long fault_vfs_failures(fault_vfs *vfs);

/* Opens all files as a read-only file system would from now on. */
void fault_vfs_make_read_only(fault_vfs *vfs);

/* How many changes have been recorded. */
long fault_vfs_position(fault_vfs *vfs);

/*
 Writes the files to a folder as a power cut after so many changes could leave them: what was synced is there, of what
 was written after it any part, torn at 512 bytes. Returns 0, or an errno.
 */
int fault_vfs_cut(fault_vfs *vfs, long position, unsigned long long seed, const char *folder);

struct sqlite3;

/*
 Makes new connections to the files of a folder of this name leave deleted content in the file, as SQLite does unless it
 was built to overwrite it; null ends that. Apple's SQLite does it anyway.
 */
void fault_keep_deleted(const char *folder);

/* Makes a connection refuse to prepare statements. */
void fault_refuse_statements(struct sqlite3 *db);

/* How many prepared statements a connection has. */
int fault_statement_count(struct sqlite3 *db);

/* Locks a database file, made if need be and not in WAL mode, against all others. Null if it cannot. */
struct sqlite3 *fault_lock_file(const char *path);

/* Releases the lock. */
void fault_unlock_file(struct sqlite3 *db);

#endif
