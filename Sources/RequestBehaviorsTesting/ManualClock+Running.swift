extension ManualClock {
  /// Moves the clock to the moment at which the next sleeper is due, and wakes it.
  ///
  /// - Returns: Whether there was a sleeper.
  @discardableResult
  public func advanceToNextWait() -> Bool {
    guard let next = nextDeadline else { return false }
    advance(by: max(.zero, next - now))
    return true
  }

  /// Lets a time pass, one wait after the other, so that each sleeper wakes at its own moment.
  ///
  /// ```swift
  /// async let prices = client.prices()
  /// await clock.run(for: .seconds(90))
  /// ```
  ///
  /// The clock knows who waits, and not who still computes. Between two moments it lets other tasks run until nothing
  /// more begins to wait for a while, so code that waits only on this clock goes on at the right moments. Code that
  /// waits for something else, such as a file or a socket, may be late.
  ///
  /// - Parameter duration: The time.
  public func run(for duration: Duration) async {
    let end = now + duration
    await settle(after: sleeperCount == 0 ? beginCount : 0)
    while !Task.isCancelled, let next = nextDeadline, next <= end {
      let begun = beginCount
      advance(by: max(.zero, next - now))
      await settle(after: begun)
    }
    guard now < end else { return }
    advance(by: end - now)
    await settle(after: 0)
  }

  /// Gives way to other tasks until no sleeper has come or gone for a while.
  ///
  /// - Parameter begun: The number of sleeps after which another one is likely to begin, for which it waits up to a
  ///   tenth of a second of real time.
  private func settle(after begun: UInt64) async {
    let limit = ContinuousClock.now + .milliseconds(100)
    while beginCount == begun, ContinuousClock.now < limit, !Task.isCancelled { await Task.yield() }
    var seen = changeCount
    var quiet = 0
    while quiet < 300, !Task.isCancelled {
      await Task.yield()
      let count = changeCount
      quiet = count == seen ? quiet + 1 : 0
      seen = count
    }
  }
}
