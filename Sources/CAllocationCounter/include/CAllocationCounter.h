#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Returns how many times this process has allocated memory; 0 for ever where that cannot be counted.
uint64_t allocation_count(void);

/// Returns whether allocations can be counted: with glibc, whose allocator can be wrapped.
bool allocation_count_is_available(void);

#endif
