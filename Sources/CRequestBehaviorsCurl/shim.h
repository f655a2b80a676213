#ifndef CRequestBehaviorsCurl_shim_h
#define CRequestBehaviorsCurl_shim_h

/* The checks of types are macros that need constant options. */
#ifndef CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_TYPECHECK
#endif
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <zlib.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#if LIBCURL_VERSION_NUM < 0x075100
#error "libcurl 7.81 or later is needed"
#endif

/*
 * What Swift cannot call or name: variadic functions, unions, and what is younger than the oldest libcurl that will do.
 * Whatever is set is checked for by its result: the libcurl that is linked may be older than the headers.
 */

typedef size_t (*rb_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*rb_curl_seek_callback)(void *context, curl_off_t offset, int origin);
typedef int (*rb_curl_note_callback)(CURL *handle, curl_infotype type, char *text, size_t count, void *context);
typedef int (*rb_curl_prerequest_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);
typedef curl_socket_t (*rb_curl_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*rb_curl_close_callback)(void *context, curl_socket_t descriptor);
typedef int (*rb_curl_resolver_callback)(void *resolver, void *reserved, void *context);

static inline const curl_version_info_data *rb_curl_facts(void) { return curl_version_info(CURLVERSION_NOW); }

static inline CURLcode rb_curl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode rb_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode rb_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode rb_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

/* Bytes that libcurl copies; none for NULL. */
static inline CURLcode rb_curl_set_bytes(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(handle, option, bytes ? &blob : NULL);
}

static inline CURLcode rb_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *list) {
  return curl_easy_setopt(handle, option, list);
}

static inline CURLcode rb_curl_set_data_callback(CURL *handle, CURLoption option, rb_curl_data_callback callback) {
  return curl_easy_setopt(handle, option, callback);
}

static inline CURLcode rb_curl_set_seek_callback(CURL *handle, rb_curl_seek_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, callback);
}

static inline CURLcode rb_curl_set_note_callback(CURL *handle, rb_curl_note_callback callback) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L) : code;
}

static inline CURLcode rb_curl_set_prerequest_callback(CURL *handle, rb_curl_prerequest_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode rb_curl_set_socket_callback(CURL *handle, rb_curl_socket_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode rb_curl_set_close_callback(CURL *handle, rb_curl_close_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

static inline CURLcode rb_curl_set_resolver_callback(CURL *handle, rb_curl_resolver_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, callback);
}

/* What libcurl does when it is given no function of one's own: a socket that other programs do not inherit. */
static inline curl_socket_t rb_curl_open_socket(const struct curl_sockaddr *address) {
#ifdef SOCK_CLOEXEC
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
  return socket(address->family, address->socktype, address->protocol);
#endif
}

/* The port of a socket's own end: 0 for a Unix domain socket, as libcurl says too; -1 for any other kind. */
static inline int rb_curl_local_port(curl_socket_t descriptor) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return -1;
  if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  if (address.ss_family == AF_UNIX) return 0;
  return -1;
}

/* Whether nothing has come from the other side that was not read, neither bytes nor an end. Takes nothing. */
static inline int rb_curl_is_quiet(curl_socket_t descriptor) {
  char byte;
  ssize_t count = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* Whether the other side has ended the connection. It reads no bytes. Outside Linux, unread bytes hide the end. */
static inline int rb_curl_has_ended(curl_socket_t descriptor) {
#ifdef __linux__
  /* The end of what the other side sends, POLLRDHUP, which the headers name for GNU programs only. */
  struct pollfd state = {.fd = descriptor, .events = 0x2000};
  return poll(&state, 1, 0) > 0;
#else
  char byte;
  ssize_t count = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
#endif
}

/* A function of the process, whichever library has it; NULL if none has. */
static inline void *rb_curl_find(const char *name) {
  void *process = dlopen(NULL, RTLD_LAZY);
  return process ? dlsym(process, name) : NULL;
}

/* The connection of OpenSSL's that the transfer uses at the moment; NULL if there is none, or one of another library. */
static inline void *rb_curl_openssl(CURL *handle) {
  struct curl_tlssessioninfo *info = NULL;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
  return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

/* What OpenSSL's SSL_has_pending says: whether bytes were read from the socket that nobody has taken. */
static inline int rb_openssl_has_pending(void *function, void *connection) {
  return ((int (*)(const void *))function)(connection);
}

/* Whether both sides have agreed on HTTP/2, by OpenSSL's SSL_get0_alpn_selected. */
static inline int rb_openssl_speaks_http2(void *function, void *connection) {
  const unsigned char *name = NULL;
  unsigned int length = 0;
  ((void (*)(const void *, const unsigned char **, unsigned int *))function)(connection, &name, &length);
  return length == 2 && name && name[0] == 'h' && name[1] == '2';
}

/*
 * Lets a write to a connection that the other side has closed be an error for the thread that calls this. With NOSIGNAL
 * libcurl does not see to it, and some libraries for TLS write by themselves: the signal would end the process.
 */
static inline int rb_curl_block_broken_pipe(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  return pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* Lets the pauses of the thread that calls this end when they should, not up to 50 microseconds later. */
static inline int rb_curl_make_pauses_exact(void) {
#ifdef __linux__
  return prctl(PR_SET_TIMERSLACK, 1UL);
#else
  return -1;
#endif
}

/* Waits for less than a second. */
static inline void rb_curl_pause(long nanoseconds) {
  struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
}

/* Lets http and https through and nothing else. */
static inline CURLcode rb_curl_restrict_protocols(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
  CURLcode code = curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  if (code != CURLE_UNKNOWN_OPTION) return code;
#endif
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif
  return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
}

/* Lets a transfer be removed while its host's name is resolved, without waiting for the resolver; 7.87. */
static inline CURLcode rb_curl_leave_resolver_behind(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
  return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)handle;
  return CURLE_UNKNOWN_OPTION;
#endif
}

static inline CURLcode rb_curl_get_number(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode rb_curl_get_size(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode rb_curl_get_text(CURL *handle, CURLINFO info, const char **value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode rb_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode rb_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

typedef void (*rb_curl_lock)(CURL *handle, curl_lock_data data, curl_lock_access access, void *context);
typedef void (*rb_curl_unlock)(CURL *handle, curl_lock_data data, void *context);

/* Has a share hold the sessions of TLS, under locks of the caller's. */
static inline void rb_curl_share_sessions(CURLSH *share, void *context, rb_curl_lock lock, rb_curl_unlock unlock) {
  curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
  curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
  curl_share_setopt(share, CURLSHOPT_USERDATA, context);
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

typedef CURLcode (*rb_curl_ssl_callback)(CURL *handle, void *context, void *user);

static inline CURLcode rb_curl_set_ssl_callback(CURL *handle, rb_curl_ssl_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}

typedef void (*rb_openssl_info)(const void *connection, int what, int value);

/* Has OpenSSL tell what happens to the connections of a context, by its SSL_CTX_set_info_callback. */
static inline void rb_openssl_set_info(void *function, void *context, rb_openssl_info info) {
  ((void (*)(void *, rb_openssl_info))function)(context, info);
}

/* Makes a decoder of zlib's: 47 is for gzip and zlib, told apart by their first bytes, -15 for neither's header. */
static inline int rb_inflate_init(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }

/* Takes the next transfer that has ended, and how; NULL if there is none. */
static inline CURL *rb_curl_multi_next_ended(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

#endif
