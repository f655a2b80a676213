#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// The options of a request that are set on a handle.
  ///
  /// Only those that change are set again.
  struct RequestSettings {
    /// The way in which libcurl gets the body.
    enum Shape {
      case noBody
      case head
      /// The bytes are sent with the head.
      case bytes
      /// The library asks for the bytes.
      case upload
    }

    let trust: TrustPolicy
    let identity: ClientIdentity?
    let userAgent: String?
    let usesHTTP2: Bool
    let multiplexes: Bool
    var leavesResolverBehind: Bool
    var securedHost: String?
    /// Whether the request is to an `https` URL.
    var isSecure = false
    /// Whether the request must use a new connection.
    var isFresh = false
    /// Whether the connection is closed after the request.
    var isLast = false
    var url = ""
    var shape = Shape.noBody
    var method: String?
    var decodes: Bool?
    var bufferSize = 0
    var uploadBufferSize = 0
    var connectTime = 0
    var list: UnsafeMutablePointer<curl_slist>?
    var line: [UInt8] = []

    init(_ configuration: CurlTransport.Configuration) {
      trust = configuration.trust
      identity = configuration.identity
      userAgent = configuration.userAgent
      usesHTTP2 = configuration.httpVersion.usesHTTP2
      multiplexes = configuration.httpVersion.multiplexes
      leavesResolverBehind = configuration.leavesResolverBehind
    }
  }

  extension CurlHandle {
    /// The maximum size in bytes of a body that is sent with the head.
    ///
    /// libcurl asks for the bytes of larger ones.
    static let inlineLimit = 16 * 1_024

    /// Sets the options of a request.
    ///
    /// - Parameters:
    ///   - request: The request, which is valid.
    ///   - upload: The source of the bytes of its body; `nil` for a small body in memory, or no body.
    /// - Throws: ``RefusedOption`` or `NetworkError`.
    func prepare(_ request: NetworkRequest, _ upload: CurlUpload?) throws {
      let url = request.url.absoluteString
      if url != settings.url {
        settings.url = ""
        try set(CURLOPT_URL, try CurlHandle.plain(url, of: request), name: "URL")
        settings.url = url
      }
      settings.isSecure = request.origin?.scheme == "https"
      if let origin = request.origin, settings.isSecure {
        try setSecurity(of: origin.host)
        // Over cleartext, requests would wait for the first response, not only for the connection.
        if settings.multiplexes { try set(CURLOPT_PIPEWAIT, 1, name: "PIPEWAIT") }
      } else if settings.multiplexes {
        try set(CURLOPT_PIPEWAIT, 0, name: "PIPEWAIT")
      }
      try setBody(of: request, upload)
      try setFields(of: request)
      try setTimes(of: request)
    }

    /// Returns the URL for libcurl, which has its host in the form by which pins and credentials are chosen.
    ///
    /// libcurl would undo the escapes of a host itself, and may connect to another one than Foundation reads.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - request: Its request.
    /// - Returns: The URL without escapes in its host.
    /// - Throws: `NetworkError` of code `invalidURL` for a host that is not a name without them.
    private static func plain(_ text: String, of request: NetworkRequest) throws -> String {
      // Few URLs have an escape at all, and nearly all of these have it in the path or the query.
      guard text.utf8.contains(UInt8(ascii: "%")), let origin = request.origin, !origin.host.contains(":"),
        request.url.host(percentEncoded: true)?.contains("%") == true
      else { return text }
      var components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
      components?.percentEncodedHost = origin.host
      guard !origin.host.contains("%"), let url = components?.url else {
        throw NetworkError(.invalidURL, "the host \"\(origin.host.prefix(64))\" is not a valid name", request: request)
      }
      return url.absoluteString
    }

    private func setBody(of request: NetworkRequest, _ upload: CurlUpload?) throws {
      let method = request.method
      // Requests with these methods announce an empty body (RFC 9110 §8.6).
      let wantsLength = [.post, .put, .patch, .query].contains(method)
      let shape: RequestSettings.Shape =
        if upload != nil {
          .upload
        } else if method == .head {
          .head
        } else if request.body != nil || wantsLength {
          .bytes
        } else {
          .noBody
        }
      if shape != settings.shape {
        // HTTPGET undoes the other options of the method.
        try set(CURLOPT_HTTPGET, 1, name: "HTTPGET")
        if shape == .head { try set(CURLOPT_NOBODY, 1, name: "NOBODY") }
        if shape == .upload { try set(CURLOPT_UPLOAD, 1, name: "UPLOAD") }
        settings.shape = shape
      }
      switch shape {
      case .bytes: try setBytes(request.body?.data ?? Data())
      case .upload:
        let length = curl_off_t(upload?.length ?? -1)
        try check(rb_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, length), "INFILESIZE")
        // A long body is sent in larger pieces, because each piece costs a turn of the loop.
        let size = length < 0 || length > 1 << 20 ? 256 * 1_024 : 64 * 1_024
        if size != settings.uploadBufferSize {
          try set(CURLOPT_UPLOAD_BUFFERSIZE, size, name: "UPLOAD_BUFFERSIZE")
          settings.uploadBufferSize = size
        }
      case .head, .noBody: break
      }
      try setMethod(method.rawValue, isImplied: shape == .noBody && method == .get || shape == .head)
    }

    private func setBytes(_ data: Data) throws {
      try check(rb_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(data.count)), "POSTFIELDSIZE")
      let code = data.withUnsafeBytes { bytes in
        // libcurl copies as many bytes as were announced. The pointer must not be NULL, even for an empty body.
        withUnsafePointer(to: 0 as UInt8) { none in
          let start = bytes.baseAddress ?? UnsafeRawPointer(none)
          return rb_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, start.assumingMemoryBound(to: CChar.self))
        }
      }
      try check(code, "COPYPOSTFIELDS")
    }

    private func setMethod(_ method: String, isImplied: Bool) throws {
      let method = isImplied ? nil : method
      guard method != settings.method else { return }
      try set(CURLOPT_CUSTOMREQUEST, method, name: "CUSTOMREQUEST")
      settings.method = method
    }

    private func setTimes(of request: NetworkRequest) throws {
      // The transport's clock decides about timeouts. This option only makes libcurl try a host's further addresses in
      // time.
      let (seconds, attoseconds) = (request.options.idleTimeout ?? .seconds(300)).boundedComponents
      let time = max(
        Int(clamping: min(max(seconds, 0), 1_000_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000), 1)
      if time != settings.connectTime {
        try set(CURLOPT_CONNECTTIMEOUT_MS, time, name: "CONNECTTIMEOUT_MS")
        settings.connectTime = time
      }
      // When a reader pauses, libcurl keeps the bytes that it has read, so a stream has a small buffer.
      let size = request.options.delivery == .streamed ? 16 * 1_024 : 128 * 1_024
      if size != settings.bufferSize {
        try set(CURLOPT_BUFFERSIZE, size, name: "BUFFERSIZE")
        settings.bufferSize = size
      }
    }

    /// Makes the request use a new connection.
    func avoidKeptConnections() throws {
      try set(CURLOPT_FRESH_CONNECT, 1, name: "FRESH_CONNECT")
      settings.isFresh = true
      try keepConnection()
    }

    /// Lets the server hear of a request that ends too early.
    ///
    /// A libcurl that does not send the reset of a stream at once closes the connection instead, unless other requests
    /// use it: then the reset goes out with what they send or receive.
    func abandon() {
      if settings.usesHTTP2, !CurlLibrary.sendsResetsAtOnce { leaveConnection() }
    }

    /// Makes this request the last one of its connection.
    func leaveConnection() {
      guard !keepsNoConnection else { return }
      settings.isLast = rb_curl_set_number(easy, CURLOPT_FORBID_REUSE, 1) == CURLE_OK
    }

    /// Lets further requests use the connection of the next one.
    private func keepConnection() throws {
      guard settings.isLast else { return }
      try set(CURLOPT_FORBID_REUSE, 0, name: "FORBID_REUSE")
      settings.isLast = false
    }

    /// Removes the request's bytes and fields from the handle.
    func clearRequest() {
      try? keepConnection()
      if settings.isFresh {
        _ = rb_curl_set_number(easy, CURLOPT_FRESH_CONNECT, 0)
        settings.isFresh = false
      }
      if settings.shape == .bytes || settings.shape == .upload {
        _ = rb_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, nil)
        _ = rb_curl_set_number(easy, CURLOPT_HTTPGET, 1)
        settings.shape = .noBody
      }
      if settings.list != nil {
        _ = rb_curl_set_list(easy, CURLOPT_HTTPHEADER, nil)
        curl_slist_free_all(settings.list)
        settings.list = nil
      }
    }
  }

  // MARK: - Header fields

  extension CurlHandle {
    private func setFields(of request: NetworkRequest) throws {
      let headers = request.headers
      // A request that sets Accept-Encoding decodes the body itself. With "identity" the body is still decoded here,
      // because some servers compress anyway.
      let named = headers.isEmpty ? nil : headers[.acceptEncoding]
      let decodes = named.map { HeaderFields.areEqual($0, "identity") } ?? true
      if decodes != settings.decodes {
        try set(CURLOPT_ACCEPT_ENCODING, decodes ? ContentDecoder.encodings : nil, name: "ACCEPT_ENCODING")
        settings.decodes = decodes
      }
      var hasCookie = false
      for field in headers {
        if HeaderFields.areEqual(field.name, "Cookie") {
          // All cookies go into one field (RFC 6265 §5.4).
          if !hasCookie { try append(field.name, headers.values(for: "Cookie").joined(separator: "; ")) }
          hasCookie = true
        } else {
          // libcurl would wait for the server's permission itself, and after a 417 send the request again without the
          // field. If the field is removed first, libcurl does not recognize the one that follows. The upload waits
          // instead.
          if HeaderFields.areEqual(field.name, "Expect") { try append("Expect", nil) }
          try append(field.name, field.value)
        }
      }
      if settings.shape == .bytes || settings.shape == .upload {
        // Otherwise libcurl calls every body a form, and waits for permission to send long ones.
        if !headers.contains("Content-Type") {
          try append("Content-Type", request.body.map { $0.contentType ?? "application/octet-stream" })
        }
        if !headers.contains("Expect") { try append("Expect", nil) }
      }
      if settings.list != nil {
        try check(rb_curl_set_list(easy, CURLOPT_HTTPHEADER, settings.list), "HTTPHEADER")
      }
    }

    /// Adds a field.
    ///
    /// The value is `nil` for a field that libcurl must not add by itself.
    private func append(_ name: String, _ value: String?) throws {
      settings.line.removeAll(keepingCapacity: true)
      settings.line.append(contentsOf: name.utf8)
      // In libcurl's syntax, a colon with nothing after it removes a field, and a semicolon makes an empty one.
      let hasValue = value?.isEmpty == false
      settings.line.append(UInt8(ascii: value == nil || hasValue ? ":" : ";"))
      if let value, hasValue {
        settings.line.append(UInt8(ascii: " "))
        settings.line.append(contentsOf: value.utf8)
      }
      settings.line.append(0)
      let appended = settings.line.withUnsafeBytes { line in
        curl_slist_append(settings.list, line.assumingMemoryBound(to: CChar.self).baseAddress)
      }
      guard let list = appended else {
        throw RefusedOption(name: "HTTPHEADER", code: CURLE_OUT_OF_MEMORY)
      }
      settings.list = list
    }
  }

  extension NetworkRequest {
    /// Whether an earlier send of the call to the same origin got a 421.
    ///
    /// Its connection stays open while it has other requests, so the repeat needs a new one (RFC 9110 §15.5.20).
    var wasMisdirected: Bool {
      // Most calls make one send.
      guard call.attemptCount > 1 else { return false }
      return call.attempts.contains { attempt in
        guard case .response(421, _) = attempt.outcome else { return false }
        return Origin(attempt.url) == origin
      }
    }
  }
#endif
