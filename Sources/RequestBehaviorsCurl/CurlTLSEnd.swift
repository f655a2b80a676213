#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import RequestBehaviors

  /// Whether a TLS connection ended with a closure alert, which proves that no data was cut off (RFC 8446 §6.1).
  ///
  /// libcurl accepts any end of a connection, and has released the connection before it reports the end. OpenSSL
  /// reports alerts when they come.
  final class CurlTLSEnd: Sendable {
    /// Whether an alert has come, by OpenSSL's connection.
    private static let watched = Locked<[UInt: Bool]>([:])

    private let connection: UInt

    /// Begins to watch a connection.
    init(_ connection: UnsafeMutableRawPointer) {
      self.connection = UInt(bitPattern: connection)
      CurlTLSEnd.watched.withLock { [connection = self.connection] in $0[connection] = false }
    }

    deinit { CurlTLSEnd.watched.withLock { [connection] in $0[connection] = nil } }

    /// Whether a closure alert has come.
    var isProper: Bool { CurlTLSEnd.watched.withLock { [connection] in $0[connection] ?? false } }

    /// Records a closure alert.
    fileprivate static func note(_ connection: UnsafeRawPointer) {
      let connection = UInt(bitPattern: connection)
      watched.withLock { if $0[connection] != nil { $0[connection] = true } }
    }
  }

  extension CurlHandle {
    /// Begins to watch how the connection of a transfer ends; `nil` if that does not matter, or cannot be known.
    func watchTLSEnd() -> CurlTLSEnd? {
      guard settings.isSecure, requiresTLSClosure, CurlLibrary.opensslInfoCallback != nil else { return nil }
      return rb_curl_openssl(easy).map { CurlTLSEnd($0) }
    }
  }

  /// Makes OpenSSL report the alerts of a connection.
  ///
  /// libcurl calls it before the connection is made.
  func curlPreparesTLS(
    _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
  ) -> CURLcode {
    guard let set = CurlLibrary.opensslInfoCallback else { return CURLE_OK }
    rb_openssl_set_info(set, context) { connection, what, alert in
      // The event is a received alert (SSL_CB_READ_ALERT): a warning (1) of kind 0, `close_notify`.
      if let connection, what == 0x4004, alert == 0x100 { CurlTLSEnd.note(connection) }
    }
    return CURLE_OK
  }
#endif
