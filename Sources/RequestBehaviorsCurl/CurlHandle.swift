#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// A reusable handle of libcurl for one transfer at a time.
  ///
  /// The common options are set once, and others only when they change.
  ///
  /// It has one owner at a time: the caller prepares it, the loop runs it, and the caller reads the response.
  final class CurlHandle: @unchecked Sendable {
    // Unchecked because it has one owner at a time; see above. Its owner alone has access, so that exclusive
    // access is not checked either, which costs time at each line of a head.

    /// libcurl's own handle.
    @exclusivity(unchecked) private(set) var easy: UnsafeMutableRawPointer
    /// The received part of the head.
    @exclusivity(unchecked) var head = HeadCollector()
    /// The received part of the body, unless it is streamed.
    @exclusivity(unchecked) var body = BodyCollector()
    /// The transfer of the handle, while the loop owns it.
    var transfer: CurlTransfer?

    let share: CurlShare
    private let errorText: UnsafeMutablePointer<CChar>
    private let configuration: CurlTransport.Configuration
    @exclusivity(unchecked) var settings: RequestSettings

    init(_ configuration: CurlTransport.Configuration, _ share: CurlShare) throws {
      easy = try CurlHandle.makeEasy()
      self.share = share
      self.configuration = configuration
      errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
      errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      settings = RequestSettings(configuration)
      try setUp()
    }

    private static func makeEasy() throws -> UnsafeMutableRawPointer {
      guard CurlLibrary.isReady, let easy = curl_easy_init() else {
        throw NetworkError(.transportFailed, "libcurl \(CurlLibrary.version) could not be made ready")
      }
      return easy
    }

    var requiresTLSClosure: Bool { configuration.requiresTLSClosure }

    /// The hint for a connection that could not be made.
    ///
    /// libcurl names the URL's host, even if it connects to a socket of the file system.
    var connectionHint: String? {
      configuration.unixSocketPath.map { "the transport connects to the socket \($0)" }
        ?? configuration.proxy.connectionHint
    }

    /// The proxy that requests go through; none over a socket of the file system.
    var configuredProxy: CurlTransport.Proxy { configuration.unixSocketPath == nil ? configuration.proxy : .none }

    private func setUp() throws {
      try configuration.checkTexts()
      try check(share.join(easy), "SHARE")
      try connectCallbacks()
      try setDefaults()
      try setSecurity(configuration)
      try setProxy(configuration.proxy)
      if let path = configuration.unixSocketPath { try set(CURLOPT_UNIX_SOCKET_PATH, path, name: "UNIX_SOCKET_PATH") }
      try setConnections(configuration)
    }

    /// Replaces libcurl's handle by a new one, if it must not be reused, and keeps the other memory.
    func renew() throws {
      let fresh = try CurlHandle.makeEasy()
      curl_easy_cleanup(easy)
      easy = fresh
      let line = settings.line
      settings = RequestSettings(configuration)
      settings.line = line
      try setUp()
    }

    deinit {
      curl_easy_cleanup(easy)
      curl_slist_free_all(settings.list)
      errorText.deallocate()
    }

    /// libcurl's text for the last failure; it may be empty.
    var failureText: String { String(cString: errorText) }

    /// Clears the state of the last transfer.
    func reset() {
      head.reset()
      body.reset()
      errorText[0] = 0
      // The request's bytes and fields may hold secrets.
      clearRequest()
    }
  }

  extension CurlTransport.Configuration {
    /// Refuses texts that libcurl would take for others: it cuts one off at a NUL, and sends a line break as it is.
    fileprivate func checkTexts() throws {
      if userAgent?.utf8.contains(where: { $0.isASCIIControl && $0 != UInt8(ascii: "\t") }) == true {
        throw NetworkError(
          .refusedOption, "the userAgent of the transport has a control character, which no field may have")
      }
      guard let path = unixSocketPath else { return }
      if path.isEmpty || path.utf8.contains(0) {
        throw NetworkError(
          .refusedOption, "the unixSocketPath of the transport is empty or has a NUL; set it to nil for no socket")
      }
      // The system keeps the NUL at the end in the same memory.
      let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
      if path.utf8.count > limit {
        throw NetworkError(
          .refusedOption,
          "the unixSocketPath of the transport has \(path.utf8.count) bytes; the system takes at most \(limit)")
      }
    }
  }

  // MARK: - Setting options

  extension CurlHandle {
    func set(_ option: CURLoption, _ value: Int, name: @autoclosure () -> String) throws {
      try check(rb_curl_set_number(easy, option, value), name())
    }

    func set(_ option: CURLoption, _ value: String?, name: @autoclosure () -> String) throws {
      guard let value else { return try check(rb_curl_set_text(easy, option, nil), name()) }
      // libcurl would take the text before a NUL for the whole.
      if value.utf8.contains(0) { throw RefusedOption(name: name(), code: CURLE_BAD_FUNCTION_ARGUMENT) }
      // The text is not passed as an implicit pointer, because the compiler would copy it.
      try value.withCString { try check(rb_curl_set_text(easy, option, $0), name()) }
    }

    func set(_ option: CURLoption, _ bytes: Data?, name: @autoclosure () -> String) throws {
      guard let bytes else { return try check(rb_curl_set_bytes(easy, option, nil, 0), name()) }
      try bytes.withUnsafeBytes { buffer in
        try check(rb_curl_set_bytes(easy, option, buffer.baseAddress, buffer.count), name())
      }
    }

    func check(_ code: CURLcode, _ name: @autoclosure () -> String) throws {
      if code != CURLE_OK { throw RefusedOption(name: name(), code: code) }
    }
  }

  // MARK: - Options of all requests

  extension CurlHandle {
    private func connectCallbacks() throws {
      let own = Unmanaged.passUnretained(self).toOpaque()
      let pointers = [
        CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
        CURLOPT_OPENSOCKETDATA, CURLOPT_RESOLVER_START_DATA,
      ]
      for option in pointers { try check(rb_curl_set_pointer(easy, option, own), "a callback") }
      try check(rb_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText), "ERRORBUFFER")
      try check(rb_curl_set_data_callback(easy, CURLOPT_HEADERFUNCTION, curlDidReceiveHeader), "HEADERFUNCTION")
      try check(rb_curl_set_data_callback(easy, CURLOPT_WRITEFUNCTION, curlDidReceiveBody), "WRITEFUNCTION")
      try check(rb_curl_set_data_callback(easy, CURLOPT_READFUNCTION, curlNeedsBody), "READFUNCTION")
      try check(rb_curl_set_seek_callback(easy, curlNeedsRewind), "SEEKFUNCTION")
      try check(rb_curl_set_prerequest_callback(easy, curlWillSend), "PREREQFUNCTION")
      try check(rb_curl_set_socket_callback(easy, curlNeedsSocket), "OPENSOCKETFUNCTION")
      // The callback runs when a connection is closed, and a connection may outlive the handle.
      let sockets = Unmanaged.passUnretained(share.sockets).toOpaque()
      try check(rb_curl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, sockets), "CLOSESOCKETDATA")
      try check(rb_curl_set_close_callback(easy, curlClosesSocket), "CLOSESOCKETFUNCTION")
      try check(rb_curl_set_resolver_callback(easy, curlWillResolve), "RESOLVER_START_FUNCTION")
      // Each note costs time.
      guard settings.multiplexes else { return }
      try check(rb_curl_set_pointer(easy, CURLOPT_DEBUGDATA, own), "DEBUGDATA")
      try check(rb_curl_set_note_callback(easy, curlNotes), "DEBUGFUNCTION")
    }

    private func setDefaults() throws {
      try set(CURLOPT_NOSIGNAL, 1, name: "NOSIGNAL")
      try check(rb_curl_restrict_protocols(easy), "PROTOCOLS")
      // Dot segments were resolved when the URL was built. A signed path must be sent unchanged.
      try set(CURLOPT_PATH_AS_IS, 1, name: "PATH_AS_IS")
      try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1, name: "DISALLOW_USERNAME_IN_URL")
      try set(CURLOPT_FOLLOWLOCATION, 0, name: "FOLLOWLOCATION")
      try set(CURLOPT_NETRC, 0, name: "NETRC")
      try set(CURLOPT_HTTP09_ALLOWED, 0, name: "HTTP09_ALLOWED")
      try set(CURLOPT_HTTP_CONTENT_DECODING, 0, name: "HTTP_CONTENT_DECODING")
      try set(CURLOPT_TCP_KEEPALIVE, 1, name: "TCP_KEEPALIVE")
      if let agent = settings.userAgent { try set(CURLOPT_USERAGENT, agent, name: "USERAGENT") }
      // Before 7.87 there is no such option, and the loop must not remove a transfer whose name is being resolved.
      if settings.leavesResolverBehind {
        settings.leavesResolverBehind = rb_curl_leave_resolver_behind(easy) == CURLE_OK
      }
    }

    private func setConnections(_ configuration: CurlTransport.Configuration) throws {
      if configuration.httpVersion.usesHTTP2, !CurlLibrary.hasHTTP2 {
        throw RefusedOption(name: "HTTP_VERSION 2", code: CURLE_NOT_BUILT_IN)
      }
      let version = configuration.httpVersion.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
      try set(CURLOPT_HTTP_VERSION, Int(version), name: "HTTP_VERSION")
      try setLifetimes(configuration)
    }

    /// Sets how long connections and names are kept, never longer than the configuration says.
    private func setLifetimes(_ configuration: CurlTransport.Configuration) throws {
      let idle = configuration.idleConnectionLifetime.wholeSeconds
      let age = configuration.connectionLifetime?.wholeSeconds
      // libcurl counts whole seconds, and closes a connection whose age in whole seconds exceeds the option: with 1 it
      // is used until it is two seconds old. 0 means no limit, in later versions for idle connections too.
      try set(CURLOPT_MAXAGE_CONN, max(idle - 1, 1), name: "MAXAGE_CONN")
      try set(CURLOPT_MAXLIFETIME_CONN, age.map { max($0 - 1, 1) } ?? 0, name: "MAXLIFETIME_CONN")
      if keepsNoConnection { try set(CURLOPT_FORBID_REUSE, 1, name: "FORBID_REUSE") }
      try set(CURLOPT_DNS_CACHE_TIMEOUT, configuration.nameLifetime.wholeSeconds, name: "DNS_CACHE_TIMEOUT")
    }

    /// Whether each request has a connection of its own, because libcurl would keep one for too long.
    var keepsNoConnection: Bool {
      let idle = configuration.idleConnectionLifetime.wholeSeconds
      return min(idle, configuration.connectionLifetime?.wholeSeconds ?? idle) < 2
    }
  }

  extension Duration {
    /// The whole seconds of the duration, up to libcurl's maximum; 0 if it is not positive.
    fileprivate var wholeSeconds: Int { Int(clamping: min(max(components.seconds, 0), 2_000_000)) }
  }
#endif
