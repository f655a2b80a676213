#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation

  /// The state that all handles of a transport share: the sockets of its connections, and the TLS sessions, so that a
  /// further connection to a server can resume one (RFC 8446 §2.2).
  ///
  /// Without it each handle would remember only the sessions of its own transfers.
  final class CurlShare: @unchecked Sendable {
    // Unchecked because libcurl takes the locks below, and the sockets belong to the loop's thread.

    /// The locks, one for each kind of shared data.
    private final class Locks: Sendable {
      let locks = (0..<Int(CURL_LOCK_DATA_LAST.rawValue)).map { _ in NSLock() }
    }

    let sockets = CurlSockets()
    private let locks = Locks()
    private let share: UnsafeMutableRawPointer?

    /// Creates a share without sessions.
    init() {
      share = CurlLibrary.isReady ? curl_share_init() : nil
      guard let share else { return }
      rb_curl_share_sessions(
        share, Unmanaged.passUnretained(locks).toOpaque(),
        { _, data, _, context in CurlShare.lock(data, context)?.lock() },
        { _, data, context in CurlShare.lock(data, context)?.unlock() })
    }

    // Each handle keeps the share alive, so no handle uses it at this point.
    deinit { if let share { curl_share_cleanup(share) } }

    private static func lock(_ data: curl_lock_data, _ context: UnsafeMutableRawPointer?) -> NSLock? {
      context.map { Unmanaged<Locks>.fromOpaque($0).takeUnretainedValue().locks[Int(data.rawValue)] }
    }

    /// Makes a handle use the share.
    func join(_ easy: UnsafeMutableRawPointer) -> CURLcode {
      guard let share else { return CURLE_OK }
      return rb_curl_set_pointer(easy, CURLOPT_SHARE, share)
    }
  }
#endif
