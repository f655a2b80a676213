#define _GNU_SOURCE
#include "slow_disk.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic(const char *) place;

static void pause_at(const char *name) {
  const char *wanted = place;
  if (!wanted || strcmp(wanted, name) != 0) return;
  if (!atomic_compare_exchange_strong(&place, &wanted, NULL)) return;
  char byte;
  if (write(STDOUT_FILENO, "paused\n", 7) == 7) {
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {}
  }
}

/* The program's own functions come before the system's, for the libraries that it links, too. */
int fsync(int file) {
  int (*system)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  pause_at("fsync");
  return system ? system(file) : -1;
}

int rename(const char *old, const char *new) {
  int (*system)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  pause_at("rename");
  return system ? system(old, new) : -1;
}

int unlink(const char *path) {
  int (*system)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
  pause_at("unlink");
  return system ? system(path) : -1;
}

void slow_disk_pause_at(const char *name) {
  static const char *const places[] = {"fsync", "rename", "unlink"};
  for (int index = 0; index < 3; index++) {
    if (strcmp(name, places[index]) == 0) place = places[index];
  }
}

#else

void slow_disk_pause_at(const char *name) { (void)name; }

#endif
