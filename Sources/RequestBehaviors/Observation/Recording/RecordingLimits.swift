/// The bounds of a ``CallRecorder``: beyond them the oldest calls are dropped whole.
public struct RecordingLimits: Sendable, Hashable {
  /// The largest number of calls; 500 by default.
  public var calls: Int
  /// The largest size in bytes, as estimated from what is kept; 4 MiB by default.
  public var bytes: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - calls: The largest number of calls, at least 1.
  ///   - bytes: The largest size in bytes. The latest call is kept whatever its size.
  public init(calls: Int = 500, bytes: Int = 4 * 1_024 * 1_024) {
    self.calls = max(1, calls)
    self.bytes = bytes
  }
}
