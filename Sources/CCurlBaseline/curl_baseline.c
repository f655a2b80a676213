#include "curl_baseline.h"

/* Where there is no libcurl, nothing is compared. */
#if defined(__has_include) && __has_include(<curl/curl.h>)

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* Each body is kept until the next one comes to its handle, as whoever wants it would do. */
struct transfer {
  CURL *easy;
  char *body;
  size_t count, capacity;
};

struct curl_baseline {
  CURLM *multi;
  struct transfer *transfers;
  int width;
};

static size_t did_receive(char *bytes, size_t size, size_t number, void *context) {
  struct transfer *transfer = context;
  size_t count = size * number;
  if (transfer->count + count > transfer->capacity) {
    size_t capacity = (transfer->count + count) * 2;
    char *body = realloc(transfer->body, capacity);
    if (!body) return 0;
    transfer->body = body;
    transfer->capacity = capacity;
  }
  memcpy(transfer->body + transfer->count, bytes, count);
  transfer->count += count;
  return count;
}

curl_baseline *curl_baseline_make(int width) {
  curl_baseline *loop = calloc(1, sizeof(curl_baseline));
  if (!loop || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
  loop->width = width;
  loop->multi = curl_multi_init();
  loop->transfers = calloc(width, sizeof(struct transfer));
  curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)width);
  for (int index = 0; index < width; index++) {
    struct transfer *transfer = &loop->transfers[index];
    transfer->easy = curl_easy_init();
    curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(transfer->easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    curl_easy_setopt(transfer->easy, CURLOPT_BUFFERSIZE, 131072L);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, did_receive);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
  }
  return loop;
}

static void start(curl_baseline *loop, struct transfer *transfer, const char *url) {
  transfer->count = 0;
  curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
  curl_multi_add_handle(loop->multi, transfer->easy);
}

long long curl_baseline_get(curl_baseline *loop, const char *url, int count) {
  long long bytes = 0;
  int started = 0, ended = 0, failed = 0;
  while (started < loop->width && started < count) start(loop, &loop->transfers[started++], url);
  while (ended < count) {
    int running = 0, left = 0;
    curl_multi_perform(loop->multi, &running);
    CURLMsg *message;
    while ((message = curl_multi_info_read(loop->multi, &left))) {
      struct transfer *transfer = NULL;
      long status = 0;
      CURL *easy = message->easy_handle;
      if (message->data.result != CURLE_OK) failed = 1;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      if (status != 200) failed = 1;
      bytes += transfer->count;
      curl_multi_remove_handle(loop->multi, easy);
      ended++;
      if (started < count) {
        start(loop, transfer, url);
        started++;
      }
    }
    if (ended < count) curl_multi_poll(loop->multi, NULL, 0, 1000, NULL);
  }
  return failed ? -1 : bytes;
}

void curl_baseline_free(curl_baseline *loop) {
  for (int index = 0; index < loop->width; index++) {
    curl_easy_cleanup(loop->transfers[index].easy);
    free(loop->transfers[index].body);
  }
  curl_multi_cleanup(loop->multi);
  free(loop->transfers);
  free(loop);
}

#endif
