/// Hands events to every subscriber, in the order in which they subscribed.
///
/// The streams of all subscribers end with the last reference to it.
package final class Broadcast<Event: Sendable>: Sendable {
  private struct State {
    var subscribers: [UInt64: AsyncStream<Event>.Continuation] = [:]
    var lastID: UInt64 = 0

    var inOrder: [AsyncStream<Event>.Continuation] { subscribers.sorted { $0.key < $1.key }.map(\.value) }
  }

  private let limit: Int
  private let state = Locked(State())

  /// Creates a broadcast without subscribers.
  ///
  /// - Parameter limit: How many unread events each subscriber keeps; the oldest are dropped.
  package init(limit: Int) { self.limit = limit }

  deinit { finish() }

  /// The number of subscribers.
  package var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  /// Adds a subscriber.
  ///
  /// - Returns: The events from now on. The subscriber is removed when the task that reads them is cancelled, or when
  ///   the stream is released.
  package func subscribe() -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(limit))
    let id = state.withLock { state in
      state.lastID += 1
      state.subscribers[state.lastID] = continuation
      return state.lastID
    }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return stream
  }

  /// Hands an event to every subscriber.
  package func publish(_ event: Event) {
    for subscriber in state.withLock(\.inOrder) { subscriber.yield(event) }
  }

  /// Ends the streams of all subscribers.
  package func finish() {
    let subscribers = state.withLock { state in
      defer { state.subscribers = [:] }
      return state.inOrder
    }
    for subscriber in subscribers { subscriber.finish() }
  }

  private func remove(_ id: UInt64) { state.withLock { $0.subscribers[id] = nil } }
}
