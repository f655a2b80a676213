extension TokenState {
  /// The next step of a refresh once the store has been read.
  enum RefreshAction: Sendable {
    case fetch
    case refresh(AccessToken)
    /// The stored token can be used.
    case use(IssuedToken)
    /// The session has changed, and no request waits.
    case end
  }

  /// The result that the end of a refresh has for its waiters.
  enum RefreshOutcome: Sendable {
    case use(IssuedToken)
    case fail(any Error)
    /// The waiters fail, and the session is signed out.
    case signOut(any Error)
    /// No request waits for this refresh any more.
    case ignore
  }

  /// Records that a refresh has the store's lock; returns false if no request waits for it any more.
  mutating func enter(_ refresh: Refresh) -> Bool {
    guard isUnderWay(refresh.id) else { return false }
    isAlone = true
    return true
  }

  /// Returns the next step of a refresh, and counts it if it is to ask the source.
  mutating func begin(_ refresh: Refresh, now: Duration) -> RefreshAction {
    guard isUnderWay(refresh.id) else { return .end }
    if refresh.version != version {
      // The store had a newer token, which no server has refused yet, and which may have to be refreshed too.
      let wasOverdue = isOverdue
      endRefresh()
      if let issued = usable(now: now) { return .use(issued) }
      self.refresh = Refresh(
        id: refresh.id, version: version, generation: refresh.generation,
        isPrecaution: unexpired(now: now) != nil)
      isOverdue = wasOverdue
    }
    isAlone = true
    noteRefresh(now: now)
    isCounted = true
    return token.map { .refresh($0) } ?? .fetch
  }

  /// Whether a refresh has neither ended nor become useless.
  func isUnderWay(_ id: Int) -> Bool { refresh?.id == id }

  /// Whether the session has a newer token by now than the one that the refresh is to replace.
  func isOvertaken(_ id: Int) -> Bool { refresh.map { $0.id == id && $0.version != version } ?? false }

  /// Takes the result of a refresh.
  mutating func complete(_ refresh: Refresh, with new: AccessToken, now: Duration) -> RefreshOutcome {
    guard isUnderWay(refresh.id) else { return .ignore }
    endRefresh()
    failure = nil
    set(new, now: now, remaining: new.lifetime, trustsClock: false)
    return issued.map { .use($0.fresh) } ?? .ignore
  }

  /// Whether the session ends if the server finally refuses a refresh: it still has the token that was to be replaced.
  func isSignedOut(ifRefused refresh: Refresh) -> Bool {
    issued != nil && isUnderWay(refresh.id) && !isOvertaken(refresh.id)
  }

  /// Ends a refresh that failed.
  ///
  /// - Parameters:
  ///   - refresh: The refresh.
  ///   - error: The error for the waiters.
  ///   - isTerminal: Whether the server said, verifiably, that there will be no token.
  ///   - wasAsked: Whether a token was asked for; if not, the refresh does not count for the limit.
  /// - Returns: The outcome for the waiters.
  mutating func complete(
    _ refresh: Refresh, failing error: any Error, isTerminal: Bool, wasAsked: Bool = true
  ) -> RefreshOutcome {
    guard isUnderWay(refresh.id) else { return .ignore }
    if !wasAsked, isCounted { takeBackRefresh() }
    if isTerminal, isSignedOut(ifRefused: refresh) {
      signOut()
      return .signOut(error)
    }
    // A token that another process got meanwhile is better than an error.
    let isOvertaken = isOvertaken(refresh.id)
    endRefresh()
    if isOvertaken, let issued { return .use(issued) }
    fail(error)
    return .fail(error)
  }

  /// Ends a refresh that asked for nothing, so that another one may begin at once.
  ///
  /// - Parameters:
  ///   - refresh: The refresh.
  ///   - error: The error for the waiters; later requests do not get it.
  /// - Returns: The outcome for the waiters.
  mutating func abandon(_ refresh: Refresh, _ error: any Error) -> RefreshOutcome {
    guard isUnderWay(refresh.id) else { return .ignore }
    if isCounted { takeBackRefresh() }
    endRefresh()
    return .fail(error)
  }

  /// Ends the wait for a refresh that takes too long.
  ///
  /// The refresh goes on, and no other begins before it has ended. One that still waits for another process has sent
  /// nothing, and ends.
  mutating func timeOut(on refresh: Refresh) -> RefreshOutcome {
    guard isUnderWay(refresh.id) else { return .ignore }
    guard isAlone else {
      return complete(
        refresh, failing: NetworkError.tokenLockTimedOut(after: policy.timeout), isTerminal: false, wasAsked: false)
    }
    isOverdue = true
    if isOvertaken(refresh.id), let issued { return .use(issued) }
    let error = NetworkError.tokenTimedOut(after: policy.timeout)
    fail(error)
    return .fail(error)
  }

  private mutating func fail(_ error: any Error) {
    failureCount += 1
    failure = Failure(version: version, number: failureCount, error: error)
  }
}
