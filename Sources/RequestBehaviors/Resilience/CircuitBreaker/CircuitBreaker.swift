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
  private let circuits: KeyedStates<LimitKey, Circuit>
  private let subscribers = Locked(Subscribers())

  private struct Subscribers: Sendable {
    var continuations: [UInt64: AsyncStream<Change>.Continuation] = [:]
    var lastID: UInt64 = 0

    /// Those who are told, in the order in which they came.
    var inOrder: [AsyncStream<Change>.Continuation] {
      continuations.sorted { $0.key < $1.key }.map(\.value)
    }
  }

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
    circuits = KeyedStates { Circuit(policy) }
  }

  deinit { for subscriber in subscribers.withLock({ $0.inOrder }) { subscriber.finish() } }

  /// What is let through of a key, as of its latest request.
  public func state(of key: LimitKey) -> CircuitState { circuits.knownState(of: key)?.withLock { $0.state } ?? .closed }

  /// Lets nothing through until ``close(_:)`` or ``reset()``, for a server that is known to be down for example.
  public func isolate(_ key: LimitKey) { change(circuit(of: key)) { $0.isolate() } }

  /// Lets everything through, and forgets what was counted.
  public func close(_ key: LimitKey) { change(circuit(of: key)) { $0.close() } }

  /// Closes all circuits; how the requests under way end does not count.
  public func reset() { for key in circuits.all.map(\.key) { close(key) } }

  /// The changes of state from now on; every access is a subscriber of its own, which keeps the latest 64.
  public var changes: AsyncStream<Change> {
    let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(64))
    let id = subscribers.withLock { subscribers in
      subscribers.lastID += 1
      subscribers.continuations[subscribers.lastID] = continuation
      return subscribers.lastID
    }
    continuation.onTermination = { [subscribers] _ in
      subscribers.withLock { _ = $0.continuations.removeValue(forKey: id) }
    }
    return stream
  }

  /// The circuit of a key, which a request holds from its admission to its report.
  struct KeyedCircuit: Sendable {
    fileprivate let key: LimitKey
    fileprivate let circuit: Locked<Circuit>
  }

  /// Returns the circuit of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - now: The time, by which circuits are forgotten of which nothing is known any more.
  /// - Returns: The circuit, which is the key's as long as somebody holds it.
  func circuit(of key: LimitKey, at now: @autoclosure () -> Duration = .zero) -> KeyedCircuit {
    KeyedCircuit(key: key, circuit: circuits.state(of: key) { $0.isBlank(at: now()) })
  }

  func admit(_ circuit: KeyedCircuit, at now: @autoclosure () -> Duration, lease: Duration?) -> Circuit.Admission {
    change(circuit) { $0.admit(at: now(), lease: lease) }
  }

  func report(_ ticket: Circuit.Ticket, _ verdict: CircuitVerdict, to circuit: KeyedCircuit, at now: Duration) {
    // Only a failure can open the circuit, and random numbers are not free.
    let random = verdict == .failure ? random() : 0
    change(circuit) { $0.report(ticket, verdict, at: now, random: random) }
  }

  private func change<Result>(_ keyed: KeyedCircuit, _ change: (inout Circuit) -> Result) -> Result {
    keyed.circuit.withLock { circuit in
      let before = circuit.state
      let result = change(&circuit)
      guard circuit.state != before else { return result }
      // Under the lock, so that subscribers hear of changes in their order; what they do runs elsewhere.
      let change = Change(key: keyed.key, state: circuit.state)
      for subscriber in subscribers.withLock({ $0.inOrder }) { subscriber.yield(change) }
      return result
    }
  }
}
