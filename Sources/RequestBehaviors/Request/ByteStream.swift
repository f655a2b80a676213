public import Foundation

/// A body that arrives or leaves in chunks: a type-erased asynchronous sequence of `Data`.
///
/// A stream is iterated once. Whoever drops a stream without reading it to the end calls ``cancel()``, so that what
/// produces it can stop:
///
/// ```swift
/// for try await chunk in stream { file.write(chunk) }
/// ```
public struct ByteStream: AsyncSequence, Sendable {
  /// The type of a chunk.
  public typealias Element = Data

  private let makeNext: @Sendable () -> Iterator
  private let onCancel: @Sendable () -> Void

  /// Creates a stream of another sequence's chunks.
  ///
  /// - Parameters:
  ///   - base: The chunks, in order.
  ///   - onCancel: Called by ``cancel()``: ends the production of chunks. By default nothing.
  public init<Base: AsyncSequence & Sendable>(_ base: Base, onCancel: @escaping @Sendable () -> Void = {})
  where Base.Element == Data {
    self.makeNext = { Iterator(Box(base.makeAsyncIterator())) }
    self.onCancel = onCancel
  }

  /// Creates a stream of chunks that are there already.
  public init(chunks: [Data]) {
    self.init(Chunks(chunks: chunks))
  }

  /// Ends the production of chunks; harmless when the stream has ended.
  public func cancel() { onCancel() }

  /// Creates the iterator; a stream is iterated once.
  public func makeAsyncIterator() -> Iterator { makeNext() }

  /// Reads the rest of the stream into memory.
  ///
  /// - Parameter limit: The most bytes to accept.
  /// - Returns: The joined chunks.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyTooLarge`` as soon as the limit is
  ///   exceeded (the stream is then cancelled), `CancellationError` if the task is cancelled before the end, and whatever
  ///   the stream throws.
  public func collect(upTo limit: Int) async throws -> Data {
    var data = Data()
    for try await chunk in self {
      guard chunk.count <= limit - data.count else {
        cancel()
        throw NetworkError.bodyTooLarge(limit: limit)
      }
      data.append(chunk)
    }
    // A stream that ends because its reader was cancelled must not pass as a whole one.
    if Task.isCancelled {
      cancel()
      throw CancellationError()
    }
    return data
  }

  /// Delivers the chunks of a ``ByteStream``.
  public struct Iterator: AsyncIteratorProtocol {
    private let box: AnyBox

    fileprivate init(_ box: AnyBox) { self.box = box }

    /// Returns the next chunk, or `nil` at the end.
    public mutating func next() async throws -> Data? { try await box.next() }
  }

  fileprivate class AnyBox {
    func next() async throws -> Data? { nil }
  }

  private final class Box<Base: AsyncIteratorProtocol>: AnyBox where Base.Element == Data {
    // Used by one task at a time: an iterator is not Sendable, and this is reached through one only.
    nonisolated(unsafe) private var base: Base
    init(_ base: Base) { self.base = base }
    override func next() async throws -> Data? { try await base.next() }
  }

  private struct Chunks: AsyncSequence, Sendable {
    typealias Element = Data
    let chunks: [Data]

    struct Iterator: AsyncIteratorProtocol {
      var base: IndexingIterator<[Data]>
      mutating func next() async -> Data? { base.next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: chunks.makeIterator()) }
  }
}
