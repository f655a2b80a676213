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

  /// Returns what is kept of a body after a chunk of it has come.
  func adding(_ chunk: Data, to kept: Data?) -> Data? {
    let count = kept?.count ?? 0
    return count < limit ? (kept ?? Data()) + chunk.prefix(limit - count) : kept
  }
}
