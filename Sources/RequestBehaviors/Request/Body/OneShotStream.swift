import Foundation

/// A stream that can be read once, and knows whether reading has begun.
public final class OneShotStream: Sendable {
  private struct State {
    var isConsumed = false
    /// The levels of the chain at which the body is being sent, for each run: two calls may have the same body.
    var levels: Set<Level> = []
    /// The number of runs and forms that may still read the body.
    var holderCount = 0
  }

  private struct Level: Hashable {
    let run: ObjectIdentifier
    let index: Int
  }

  private let stream: ByteStream
  private let state = Locked(State())

  init(_ stream: ByteStream) { self.stream = stream }

  /// Whether the first chunk has been asked for, or the stream was cancelled.
  public var isConsumed: Bool { state.withLock { $0.isConsumed } }

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
    state.withLock { $0.isConsumed = true }
    stream.cancel()
  }

  /// Cancels the stream, unless it is being read or may still be read by a run or a form that holds it.
  func cancelUnlessConsumed() {
    let isUnwanted = state.withLock { state in
      guard state.holderCount == 0, !state.isConsumed else { return false }
      state.isConsumed = true
      return true
    }
    if isUnwanted { stream.cancel() }
  }

  /// Keeps the body for a run or a form, whatever becomes of other calls that have the same body.
  func hold() { state.withLock { $0.holderCount += 1 } }

  /// Ends the hold of a run or a form; the last one cancels the stream unless it has been read.
  func letGo() {
    release()
    cancelUnlessConsumed()
  }

  /// Ends a hold, and leaves the stream as it is.
  func release() { state.withLock { $0.holderCount -= 1 } }

  private func consume() throws -> ByteStream {
    let isFirst = state.withLock { state in
      defer { state.isConsumed = true }
      return !state.isConsumed
    }
    guard isFirst else { throw NetworkError.bodyConsumed() }
    return stream
  }

  /// Enters a level of a run's chain; returns `false` if the run is already sending the body at that level.
  func enter(level: Int, of run: ObjectIdentifier) -> Bool {
    state.withLock { $0.levels.insert(Level(run: run, index: level)).inserted }
  }

  func leave(level: Int, of run: ObjectIdentifier) {
    state.withLock { _ = $0.levels.remove(Level(run: run, index: level)) }
  }
}

extension OneShotStream {
  /// The stream as `take()` returns it.
  private final class Reading: AsyncSequence, Sendable {
    typealias Element = Data

    private struct State {
      var stream: ByteStream?
      var isCancelled = false
    }

    private let owner: OneShotStream
    private let state = Locked(State())

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
      try state.withLock { state in
        if state.isCancelled { throw CancellationError() }
        let opened = try owner.consume()
        state.stream = opened
        return opened
      }
    }

    /// Ends the stream if this reader has begun it; otherwise only keeps this reader from beginning.
    func cancel() {
      let stream = state.withLock { state in
        state.isCancelled = true
        return state.stream
      }
      stream?.cancel()
    }
  }
}
