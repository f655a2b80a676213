/// The requests that are being handed to transports: past their last check, and not yet in the transport's hands.
///
/// A session that ends looks for them after it has changed: a request that began before the change is waited for, and
/// one that begins later sees the change in its check. So no request of the session reaches a transport when the wait
/// is over.
public final class HandOvers: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    var open: Set<UInt64> = []
    var waiters: [(upTo: UInt64, waiter: Waiter<Void>)] = []
  }

  private let state = Locked(State())

  /// Creates a list without requests.
  public init() {}

  /// Notes that a request is about to be checked and handed over.
  ///
  /// - Returns: What ends it.
  fileprivate func begin() -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      state.open.insert(state.lastID)
      return state.lastID
    }
  }

  /// Notes that a transport has the request, or that it is not sent; a second time it does nothing.
  fileprivate func end(_ id: UInt64) {
    let released = state.withLock { state -> [Waiter<Void>] in
      guard state.open.remove(id) != nil, !state.waiters.isEmpty else { return [] }
      let oldest = state.open.min() ?? .max
      let released = state.waiters.filter { $0.upTo < oldest }
      state.waiters.removeAll { $0.upTo < oldest }
      return released.map(\.waiter)
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// How many tasks wait.
  public var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Waits until the requests that are being handed over by now are with their transports.
  public func wait() async {
    let waiter = state.withLock { state -> Waiter<Void>? in
      guard !state.open.isEmpty else { return nil }
      let waiter = Waiter<Void>()
      state.waiters.append((state.lastID, waiter))
      return waiter
    }
    // A task of its own: a sign-out whose caller is cancelled keeps its promise too.
    if let waiter { await Task { try? await waiter.value() }.value }
  }
}

/// One request on its way from its last check to the transport.
struct HandOver: Sendable {
  private let places: [(handOvers: HandOvers, id: UInt64)]

  /// Begins to hand a request over; `nil` if nobody asks to know.
  init?(to all: [HandOvers]) {
    guard !all.isEmpty else { return nil }
    places = all.map { ($0, $0.begin()) }
  }

  /// Notes that a transport has the request, or that it is not sent.
  func end() {
    for place in places { place.handOvers.end(place.id) }
  }
}

extension Transport {
  /// Sends a request, and ends its hand-over as soon as the transport's own code runs.
  func send(_ request: NetworkRequest, ending handOver: HandOver?) async throws -> NetworkResponse {
    guard let handOver else { return try await send(request) }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      // Returns when the transport waits for the first time. Nothing else tells that its code has begun to run.
      let sending = Task.immediate { try await send(request) }
      handOver.end()
      return try await withTaskCancellationHandler {
        try await sending.value
      } onCancel: {
        sending.cancel()
      }
    }
    // Older systems cannot tell; the response would be too late.
    handOver.end()
    return try await send(request)
  }
}
