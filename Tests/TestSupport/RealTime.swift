import RequestBehaviors

/// Waits until something has happened that nobody tells of, such as what the kernel or another process does.
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
    // Real time: there is no signal to wait for. What has one is waited for by that, not by this.
    try await clock.sleep(for: interval)
  }
  return true
}
