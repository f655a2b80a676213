import Foundation

/// Stops asking a server that fails, and tries it again now and then: the state of all origins.
///
/// ```swift
/// let breaker = CircuitBreaker()
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.circuitBreaker(breaker)])
/// for await change in breaker.changes {
///   print("\(change.key) is \(change.state) now")
/// }
/// ```
///
/// Behaviors, clients and per-request copies that are given the same breaker share its state.
public final class CircuitBreaker: Sendable {
  /// A change of a key's state.
  public struct Change: Sendable, Hashable {
    /// What the state is of.
    public let key: LimitKey
    /// What is let through from now on.
    public let state: CircuitState
  }

  /// When it opens, and how long it stays open.
  public let policy: CircuitPolicy
  let key: @Sendable (NetworkRequest) -> LimitKey?
  private let random: @Sendable () -> Double
  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var circuits: [LimitKey: Circuit] = [:]
  nonisolated(unsafe) private var subscribers: [UInt64: AsyncStream<Change>.Continuation] = [:]
  // Protected by `lock` too.
  nonisolated(unsafe) private var lastSubscriber: UInt64 = 0
  // Protected by `lock` too: how many circuits there may be before those of which nothing is known are forgotten.
  nonisolated(unsafe) private var pruningCount = 256

  /// Creates a breaker of which everything is closed.
  ///
  /// - Parameters:
  ///   - policy: When it opens, and how long it stays open.
  ///   - random: Makes numbers from 0 to 1, by which breaks differ in length; by default the system's.
  ///   - key: Returns what requests have in common that are judged together, `nil` for one that is not judged; by
  ///     default the origin.
  public init(
    _ policy: CircuitPolicy = CircuitPolicy(), random: (@Sendable () -> Double)? = nil,
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) {
    self.policy = policy
    self.key = key
    self.random = random ?? { Double.random(in: 0...1) }
  }

  deinit { for subscriber in subscribers.values { subscriber.finish() } }

  /// What is let through of a key, as of its latest request.
  public func state(of key: LimitKey) -> CircuitState { lock.withLock { circuits[key]?.state ?? .closed } }

  /// Lets nothing through until ``close(_:)`` or ``reset()``, for a server that is known to be down for example.
  public func isolate(_ key: LimitKey) { change(key) { $0.isolate() } }

  /// Lets everything through, and forgets what was counted.
  public func close(_ key: LimitKey) { change(key) { $0.close() } }

  /// Closes all circuits; how the requests under way end does not count.
  public func reset() { for key in lock.withLock({ Array(circuits.keys) }) { close(key) } }

  /// The changes of state from now on; every access is a subscriber of its own, which keeps the latest 64.
  public var changes: AsyncStream<Change> {
    let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(64))
    let id = lock.withLock {
      lastSubscriber += 1
      subscribers[lastSubscriber] = continuation
      return lastSubscriber
    }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      lock.withLock { _ = subscribers.removeValue(forKey: id) }
    }
    return stream
  }

  func admit(_ key: LimitKey, at now: Duration, lease: Duration?) -> Circuit.Admission {
    lock.withLock {
      guard circuits.count > pruningCount else { return }
      for (key, var circuit) in circuits where circuit.isBlank(at: now) { circuits[key] = nil }
      pruningCount = max(256, circuits.count * 2)
    }
    return change(key) { $0.admit(at: now, lease: lease) }
  }

  func report(_ ticket: Circuit.Ticket, _ verdict: CircuitVerdict, of key: LimitKey, at now: Duration) {
    // Only a failure can open the circuit, and random numbers are not free.
    let random = verdict == .failure ? random() : 0
    change(key) { $0.report(ticket, verdict, at: now, random: random) }
  }

  /// Changes a circuit in its place; returns its state, too, if that is another one then.
  private static func change<Result>(
    _ circuit: inout Circuit, _ change: (inout Circuit) -> Result
  ) -> (Result, CircuitState?) {
    let before = circuit.state
    let result = change(&circuit)
    return (result, circuit.state == before ? nil : circuit.state)
  }

  private func change<Result>(_ key: LimitKey, _ change: (inout Circuit) -> Result) -> Result {
    lock.withLock {
      let (result, state) = CircuitBreaker.change(&circuits[key, default: Circuit(policy)], change)
      // Under the lock, so that subscribers hear of changes in their order; what they do runs elsewhere.
      if let state { for subscriber in subscribers.values { subscriber.yield(Change(key: key, state: state)) } }
      return result
    }
  }
}
