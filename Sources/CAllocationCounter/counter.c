#include "CAllocationCounter.h"

#include <stddef.h>

#if defined(__GLIBC__)

#include <errno.h>
#include <stdatomic.h>

static atomic_uint_fast64_t count;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void note(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

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

uint64_t allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
bool allocation_count_is_available(void) { return true; }

#else

uint64_t allocation_count(void) { return 0; }
bool allocation_count_is_available(void) { return false; }

#endif
