#define _GNU_SOURCE
#include "slow_resolver.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int count;

typedef int (*resolve)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/* The program's own function comes before the system's, for the libraries that it links, too. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
  if (node && strcmp(node, "slow.test") == 0) {
    sleep(4);
    return EAI_NONAME;
  }
  if (node && strcmp(node, "counted.test") == 0) {
    count++;
    node = "127.0.0.1";
  }
  resolve system = (resolve)dlsym(RTLD_NEXT, "getaddrinfo");
  return system ? system(node, service, hints, result) : EAI_SYSTEM;
}

int slow_resolver_count(void) { return count; }

#else

int slow_resolver_count(void) { return 0; }

#endif

void slow_resolver_install(void) {}
