/// What asks the system for time to finish work while the app is in the background.
public protocol BackgroundTaskRunner: Sendable {
  /// Asks for time.
  ///
  /// - Parameters:
  ///   - name: What the time is for, for debugging.
  ///   - expiration: Called at most once, when the time is about to be over.
  /// - Returns: What to hand to ``endTask(_:)``; `nil` if the system gives no time.
  @MainActor func beginTask(named name: String, expiration: @escaping @MainActor @Sendable () -> Void)
    -> BackgroundTaskID?

  /// Gives the time back; called exactly once for each identifier.
  @MainActor func endTask(_ id: BackgroundTaskID)
}

/// The system's name for time that it gave.
public struct BackgroundTaskID: RawRepresentable, Hashable, Sendable {
  /// The system's number.
  public let rawValue: Int

  /// Creates an identifier.
  public init(rawValue: Int) { self.rawValue = rawValue }
}
