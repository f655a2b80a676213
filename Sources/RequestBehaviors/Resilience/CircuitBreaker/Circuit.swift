/// The state of a circuit breaker for one key, as a pure value.
///
/// An admitted request gets a ticket, with which it reports its end. A ticket counts once, and only while the circuit
/// is still in the state in which it gave the ticket.
public struct Circuit: Sendable {
  /// The proof that a request was admitted.
  public struct Ticket: Sendable, Hashable {
    let era: Int
    let number: Int
    /// Whether the request is a probe.
    public let isProbe: Bool
  }

  /// The decision about a request.
  public enum Admission: Sendable, Hashable {
    /// The request may go, with this ticket.
    case go(Ticket)
    /// The request may not go before this time; `nil` if the time is unknown.
    case refused(until: Duration?)
  }

  private struct Probe: Sendable {
    let start: Duration
    /// When the probe no longer counts.
    let end: Duration
  }

  private let policy: CircuitPolicy
  /// The state as of the latest request.
  public private(set) var state = CircuitState.closed
  private var era = 0
  private var lastNumber = 0
  private var successes: SlidingCount
  private var failures: SlidingCount
  /// The probes under way, by number.
  private var probes: [Int: Probe] = [:]
  /// When the latest successful probe was sent.
  private var latestSuccess: Duration?
  private var probeSuccesses = 0
  private var breaks = 0
  /// The end of the latest break, or the time of the latest request after it.
  private var lastAsked = Duration.zero

  /// Creates a closed circuit.
  public init(_ policy: CircuitPolicy = CircuitPolicy()) {
    self.policy = policy
    successes = SlidingCount(window: policy.window)
    failures = SlidingCount(window: policy.window)
  }

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - now: The time. It is evaluated only if the circuit is not closed.
  ///   - lease: How long the request may take if it is a probe; by default the policy's time.
  /// - Returns: A ticket, or until when requests are refused.
  public mutating func admit(at now: @autoclosure () -> Duration, lease: Duration? = nil) -> Admission {
    lastNumber += 1
    if state == .closed { return .go(Ticket(era: era, number: lastNumber, isProbe: false)) }
    let now = now()
    switch state {
    case .isolated: return .refused(until: nil)
    case .open(let end):
      guard now >= end else { return .refused(until: end) }
      enter(.halfOpen)
    case .halfOpen, .closed: break
    }
    lastAsked = now
    // A probe that never ends must not keep the circuit half open forever.
    probes = probes.filter { $0.value.end > now }
    let places = probes.values.map { min($0.start + policy.probeInterval, $0.end) }.filter { $0 > now }
    guard places.count < max(policy.probes, 1) else { return .refused(until: places.min()) }
    probes[lastNumber] = Probe(start: now, end: now + max(lease ?? policy.probeLease, .nanoseconds(1)))
    return .go(Ticket(era: era, number: lastNumber, isProbe: true))
  }

  /// Reports how an admitted request ended.
  ///
  /// - Parameters:
  ///   - ticket: The ticket of the request.
  ///   - verdict: What its end says about the server. `.none` frees a probe's place and changes nothing else.
  ///   - now: The time.
  ///   - random: A number from 0 to 1, which makes a break up to a tenth longer, so that clients do not return at the
  ///     same time.
  public mutating func report(_ ticket: Ticket, _ verdict: CircuitVerdict, at now: Duration, random: Double = 0) {
    guard ticket.era == era else { return }
    switch state {
    case .closed: count(verdict, at: now, random)
    case .halfOpen:
      guard let probe = probes.removeValue(forKey: ticket.number) else { return }
      judge(verdict, of: probe, at: now, random)
    case .open, .isolated: break
    }
  }

  /// Whether the circuit is as good as new: its counts have all expired, or it was open and nothing was sent for long.
  mutating func isBlank(at now: Duration) -> Bool {
    switch state {
    case .closed: breaks == 0 && successes.count(at: now) + failures.count(at: now) == 0
    case .open, .halfOpen: now >= lastAsked + policy.longestBreak + policy.window
    case .isolated: false
    }
  }

  /// Refuses all requests until ``close()``.
  public mutating func isolate() { enter(.isolated) }

  /// Lets all requests through, and clears the counts.
  public mutating func close() {
    breaks = 0
    enter(.closed)
  }

  private mutating func count(_ verdict: CircuitVerdict, at now: Duration, _ random: Double) {
    switch verdict {
    case .success: return successes.add(at: now)
    case .none: return
    case .failure: failures.add(at: now)
    }
    let failed = failures.count(at: now)
    let all = failed + successes.count(at: now)
    guard all >= policy.minimumRequests, Double(failed) >= policy.failureRatio * Double(all) else { return }
    open(at: now, random)
  }

  private mutating func judge(_ verdict: CircuitVerdict, of probe: Probe, at now: Duration, _ random: Double) {
    switch verdict {
    case .none: break
    case .failure:
      // A later probe that succeeded is better evidence.
      if let latestSuccess, probe.start < latestSuccess { return }
      probeSuccesses = 0
      open(at: now, since: probe.start, random)
    case .success:
      latestSuccess = max(probe.start, latestSuccess ?? probe.start)
      probeSuccesses += 1
      if probeSuccesses >= policy.successesToClose { close() }
    }
  }

  /// Begins a break.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - start: When the failed probe was sent; by default now. A server that hung then may be back now.
  ///   - random: A number from 0 to 1: the part of a tenth of the length that is added.
  private mutating func open(at now: Duration, since start: Duration? = nil, _ random: Double) {
    var length = policy.breakDuration
    for _ in 0..<min(breaks, 32) where length < policy.longestBreak { length = length * 2 }
    length = min(length, policy.longestBreak)
    breaks += 1
    let end = (start ?? now) + length + Duration(clamping: length.inSeconds * 0.1 * random.clampedShare)
    // If the circuit is half open and the break would be over already, the next probe may go.
    guard end > now || state != .halfOpen else { return }
    lastAsked = end
    enter(.open(until: end))
  }

  private mutating func enter(_ new: CircuitState) {
    state = new
    era += 1
    probes = [:]
    latestSuccess = nil
    probeSuccesses = 0
    successes = SlidingCount(window: policy.window)
    failures = SlidingCount(window: policy.window)
  }
}
