import RequestBehaviors
import TestSupport
import Testing

/// How soon a circuit learns that a server is back, though probes hang, fail late or come together.
@Suite(.limited) struct CircuitRecoveryTests {
  /// A circuit that opened at the time 0, and the tickets that it gave since.
  private final class Opened {
    private var circuit: Circuit

    init(_ policy: CircuitPolicy = CircuitPolicy()) {
      circuit = Circuit(policy)
      for _ in 0..<10 {
        guard case .go(let ticket) = circuit.admit(at: .zero) else { continue }
        circuit.report(ticket, .failure, at: .zero)
      }
    }

    var state: CircuitState { circuit.state }

    func admit(at milliseconds: Int) -> Circuit.Admission { circuit.admit(at: .milliseconds(milliseconds)) }

    func probe(at milliseconds: Int) throws -> Circuit.Ticket {
      guard case .go(let ticket) = admit(at: milliseconds) else { throw Failure("no probe at \(milliseconds) ms") }
      return ticket
    }

    func report(_ ticket: Circuit.Ticket, _ verdict: CircuitVerdict, at milliseconds: Int) {
      circuit.report(ticket, verdict, at: .milliseconds(milliseconds))
    }
  }

  @Test func `by default every break lasts a second`() throws {
    let circuit = Opened()
    #expect(circuit.state == .open(until: .seconds(1)))
    for second in 1...5 {
      circuit.report(try circuit.probe(at: second * 1_000), .failure, at: second * 1_000)
      #expect(circuit.state == .open(until: .seconds(second + 1)))
    }
  }

  @Test func `breaks that are configured to be longer than the default keep their length`() {
    #expect(CircuitPolicy(breakDuration: .seconds(7)).longestBreak == .seconds(7))
    #expect(Opened(CircuitPolicy(breakDuration: .seconds(7))).state == .open(until: .seconds(7)))
  }

  @Test func `by default three probes go together`() throws {
    let circuit = Opened()
    for _ in 1...3 { _ = try circuit.probe(at: 1_000) }
    #expect(circuit.admit(at: 1_000) == .refused(until: .seconds(2)))
  }

  @Test func `a probe without a response within the interval does not block a further one`() throws {
    let circuit = Opened(CircuitPolicy(probes: 1))
    _ = try circuit.probe(at: 1_000)
    #expect(circuit.admit(at: 1_999) == .refused(until: .seconds(2)))
    _ = try circuit.probe(at: 2_000)
  }

  @Test func `a probe that succeeds late counts`() throws {
    let circuit = Opened(CircuitPolicy(probes: 1))
    let late = try circuit.probe(at: 1_000)
    let next = try circuit.probe(at: 2_000)
    circuit.report(late, .success, at: 2_500)
    circuit.report(next, .success, at: 2_600)
    #expect(circuit.state == .closed)
  }

  @Test func `a probe that fails late does not undo the result of a later one`() throws {
    let circuit = Opened(CircuitPolicy(probes: 1))
    let hung = try circuit.probe(at: 1_900)
    circuit.report(try circuit.probe(at: 2_900), .success, at: 2_910)
    circuit.report(hung, .failure, at: 2_920)
    #expect(circuit.state == .halfOpen)
    circuit.report(try circuit.probe(at: 2_930), .success, at: 2_940)
    #expect(circuit.state == .closed)
  }

  @Test func `a break begins at the send of the probe that failed`() throws {
    let circuit = Opened(CircuitPolicy(probes: 1))
    circuit.report(try circuit.probe(at: 1_000), .failure, at: 1_400)
    #expect(circuit.state == .open(until: .seconds(2)))
    // A probe that hung longer than a break does not show the present state: the next one may go.
    circuit.report(try circuit.probe(at: 2_000), .failure, at: 7_000)
    #expect(circuit.state == .halfOpen)
    _ = try circuit.probe(at: 7_000)
  }

  @Test func `a failure between two successes resets the count`() throws {
    let circuit = Opened(CircuitPolicy(probes: 1))
    circuit.report(try circuit.probe(at: 1_000), .success, at: 1_010)
    circuit.report(try circuit.probe(at: 1_020), .failure, at: 6_020)
    circuit.report(try circuit.probe(at: 6_020), .success, at: 6_030)
    #expect(circuit.state == .halfOpen)
    circuit.report(try circuit.probe(at: 6_040), .success, at: 6_050)
    #expect(circuit.state == .closed)
  }

  @Test func `a circuit without breaks still opens`() throws {
    let circuit = Opened(CircuitPolicy(breakDuration: .zero))
    #expect(circuit.state == .open(until: .zero))
    #expect(try circuit.probe(at: 0).isProbe)
  }
}
