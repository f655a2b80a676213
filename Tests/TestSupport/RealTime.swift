import RequestBehaviors

/// Waits for an event without a notification, such as an action of the kernel or another process.
///
/// - Parameters:
///   - limit: How long to wait at most.
///   - interval: How long to wait before it is looked at again.
///   - condition: Whether it has happened.
/// - Returns: Whether it has happened in time.
/// - Throws: What the condition throws, or `CancellationError`.
public func eventually(
  within limit: Duration = .seconds(30), every interval: Duration = .milliseconds(5),
  _ condition: () async throws -> Bool
) async throws -> Bool {
  let clock = RequestClock.system
  let end = clock.now() + limit
  while try await !condition() {
    guard clock.now() < end else { return false }
    // Real time: there is no signal to wait for. An event with a signal does not use this.
    try await clock.sleep(for: interval)
  }
  return true
}
