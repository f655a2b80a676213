import Foundation

/// Holds requests while it is closed, and lets them all go when it opens.
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
/// Its state is its own: behaviors, clients and per-request copies that are given the same gate share it.
public final class Gate: Sendable {
  /// How long a request waits at most; `nil`, for ever, by default.
  public let longestWait: Duration?
  /// How many requests may wait; 1,000 by default.
  public let queueLimit: Int

  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var isClosed: Bool
  nonisolated(unsafe) private var waiters: [UInt64: Waiter<Void>] = [:]
  // Protected by `lock` too.
  nonisolated(unsafe) private var lastWaiter: UInt64 = 0

  /// Creates a gate.
  ///
  /// - Parameters:
  ///   - isOpen: Whether requests pass at first; they do by default.
  ///   - longestWait: How long a request waits at most; `nil` for ever.
  ///   - queueLimit: How many requests may wait.
  public init(isOpen: Bool = true, longestWait: Duration? = nil, queueLimit: Int = 1_000) {
    self.isClosed = !isOpen
    self.longestWait = longestWait
    self.queueLimit = queueLimit
  }

  /// Whether requests pass.
  public var isOpen: Bool { lock.withLock { !isClosed } }

  /// How many requests wait.
  public var waitingCount: Int { lock.withLock { waiters.count } }

  /// Lets requests pass, those that wait together.
  public func open() {
    lock.withLock { isClosed = false }
    release()
  }

  /// Holds requests from now on.
  public func close() { lock.withLock { isClosed = true } }

  /// Lets those who wait look again.
  func release() {
    let released = lock.withLock {
      defer { waiters = [:] }
      return waiters.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in released { waiter.settle(.success(())) }
  }

  /// What a request is told.
  enum Entry {
    case pass
    case wait(UInt64, Waiter<Void>)
    case refused
  }

  func enter() -> Entry {
    lock.withLock {
      guard isClosed else { return .pass }
      guard waiters.count < queueLimit else { return .refused }
      lastWaiter += 1
      let waiter = Waiter<Void>()
      waiters[lastWaiter] = waiter
      return .wait(lastWaiter, waiter)
    }
  }

  func leave(_ id: UInt64) { lock.withLock { _ = waiters.removeValue(forKey: id) } }

  /// Waits until the gate is open.
  ///
  /// - Parameters:
  ///   - request: The request that waits.
  ///   - source: The name of the behavior, for events.
  ///   - refusal: Makes the error for one that may not wait, or not any longer.
  /// - Throws: What `refusal` makes, or what ends the wait.
  func pass(
    _ request: NetworkRequest, from source: String, refusal: @Sendable (_ reason: String) -> NetworkError
  ) async throws {
    let call = request.call
    let end = longestWait.map { call.clock.now() + $0 }
    while true {
      switch enter() {
      case .pass: return
      case .refused: throw refusal("\(queueLimit) requests wait already")
      case .wait(let id, let waiter):
        call.record("held", from: source, kind: .gate)
        defer { leave(id) }
        guard try await wait(waiter, until: end, call) else {
          throw refusal("it did not change within \((longestWait ?? .zero).inWords)")
        }
        call.record("released", from: source, kind: .gate)
      }
    }
  }

  /// Waits until the gate opens; false if that takes too long.
  private func wait(_ waiter: Waiter<Void>, until end: Duration?, _ call: Call) async throws -> Bool {
    guard let end else {
      try await call.wait { try await waiter.value() }
      return true
    }
    let isLate = GateTimeout()
    let timer = Task {
      try await call.clock.sleep(for: end - call.clock.now())
      isLate.set()
      waiter.settle(.success(()))
    }
    defer { timer.cancel() }
    try await call.wait { try await waiter.value() }
    return !isLate.isSet || isOpen
  }
}

/// Whether the time of a wait was over.
private final class GateTimeout: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var value = false

  var isSet: Bool { lock.withLock { value } }

  func set() { lock.withLock { value = true } }
}
