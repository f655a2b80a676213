import RequestBehaviors

/// The waits between the requests with which a device asks whether the user has decided (RFC 8628 §3.5).
struct DevicePoll: Sendable, Hashable {
  /// The result of a request that did not end the sign-in.
  enum Answer: Sendable, Hashable {
    /// `authorization_pending`.
    case pending
    /// `slow_down`.
    case slowDown
    /// No response of use, and the wait that the server asked for.
    case unavailable(Duration?)
  }

  /// The next step.
  enum Step: Sendable, Hashable {
    /// Ask after a wait.
    case ask(after: Duration)
    /// The codes expire after a wait, before another request may be sent.
    case expire(after: Duration)
  }

  /// The wait that the server wants between requests.
  private var interval: Duration
  /// The longer wait since the last response of use; `nil` if the last response was one.
  private var backoff: Duration?
  private var hasAskedLast = false
  private let end: Duration

  /// The longest wait that a missing response leads to.
  private static let longestBackoff = Duration.seconds(60)
  /// The time before the end at which a last request is sent.
  private static let margin = Duration.seconds(5)

  /// Creates the waits.
  ///
  /// - Parameters:
  ///   - interval: The wait before the first request.
  ///   - end: The monotonic time at which the codes expire.
  init(interval: Duration, end: Duration) {
    (self.interval, self.end) = (interval, end)
  }

  /// Returns the step after a result; without one, the first step.
  mutating func next(after answer: Answer? = nil, now: Duration) -> Step {
    var floor = Duration.zero
    switch answer {
    case .pending?, nil: backoff = nil
    case .slowDown?:
      // From then on, without a cap.
      interval += .seconds(5)
      backoff = nil
    case .unavailable(let wait)?:
      backoff = max(interval, min((backoff ?? interval) * 2, DevicePoll.longestBackoff))
      floor = wait ?? .zero
    }
    let wait = max(backoff ?? interval, floor)
    if now + wait < end { return .ask(after: wait) }
    // The user may have decided while there was no response: a wait must not be longer than the codes last.
    let last = max(now + interval, end - DevicePoll.margin)
    guard last < now + wait, last < end, !hasAskedLast else { return .expire(after: max(.zero, end - now)) }
    hasAskedLast = true
    return .ask(after: last - now)
  }
}

extension DevicePoll.Answer {
  /// Creates the result of a request that failed; `nil` if the error ends the sign-in.
  init?(_ error: NetworkError) {
    guard let response = error.response else {
      // A portal's certificate is not trusted, and that of the server was when the codes came.
      guard error.isTransient || error.code == .tlsFailed else { return nil }
      self = .unavailable(nil)
      return
    }
    let unavailable = DevicePoll.Answer.unavailable(ServerHints(response).retryAfter)
    // A redirect, and a response that is not known to come from the server, say nothing about the user.
    guard response.isVerified, !(300..<400).contains(response.statusCode) else {
      self = unavailable
      return
    }
    switch OAuth2Problem(response)?.code {
    case .authorizationPending?: self = .pending
    case .slowDown?: self = .slowDown
    case .temporarilyUnavailable?: self = unavailable
    case nil where error.isTransient: self = unavailable
    default:
      let isServers = JSONObject(response) != nil && response.statusCode != 429 && response.statusCode < 500
      // Otherwise this is from a portal or a gateway, and the user may still be deciding.
      guard !isServers else { return nil }
      self = unavailable
    }
  }
}
