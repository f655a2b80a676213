public import RequestBehaviors

extension TokenStore {
  /// Runs a function as the work of a refresh.
  public func withLock(_ work: @escaping @Sendable () async -> Void) async throws {
    try await withRefreshLock(RefreshWork(work))
  }
}
