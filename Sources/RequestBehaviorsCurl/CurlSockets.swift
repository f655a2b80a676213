#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl

  /// The sockets of a transport's connections.
  ///
  /// They are used to check a connection before its reuse.
  ///
  /// libcurl 7.88 tells the socket of a transfer only when the transfer is over. Before that it tells the ports of both
  /// ends, so each socket is stored under its ports. The type is used on the loop's thread only.
  final class CurlSockets: @unchecked Sendable {
    // Unchecked because only the loop's thread uses it; see above.

    /// The ports of a connection's two ends.
    ///
    /// Connections to different hosts may have the same ports, and so have those to a Unix domain socket.
    struct Ports: Hashable {
      let local: Int32
      let remote: Int32
    }

    private var descriptors: [Ports: [curl_socket_t]] = [:]
    private var ports: [curl_socket_t: Ports] = [:]
    /// The last stream that the server processes, of connections that it will close.
    private var lastStreams: [curl_socket_t: Int] = [:]

    /// Stores the socket of a new connection.
    ///
    /// - Parameters:
    ///   - opened: The sockets that were opened for it, one for each address that was tried.
    ///   - ports: The ports of the connected socket.
    func note(_ opened: [curl_socket_t], _ ports: Ports) {
      for descriptor in opened where rb_curl_local_port(descriptor) == ports.local {
        forget(descriptor)
        descriptors[ports, default: []].append(descriptor)
        self.ports[descriptor] = ports
      }
    }

    /// Removes a closed socket.
    func forget(_ descriptor: curl_socket_t) {
      lastStreams[descriptor] = nil
      guard let ports = ports.removeValue(forKey: descriptor) else { return }
      descriptors[ports]?.removeAll { $0 == descriptor }
      if descriptors[ports]?.isEmpty == true { descriptors[ports] = nil }
    }

    /// Stores the number of the last stream that the server processes, if it is certain which connection it belongs to.
    ///
    /// - Parameters:
    ///   - last: The number.
    ///   - ports: The ports of the connection; `nil` if libcurl read the number when it looked for a connection to use.
    ///     It looks at those to other servers then, too, so the number is certain only if there is one connection.
    func noteLastStream(_ last: Int, of ports: Ports?) {
      let found = ports.map { descriptors[$0] ?? [] } ?? Array(self.ports.keys)
      if found.count == 1 { lastStreams[found[0]] = last }
    }

    /// Returns the number of the last stream that the server processes; `nil` if it is unknown.
    func lastStream(of ports: Ports) -> Int? {
      descriptors[ports].flatMap { $0.count == 1 ? lastStreams[$0[0]] : nil }
    }

    /// Whether a connection has no unread bytes and has not ended; false for an unknown connection.
    func isQuiet(_ ports: Ports) -> Bool {
      descriptors[ports]?.allSatisfy { rb_curl_is_quiet($0) != 0 } ?? false
    }

    /// Whether the server has ended a connection; false for an unknown connection.
    ///
    /// libcurl 8.23 looks once a second at most, and would send a request over a connection that is no more.
    func hasEnded(_ ports: Ports) -> Bool { descriptors[ports]?.contains { rb_curl_has_ended($0) != 0 } ?? false }
  }

  extension CurlHandle {
    /// Whether a connection that was used before may be used for the next request.
    ///
    /// HTTP/1.1 identifies responses by their order alone. Bytes that have come since the last response would be taken
    /// for the response to the next request (RFC 9112 §9.2).
    func mayReuse(_ ports: CurlSockets.Ports) -> Bool {
      if let connection = rb_curl_openssl(easy) {
        // Over HTTP/2 a response names its request, and frames may come at any time.
        if let speaks = CurlLibrary.opensslALPN, rb_openssl_speaks_http2(speaks, connection) != 0 {
          return !share.sockets.hasEnded(ports)
        }
        // The rest of a partly read TLS record is in OpenSSL's memory, not in the socket.
        if let hasPending = CurlLibrary.opensslPending, rb_openssl_has_pending(hasPending, connection) != 0 {
          return false
        }
      } else if settings.usesHTTP2, settings.isSecure {
        return !share.sockets.hasEnded(ports)
      }
      return share.sockets.isQuiet(ports)
    }
  }
#endif
