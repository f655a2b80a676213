import Foundation

/// The chunks of a stream, each of which is reported before it is delivered.
struct ObservedChunks: AsyncSequence, Sendable {
  typealias Element = Data
  let base: ByteStream
  let note: @Sendable (Data) -> Void

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let note: @Sendable (Data) -> Void

    mutating func next() async throws -> Data? {
      guard let chunk = try await base.next() else { return nil }
      note(chunk)
      return chunk
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), note: note) }
}
