/// The circuit-breaker state of all origins.
///
/// It stops requests to a failing server, and probes the server now and then.
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
/// A circuit that was open, and to which no request has come for the longest break and the window, may be closed, so
/// that the breaker does not remember every server for ever.
///
/// Behaviors, clients and per-request copies that use the same breaker share its state.
public final class CircuitBreaker: Sendable {
  /// A change of a key's state.
  public struct Change: Sendable, Hashable {
    /// The key whose state changed.
    public let key: LimitKey
    /// The new state.
    public let state: CircuitState
  }

  /// The rules of when it opens, and how long it stays open.
  public let policy: CircuitPolicy
  let key: @Sendable (NetworkRequest) -> LimitKey?
  private let random: @Sendable () -> Double
  private let circuits: KeyedStates<LimitKey, Circuit>
  private let broadcast = Broadcast<Change>(limit: 64)

  /// Creates a breaker whose circuits are all closed.
  ///
  /// - Parameters:
  ///   - policy: The rules of when it opens, and how long it stays open.
  ///   - random: Makes numbers from 0 to 1, which vary the length of breaks; by default the system's.
  ///   - key: Returns the key of the requests that are judged together, `nil` for a request that is not judged; by
  ///     default the origin.
  public init(
    _ policy: CircuitPolicy = CircuitPolicy(), random: (@Sendable () -> Double)? = nil,
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) {
    self.policy = policy
    self.key = key
    self.random = random ?? RandomSource.fraction
    circuits = KeyedStates { Circuit(policy) }
  }

  /// Returns the state of a key, as of its latest request.
  public func state(of key: LimitKey) -> CircuitState { circuits.knownState(of: key)?.withLock { $0.state } ?? .closed }

  /// Refuses all requests until ``close(_:)`` or ``reset()``, for example to a server that is known to be down.
  public func isolate(_ key: LimitKey) { change(circuit(of: key)) { $0.isolate() } }

  /// Lets all requests through, and clears the counts.
  public func close(_ key: LimitKey) { change(circuit(of: key)) { $0.close() } }

  /// Closes all circuits.
  ///
  /// The outcomes of requests under way do not count.
  public func reset() { for key in circuits.all.map(\.key) { close(key) } }

  /// The changes of state from now on.
  ///
  /// Every access creates a subscriber of its own, which buffers the latest 64 changes.
  public var changes: AsyncStream<Change> { broadcast.subscribe() }

  /// The circuit of a key.
  ///
  /// A request holds it from its admission to its report.
  struct KeyedCircuit: Sendable {
    fileprivate let key: LimitKey
    fileprivate let circuit: Locked<Circuit>
  }

  /// Returns the circuit of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - now: The time, used to drop circuits that are as good as new.
  /// - Returns: The circuit. It remains the key's circuit as long as it is held.
  func circuit(of key: LimitKey, at now: @autoclosure () -> Duration = .zero) -> KeyedCircuit {
    let circuit = circuits.state(of: key) { key, circuit in
      guard circuit.isBlank(at: now()) else { return false }
      if circuit.state != .closed { tell(Change(key: key, state: .closed)) }
      return true
    }
    return KeyedCircuit(key: key, circuit: circuit)
  }

  func admit(_ circuit: KeyedCircuit, at now: @autoclosure () -> Duration, lease: Duration?) -> Circuit.Admission {
    change(circuit) { $0.admit(at: now(), lease: lease) }
  }

  func report(_ ticket: Circuit.Ticket, _ verdict: CircuitVerdict, to circuit: KeyedCircuit, at now: Duration) {
    // Only a failure can open the circuit, and random numbers cost time.
    let random = verdict == .failure ? random() : 0
    change(circuit) { $0.report(ticket, verdict, at: now, random: random) }
  }

  private func change<Result>(_ keyed: KeyedCircuit, _ change: (inout Circuit) -> Result) -> Result {
    keyed.circuit.withLock { circuit in
      let before = circuit.state
      let result = change(&circuit)
      guard circuit.state != before else { return result }
      tell(Change(key: keyed.key, state: circuit.state))
      return result
    }
  }

  /// Sends a change to the subscribers.
  ///
  /// It is called under the circuit's lock, so that subscribers get changes in order. The subscribers' own code runs
  /// elsewhere.
  private func tell(_ change: Change) { broadcast.publish(change) }
}
