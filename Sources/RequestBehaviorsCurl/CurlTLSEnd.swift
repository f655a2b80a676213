#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import RequestBehaviors

  /// Whether a connection over TLS ended with a closure alert, which tells that nothing of it was cut off (RFC 8446 §6.1).
  ///
  /// libcurl takes any end for one, and has let go of the connection before it tells of it; OpenSSL tells of alerts when
  /// they come.
  final class CurlTLSEnd: Sendable {
    /// Those whose ends matter, by the connections of OpenSSL's.
    private static let watched = Locked<[UInt: Bool]>([:])

    private let connection: UInt

    /// Begins to watch a connection, which is used for nothing else until then.
    init(_ connection: UnsafeMutableRawPointer) {
      self.connection = UInt(bitPattern: connection)
      CurlTLSEnd.watched.withLock { [connection = self.connection] in $0[connection] = false }
    }

    deinit { CurlTLSEnd.watched.withLock { [connection] in $0[connection] = nil } }

    /// Whether a closure alert has come.
    var isProper: Bool { CurlTLSEnd.watched.withLock { [connection] in $0[connection] ?? false } }

    /// Notes a closure alert.
    fileprivate static func note(_ connection: UnsafeRawPointer) {
      let connection = UInt(bitPattern: connection)
      watched.withLock { if $0[connection] != nil { $0[connection] = true } }
    }
  }

  extension CurlHandle {
    /// Begins to watch how the connection of a transfer ends; `nil` if that does not matter, or nothing tells.
    func watchTLSEnd() -> CurlTLSEnd? {
      guard settings.isSecure, requiresTLSClosure, CurlLibrary.opensslInfoCallback != nil else { return nil }
      return rb_curl_openssl(easy).map { CurlTLSEnd($0) }
    }
  }

  /// Has OpenSSL tell of the alerts of a connection, before it is made.
  func curlPreparesTLS(
    _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
  ) -> CURLcode {
    guard let set = CurlLibrary.opensslInfoCallback else { return CURLE_OK }
    rb_openssl_set_info(set, context) { connection, what, alert in
      // An alert that was read (SSL_CB_READ_ALERT), a warning (1) of kind 0.
      if let connection, what == 0x4004, alert == 0x100 { CurlTLSEnd.note(connection) }
    }
    return CURLE_OK
  }
#endif
