import Foundation

/// Whether a ``CallRecorder`` keeps bodies.
public struct RecordedBodies: Sendable, Hashable {
  let limit: Int

  /// No body is kept.
  public static let none = RecordedBodies(limit: 0)

  /// Keeps the beginning of text bodies that are in memory or are read as a stream.
  ///
  /// - Parameter bytes: The largest number of bytes of one body.
  /// - Returns: The choice.
  public static func upTo(_ bytes: Int) -> RecordedBodies { RecordedBodies(limit: max(0, bytes)) }

  /// Returns what is kept of a body; `nil` if no body is kept.
  func beginning(of body: Data) -> Data? { limit > 0 ? Data(body.prefix(limit)) : nil }

  /// Adds a chunk of a body to what is kept of it, without a copy of the chunks before.
  ///
  /// - Returns: The number of bytes that were added.
  func add(_ chunk: Data, to kept: inout Data?) -> Int {
    let added = chunk.prefix(max(0, limit - (kept?.count ?? 0)))
    guard !added.isEmpty else { return 0 }
    if kept == nil { kept = Data() }
    kept?.append(added)
    return added.count
  }
}
