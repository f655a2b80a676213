/// Limits how often the source is asked for a token (``TokenRefreshPolicy/limit`` in ``TokenRefreshPolicy/window``).
extension TokenState {
  /// Returns whether no refresh may begin now, and forgets the refreshes that are too old to count.
  mutating func isRefreshLimitReached(now: Duration) -> Bool {
    refreshTimes.removeAll { now - $0 >= policy.window }
    return refreshTimes.count >= policy.limit
  }

  /// Counts a refresh that is about to ask the source.
  mutating func noteRefresh(now: Duration) { refreshTimes.append(now) }

  /// Takes the last refresh back, because it asked for nothing.
  mutating func takeBackRefresh() { _ = refreshTimes.popLast() }
}
