import Foundation
import RequestBehaviors

/// A stream of a body that collects the chunks while they are read, and stores the body at its end.
struct StoringStream: AsyncSequence, Sendable {
  typealias Element = Data

  let base: ByteStream
  /// The most bytes to collect; a longer body passes and is not stored.
  let limit: Int
  /// Called with the whole body when it has been read to its end, or with `nil` if it was longer than the limit.
  let onEnd: @Sendable (Data?) async -> Void

  /// Returns a stream of the same chunks.
  static func make(_ base: ByteStream, limit: Int, onEnd: @escaping @Sendable (Data?) async -> Void) -> ByteStream {
    base.wrapped { StoringStream(base: $0, limit: limit, onEnd: onEnd) }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), limit: limit, onEnd: onEnd) }

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let limit: Int
    let onEnd: @Sendable (Data?) async -> Void
    /// The bytes that were read so far; `nil` once there are more than the limit.
    private var collected: Data? = Data()
    private var hasEnded = false

    init(base: ByteStream.Iterator, limit: Int, onEnd: @escaping @Sendable (Data?) async -> Void) {
      self.base = base
      self.limit = limit
      self.onEnd = onEnd
    }

    mutating func next() async throws -> Data? {
      guard !hasEnded else { return nil }
      do {
        if let chunk = try await base.next() {
          collect(chunk)
          return chunk
        }
      } catch {
        // A body that was cut short is not stored.
        (hasEnded, collected) = (true, nil)
        throw error
      }
      hasEnded = true
      await onEnd(collected)
      collected = nil
      return nil
    }

    private mutating func collect(_ chunk: Data) {
      guard let count = collected?.count, chunk.count <= limit - count else {
        collected = nil
        return
      }
      collected?.append(chunk)
    }
  }
}
