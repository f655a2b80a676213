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

  private var interval: Duration
  private let end: Duration

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
    case .pending?, nil: break
    // From then on, without a cap.
    case .slowDown?: interval += .seconds(5)
    case .unavailable(let wait)?:
      interval *= 2
      floor = wait ?? .zero
    }
    let wait = max(interval, floor)
    return now + wait < end ? .ask(after: wait) : .expire(after: max(.zero, end - now))
  }
}
