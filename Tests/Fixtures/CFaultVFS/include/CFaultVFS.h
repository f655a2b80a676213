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

/* How many operations have failed since fault_vfs_fail was called. */
long fault_vfs_failures(fault_vfs *vfs);

/* How many changes have been recorded. */
long fault_vfs_position(fault_vfs *vfs);

/*
 Writes the files to a folder as a power cut after so many changes could leave them: what was synced is there, of what
 was written after it any part, torn at 512 bytes. Returns 0, or an errno.
 */
int fault_vfs_cut(fault_vfs *vfs, long position, unsigned long long seed, const char *folder);

#endif
