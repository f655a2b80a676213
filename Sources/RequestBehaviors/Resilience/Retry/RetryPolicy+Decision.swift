extension RetryPolicy {
  /// The decision of a policy, and its reason in words for a log.
  struct Verdict: Hashable {
    let decision: RetryDecision
    let reason: String
    /// Whether the request is sent again because its connection was stale.
    ///
    /// It does not count as a retry.
    var isResend = false

    static func stop(_ reason: String) -> Verdict { Verdict(decision: .stop, reason: reason) }
  }

  /// The facts besides the outcome that a decision depends on.
  struct Situation {
    let request: NetworkRequest
    /// The number of retries made so far.
    let retries: Int
    /// The sends of the attempt: redirects and replays make several.
    ///
    /// For an idempotent method the list may be empty, because nothing depends on it.
    var sends: ArraySlice<Attempt> = []
    /// Whether an idempotency key makes a repeat harmless.
    var hasIdempotencyKey = false
    /// Whether an earlier response was a 421.
    var wasMisdirected = false
    /// Whether an earlier attempt failed because the server had closed the connection.
    var wasStale = false
  }

  /// Decides what follows a failed attempt.
  ///
  /// - Parameters:
  ///   - outcome: How the attempt ended.
  ///   - hints: The hints of the server about a repeat.
  ///   - situation: The request and its earlier attempts.
  ///   - random: Makes numbers from 0 to 1.
  /// - Returns: The decision to stop or to send again, and after which wait.
  func verdict(
    on outcome: AttemptOutcome, _ hints: ServerHints?, in situation: Situation, random: () -> Double
  ) -> Verdict {
    // Limits come first: no reason for a repeat overrides them.
    guard situation.retries < maximumRetries else {
      return .stop(maximumRetries > 0 ? "\(maximumRetries) retries were made" : "no retries are wanted")
    }
    guard situation.request.body?.isReplayable != false else { return .stop("the body can be sent once") }
    if outcome.isStaleConnection, !situation.wasStale, isHarmless(outcome, hints, in: situation) {
      return Verdict(
        decision: .retry(after: .zero), reason: "a kept-alive connection that the server closed", isResend: true)
    }
    if let objection = objection(to: outcome, hints, in: situation) { return .stop(objection) }
    return wait(before: situation.retries + 1, hints, outcome, random: random)
  }

  /// Returns why an outcome is not worth another attempt; `nil` if it is.
  private func objection(to outcome: AttemptOutcome, _ hints: ServerHints?, in situation: Situation) -> String? {
    switch outcome {
    case .success(let response):
      let status = response.statusCode
      // A misdirected request may reach the right server over another connection, but only once.
      if status == 421, response.isVerified, refusals.isRefusal(status, hints) {
        if situation.wasMisdirected { return "it was misdirected before" }
      } else if hints?.shouldRetry == false {
        return "the server wants no retry"
      } else if hints?.shouldRetry != true, !statuses.contains(status), !refusals.isDelay(status, hints) {
        return "\(status) is not worth a retry"
      }
    case .failure(let error as NetworkError):
      if !errors.contains(error.code) { return "\(error.code) is not worth a retry" }
    case .failure: return "an error of a behavior's own is not worth a retry"
    }
    return isHarmless(outcome, hints, in: situation) ? nil : "\(situation.request.method) may have taken effect"
  }

  /// Whether a repeat has no effect beyond that of the first attempt.
  private func isHarmless(_ outcome: AttemptOutcome, _ hints: ServerHints?, in situation: Situation) -> Bool {
    if situation.request.method.isIdempotent { return true }
    let hadNoEffect =
      if let response = outcome.response {
        response.isVerified && refusals.isRefusal(response.statusCode, hints)
      } else {
        !outcome.mayHaveArrived
      }
    // The outcome may be that of a redirect's next request, or of one without the key, so that each send is judged.
    let sends = hadNoEffect ? outcome.earlierSends(of: situation.sends) : situation.sends
    if mayHaveTakenEffect(sends) { return false }
    return hadNoEffect || situation.hasIdempotencyKey
  }

  /// Whether a server may have acted on one of several sends that a repeat would carry out twice.
  func mayHaveTakenEffect(_ sends: ArraySlice<Attempt>) -> Bool {
    sends.contains { send in
      if send.method.isIdempotent || send.hasIdempotencyKey { return false }
      guard case .response(let status, _) = send.outcome else { return send.mayHaveArrived }
      return !RetryPolicy.statusesWithoutEffect.contains(status) && !refusals.statuses.contains(status)
    }
  }

  /// The statuses after which a redirect or a replay sends the same request again: the server did not act on it
  /// (RFC 9110 §15.4.8, §15.4.9, §15.5.1, §15.5.2).
  private static let statusesWithoutEffect: Set<Int> = [307, 308, 400, 401]

  /// Returns the backoff, but at least the delay that the server asks for.
  ///
  /// Chance only adds to that delay.
  private func wait(
    before retry: Int, _ hints: ServerHints?, _ outcome: AttemptOutcome, random: () -> Double
  ) -> Verdict {
    let backoff = backoff.delay(beforeRetry: retry, random: random())
    guard let asked = hints?.delay, asked > .zero else {
      return Verdict(decision: .retry(after: backoff), reason: outcome.reason)
    }
    guard asked <= longestServerDelay else {
      return .stop("the server wants to be asked again in \(asked.inWords) only")
    }
    let later = asked.inSeconds * 0.1 * random().clampedShare
    let delay = max(backoff, asked + Duration(clamping: later))
    return Verdict(decision: .retry(after: delay), reason: "\(outcome.reason), the server asked for \(asked.inWords)")
  }
}

extension AttemptOutcome {
  /// Whether a kept-alive connection was closed at the moment of its reuse (RFC 9112 §9.3.1).
  fileprivate var isStaleConnection: Bool {
    guard let error = error as? NetworkError, error.code == .connectionLost, let progress = error.progress else {
      return false
    }
    return progress.reusedConnection == true && progress.stage != .headReceived
  }
}
