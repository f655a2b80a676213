/// The work that a ``TokenStore`` runs while it has the lock of its place.
///
/// It is called as a function is.
///
/// ```swift
/// func withRefreshLock(_ work: RefreshWork) async throws {
///   try await lock.withLock { await work() }
/// }
/// ```
public struct RefreshWork: Sendable {
  // In a value, because `NonisolatedNonsendingByDefault` changes the meaning of `() async -> Void`. A method that a
  // module without it writes would not be a witness of one with it, and the default would run in its place.
  private let work: @Sendable () async -> Void

  /// Creates the work from a function, as the tests of a store need it.
  public init(_ work: @escaping @Sendable () async -> Void) { self.work = work }

  /// Runs the work; a store calls it once.
  public func callAsFunction() async { await work() }
}
