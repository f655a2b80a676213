import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Over random schedules every call ends once, and what counts is what happened.
@Suite(.limited) struct ResilienceConservationTests {
  /// How the calls of a schedule ended.
  private struct Outcomes: Equatable {
    var successes = 0
    var failures = 0
    var cancellations = 0
    var refusals = 0
    var all: Int { successes + failures + cancellations + refusals }
  }

  /// Sends 600 requests at once, cancels every third of them sooner or later, and counts how they ended.
  private func run(_ client: NetworkClient, seed: UInt64) async -> Outcomes {
    let outcomes = Box(Outcomes())
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<600 {
        group.addTask {
          var random = SeededGenerator(seed: seed, task: -number)
          let priority = RequestPriority(rawValue: Int.random(in: 0...2, using: &random))
          await random.yield(upTo: 60)
          let call = Task { try await client.send(Request<Void>.get("x").with(\.priority, priority)) }
          if number % 3 == 0 {
            await random.yield(upTo: 60)
            call.cancel()
          }
          switch await call.result {
          case .success: outcomes.update { $0.successes += 1 }
          case .failure(is CancellationError): outcomes.update { $0.cancellations += 1 }
          case .failure(let error as NetworkError) where error.isRefusedLocally:
            outcomes.update { $0.refusals += 1 }
          case .failure: outcomes.update { $0.failures += 1 }
          }
        }
      }
    }
    return outcomes.value
  }

  /// A transport of which one send of four fails, and which counts those under way.
  private func transport(_ underWay: Box<(now: Int, most: Int)>, seed: UInt64) -> ClosureTransport {
    ClosureTransport(numbered: { number, request in
      var random = SeededGenerator(seed: seed, task: number)
      underWay.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { underWay.update { $0.now -= 1 } }
      await random.yield(upTo: 10)
      if Int.random(in: 0..<4, using: &random) == 0 { throw NetworkError(.connectionLost, "lost") }
      return NetworkResponse(request: request, statusCode: 200)
    })
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `every call has one outcome, and refused calls are not sent`(seed: UInt64) async throws {
    let policy = CircuitPolicy(failureRatio: 0.3, minimumRequests: 5, breakDuration: .milliseconds(1), probes: 2)
    let (breaker, underWay) = (CircuitBreaker(policy), Box((now: 0, most: 0)))
    let transport = transport(underWay, seed: seed)
    let outcomes = await run(NetworkClient(transport, [.circuitBreaker(breaker)]), seed: seed)
    #expect(outcomes.all == 600)
    // What was refused was not sent; what succeeded or failed was.
    #expect(transport.sent.count >= outcomes.successes + outcomes.failures)
    #expect(transport.sent.count <= 600 - outcomes.refusals)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a circuit keeps its limit of probes and opens by its counts`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let policy = CircuitPolicy(
      minimumRequests: 4, window: .seconds(10), breakDuration: .seconds(2),
      probes: Int.random(in: 1...3, using: &random), probeInterval: .seconds(3))
    var circuit = Circuit(policy)
    var now = Duration.zero
    var underWay: [(ticket: Circuit.Ticket, leaseEnd: Duration)] = []
    // What was reported since the circuit closed, with its time.
    var reports: [(time: Duration, isFailure: Bool)] = []
    for _ in 0..<400 {
      now += .milliseconds(Int.random(in: 0...600, using: &random))
      let before = circuit.state
      if Int.random(in: 0..<2, using: &random) == 0 || underWay.isEmpty {
        guard case .go(let ticket) = circuit.admit(at: now, lease: .seconds(3)) else { continue }
        if case .open(let end) = before { #expect(now >= end) }
        #expect(ticket.isProbe == (before != .closed))
        underWay.append((ticket, now + .seconds(3)))
        if case .open = before { underWay.removeAll { $0.ticket != ticket } }
        #expect(underWay.count { $0.ticket.isProbe && $0.leaseEnd > now } <= policy.probes)
      } else {
        let (ticket, _) = underWay.remove(at: Int.random(in: underWay.indices, using: &random))
        let verdict = [CircuitVerdict.success, .failure, .none][Int.random(in: 0..<3, using: &random)]
        circuit.report(ticket, verdict, at: now)
        if before == .closed, verdict != .none { reports.append((now, verdict == .failure)) }
        reports.removeAll { now - $0.time >= policy.window }
        if before == .closed, case .open(let end) = circuit.state {
          let failed = reports.count { $0.isFailure }
          #expect(verdict == .failure)
          #expect(failed * 2 >= policy.minimumRequests)
          #expect(end > now)
          #expect(reports.count >= policy.minimumRequests)
        }
        if circuit.state != before { (underWay, reports) = ([], []) }
      }
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a rate limit sends every request that was not cancelled, each for one permit`(seed: UInt64) async throws {
    let limiter = RateLimiter(rate: 1e6, burst: 5)
    let underWay = Box((now: 0, most: 0))
    let transport = transport(underWay, seed: seed)
    let outcomes = await run(NetworkClient(transport, [.rateLimit(limiter)]), seed: seed)
    #expect(outcomes.all == 600)
    #expect(outcomes.refusals == 0)
    #expect(transport.sent.count >= outcomes.successes + outcomes.failures)
    // No request is left in the queue, where it would block all later ones.
    try await NetworkClient(ClosureTransport(), [.rateLimit(limiter)]).send(.get("x"))
  }
}
