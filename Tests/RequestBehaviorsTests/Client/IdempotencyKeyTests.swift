import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The key of a request without a behavior that repeats it.
@Suite(.limited) struct IdempotencyKeyTests {
  @Test func `a key is sent without a retry`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport)
    try await client.send(.post("payments").with(\.idempotencyKey, IdempotencyKey("order-1")))
    try await client.send(.post("payments").with(\.idempotencyKey, .generated))
    try await client.send(.get("payments").with(\.idempotencyKey, .generated))
    try await client.send(.post("payments"))
    let keys = transport.sent.map { $0.headers["Idempotency-Key"] }
    #expect(keys[0] == "order-1")
    #expect(keys[1]?.count == 36)
    #expect(keys[2] == nil)
    #expect(keys[3] == nil)
    #expect(IdempotencyKey("a") == .value("a"))
  }

  @Test func `every send of a call has the same key, whatever repeats it`() async throws {
    let transport = ClosureTransport(statuses: [503, 503, 200])
    let again = ClosureBehavior("again", order: .retry) { request, next in
      var response = try await next(request)
      while response.statusCode == 503 { response = try await next(request) }
      return response
    }
    let client = NetworkClient(transport, [again])
    try await client.send(.post("x").with(\.idempotencyKey, .generated))
    let keys = transport.sent.map { $0.headers["Idempotency-Key"] }
    try #require(keys.count == 3)
    #expect(keys[0] != nil)
    #expect(Set(keys).count == 1)
  }

  @Test func `two calls have different keys, and the caller's own field takes precedence`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport).with { $0.options.idempotencyKey = .generated }
    for _ in 0..<2 { try await client.send(.post("x")) }
    try await client.send(.post("x").with(header: "Idempotency-Key", "mine"))
    let keys = transport.sent.map { $0.headers["Idempotency-Key"] }
    #expect(keys[0] != keys[1])
    #expect(keys[2] == "mine")
  }

  @Test func `a key in quotation marks is a string of a structured field`() async throws {
    let transport = ClosureTransport()
    let key = IdempotencyKey(#"5" \ 7"#).inField("X-Key", isQuoted: true)
    try await NetworkClient(transport).send(.post("x").with(\.idempotencyKey, key))
    #expect(transport.sent.first?.headers["X-Key"] == #""5\" \\ 7""#)
  }

  @Test(arguments: [false, true])
  func `an empty key does not repeat a request`(isQuoted: Bool) async throws {
    let transport = ClosureTransport(statuses: [503, 200])
    let key = IdempotencyKey("").inField("X-Key", isQuoted: isQuoted)
    let client = NetworkClient(transport, LeapingClock().requestClock, [.retry()])
    await #expect(throws: NetworkError.self) { try await client.send(.post("x").with(\.idempotencyKey, key)) }
    #expect(transport.sent.map { $0.headers["X-Key"] } == [nil])
  }

  @Test func `an empty field of a request is replaced by its key`() async throws {
    let transport = ClosureTransport()
    let request = Request<Void>.post("x", headers: ["Idempotency-Key": ""]).with(\.idempotencyKey, .value("k"))
    try await NetworkClient(transport).send(request)
    #expect(transport.sent.first?.headers["Idempotency-Key"] == "k")
  }

  @Test func `a hedged request has one key`() async throws {
    let clock = LeapingClock()
    let transport = ClosureTransport()
    let hedging = HedgingBehavior(HedgingPolicy(delay: .fixed(.seconds(1))))
    let client = NetworkClient(transport, clock.requestClock, [hedging])
    try await client.send(.post("x").with(\.idempotencyKey, .generated))
    #expect(Set(transport.sent.map { $0.headers["Idempotency-Key"] }).count == 1)
  }
}
