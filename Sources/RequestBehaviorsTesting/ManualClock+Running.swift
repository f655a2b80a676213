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
    while !Task.isCancelled {
      await settle()
      guard let next = nextDeadline, next <= end else { break }
      advance(by: max(.zero, next - now))
    }
    if now < end { advance(by: end - now) }
    await settle()
  }

  /// Gives way to other tasks until no sleeper has come or gone for a while.
  private func settle() async {
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
