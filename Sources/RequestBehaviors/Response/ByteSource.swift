import Foundation

/// The state that a ``ByteStream`` and its reader share: the remaining chunks, and how the stream ended.
///
/// When both are gone, a source that was not read to its end is cancelled.
final class ByteSource: Sendable {
  /// Delivers chunks.
  class AnyReader {
    func next() async throws -> Data? { nil }
  }

  private struct State {
    var makeReader: (@Sendable () -> AnyReader)?
    var trailers: @Sendable () -> HeaderFields?
    var onCancel: @Sendable () -> Void
    /// Ends the production of chunks, because the reader wants no more.
    var onFinish: @Sendable () -> Void
    var clock = RequestClock.system
    var byteCount: Int64 = 0
    var completion: BodyCompletion?
    var observers: [@Sendable (BodyCompletion) -> Void] = []
  }

  private let state: Locked<State>

  init(
    makeReader: @escaping @Sendable () -> AnyReader, trailers: @escaping @Sendable () -> HeaderFields?,
    onCancel: @escaping @Sendable () -> Void, onFinish: (@Sendable () -> Void)? = nil
  ) {
    state = Locked(
      State(makeReader: makeReader, trailers: trailers, onCancel: onCancel, onFinish: onFinish ?? onCancel))
  }

  deinit { end(CancellationError()) }

  /// How the stream ended; `nil` while it has not.
  var completion: BodyCompletion? { state.withLock { $0.completion } }

  /// Sets the clock that gives the time at which the stream ended.
  func follow(_ clock: RequestClock) { state.withLock { $0.clock = clock } }

  /// Returns the reader of the chunks; `nil` on every further call, and when the stream has ended.
  func takeReader() -> AnyReader? {
    let makeReader = state.withLock { state in
      defer { state.makeReader = nil }
      return state.makeReader
    }
    return makeReader?()
  }

  /// Counts a chunk that was delivered.
  func count(_ bytes: Int) { state.withLock { $0.byteCount += Int64(bytes) } }

  /// Ends the stream, unless it has ended already.
  ///
  /// - Parameters:
  ///   - error: The error that the stream ends with; `nil` at its regular end.
  ///   - isEarly: Whether the reader needs no more chunks although there are some left.
  func end(_ error: (any Error)?, isEarly: Bool = false) {
    // Callbacks run outside of the lock: they may wait for another task, or release one.
    let trailers = error == nil && !isEarly ? state.withLock { $0.trailers }() : nil
    let ended = state.withLock { state -> (completion: BodyCompletion, before: State)? in
      guard state.completion == nil else { return nil }
      let before = state
      let completion = BodyCompletion(
        byteCount: state.byteCount, endedAt: state.clock.now(), trailers: trailers, error: error)
      state.completion = completion
      (state.makeReader, state.trailers, state.observers) = (nil, { nil }, [])
      (state.onCancel, state.onFinish) = ({}, {})
      return (completion, before)
    }
    guard let ended else { return }
    if error != nil { ended.before.onCancel() } else if isEarly { ended.before.onFinish() }
    for observer in ended.before.observers { observer(ended.completion) }
  }

  func onCompletion(_ note: @escaping @Sendable (BodyCompletion) -> Void) {
    let completion = state.withLock { state in
      if state.completion == nil { state.observers.append(note) }
      return state.completion
    }
    if let completion { note(completion) }
  }
}
