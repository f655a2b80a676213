#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import RequestBehaviors

  extension CurlHandle {
    /// Returns the transfer of libcurl's handle; `nil` if it has none.
    static func transfer(of easy: UnsafeMutableRawPointer) -> CurlTransfer? {
      var context: UnsafeMutableRawPointer?
      guard rb_curl_get_pointer(easy, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else { return nil }
      return Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue().transfer
    }

    /// Returns a number that libcurl measured; `nil` if it has no such number.
    func size(_ info: CURLINFO) -> Int? {
      var value: curl_off_t = 0
      guard rb_curl_get_size(easy, info, &value) == CURLE_OK else { return nil }
      return Int(value)
    }

    private func number(_ info: CURLINFO) -> Int {
      var value = 0
      return rb_curl_get_number(easy, info, &value) == CURLE_OK ? value : 0
    }

    /// Returns the measured times of the connection.
    ///
    /// - Parameter queued: How long the request waited for the loop.
    /// - Returns: The times, the protocol and the address.
    func connectionTimings(queued: Duration?) -> ConnectionTimings {
      var timings = ConnectionTimings(queued: queued)
      timings.isReused = isOverReusedConnection
      if !timings.isReused {
        // Each is measured from the beginning of the transfer.
        let name = size(CURLINFO_NAMELOOKUP_TIME_T) ?? 0
        let connected = size(CURLINFO_CONNECT_TIME_T) ?? 0
        let secured = size(CURLINFO_APPCONNECT_TIME_T) ?? 0
        timings.nameLookup = .microseconds(name)
        timings.connecting = .microseconds(max(connected - name, 0))
        if secured > 0 { timings.securing = .microseconds(max(secured - connected, 0)) }
      }
      timings.protocolName =
        switch number(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "http/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "http/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "h2"
        default: nil
        }
      timings.remoteAddress = remoteAddress
      return timings
    }

    /// Whether the transfer went over a connection that had been used before.
    var isOverReusedConnection: Bool { number(CURLINFO_NUM_CONNECTS) == 0 }

    /// The hint for a connection that could not be made, which names the proxy; `nil` if there is nothing to say.
    var hint: String? {
      let proxy = proxyName.map { "the proxy is \($0)" }
      let parts = [proxyRefusal, proxy].compactMap { $0 }
      return parts.isEmpty ? connectionHint : parts.joined(separator: "; ")
    }

    /// The proxy that takes part in the transfer; `nil` without one.
    private var proxyName: String? {
      if let name = configuredProxy.hostAndPort { return name }
      // Only libcurl reads the proxy of the environment. If that proxy has replied, its address is the connection's.
      guard configuredProxy == .environment, number(CURLINFO_HTTP_CONNECTCODE) != 0 || number(CURLINFO_PROXY_ERROR) != 0
      else { return nil }
      return remoteAddress.map { "\($0), which the environment names" }
    }

    /// The hint for a TLS failure; `nil` if it is that of the server.
    var securityHint: String? {
      number(CURLINFO_PROXY_SSL_VERIFYRESULT) == 0 ? nil : "the certificate is that of the proxy"
    }

    /// The reason why a proxy refused the request; `nil` if there is no proxy, or it gives no reason.
    private var proxyRefusal: String? {
      if number(CURLINFO_HTTP_CONNECTCODE) == 407 { return CurlHandle.wrongPassword }
      return switch CURLproxycode(rawValue: UInt32(clamping: number(CURLINFO_PROXY_ERROR))) {
      case CURLPX_USER_REJECTED, CURLPX_NO_AUTH: CurlHandle.wrongPassword
      case CURLPX_REPLY_GENERAL_SERVER_FAILURE: "the proxy failed"
      case CURLPX_REPLY_NOT_ALLOWED: "the proxy's rules do not allow it"
      case CURLPX_REPLY_NETWORK_UNREACHABLE: "the proxy does not reach the server's network"
      case CURLPX_REPLY_HOST_UNREACHABLE: "the proxy does not reach the server's host"
      case CURLPX_REPLY_CONNECTION_REFUSED: "the server refused the connection of the proxy"
      case CURLPX_REPLY_TTL_EXPIRED: "the way from the proxy to the server is too long"
      case CURLPX_REPLY_COMMAND_NOT_SUPPORTED: "the proxy cannot make connections"
      case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED: "the proxy does not know the kind of address"
      default: nil
      }
    }

    private static let wrongPassword = "the proxy demands a user and password, or others than it was given"

    private var remoteAddress: String? {
      var text: UnsafePointer<CChar>?
      guard rb_curl_get_text(easy, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text, text[0] != 0 else { return nil }
      let address = String(cString: text)
      let port = number(CURLINFO_PRIMARY_PORT)
      return (address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address) + ":" + String(port)
    }
  }

  extension CurlTransfer {
    /// The progress of the transfer.
    ///
    /// An attempt is counted just before the first byte of the request may be sent, after name resolution, proxies and
    /// TLS. (libcurl's own CURLINFO_PRETRANSFER_TIME_T is set only after the head was sent.)
    var attemptProgress: NetworkError.Progress {
      guard attemptCount > 0 else { return NetworkError.Progress(.notSent) }
      return NetworkError.Progress(
        firstByte == nil ? .sent : .headReceived, reusedConnection: isOverReusedConnection)
    }

    /// Returns the progress of the transfer when it failed.
    func progress(of error: NetworkError) -> NetworkError.Progress {
      // A server that does not accept the connection did not read the request.
      error.code == .tlsFailed ? NetworkError.Progress(.notSent) : attemptProgress
    }

    /// The result of a streamed body.
    var endOfStream: Result<Void, any Error> {
      guard var error = objection ?? (result == CURLE_OK ? missing : failure) else { return .success(()) }
      error.request = request
      error.progress = progress(of: error)
      return .failure(error)
    }

    /// The trailer fields; `nil` if there were none, or if they are malformed.
    var trailers: HeaderFields? {
      handle.head.trailers.isEmpty ? nil : try? ResponseHead.trailers(handle.head.trailers)
    }

    /// The error for a transfer that libcurl ended with a failure.
    var failure: NetworkError {
      CurlFailure(
        result: result.rawValue, text: handle.failureText, hasHead: firstByte != nil,
        isOverReusedConnection: isOverReusedConnection, hadConnection: attemptCount > 0 || wasRefused
      )
      .networkError(hint: handle.hint, securityHint: handle.securityHint)
    }
  }
#endif
