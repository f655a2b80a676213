/// The requests that are being handed to transports: past their last check, and not yet received by the transport.
///
/// A session that ends waits for them after it has changed. A request that began before the change is waited for, and a
/// later one sees the change in its check. So after the wait no request of the session reaches a transport.
public final class HandOvers: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    // Ascending. A list, because few requests are between their last check and the transport at a time.
    var open: [UInt64] = []
    var waiters: [(upTo: UInt64, waiter: Waiter<Void>)] = []

    /// Returns the place of the first number that is not less than this one, by halving the list.
    func place(of id: UInt64) -> Int {
      var range = open.startIndex..<open.endIndex
      while !range.isEmpty {
        let middle = range.lowerBound + range.count / 2
        range = open[middle] < id ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }
  }

  private let state = Locked(State())

  /// Creates an empty list.
  public init() {}

  /// Records that a request is about to be checked and handed over.
  ///
  /// - Returns: The number with which to end it.
  fileprivate func begin() -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      state.open.append(state.lastID)
      return state.lastID
    }
  }

  /// Records that a transport has the request, or that it is not sent; a second call does nothing.
  fileprivate func end(_ id: UInt64) {
    let released = state.withLock { state -> [Waiter<Void>] in
      let place = state.place(of: id)
      guard place < state.open.count, state.open[place] == id else { return [] }
      state.open.remove(at: place)
      guard !state.waiters.isEmpty else { return [] }
      let oldest = state.open.first ?? .max
      let released = state.waiters.filter { $0.upTo < oldest }
      state.waiters.removeAll { $0.upTo < oldest }
      return released.map(\.waiter)
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// The number of requests that are being handed over.
  var openCount: Int { state.withLock { $0.open.count } }

  /// The number of tasks that wait.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Waits until the transports have received the requests that are being handed over by now.
  public func wait() async { await makeWait()?() }

  /// Returns a closure that waits for the requests that are being handed over by now; `nil` if there are no such
  /// requests.
  ///
  /// The requests that begin after this call are not waited for, whenever the closure is called.
  public func makeWait() -> (@Sendable () async -> Void)? {
    let waiter = state.withLock { state -> Waiter<Void>? in
      guard !state.open.isEmpty else { return nil }
      let waiter = Waiter<Void>()
      state.waiters.append((state.lastID, waiter))
      return waiter
    }
    guard let waiter else { return nil }
    // In a task of its own, because a sign-out must keep its promise even if its caller is cancelled.
    return { await Task { try? await waiter.value() }.value }
  }
}

/// A transport that ends the hand-over of each request itself, with ``HandOver/endCurrent()``.
///
/// The sends of other transports run in tasks of their own, which costs more.
package protocol HandOverEnding: Transport {}

/// One request on its way from its last check to the transport.
package struct HandOver: Sendable {
  /// The hand-over to a transport that ends it itself.
  @TaskLocal fileprivate static var current: HandOver?

  /// Records that the transport has the request that it sends in this task; called by the transport.
  package static func endCurrent() { current?.end() }

  private let places: ShortList<(handOvers: HandOvers, id: UInt64)>

  /// Begins to hand a request over; `nil` if no session waits for requests of this call.
  init?(to all: ShortList<HandOvers>) {
    guard !all.isEmpty else { return nil }
    var places: ShortList<(handOvers: HandOvers, id: UInt64)> = []
    for handOvers in all { places.append((handOvers, handOvers.begin())) }
    self.places = places
  }

  /// Records that a transport has the request, or that it is not sent.
  func end() {
    for place in places { place.handOvers.end(place.id) }
  }
}

extension Transport {
  /// Sends a request, and ends its hand-over as soon as the transport's own code runs.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - handOver: The hand-over.
  ///   - isSelfEnding: Whether the transport is ``HandOverEnding``.
  /// - Returns: The response.
  /// - Throws: The error of the transport.
  func send(
    _ request: NetworkRequest, ending handOver: HandOver, itself isSelfEnding: Bool
  ) async throws -> NetworkResponse {
    if isSelfEnding {
      return try await HandOver.$current.withValue(handOver) { try await send(request) }
    }
    let work = CancellableTask<NetworkResponse>()
    switch BegunTasks.obstacle {
    case nil:
      return try await withTaskCancellationHandler {
        // The task returns here when the transport first waits; nothing else shows that its code has begun.
        let sending = work.begin(onThisThread: true) { try await send(request) }
        handOver.end()
        return try await sending.value
      } onCancel: {
        work.cancel()
      }
    case .depth:
      // The work then runs on another thread, which has room for that.
      return try await work.run { try await send(request, ending: handOver, itself: isSelfEnding) }
    case .simulation:
      // Time passes when all tasks wait, and so the transport, too.
      let timer = request.call.clock.schedule(after: .nanoseconds(1)) { handOver.end() }
      defer { timer.cancel() }
      return try await send(request)
    case .system:
      // Waiting for the response would be too late.
      handOver.end()
      return try await send(request)
    }
  }
}
