import Foundation
import RequestBehaviors

/// The body of a response that waits between its chunks, until its stream is cancelled.
final class PacedBody: Sendable {
  private struct State {
    var pause: PendingResult<Void>?
    var isCancelled = false
  }

  private let clock: RequestClock
  private let state = Locked(State())

  init(_ clock: RequestClock) { self.clock = clock }

  /// Waits, and throws `CancellationError` as soon as the stream is cancelled.
  func wait(for duration: Duration) async throws {
    let pause = PendingResult<Void>()
    let isCancelled = state.withLock { state in
      state.pause = pause
      return state.isCancelled
    }
    if isCancelled { throw CancellationError() }
    try await pause.run { [clock] in try await clock.sleep(for: duration) }
  }

  /// Returns the stream of the chunks that a closure returns one by one; `nil` is the end.
  func stream(
    trailers: HeaderFields?, _ nextChunk: @escaping @Sendable () async throws -> Data?
  ) -> ByteStream {
    ByteStream(Chunks(nextChunk: nextChunk), onCancel: cancel, trailers: { trailers })
  }

  private func cancel() {
    let pause = state.withLock { state in
      state.isCancelled = true
      return state.pause
    }
    pause?.end(.failure(CancellationError()))
  }

  private struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = Data
    let nextChunk: @Sendable () async throws -> Data?

    func next() async throws -> Data? { try await nextChunk() }

    func makeAsyncIterator() -> Chunks { self }
  }
}
