#ifndef curl_baseline_h
#define curl_baseline_h

#include <stddef.h>

/* A loop over libcurl's multi interface as one would write it in C, to compare others with. */
typedef struct curl_baseline curl_baseline;

/* Makes a loop of so many handles, each of which is used again; NULL if there is no memory. */
curl_baseline *curl_baseline_make(int width);

/* Gets a URL so many times and returns how many bytes of bodies came; -1 if one of them failed. */
long long curl_baseline_get(curl_baseline *loop, const char *url, int count);

void curl_baseline_free(curl_baseline *loop);

#endif
