import Foundation

/// A stream that can be read once, and knows whether reading has begun.
public final class OneShotStream: Sendable {
  private let stream: ByteStream
  private let lock = NSLock()
  // Both protected by `lock`.
  nonisolated(unsafe) private var consumed = false
  nonisolated(unsafe) private var levels: Set<Int> = []

  init(_ stream: ByteStream) { self.stream = stream }

  /// Whether the first chunk has been asked for, or the stream was cancelled.
  public var isConsumed: Bool { lock.withLock { consumed } }

  /// Returns the stream for sending; it counts as consumed from its first `next()` on.
  ///
  /// The task that takes the stream and asks for a chunk ends it, as with every stream. Dropping it before that does
  /// nothing, so that a send that fails without reading the body can be repeated.
  ///
  /// - Returns: The stream. If several were taken, the one that is read first has the chunks, and the others throw.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyConsumed`` if it has been consumed.
  public func take() throws -> ByteStream {
    guard !isConsumed else { throw NetworkError.bodyConsumed() }
    let reading = Reading(self)
    return ByteStream(reading, onCancel: reading.cancel)
  }

  func cancel() {
    lock.withLock { consumed = true }
    stream.cancel()
  }

  func cancelUnlessConsumed() {
    guard (try? consume()) != nil else { return }
    stream.cancel()
  }

  private func consume() throws -> ByteStream {
    let isFirst = lock.withLock {
      defer { consumed = true }
      return !consumed
    }
    guard isFirst else { throw NetworkError.bodyConsumed() }
    return stream
  }

  /// Enters a level of the chain; returns `false` if the body is already being sent at that level.
  func enter(level: Int) -> Bool { lock.withLock { levels.insert(level).inserted } }

  func leave(level: Int) { lock.withLock { _ = levels.remove(level) } }
}

extension OneShotStream {
  /// The stream as `take()` returns it.
  private final class Reading: AsyncSequence, Sendable {
    typealias Element = Data

    private let owner: OneShotStream
    private let lock = NSLock()
    // Both protected by `lock`.
    nonisolated(unsafe) private var stream: ByteStream?
    nonisolated(unsafe) private var isCancelled = false

    init(_ owner: OneShotStream) { self.owner = owner }

    func makeAsyncIterator() -> Iterator { Iterator(reading: self) }

    struct Iterator: AsyncIteratorProtocol {
      let reading: Reading
      private var chunks: ByteStream.Iterator?

      init(reading: Reading) { self.reading = reading }

      mutating func next() async throws -> Data? {
        if chunks == nil { chunks = try reading.open().makeAsyncIterator() }
        return try await chunks?.next()
      }
    }

    private func open() throws -> ByteStream {
      try lock.withLock {
        if isCancelled { throw CancellationError() }
        let opened = try owner.consume()
        stream = opened
        return opened
      }
    }

    /// Ends the stream if this reader has begun it; otherwise only keeps this reader from beginning.
    func cancel() {
      let stream = lock.withLock {
        isCancelled = true
        return self.stream
      }
      stream?.cancel()
    }
  }
}
