#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import RequestBehaviors

  /// Whether a TLS connection ended with a closure alert, which proves that no data was cut off (RFC 8446 §6.1).
  ///
  /// libcurl accepts any end of a connection, and has released the connection before it reports the end. OpenSSL
  /// reports alerts when they come.
  package final class CurlTLSEnd: Sendable {
    private struct Watch {
      let owner: ObjectIdentifier
      let hasAlert: Locked<Bool>
    }

    /// The watches of connections that are open, by the address that OpenSSL's connection has.
    ///
    /// A new connection may get the address of one that was released. The watch of the address is then its own.
    private static let watches = Locked<[UInt: Watch]>([:])

    private let connection: UInt
    private let hasAlert = Locked(false)

    /// Begins to watch a connection.
    package init(_ connection: UnsafeMutableRawPointer) {
      self.connection = UInt(bitPattern: connection)
      let watch = Watch(owner: ObjectIdentifier(self), hasAlert: hasAlert)
      CurlTLSEnd.watches.withLock { [connection = self.connection] in $0[connection] = watch }
    }

    deinit { stop() }

    /// Ends the watch, and keeps what has come until now.
    ///
    /// Whatever comes later is about another connection at the same address.
    package func stop() {
      CurlTLSEnd.watches.withLock { if $0[connection]?.owner == ObjectIdentifier(self) { $0[connection] = nil } }
    }

    /// Whether a closure alert has come.
    package var isProper: Bool { hasAlert.withLock { $0 } }

    /// Records a closure alert.
    package static func note(_ connection: UnsafeRawPointer) {
      let watch = watches.withLock { $0[UInt(bitPattern: connection)] }
      watch?.hasAlert.withLock { $0 = true }
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
