#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl

  /// The sockets of a transport's connections, to look at one before it is used again.
  ///
  /// libcurl 7.88 tells the socket of a transfer only when the transfer is over. Before, it tells the ports of both ends;
  /// so each socket is noted under its ports. Used on the loop's thread only.
  final class CurlSockets: @unchecked Sendable {
    // Unchecked because of the thread; see above.

    /// The ports of a connection's two ends, which connections to several hosts may have in common.
    struct Ports: Hashable {
      let local: Int32
      let remote: Int32
    }

    private var descriptors: [Ports: [curl_socket_t]] = [:]
    private var ports: [curl_socket_t: Ports] = [:]

    /// Notes the socket of a new connection.
    ///
    /// - Parameters:
    ///   - opened: The sockets that were made for it, one for each address that was tried.
    ///   - ports: The ports of the one that is connected.
    func note(_ opened: [curl_socket_t], _ ports: Ports) {
      for descriptor in opened where rb_curl_local_port(descriptor) == ports.local {
        forget(descriptor)
        descriptors[ports, default: []].append(descriptor)
        self.ports[descriptor] = ports
      }
    }

    /// Forgets a socket that is closed.
    func forget(_ descriptor: curl_socket_t) {
      guard let ports = ports.removeValue(forKey: descriptor) else { return }
      descriptors[ports]?.removeAll { $0 == descriptor }
      if descriptors[ports]?.isEmpty == true { descriptors[ports] = nil }
    }

    /// Whether nothing has come over a connection that was not read, neither bytes nor its end; false for one that is not
    /// known.
    func isQuiet(_ ports: Ports) -> Bool {
      descriptors[ports]?.allSatisfy { rb_curl_is_quiet($0) != 0 } ?? false
    }
  }

  extension CurlHandle {
    /// Whether a connection that was used before may be used for the next request.
    ///
    /// HTTP/1.1 tells responses by their order alone. So what has come since the last response would be taken for the
    /// response to the next request (RFC 9112 §9.2).
    func mayReuse(_ ports: CurlSockets.Ports) -> Bool {
      if let connection = rb_curl_openssl(easy) {
        // There a response names its request, and anything may come at any time.
        if let speaks = CurlLibrary.opensslALPN, rb_openssl_speaks_http2(speaks, connection) != 0 { return true }
        // Bytes of a record of which a part was read are in no socket any more.
        if let hasPending = CurlLibrary.opensslPending, rb_openssl_has_pending(hasPending, connection) != 0 {
          return false
        }
      } else if settings.usesHTTP2, settings.isSecure {
        return true
      }
      return share.sockets.isQuiet(ports)
    }
  }
#endif
