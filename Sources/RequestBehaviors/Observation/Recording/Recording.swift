public import Foundation

/// The calls that a client made, with every secret hidden: what ``har()`` and ``waterfall(title:)`` write.
///
/// A ``CallRecorder`` makes it. It holds plain values, so it can be kept, compared and sent anywhere.
public struct Recording: Sendable {
  /// The date at which the first call began.
  public var startedAt: Date
  /// The calls in the order in which they began.
  public var calls: [RecordedCall]
  /// The number of earlier calls that the recorder dropped because of its limits.
  public var droppedCalls: Int
  /// Whether it was read from the archive of another tool, in which secrets may be shown.
  var isForeign = false
  /// The failure that it was made of; `nil` for any other recording.
  package var failure: RecordedFailure?

  /// Creates a recording.
  ///
  /// - Parameters:
  ///   - startedAt: The date from which the times of the calls count.
  ///   - calls: The calls, in order; none by default.
  ///   - droppedCalls: The number of earlier calls that are missing; 0 by default.
  public init(startedAt: Date, calls: [RecordedCall] = [], droppedCalls: Int = 0) {
    self.startedAt = startedAt
    self.calls = calls
    self.droppedCalls = droppedCalls
  }
}
