import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A refresh outlives the times of the calls that wait for it: the refresh token that it sent is spent.
@Suite(.limited) struct TokenDeadlineTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()

  private func client(
    _ session: TokenSession, clock: RequestClock, _ behaviors: [any RequestBehavior],
    _ change: (inout RequestConfiguration) -> Void = { _ in }
  ) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session)] + behaviors)
    configuration.clock = clock
    change(&configuration)
    return NetworkClient(configuration: configuration, transport: server.transport)
  }

  private enum Limit: CaseIterable, CustomTestStringConvertible {
    case behavior, option, deadlineOfTheRequest

    var testDescription: String { "\(self)" }
  }

  @Test(arguments: Limit.allCases, [false, true])
  private func `a deadline that is shorter than the token endpoint ends the call and not the refresh`(
    limit: Limit, sharesTimer: Bool
  ) async throws {
    let manual = fixture.clock.requestClock
    let clock = sharesTimer ? manual.sharingTimer() : manual
    server.tokenGate.value = gate
    let session = try await fixture.alice()
    let events = session.events
    let client = client(session, clock: clock, [.deadline(limit == .behavior ? .milliseconds(300) : .seconds(900))]) {
      if limit == .option { $0.options.deadline = .milliseconds(300) }
    }
    var request = Request<Void>.get("a")
    if limit == .deadlineOfTheRequest { request = request.with(\.deadline, .milliseconds(300)) }
    let task = Task { [request] in try await client.send(request) }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(300))
    #expect(try await fixture.error(task).code == .deadlineExceeded)
    gate.open()
    #expect(await events.names(through: "refreshed") == ["refreshed"])
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
    #expect(fixture.sentTokens == ["Bearer alice", "Bearer t1"])
  }

  @Test func `the timeouts of a token request are at least the policy's`() async throws {
    let session = try await fixture.alice()
    let client = client(session, clock: fixture.clock.requestClock, []) {
      $0.options.timeout = .milliseconds(300)
      $0.options.idleTimeout = .milliseconds(200)
    }
    try await client.send(.get("a"))
    #expect(server.tokenRequests.map(\.timeout) == [.seconds(30)])
    #expect(server.tokenRequests.map(\.idleTimeout) == [.seconds(30)])
    #expect(server.apiRequests.map(\.timeout) == [.milliseconds(300), .milliseconds(300)])
  }

  @Test func `timeouts of a token request that are longer than the policy's, or unset, are kept`() async throws {
    let session = try await fixture.alice()
    let client = client(session, clock: fixture.clock.requestClock, []) { $0.options.idleTimeout = .seconds(45) }
    try await client.send(.get("a"))
    #expect(server.tokenRequests.map(\.timeout) == [nil])
    #expect(server.tokenRequests.map(\.idleTimeout) == [.seconds(45)])
  }

  @Test func `a token request that may have arrived is not sent again by retries, keys and hedges`() async throws {
    server.state.update { state in
      state.refusals.append { NetworkResponse(request: $0, statusCode: 503) }
    }
    let session = try await fixture.alice()
    let client = client(
      session, clock: .immediate, [.retry(budget: .unlimited), .hedging(after: .zero, budget: .unlimited)]
    ) {
      $0.options.idempotencyKey = .generated
      $0.options.hedging = HedgingPolicy(delay: .fixed(.zero))
    }
    let task = Task { try await client.send(.get("a").with(\.hedging, nil).with(\.retryPolicy, RetryPolicy.none)) }
    #expect(try await fixture.error(task).code == .tokenUnavailable)
    #expect(server.tokenRequests.count == 1)
    #expect(server.tokenRequests.first?.headers["Idempotency-Key"] == nil)
  }
}
