import RequestBehaviors
import TestSupport
import Testing

/// A circuit that an expectation can change.
private final class Held {
  private var circuit: Circuit

  init(_ policy: CircuitPolicy) { circuit = Circuit(policy) }

  var state: CircuitState { circuit.state }

  func admit(at now: Duration) -> Circuit.Admission { circuit.admit(at: now) }
  func isolate() { circuit.isolate() }
  func close() { circuit.close() }

  func report(_ ticket: Circuit.Ticket, _ verdict: CircuitVerdict, at now: Duration, random: Double = 0) {
    circuit.report(ticket, verdict, at: now, random: random)
  }
}

@Suite(.limited) struct CircuitTests {
  /// Long breaks that grow, and probes that wait for each other.
  private let policy = CircuitPolicy(
    breakDuration: .seconds(5), longestBreak: .seconds(60), probes: 1, probeInterval: .seconds(30))

  private func admitted(_ circuit: Held, at now: Duration) -> Circuit.Ticket? {
    if case .go(let ticket) = circuit.admit(at: now) { ticket } else { nil }
  }

  /// Runs requests that end at once.
  private func run(_ circuit: Held, _ verdicts: [CircuitVerdict], at now: Duration) {
    for verdict in verdicts {
      if let ticket = admitted(circuit, at: now) { circuit.report(ticket, verdict, at: now) }
    }
  }

  private func opened(at now: Duration = .zero) -> Held {
    let circuit = Held(policy)
    run(circuit, Array(repeating: .failure, count: 10), at: now)
    return circuit
  }

  @Test func `a circuit opens when half of ten requests failed`() {
    let circuit = Held(policy)
    run(circuit, Array(repeating: .success, count: 5) + Array(repeating: .failure, count: 4), at: .zero)
    #expect(circuit.state == .closed)
    run(circuit, [.failure], at: .seconds(1))
    #expect(circuit.state == .open(until: .seconds(6)))
    #expect(circuit.admit(at: .seconds(2)) == .refused(until: .seconds(6)))
  }

  @Test func `too few requests, old ones and those without a verdict do not open it`() {
    let circuit = Held(policy)
    run(circuit, Array(repeating: .failure, count: 9), at: .zero)
    run(circuit, Array(repeating: .none, count: 50), at: .seconds(1))
    #expect(circuit.state == .closed)
    run(circuit, Array(repeating: .failure, count: 9), at: .seconds(31))
    #expect(circuit.state == .closed)
  }

  @Test func `after the break one probe goes at a time, and two successes close the circuit`() throws {
    let circuit = opened()
    let first = try #require(admitted(circuit, at: .seconds(5)))
    #expect(first.isProbe)
    #expect(circuit.state == .halfOpen)
    #expect(admitted(circuit, at: .seconds(5)) == nil)
    circuit.report(first, .success, at: .seconds(6))
    #expect(circuit.state == .halfOpen)
    let second = try #require(admitted(circuit, at: .seconds(6)))
    circuit.report(second, .success, at: .seconds(6))
    #expect(circuit.state == .closed)
  }

  @Test func `a failed probe doubles the break, up to the longest`() throws {
    let circuit = opened()
    var now = Duration.seconds(5)
    for expected in [10, 20, 40, 60, 60] {
      let probe = try #require(admitted(circuit, at: now))
      circuit.report(probe, .failure, at: now)
      #expect(circuit.state == .open(until: now + .seconds(expected)))
      now += .seconds(expected)
    }
  }

  @Test func `a circuit that was closed opens for the first break again`() throws {
    let circuit = opened()
    let failing = try #require(admitted(circuit, at: .seconds(5)))
    circuit.report(failing, .failure, at: .seconds(5))
    run(circuit, [.success, .success], at: .seconds(15))
    #expect(circuit.state == .closed)
    run(circuit, Array(repeating: .failure, count: 10), at: .seconds(20))
    #expect(circuit.state == .open(until: .seconds(25)))
  }

  @Test func `a success from before a further break does not count towards closing`() throws {
    let circuit = opened()
    run(circuit, [.success, .failure], at: .seconds(5))
    #expect(circuit.state == .open(until: .seconds(15)))
    run(circuit, [.success], at: .seconds(15))
    #expect(circuit.state == .halfOpen)
  }

