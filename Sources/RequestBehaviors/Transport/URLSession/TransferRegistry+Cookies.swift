import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// The cookies of a transport belong to its current user. The next user starts without cookies.
extension TransferRegistry {
  /// Returns whether the platform has cookies for a URL.
  func hasCookies(for url: URL) -> Bool {
    addsCookies && cookies.withLock(\.self)?.cookies(for: url)?.isEmpty == false
  }

  /// Removes all cookies.
  ///
  /// Cookies of requests in flight go into a storage that is no longer used.
  func forgetCookies() {
    guard addsCookies else { return }
    queue.async {
      guard let old = self.session else { return }
      guard self.hasOwnCookies else {
        self.configuration.httpCookieStorage?.removeCookies(since: .distantPast)
        return
      }
      let empty = URLSessionConfiguration.ephemeral.httpCookieStorage
      self.cookies.withLock { $0 = empty }
      self.configuration.httpCookieStorage = empty
      self.session = self.makeSession()
      old.finishTasksAndInvalidate()
    }
  }

  /// Fails a transfer whose cookies were removed before it was sent.
  ///
  /// It runs on the queue. The platform starts no task in a session that is to end. In another session, the transfer
  /// would add its cookies to those of the next user.
  ///
  /// - Parameters:
  ///   - session: The session that the transfer began in.
  ///   - transfer: The transfer.
  /// - Returns: Whether it failed.
  func failIfForgotten(_ session: URLSession, _ transfer: Transfer) -> Bool {
    if session === self.session { return false }
    var error = NetworkError(.connectionLost, "the cookies were forgotten while the body was read; it was not sent")
    error.progress = NetworkError.Progress(.notSent)
    transfer.fail(error)
    end(transfer)
    return true
  }
}
