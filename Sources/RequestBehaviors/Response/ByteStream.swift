public import Foundation

/// A body that arrives or leaves in chunks: a type-erased asynchronous sequence of `Data`.
///
/// ```swift
/// for try await chunk in stream { file.write(chunk) }
/// ```
///
/// A stream is iterated once; a second iteration throws ``NetworkError/Code-swift.struct/bodyConsumed``. A cancelled
/// stream lets its producer stop. The stream is cancelled by ``cancel()``, by dropping it unread, by dropping its
/// iterator (`break`), and by cancelling the task that reads it, which then throws a `CancellationError`.
/// ``completion`` tells how it ended.
public struct ByteStream: AsyncSequence, Sendable {
  /// The type of a chunk.
  public typealias Element = Data

  /// Returns the error that a reader outside of the client gets in place of another.
  typealias ErrorReplacement = @Sendable (any Error) -> any Error

  let source: ByteSource
  /// The mapping of the errors that the reader gets.
  private var errorMapping: ErrorReplacement?

  /// Creates a stream of the chunks of another sequence.
  ///
  /// - Parameters:
  ///   - base: The chunks, in order.
  ///   - onCancel: Ends the production of chunks; called once if the stream ends in any other way than by its last
  ///     chunk. A `next()` of the base that is suspended must return then. By default it does nothing.
  ///   - trailers: Returns the fields that came after the last chunk (RFC 9110 §6.5); called once, after it. By default
  ///     there are no such fields.
  public init<Base: AsyncSequence & Sendable>(
    _ base: Base, onCancel: @escaping @Sendable () -> Void = {},
    trailers: @escaping @Sendable () -> HeaderFields? = { nil }
  ) where Base.Element == Data {
    source = ByteSource(makeReader: { Box(base.makeAsyncIterator()) }, trailers: trailers, onCancel: onCancel)
  }

  private init(source: ByteSource) { self.source = source }

  /// Creates a stream of chunks that are in memory.
  public init(chunks: [Data]) {
    self.init(Chunks(chunks: chunks))
  }

  /// Returns a stream that delivers another sequence's version of this stream's chunks, with the same trailers.
  ///
  /// Cancelling the new stream cancels this one. Each of the two has its own ``completion``.
  ///
  /// ```swift
  /// response.body = .stream(stream.wrapped { Decompressed($0) })
  /// ```
  ///
  /// - Parameter transform: Returns the sequence, given this stream.
  /// - Returns: The stream.
  public func wrapped<Base: AsyncSequence & Sendable>(by transform: (ByteStream) -> Base) -> ByteStream
  where Base.Element == Data {
    ByteStream(
      source: ByteSource(
        makeReader: { [base = transform(self)] in Box(base.makeAsyncIterator()) },
        trailers: { [source] in source.completion?.trailers }, onCancel: cancel, onFinish: finish))
  }

  /// Returns the same stream for a reader outside of the client, whose errors are replaced.
  func mappingErrors(with mapping: ErrorReplacement?) -> ByteStream {
    var stream = self
    stream.errorMapping = mapping
    return stream
  }

  /// Ends the production of chunks; harmless when the stream has ended.
  public func cancel() { source.end(CancellationError()) }

  /// Ends the production of chunks, and throws an error to the reader; harmless when the stream has ended.
  public func cancel(throwing error: any Error) { source.end(error) }

  /// Ends the production of chunks as the last chunk does, because the reader needs no more.
  func finish() { source.end(nil, isEarly: true) }

  /// Creates the iterator; only the first one delivers chunks.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(source), errorMapping: errorMapping) }

  /// Reads the rest of the stream into memory.
  ///
  /// - Parameter limit: The most bytes to accept.
  /// - Returns: The joined chunks.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyTooLarge`` as soon as the limit is
  ///   exceeded (the stream is then cancelled), `CancellationError` if the task is cancelled before the end, and any
  ///   error of the stream.
  public func collect(upTo limit: Int) async throws -> Data {
    var data = Data()
    for try await chunk in self {
      guard chunk.count <= limit - data.count else {
        let error = NetworkError.bodyTooLarge(limit: limit)
        cancel(throwing: error)
        throw errorMapping?(error) ?? error
      }
      data.append(chunk)
    }
    return data
  }

  /// Delivers the chunks of a ``ByteStream``.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader
    fileprivate let errorMapping: ErrorReplacement?

    /// Returns the next chunk, or `nil` at the end.
    ///
    /// - Throws: The error that the stream ended with; `CancellationError` if it was cancelled.
    public mutating func next() async throws -> Data? {
      do { return try await reader.next() } catch { throw errorMapping?(error) ?? error }
    }
  }

  /// Ends a stream without keeping it alive.
  ///
  /// A deadline, for example, uses it to end a body later.
  public struct Canceller: Sendable {
    private let source: Weak

    fileprivate init(_ source: ByteSource) { self.source = Weak(source) }

    /// Ends the stream as ``ByteStream/cancel(throwing:)`` does, if it still exists.
    public func cancel(throwing error: any Error = CancellationError()) { source.value?.end(error) }

    private final class Weak: Sendable {
      // Never set again, so that several threads may read it.
      nonisolated(unsafe) private(set) weak var value: ByteSource?
      init(_ value: ByteSource) { self.value = value }
    }
  }

  /// A value that can end the stream and does not keep it alive.
  public var canceller: Canceller { Canceller(source) }
}

// MARK: - How it ends

extension ByteStream {
  /// How the stream ended: read to its end, failed or cancelled.
  ///
  /// The property waits until the stream has ended. It does not read the stream.
  ///
  /// - Throws: `CancellationError` if the waiting task is cancelled.
  public var completion: BodyCompletion {
    get async throws {
      let waiter = Waiter<BodyCompletion>()
      onCompletion { waiter.settle(.success($0)) }
      return try await waiter.value()
    }
  }

  /// Calls a closure once when the stream has ended, or at once if it has ended already.
  ///
  /// - Parameter note: Receives how the stream ended. It must not block. It must not hold the stream or a response that
  ///   has it, because a stream is cancelled only when the last reference to it is dropped.
  public func onCompletion(_ note: @escaping @Sendable (BodyCompletion) -> Void) { source.onCompletion(note) }
}

// MARK: - Reading

extension ByteStream {
  /// The reader of a stream; dropping it cancels a stream that was not read to its end.
  fileprivate final class Reader {
    private let source: ByteSource
    // `nil` for a second iteration.
    private let base: ByteSource.AnyReader?

    init(_ source: ByteSource) {
      self.source = source
      base = source.takeReader()
    }

    deinit { if base != nil { source.end(CancellationError()) } }

    func next() async throws -> Data? {
      guard let base else { throw source.completion?.error ?? NetworkError.bodyRead() }
      if let completion = source.completion {
        if let error = completion.error { throw error }
        return nil
      }
      return try await withTaskCancellationHandler {
        try await read(base)
      } onCancel: { [source] in
        source.end(CancellationError())
      }
    }

    private func read(_ base: ByteSource.AnyReader) async throws -> Data? {
      do {
        let chunk = try await base.next()
        if let error = source.completion?.error { throw error }
        if let chunk {
          source.count(chunk.count)
        } else {
          // A body that a cancellation cut short must not pass for a whole one.
          try Task.checkCancellation()
          source.end(nil)
        }
        return chunk
      } catch {
        source.end(error)
        throw source.completion?.error ?? error
      }
    }
  }

  private final class Box<Base: AsyncIteratorProtocol>: ByteSource.AnyReader where Base.Element == Data {
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
