extension Call {
  /// How many sends the call has made.
  public var attemptCount: Int { withState { $0.attempts.count } }

  /// Every send so far, in order; those of the call that made them for this one where it joined that.
  public var attempts: [Attempt] {
    let (own, secrets) = withState { ($0.attempts, $0.secrets) }
    let attempts = own.isEmpty ? adoptedAttempts : own
    return attempts.map { exchange in
      var exchange = exchange
      exchange.secrets = secrets
      return exchange
    }
  }

  /// How many sends served the call, those that another one made for it among them.
  public var servingAttemptCount: Int {
    let own = attemptCount
    return own > 0 ? own : adoptedAttempts.count
  }

  /// Adds a check that every later send of the call must pass, at the last moment before the transport.
  ///
  /// For what may have changed since a behavior let the request pass, while that waited further in: whether the user
  /// whose token it carries is still signed in, for example.
  ///
  /// - Parameter check: Gets the request as it is to be sent; what it throws fails the send, which is not counted.
  public func addSendCheck(_ check: @escaping @Sendable (NetworkRequest) throws -> Void) {
    withState { $0.sendChecks.append(SendCheck(run: check)) }
  }

  /// Runs the checks that behaviors added.
  func check(_ request: NetworkRequest) throws {
    for check in withState({ $0.sendChecks }) { try check.run(request) }
  }

  /// Adds what brings every later request of the call up to date when it has passed the limiters, before it is signed.
  ///
  /// - Parameter renewal: Changes the request, such as its token to the latest one; it must not block.
  public func addRenewal(_ renewal: @escaping @Sendable (inout NetworkRequest) -> Void) {
    withState { $0.renewals.append(Renewal(run: renewal)) }
  }

  /// Brings a request up to date.
  func renew(_ request: inout NetworkRequest) {
    for renewal in withState({ $0.renewals }) { renewal.run(&request) }
  }

  /// Lets a session that ends wait for the sends of this call that are being handed to the transport.
  ///
  /// - Parameter handOvers: What the session waits for.
  public func addHandOvers(_ handOvers: HandOvers) {
    withState { state in
      if !state.handOvers.contains(where: { $0 === handOvers }) { state.handOvers.append(handOvers) }
    }
  }

  /// Begins to hand a request over; the checks run after this, so that a session that ends meanwhile is seen.
  func beginHandOver() -> HandOver? { HandOver(to: withState { $0.handOvers }) }

  /// Counts a send.
  ///
  /// - Returns: Which send of the call it is, from 1; `nil` if it has made as many as a call may.
  func beginAttempt(_ request: NetworkRequest) -> Int? {
    let now = clock.now()
    return withState { state in
      let number = state.attempts.count + 1
      guard number <= Call.maximumAttempts else { return nil }
      state.attempts.append(
        Attempt(number: number, method: request.method, url: request.url, startedAt: now, outcome: .pending))
      return number
    }
  }

  /// Notes how a send ended.
  ///
  /// - Parameters:
  ///   - number: Which send of the call it was.
  ///   - outcome: How it ended.
  ///   - time: When; by default now.
  func endAttempt(_ number: Int, _ outcome: Attempt.Outcome, at time: Duration? = nil) {
    let time = time ?? clock.now()
    withState { state in
      state.attempts[number - 1].endedAt = time
      state.attempts[number - 1].outcome = outcome
    }
  }

  /// Notes the status of a send whose body is still to be read.
  func noteHead(of number: Int, _ statusCode: Int) {
    withState { $0.attempts[number - 1].outcome = .response(statusCode: statusCode, bytes: nil) }
  }
}
