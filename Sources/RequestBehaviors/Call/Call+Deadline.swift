extension Call {
  /// The time by which the call must be over, on ``clock``; `nil` for never.
  ///
  /// Behaviors that wait do not wait past it. The deadline of a call that ``CoalescingBehavior`` or ``BatchBehavior``
  /// makes is the latest of those that wait for it. It moves as they come and go, so do not keep it during a wait.
  public var deadline: Duration? {
    get {
      let (own, ofCallers) = withState { ($0.deadline, $0.deadlineOfCallers) }
      guard let latest = ofCallers?() else { return own }
      return own.map { min($0, latest) } ?? latest
    }
    set { withState { $0.deadline = newValue } }
  }

  /// Makes the latest deadline of the callers that of the call too, for a call that several others wait for.
  ///
  /// - Parameter latest: Returns the latest deadline of those who wait for the call; `nil` if one of them has none.
  public func followDeadlines(_ latest: @escaping @Sendable () -> Duration?) {
    withState { $0.deadlineOfCallers = latest }
  }

  /// Waits until the deadline has passed; without a deadline, until the task is cancelled.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func waitForDeadline() async throws {
    while let end = deadline {
      try await clock.sleep(for: end - clock.now())
      // If another caller has joined meanwhile, the deadline may be later now.
      if deadline == end { return }
    }
    try await Waiter<Void>().value()
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
