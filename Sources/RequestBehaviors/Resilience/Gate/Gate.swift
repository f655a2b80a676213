/// Holds requests while it is closed, and releases them all when it opens.
///
/// ```swift
/// let gate = Gate()
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.gate(gate)])
/// gate.close()  // the app migrates its data
/// async let user: User = client.send(.get("me"))
/// gate.open()
/// ```
///
/// Behaviors, clients and per-request copies that use the same gate share its state.
public final class Gate: Sendable {
  /// How long a request waits at most; by default `nil`, which means without limit.
  public let longestWait: Duration?
  /// How many requests may wait; 1,000 by default.
  public let queueLimit: Int

  private struct State {
    var isClosed: Bool
    var waiters: [UInt64: Waiter<Void>] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state: Locked<State>

  /// Creates a gate.
  ///
  /// - Parameters:
  ///   - isOpen: Whether the gate is open at first; true by default.
  ///   - longestWait: How long a request waits at most; `nil` for no limit.
  ///   - queueLimit: How many requests may wait.
  public init(isOpen: Bool = true, longestWait: Duration? = nil, queueLimit: Int = 1_000) {
    state = Locked(State(isClosed: !isOpen))
    self.longestWait = longestWait
    self.queueLimit = queueLimit
  }

  /// Whether requests pass.
  public var isOpen: Bool { state.withLock { !$0.isClosed } }

  /// How many requests wait.
  public var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// Lets requests pass, and releases all waiting requests together.
  public func open() {
    state.withLock { $0.isClosed = false }
    release()
  }

  /// Holds requests from now on.
  public func close() { state.withLock { $0.isClosed = true } }

  /// Wakes all waiting requests, which then check the gate again.
  func release() {
    let released = state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// The gate's decision about a request.
  enum Entry {
    case pass
    case wait(UInt64, Waiter<Void>)
    case refused
  }

  func enter() -> Entry {
    state.withLock { state in
      guard state.isClosed else { return .pass }
      guard state.waiters.count < queueLimit else { return .refused }
      state.lastWaiter += 1
      let waiter = Waiter<Void>()
      state.waiters[state.lastWaiter] = waiter
      return .wait(state.lastWaiter, waiter)
    }
  }

  func leave(_ id: UInt64) { state.withLock { _ = $0.waiters.removeValue(forKey: id) } }

  /// Waits until the gate is open.
  ///
  /// - Parameters:
  ///   - request: The request that waits.
  ///   - source: The name of the behavior, for events.
  ///   - refusal: Makes the error for a request that may not wait, or not any longer.
  /// - Throws: The error that `refusal` makes, or a `CancellationError`.
  func pass(
    _ request: NetworkRequest, from source: String, refusal: @Sendable (_ reason: String) -> NetworkError
  ) async throws {
    let call = request.call
    // The gate may close again before a released request checks it, so each release is followed by a check. The time
    // limit covers all these waits together.
    let end = longestWait.map { call.clock.now() + $0 }
    while true {
      switch enter() {
      case .pass: return
      case .refused: throw refusal("\(queueLimit) requests wait already")
      case .wait(let id, let waiter):
        let waiting = call.begin("held", from: source, kind: .gate)
        defer {
          call.end(waiting)
          leave(id)
        }
        guard try await wait(waiter, until: end, call) else {
          throw refusal("it did not change within \((longestWait ?? .zero).inWords)")
        }
        call.record("released", from: source, kind: .gate)
      }
    }
  }

  /// Waits until the gate opens.
  ///
  /// Returns false if that takes too long.
  private func wait(_ waiter: Waiter<Void>, until end: Duration?, _ call: Call) async throws -> Bool {
    guard let end else {
      try await call.wait { try await waiter.value() }
      return true
    }
    let isLate = Locked(false)
    let timer = call.clock.schedule(after: end - call.clock.now()) {
      isLate.withLock { $0 = true }
      waiter.settle(.success(()))
    }
    defer { timer.cancel() }
    try await call.wait { try await waiter.value() }
    return !isLate.withLock { $0 } || isOpen
  }
}
