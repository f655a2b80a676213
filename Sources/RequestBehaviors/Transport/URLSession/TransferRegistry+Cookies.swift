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
      self.jarNumber += 1
      guard self.hasOwnCookies else {
        self.configuration.httpCookieStorage?.removeCookies(since: .distantPast)
        return
      }
      let empty = URLSessionConfiguration.ephemeral.httpCookieStorage
      self.cookies.withLock { $0 = empty }
      self.configuration.httpCookieStorage = empty
      self.session = self.makeSession()
      self.finish(old, hasUsedTLS: self.hasUsedTLS)
      self.hasUsedTLS = false
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

  /// Fails a transfer of a call that had an earlier send with cookies that were forgotten meanwhile.
  ///
  /// It runs on the queue. A redirect or a retry would go out with the cookies of the next user, and the cookies of its
  /// response would be added to them. A call whose owners are known and still there goes on, without its old cookies,
  /// and so does a request for a token, about which its session decides.
  ///
  /// - Parameter transfer: The transfer.
  /// - Returns: Whether it failed.
  func failIfOfOldJar(_ transfer: Transfer) -> Bool {
    guard addsCookies else { return false }
    let call = transfer.request.call
    let number = jarNumber
    let first = call.update(FirstJars.self) { jars in
      jars[ObjectIdentifier(self)] = jars[ObjectIdentifier(self)] ?? number
      return jars[ObjectIdentifier(self)]
    }
    if first == number || call.purpose == .prerequisite { return false }
    let owner = call.owner
    if !owner.scopes.isEmpty, owner.isPresent { return false }
    var error = NetworkError(
      .signedOut,
      "the cookies were forgotten, as at a sign-out, while the request was under way; it is not sent any more")
    error.progress = NetworkError.Progress(.notSent)
    transfer.fail(error)
    return true
  }
}

/// The number of the jar that a call's first send used, by transport.
private enum FirstJars: CallKey { static let defaultValue: [ObjectIdentifier: Int] = [:] }
