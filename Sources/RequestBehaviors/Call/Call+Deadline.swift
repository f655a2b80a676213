extension Call {
  /// The time by which the call must be over, on ``clock``; `nil` for never.
  ///
  /// Behaviors that wait do not wait past it.
  public var deadline: Duration? {
    get { withState { $0.deadline } }
    set { withState { $0.deadline = newValue } }
  }

  /// Whether the deadline has passed.
  public var isLate: Bool { deadline.map { clock.now() >= $0 } ?? false }

  /// Returns whether a wait would last until the deadline, so that it cannot succeed.
  ///
  /// - Parameters:
  ///   - wait: The length of the wait.
  ///   - now: The beginning of the wait, on ``clock``.
  /// - Returns: Whether the deadline has passed at its end; `false` without a deadline.
  public func isTooLong(_ wait: Duration, from now: Duration) -> Bool { deadline.map { now + wait >= $0 } ?? false }
}
