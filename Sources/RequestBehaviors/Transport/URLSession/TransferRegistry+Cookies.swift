import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// The cookies of a transport belong to its current user. The next user starts without cookies.
extension TransferRegistry {
  /// Returns whether the platform has cookies for a URL.
  func hasCookies(for url: URL) -> Bool {
    addsCookies && cookies.withLock(\.self)?.sentCookies(for: url, at: Date()).isEmpty == false
  }

  #if canImport(FoundationNetworking)
    /// Adds the cookies of the session that is to send a transfer.
    ///
    /// The platform itself would send all cookies of the host: over http those for https only, to every path, and those
    /// that have expired since they were set.
    func addCookies(to transfer: Transfer, in session: URLSession) {
      guard addsCookies, let url = transfer.urlRequest.url, let jar = session.configuration.httpCookieStorage else {
        return
      }
      let sent = jar.sentCookies(for: url, at: Date())
      guard !sent.isEmpty, let field = HTTPCookie.requestHeaderFields(with: sent)["Cookie"] else { return }
      transfer.urlRequest.setValue(field, forHTTPHeaderField: "Cookie")
    }
  #endif

  /// Removes all cookies.
  ///
  /// Cookies of requests in flight go into a storage that is no longer used, unless a user has set the storage.
  func forgetCookies() {
    guard addsCookies else { return }
    // Both at once, so that a call which begins from now on also reaches the queue later.
    currentJar.withLock { number in
      number += 1
      queue.async { [number] in self.beginJar(number) }
    }
  }

  /// Records the jar of a call that begins.
  func note(_ call: Call) {
    guard addsCookies else { return }
    let number = currentJar.withLock { $0 }
    call.update(FirstJars.self) { $0[ObjectIdentifier(self)] = $0[ObjectIdentifier(self)] ?? number }
  }

  /// Replaces the cookies, on the queue.
  private func beginJar(_ number: Int) {
    guard let old = session else { return }
    jarNumber = number
    guard hasOwnCookies else {
      configuration.httpCookieStorage?.removeCookies(since: .distantPast)
      return
    }
    let empty = URLSessionConfiguration.ephemeral.httpCookieStorage
    cookies.withLock { $0 = empty }
    configuration.httpCookieStorage = empty
    session = makeSession()
    finish(old, hasUsedTLS: hasUsedTLS)
    hasUsedTLS = false
  }

  /// Fails a transfer whose response might add cookies of a user who has left to those of the next user.
  ///
  /// It runs on the queue. The cookies were forgotten since the call began: while it waited in a behavior, after an
  /// earlier send, while its body was being read, or while it was being handed over. It would also go out with
  /// the cookies of the next user. A call whose owners are known and still there goes on, without its old cookies. The
  /// session of a request for a token decides about it.
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
    let owner = call.owner
    let belongsToThisJar = owner.isPresent && (first == number || !owner.scopes.isEmpty)
    guard belongsToThisJar || call.purpose == .prerequisite else {
      let message =
        "the cookies were forgotten, as at a sign-out, while the request was under way; it is not sent any more"
      abort(transfer, with: NetworkError(.signedOut, message))
      return true
    }
    // A session changes before it has the cookies forgotten. So this finds every request that it checked before.
    return !mayStillBeSent(transfer)
  }
}

extension HTTPCookieStorage {
  /// Returns the cookies that go out with a request, those for longer paths first (RFC 6265 §5.4).
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - now: The date of the system, by which the platform counts the age of a cookie.
  /// - Returns: The cookies.
  fileprivate func sentCookies(for url: URL, at now: Date) -> [HTTPCookie] {
    let ofHost = cookies(for: url) ?? []
    #if canImport(FoundationNetworking)
      return ofHost.filter { $0.goes(to: url, at: now) }.sorted { $0.path.utf8.count > $1.path.utf8.count }
    #else
      return ofHost
    #endif
  }
}

#if canImport(FoundationNetworking)
  extension HTTPCookie {
    /// Returns whether the cookie goes out with a request to a URL of its host.
    fileprivate func goes(to url: URL, at now: Date) -> Bool {
      if isSecure, url.scheme?.lowercased() != "https" { return false }
      return matches(path: url.path(percentEncoded: true)) && !hasExpired(at: now)
    }

    /// Whether a path is the cookie's, or is below it (RFC 6265 §5.1.4).
    private func matches(path: String) -> Bool {
      let path = path.isEmpty ? "/" : path
      guard path.hasPrefix(self.path) else { return false }
      return path.utf8.count == self.path.utf8.count || self.path.hasSuffix("/")
        || path.utf8.dropFirst(self.path.utf8.count).first == UInt8(ascii: "/")
    }

    /// Whether the cookie has expired: by `Max-Age` if it has one, else by `Expires` (RFC 6265 §5.3).
    ///
    /// The platform reads `Max-Age` for cookies of version 1 only, and looks at `Expires` only when a cookie is set.
    private func hasExpired(at now: Date) -> Bool {
      guard let text = properties?[.maximumAge] as? String, let seconds = Double(text) else {
        return expiresDate.map { $0 <= now } ?? false
      }
      if seconds <= 0 { return true }
      guard let created = properties?[HTTPCookiePropertyKey(rawValue: "Created")] as? Double else { return false }
      return now.timeIntervalSinceReferenceDate >= created + seconds
    }
  }
#endif

/// The number of the jar with which a call began, by transport.
private enum FirstJars: CallKey { static let defaultValue: [ObjectIdentifier: Int] = [:] }
