import Foundation
import RequestBehaviors

/// The chunks of a streamed response, then perhaps an error.
struct MockStream: AsyncSequence, Sendable {
  typealias Element = Data

  private let chunks: [Data]
  private let error: (any Error)?
  private let cancellation: Cancellation

  static func make(_ chunks: [Data], failingWith error: (any Error)?) -> ByteStream {
    let cancellation = Cancellation()
    let stream = MockStream(chunks: chunks, error: error, cancellation: cancellation)
    return ByteStream(stream, onCancel: { cancellation.cancel() })
  }

  struct Iterator: AsyncIteratorProtocol {
    var chunks: IndexingIterator<[Data]>
    var error: (any Error)?
    let cancellation: Cancellation

    mutating func next() async throws -> Data? {
      try Task.checkCancellation()
      if cancellation.isCancelled { throw CancellationError() }
      if let chunk = chunks.next() { return chunk }
      if let error { throw error }
      return nil
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(chunks: chunks.makeIterator(), error: error, cancellation: cancellation)
  }

  final class Cancellation: Sendable {
    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var cancelled = false

    var isCancelled: Bool { lock.withLock { cancelled } }

    func cancel() { lock.withLock { cancelled = true } }
  }
}
