import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The effect of a call's other requests on the circuit of its origin.
@Suite(.limited) struct CircuitPrerequisiteTests {
  private let clock = LeapingClock()
  private let breaker = CircuitBreaker(
    CircuitPolicy(minimumRequests: 2, breakDuration: .seconds(5), probes: 1, probeInterval: .seconds(30)),
    random: { 0 })
  private var key: LimitKey { LimitKey.byOrigin(NetworkRequest(url: baseURL)) ?? "none" }

  private func client(_ transport: any Transport, _ behaviors: [any RequestBehavior]) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  private func failure(_ client: NetworkClient) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await client.send(.get("x")) }
  }

  /// Asks a key server before each send.
  private func asking(_ url: String, _ order: BehaviorOrder = .signing) throws -> ClosureBehavior {
    let url = try #require(URL(string: url))
    return ClosureBehavior("asking", order: order) { request, next in
      try await next.client().send(.get(url: url))
      return try await next(request)
    }
  }

  @Test func `the failure of a prerequisite's server does not count for the origin of the request`() async throws {
    let transport = ClosureTransport { _ in throw NetworkError(.cannotConnect, "") }
    let client = client(transport, [.circuitBreaker(breaker), try asking("https://keys.example/key")])
    for _ in 0..<5 { #expect(try await failure(client).code == .cannotConnect) }
    #expect(breaker.state(of: key) == .closed)
    #expect(transport.sent.map { $0.url.host() } == Array(repeating: "keys.example", count: 5))
  }

  @Test func `a request that fails after its prerequisite counts`() async throws {
    let transport = ClosureTransport { request in
      if request.url.host() == "api.example.com" { throw NetworkError(.cannotConnect, "") }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport, [.circuitBreaker(breaker), try asking("https://keys.example/key")])
    for _ in 0..<2 { _ = try await failure(client) }
    #expect(try await failure(client).code == .circuitOpen)
  }

  @Test func `a failure counts where a transport sends with another client`() async throws {
    let inner = NetworkClient(ClosureTransport { _ in throw NetworkError(.cannotConnect, "") })
    let client = client(
      ClosureTransport { request in
        try await inner.send(.get("x"))
        return NetworkResponse(request: request, statusCode: 200)
      }, [.circuitBreaker(breaker)])
    for _ in 0..<2 { _ = try await failure(client) }
    #expect(try await failure(client).code == .circuitOpen)
  }

  @Test(arguments: [BehaviorOrder.circuitBreaker, .first])
  func `the failure of a shared request counts, inside and outside of the sharing`(order: BehaviorOrder) async throws {
    let transport = ClosureTransport { _ in throw NetworkError(.connectionLost, "") }
    let breaker: CircuitBreakerBehavior = .circuitBreaker(breaker)
    let client = client(transport, [.coalescing(), breaker.ordered(order)])
    for _ in 0..<2 { _ = try await failure(client) }
    #expect(try await failure(client).code == .circuitOpen)
  }

  @Test func `a probe does not need a second place for its prerequisite`() async throws {
    let count = Box(0)
    let transport = ClosureTransport { request in
      guard request.url.lastPathComponent == "x" else { return NetworkResponse(request: request, statusCode: 200) }
      count.update { $0 += 1 }
      return NetworkResponse(request: request, statusCode: count.value <= 2 ? 503 : 200)
    }
    let client = client(transport, [.circuitBreaker(breaker), try asking("https://api.example.com/key")])
    for _ in 0..<2 { _ = try await failure(client) }
    #expect(breaker.state(of: key) == .open(until: .seconds(5)))
    clock.advance(by: .seconds(5))
    try await client.send(.get("x"))
    try await client.send(.get("x"))
    #expect(breaker.state(of: key) == .closed)
  }

  @Test func `a prerequisite of a behavior further out is refused while its circuit is open`() async throws {
    let transport = ClosureTransport { _ in throw NetworkError(.cannotConnect, "") }
    let client = client(
      transport, [.circuitBreaker(breaker), try asking("https://keys.example/key", .authentication)])
    for _ in 0..<2 { #expect(try await failure(client).code == .cannotConnect) }
    #expect(try await failure(client).code == .circuitOpen)
  }
}
