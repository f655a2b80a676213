#include "CAllocationCounter.h"

#include <stddef.h>

#if defined(__GLIBC__)

#include <errno.h>
#include <stdatomic.h>

/* Each thread counts in a place of its own, or threads would wait for each other at every allocation. */
enum { place_count = 64 };
static struct {
  _Alignas(128) atomic_uint_fast64_t value;
} places[place_count];
static atomic_uint last_place;
static _Thread_local unsigned place;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void note(void) {
  if (place == 0) place = 1 + atomic_fetch_add_explicit(&last_place, 1, memory_order_relaxed) % place_count;
  atomic_fetch_add_explicit(&places[place - 1].value, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
  note();
  return __libc_realloc(pointer, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
  note();
  *pointer = __libc_memalign(alignment, size);
  return *pointer == NULL ? ENOMEM : 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

uint64_t allocation_count(void) {
  uint64_t sum = 0;
  for (int index = 0; index < place_count; index++) {
    sum += atomic_load_explicit(&places[index].value, memory_order_relaxed);
  }
  return sum;
}
bool allocation_count_is_available(void) { return true; }

#else

uint64_t allocation_count(void) { return 0; }
bool allocation_count_is_available(void) { return false; }

#endif
