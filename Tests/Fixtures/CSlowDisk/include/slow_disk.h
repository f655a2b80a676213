/* In a program that links this, the next call of `fsync`, `rename` or `unlink` writes the line `paused`, and waits for
   a line. */
void slow_disk_pause_at(const char *name);