  @Test func `a success does not open a circuit, whatever failed before`() {
    let circuit = Held(policy)
    run(circuit, Array(repeating: .failure, count: 9) + [.success], at: .zero)
    #expect(circuit.state == .closed)
  }

  @Test func `a cancelled probe returns its place and is neither success nor failure`() throws {
    let circuit = opened()
    let cancelled = try #require(admitted(circuit, at: .seconds(5)))
    circuit.report(cancelled, .none, at: .seconds(5))
    #expect(circuit.state == .halfOpen)
    #expect(admitted(circuit, at: .seconds(5))?.isProbe == true)
  }

  @Test func `a probe that never returns loses its place when its lease ends`() throws {
    let circuit = opened()
    let lost = try #require(admitted(circuit, at: .seconds(5)))
    #expect(circuit.admit(at: .seconds(34)) == .refused(until: .seconds(35)))
    let next = try #require(admitted(circuit, at: .seconds(35)))
    circuit.report(lost, .success, at: .seconds(36))
    circuit.report(lost, .success, at: .seconds(36))
    #expect(circuit.state == .halfOpen)
    circuit.report(next, .success, at: .seconds(36))
    #expect(circuit.state == .halfOpen)
  }

  @Test func `the late end of a request from before the circuit opened does not count`() throws {
    let circuit = Held(policy)
    let late = try #require(admitted(circuit, at: .zero))
    run(circuit, Array(repeating: .failure, count: 10), at: .zero)
    let probe = try #require(admitted(circuit, at: .seconds(5)))
    circuit.report(late, .failure, at: .seconds(5))
    #expect(circuit.state == .halfOpen)
    circuit.report(probe, .success, at: .seconds(5))
    circuit.report(late, .success, at: .seconds(5))
    #expect(circuit.state == .halfOpen)
  }

  @Test func `an isolated circuit refuses every request until it is closed`() {
    let circuit = Held(policy)
    circuit.isolate()
    #expect(circuit.admit(at: .seconds(1_000_000)) == .refused(until: nil))
    circuit.close()
    #expect(admitted(circuit, at: .zero)?.isProbe == false)
  }

  @Test func `chance makes a break up to a tenth longer`() {
    let circuit = Held(policy)
    for _ in 0..<10 {
      if let ticket = admitted(circuit, at: .zero) { circuit.report(ticket, .failure, at: .zero, random: 1) }
    }
    #expect(circuit.state == .open(until: .milliseconds(5_500)))
  }

  /// Pains of others: a circuit that can never be left again, probes that stampede.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `over random schedules at most so many probes are under way and the circuit always closes again`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      var policy = policy
      policy.probes = Int.random(in: 1...3, using: &random)
      let circuit = Held(policy)
      var probesSince: Duration?
      var (now, open) = (Duration.zero, [(ticket: Circuit.Ticket, at: Duration)]())
      for _ in 0..<500 {
        now += .milliseconds(Int.random(in: 0...900, using: &random))
        if Bool.random(using: &random), let ticket = admitted(circuit, at: now) {
          open.append((ticket, now))
          // Those of an earlier break have lost their say.
          if ticket.isProbe, probesSince == nil { probesSince = now }
          let probes = open.count { $0.ticket.isProbe && $0.at >= probesSince ?? now && now - $0.at < .seconds(30) }
          #expect(probes <= policy.probes)
        } else if let index = open.indices.randomElement(using: &random) {
          let verdict = [CircuitVerdict.success, .failure, .failure, .none].randomElement(using: &random) ?? .none
          circuit.report(open.remove(at: index).ticket, verdict, at: now)
          if circuit.state != .halfOpen { probesSince = nil }
        }
      }
      // From any state, with a server that works again.
      for _ in 0..<10 where circuit.state != .closed {
        now += .seconds(100)
        if let ticket = admitted(circuit, at: now) { circuit.report(ticket, .success, at: now) }
      }
      #expect(circuit.state == .closed)
    }
  }
}
