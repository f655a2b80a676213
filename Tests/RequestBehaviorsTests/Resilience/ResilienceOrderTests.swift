import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// However the behaviors against a bad network are listed, they work together as they should.
@Suite(.limited) struct ResilienceOrderTests {
  private func members() -> [any RequestBehavior] {
    [
      .deadline(.seconds(60)), .coalescing(), .gate(Gate()), RetryBehavior(budget: .unlimited, random: { 0 }),
      .hedging(), .rateLimit(1_000, burst: 1_000), .concurrencyLimit(1),
      .circuitBreaker(CircuitBreaker(CircuitPolicy(minimumRequests: 100))),
    ]
  }

  @Test func `every rotation of the list and its reverse is sorted into the same order`() throws {
    let standard: [BehaviorOrder] = [
      .deadline, .coalescing, .gate, .retry, .hedging, .redirects, .rateLimit, .inside(.rateLimit), .circuitBreaker,
    ]
    let list = members()
    for index in list.indices {
      let rotated = Array(list[index...] + list[..<index])
      for wrong in [rotated, rotated.reversed()] {
        let client = NetworkClient(ClosureTransport(), wrong)
        #expect(try client.pipeline(for: Request<Void>.get("x")).entries.map(\.order) == standard)
      }
    }
  }

  @Test func `in every order a call has three attempts, one deadline and one permit at a time`() async throws {
    let count = members().count
    for index in 0..<count {
      // Time stands still: the deadline and the hedge never come, and the short wait of a retry is over at once.
      let still = ManualClock().requestClock
      let clock = RequestClock(
        now: still.now, date: still.date,
        sleep: { duration in if duration >= .seconds(1) { try await still.sleep(for: duration) } })
      let list = members()
      let transport = ClosureTransport(statuses: [503, 503, 200])
      let client = NetworkClient(transport, clock, Array(list[index...] + list[..<index]))
      let response: NetworkResponse = try await client.send(.get("x"))
      #expect(response.statusCode == 200)
      #expect(transport.sent.count == 3)
      #expect(response.attempts.count == 3)
      #expect(response.request.call.deadline == .seconds(60))
    }
  }

  @Test func `a group beside a separate member is an error that names the replacement`() throws {
    let client = NetworkClient(ClosureTransport(), [.resilience(), .retry()])
    let error = #expect(throws: NetworkError.self) { try client.pipeline(for: Request<Void>.get("x")) }
    #expect(
      error?.message
        == "RetryBehavior is listed twice in the configuration's behaviors, once by .resilience(); pass yours to "
        + ".resilience(), or leave that one out by passing nil")
    let twice = NetworkClient(ClosureTransport(), [.resilience(), .resilience()])
    let other = #expect(throws: NetworkError.self) { try twice.pipeline(for: Request<Void>.get("x")) }
    #expect(other?.message.hasSuffix("both times by .resilience(); list the group once") == true)
    let replaced = NetworkClient(ClosureTransport(), [.resilience(retry: .retry(.none))])
    #expect(try replaced.pipeline(for: Request<Void>.get("x")).entries.count == 5)
  }
}
