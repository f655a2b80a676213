extension TokenState {
  /// What a flight is to do once the store has been read.
  enum Errand: Sendable {
    case fetch
    case refresh(AccessToken)
    /// The stored token will do.
    case use(TokenLease)
    /// The session has changed; nobody waits.
    case end
  }

  /// What the end of a flight is for those who wait.
  enum Landing: Sendable {
    case use(TokenLease)
    case fail(any Error)
    /// They fail, and the session is signed out.
    case signOut(any Error)
    /// Nobody waits for this flight any more.
    case ignore
  }

  /// Tells a flight what to do, and counts it if it is to ask the source.
  mutating func begin(_ flight: Flight, now: Duration) -> Errand {
    guard isUnderWay(flight.id) else { return .end }
    if flight.version != version {
      // The token came from the store only now; nobody has refused it yet.
      let wasOverdue = isOverdue
      endFlight()
      if let lease = usable(now: now) { return .use(lease) }
      self.flight = Flight(id: flight.id, version: version, generation: flight.generation)
      isOverdue = wasOverdue
    }
    starts.append(now)
    isCounted = true
    return token.map { .refresh($0) } ?? .fetch
  }

  /// Whether a flight has neither landed nor become useless.
  func isUnderWay(_ id: Int) -> Bool { flight?.id == id }

  /// Whether the session has another token by now than the one that a flight is to replace.
  func isOvertaken(_ id: Int) -> Bool { flight.map { $0.id == id && $0.version != version } ?? false }

  /// Takes the token that a flight got.
  mutating func land(_ flight: Flight, with new: AccessToken, now: Duration) -> Landing {
    guard isUnderWay(flight.id) else { return .ignore }
    endFlight()
    failure = nil
    set(new, now: now, remaining: new.lifetime, trustsClock: false)
    return lease.map { .use($0.fresh) } ?? .ignore
  }

  /// Whether the session ends if the server refuses a flight for good: it has the token that the flight was to replace.
  func isSignedOut(ifRefused flight: Flight) -> Bool {
    lease != nil && isUnderWay(flight.id) && !isOvertaken(flight.id)
  }

  /// Ends a flight that failed.
  ///
  /// - Parameters:
  ///   - flight: The flight.
  ///   - error: What fails those who wait.
  ///   - isTerminal: Whether the server said, verifiably, that there will be no token.
  ///   - wasAsked: Whether anybody was asked for a token; if not, the flight does not count for the limit.
  /// - Returns: What that is for those who wait.
  mutating func land(
    _ flight: Flight, failing error: any Error, isTerminal: Bool, wasAsked: Bool = true
  ) -> Landing {
    guard isUnderWay(flight.id) else { return .ignore }
    if !wasAsked, isCounted { _ = starts.popLast() }
    if isTerminal, isSignedOut(ifRefused: flight) {
      signOut()
      return .signOut(error)
    }
    let isOvertaken = isOvertaken(flight.id)
    endFlight()
    if isOvertaken, let lease { return .use(lease) }
    fail(error)
    return .fail(error)
  }

  /// Ends the wait for a flight that takes too long; it goes on, and no other begins before it has ended.
  mutating func giveUp(on flight: Flight) -> Landing {
    guard isUnderWay(flight.id) else { return .ignore }
    isOverdue = true
    if isOvertaken(flight.id), let lease { return .use(lease) }
    let error = NetworkError.tokenTimedOut(after: policy.timeout)
    fail(error)
    return .fail(error)
  }

  private mutating func fail(_ error: any Error) {
    failureCount += 1
    failure = Failure(version: version, number: failureCount, error: error)
  }
}
