/// The state of a circuit breaker for one key: values in, value out.
///
/// A request that is admitted gets a ticket, with which its end is reported. A ticket counts once, and only as long as
/// the circuit is in the state in which it was given.
public struct Circuit: Sendable {
  /// What admits a request.
  public struct Ticket: Sendable, Hashable {
    let era: Int
    let number: Int
    /// Whether the request is a probe.
    public let isProbe: Bool
  }

  /// Whether a request may go.
  public enum Admission: Sendable, Hashable {
    /// It may, with this ticket.
    case go(Ticket)
    /// It may not, before this time; `nil` where nobody knows.
    case refused(until: Duration?)
  }

  private struct Probe: Sendable {
    let start: Duration
    /// When it counts no more.
    let end: Duration
  }

  private let policy: CircuitPolicy
  /// What the circuit lets through, as of the latest request.
  public private(set) var state = CircuitState.closed
  private var era = 0
  private var lastNumber = 0
  private var successes: SlidingCount
  private var failures: SlidingCount
  /// The probes under way, by number.
  private var probes: [Int: Probe] = [:]
  /// When the latest of those probes was sent that succeeded.
  private var latestSuccess: Duration?
  private var probeSuccesses = 0
  private var breaks = 0

  /// Creates a closed circuit.
  public init(_ policy: CircuitPolicy = CircuitPolicy()) {
    self.policy = policy
    successes = SlidingCount(window: policy.window)
    failures = SlidingCount(window: policy.window)
  }

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - now: The time, which is asked for only where it matters: not while the circuit is closed.
  ///   - lease: How long the request may take if it is a probe; by default as the policy says.
  /// - Returns: A ticket, or until when none is given.
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
    // A probe that never returns must not keep the circuit half open for ever.
    probes = probes.filter { $0.value.end > now }
    let places = probes.values.map { min($0.start + policy.probeInterval, $0.end) }.filter { $0 > now }
    guard places.count < max(policy.probes, 1) else { return .refused(until: places.min()) }
    probes[lastNumber] = Probe(start: now, end: now + max(lease ?? policy.probeLease, .nanoseconds(1)))
    return .go(Ticket(era: era, number: lastNumber, isProbe: true))
  }

  /// Reports how an admitted request ended.
  ///
  /// - Parameters:
  ///   - ticket: What admitted it.
  ///   - verdict: What its end says of the server; `.none` gives a probe's place back and changes nothing else.
  ///   - now: The time.
  ///   - random: A number from 0 to 1, which makes a break up to a tenth longer, so that clients do not come together.
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

  /// Whether it is as if there had been no request.
  mutating func isBlank(at now: Duration) -> Bool {
    state == .closed && breaks == 0 && successes.count(at: now) + failures.count(at: now) == 0
  }

  /// Lets nothing through until ``close()``.
  public mutating func isolate() { enter(.isolated) }

  /// Lets everything through, and forgets what was counted.
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
      // A probe that was sent later, and succeeded, tells more.
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
  ///   - start: When the probe was sent that failed: a server that hung then may be back now. By default now.
  ///   - random: Which part of a tenth is added.
  private mutating func open(at now: Duration, since start: Duration? = nil, _ random: Double) {
    var length = policy.breakDuration
    for _ in 0..<min(breaks, 32) where length < policy.longestBreak { length = length * 2 }
    length = min(length, policy.longestBreak)
    breaks += 1
    let share = random.isNaN ? 0 : min(max(random, 0), 1)
    let end = (start ?? now) + length + Duration(clamping: length.seconds * 0.1 * share)
    // Half open, and the break would be over: the next probe may go.
    guard end > now || state != .halfOpen else { return }
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
