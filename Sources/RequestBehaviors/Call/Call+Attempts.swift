extension Call {
  /// The number of sends that the call has made.
  public var attemptCount: Int { withState { $0.attempts.count } }

  /// Every send so far, in order; a call that joined another one has that call's sends.
  public var attempts: [Attempt] {
    let (attempts, secrets) = withState { ($0.servingAttempts, $0.secrets) }
    return attempts.map { attempt in
      var attempt = attempt
      attempt.secrets = secrets
      return attempt
    }
  }

  /// Returns a send of the call itself, by its number, which counts from 1.
  func attempt(_ number: Int) -> Attempt {
    withState { state in
      var attempt = state.attempts[number - 1]
      attempt.secrets = state.secrets
      return attempt
    }
  }

  /// The number of sends that served the call, including those of a call that it joined.
  public var servingAttemptCount: Int {
    withState { $0.attempts.isEmpty ? $0.adoptedAttempts.count : $0.attempts.count }
  }

  /// Adds a check that every later send of the call must pass, at the last moment before the transport.
  ///
  /// Use it for facts that may change while a request waits further in, such as whether the user of its token is still
  /// signed in.
  ///
  /// - Parameter check: Gets the request right before it is sent. Its error fails the send, which is not counted.
  public func addSendCheck(_ check: @escaping @Sendable (NetworkRequest) throws -> Void) {
    withState { $0.sendChecks.append(SendCheck(session: nil, run: check)) }
  }

  /// Adds the check of a session that every later send of the call must pass, with what belongs to it.
  ///
  /// Nothing is added if the call has a check of this session, as in a retry. All is added at once, so that no other
  /// send of the call, such as a hedge, goes with a part of it.
  ///
  /// - Parameters:
  ///   - session: The object whose check it is. The call does not keep it, so the check must.
  ///   - handOvers: The session's list of requests that are being handed over, for which it waits when it ends
  ///     (``addHandOvers(_:)``).
  ///   - renewal: Changes a request that may have waited, such as its token to the latest one; it must not block
  ///     (``addRenewal(_:)``). By default nothing changes.
  ///   - check: Gets the request right before it is sent. Its error fails the send, which is not counted
  ///     (``addSendCheck(_:)``).
  public func addSendCheck(
    of session: AnyObject, handOvers: HandOvers, renewal: (@Sendable (inout NetworkRequest) -> Void)? = nil,
    check: @escaping @Sendable (NetworkRequest) throws -> Void
  ) {
    let session = ObjectIdentifier(session)
    withState { state in
      if state.sendChecks.contains(where: { $0.session == session }) { return }
      state.sendChecks.append(SendCheck(session: session, run: check))
      state.add(handOvers)
      if let renewal { state.renewals.append(Renewal(run: renewal)) }
    }
  }

  /// Runs the checks that behaviors added with ``addSendCheck(_:)``; the client does it right before the transport.
  ///
  /// A transport that waits before it sends, such as one that looks a server up, calls it again after the wait: the
  /// user may have signed out meanwhile.
  ///
  /// - Parameter request: The request that is about to be sent.
  /// - Throws: The error of the check that fails, such as `signedOut`.
  public func verifySend(of request: NetworkRequest) throws {
    for check in withState({ $0.sendChecks }) { try check.run(request) }
  }

  /// Adds a change that updates every later request of the call after it has passed the limiters, before it is signed.
  ///
  /// - Parameter renewal: Changes the request, such as its token to the latest one; it must not block.
  public func addRenewal(_ renewal: @escaping @Sendable (inout NetworkRequest) -> Void) {
    withState { $0.renewals.append(Renewal(run: renewal)) }
  }

  /// Updates a request with the changes that behaviors added.
  func renew(_ request: inout NetworkRequest) {
    for renewal in withState({ $0.renewals }) { renewal.run(&request) }
  }

  /// Makes a session that ends wait for the sends of this call that are being handed to the transport.
  ///
  /// - Parameter handOvers: The session's list of requests that are being handed over.
  public func addHandOvers(_ handOvers: HandOvers) { withState { $0.add(handOvers) } }

  /// Begins to hand a request over.
  ///
  /// - Returns: The hand-over, and the checks that the request must pass. They run after this, so that they notice a
  ///   session that ends meanwhile.
  func beginHandOver() -> (HandOver?, ShortList<SendCheck>) {
    let (handOvers, checks) = withState { ($0.handOvers, $0.sendChecks) }
    return (HandOver(to: handOvers), checks)
  }

  /// Counts a send.
  ///
  /// - Returns: The number of the send, from 1; `nil` if the call has made as many sends as a call may.
  func beginAttempt(_ request: NetworkRequest) -> Int? {
    let now = clock.now()
    let hasIdempotencyKey = !request.method.isIdempotent && request.hasIdempotencyKey
    return withState { state in
      let number = state.attempts.count + 1
      guard number <= Call.maximumAttempts else { return nil }
      state.attempts.append(
        Attempt(
          number: number, method: request.method, url: request.url, startedAt: now,
          hasIdempotencyKey: hasIdempotencyKey, outcome: .pending))
      return number
    }
  }

  /// Records how a send ended.
  ///
  /// - Parameters:
  ///   - number: The number of the send.
  ///   - outcome: The outcome of the send.
  ///   - progress: How far it had come when it failed, if the transport tells.
  ///   - time: The time of its end; by default now.
  ///   - timings: The times of its phases; by default those that are known from its head.
  func endAttempt(
    _ number: Int, _ outcome: Attempt.Outcome, progress: NetworkError.Progress? = nil, at time: Duration? = nil,
    timings: ResponseTimings? = nil
  ) {
    let time = time ?? clock.now()
    change(number) { attempt in
      attempt.endedAt = time
      attempt.outcome = outcome
      attempt.progress = progress
      if let timings { attempt.timings = timings }
      // The head of a streamed response came before the end of its body.
      if attempt.timings?.lastByte == nil { attempt.timings?.lastByte = time }
    }
  }

  /// Records the head of a send whose body is still to be read.
  func noteHead(of number: Int, _ response: NetworkResponse) {
    change(number) { attempt in
      attempt.outcome = .response(statusCode: response.statusCode, bytes: nil)
      attempt.timings = response.timings
    }
  }

  private func change(_ number: Int, _ change: (inout Attempt) -> Void) {
    withState { $0.attempts.change(at: number - 1, change) }
  }
}

extension Call.State {
  /// Adds a session's list of requests that are being handed over, unless it is there.
  mutating func add(_ list: HandOvers) {
    if !handOvers.contains(where: { $0 === list }) { handOvers.append(list) }
  }
}
