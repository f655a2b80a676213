import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// `onlyIfCached` never sends, whatever is asked and whatever is listed (RFC 9111 §5.2.1.7).
@Suite(.limited) struct CacheOfflineTests {
  private typealias Reply = CacheFixture.Reply

  private static let methods: [RequestMethod] = [
    .get, .head, .query, .post, .put, .patch, .delete, .options, "PROPFIND",
  ]

  @Test(arguments: methods)
  func `no method is sent, and a request without a stored response gets a 504`(method: RequestMethod) async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    let response = try await fixture.send(.init(method, "a").with(\.caching, .onlyIfCached))
    #expect(response.statusCode == 504)
    #expect(response.source == .cache)
    #expect(fixture.sent.isEmpty)
    #expect(fixture.kinds == [.miss])
  }

  @Test(arguments: methods)
  func `the directive of the request's own fields counts as the option`(method: RequestMethod) async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    let request = Request<NetworkResponse>(method, "a").with(header: "Cache-Control", "only-if-cached")
    #expect(try await fixture.send(request).statusCode == 504)
    #expect(fixture.sent.isEmpty)
  }

  @Test(arguments: methods)
  func `without a cache a request is not sent either`(method: RequestMethod) async throws {
    let transport = ClosureTransport()
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.coalescing(), .retry()])
    configuration.options.acceptableStatuses = .all
    let client = NetworkClient(configuration: configuration, transport: transport)
    let response = try await client.send(Request<NetworkResponse>(method, "a").with(\.caching, .onlyIfCached))
    #expect(response.statusCode == 504)
    #expect(transport.sent.isEmpty)
  }

  @Test func `a request whose content is a stream is not sent`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    let body = RequestContent.stream { ByteStream(chunks: []) }
    #expect(try await fixture.send(.init(.query, "a", body: body).with(\.caching, .onlyIfCached)).statusCode == 504)
    #expect(fixture.sent.isEmpty)
  }

  @Test func `a stale response is used within its stale-while-revalidate window, and is not validated`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"a\""])
    try await fixture.send()
    fixture.wait(61)
    let response = try await fixture.send(.get("a").with(\.caching, .onlyIfCached))
    #expect(response.source == .stale)
    #expect(try response.text == "body")
    await fixture.client.shutdown()
    #expect(fixture.sent.count == 1)
  }

  @Test func `a store that fails does not cause a request`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport, [.caching(FailingCacheStore())])
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(Request<Void>.get("a").with(\.caching, .onlyIfCached))
    }
    #expect(error?.statusCode == 504)
    #expect(transport.sent.isEmpty)
  }

  @Test func `no behavior sends: no token is got, no hedge, no retry, no batch, no background request`() async throws {
    let transport = ClosureTransport(503)
    let fetches = Box(0)
    let session = TokenSession(
      source: .closure { _ in
        fetches.update { $0 += 1 }
        return AccessToken("t")
      })
    let batch = BatchBehavior(
      group: { _ in "all" }, merge: { $0[0] }, split: { response, requests in requests.map { _ in .success(response) } }
    )
    let client = NetworkClient(
      transport,
      [
        .coalescing(), .caching(MemoryCacheStore()), .retry(), .hedging(after: .zero), batch, .tokenAuth(session),
      ])
    for method in Self.methods {
      let error = await #expect(throws: NetworkError.self) {
        try await client.send(Request<Void>(method, "a").with(\.caching, .onlyIfCached))
      }
      #expect(error?.statusCode == 504)
    }
    #expect(transport.sent.isEmpty)
    #expect(fetches.value == 0)
  }

  @Test func `without a cache no behavior further in takes part: no token, no retry, no failure that counts`()
    async throws
  {
    let transport = ClosureTransport()
    let fetches = Box(0)
    let session = TokenSession(
      source: .closure { _ in
        fetches.update { $0 += 1 }
        return AccessToken("t")
      })
    let (breaker, gate) = (CircuitBreaker(), Gate(isOpen: false))
    let seen = Box(0)
    let counter = ClosureBehavior("counter", beforeSend: { _ in seen.update { $0 += 1 } })
    let client = NetworkClient(
      transport, [.gate(gate), .retry(), counter, .tokenAuth(session), .circuitBreaker(breaker)])
    for _ in 0..<20 {
      let error = await #expect(throws: NetworkError.self) {
        try await client.send(Request<Void>.get("a").with(\.caching, .onlyIfCached))
      }
      #expect(error?.statusCode == 504)
      #expect(error?.request?.call.events.isEmpty == true)
    }
    #expect(transport.sent.isEmpty)
    #expect(fetches.value == 0)
    #expect(seen.value == 0)
    gate.open()
    try await client.send(.get("a"))
    #expect(transport.sent.count == 1)
  }

  @Test func `a custom cache in the place of the built-in one is used`() async throws {
    let own = ClosureBehavior("own cache", order: .caching) { request, _ in
      NetworkResponse(request: request, statusCode: 200, source: .cache)
    }
    let client = NetworkClient(ClosureTransport(), [.retry(), own])
    let response = try await client.send(Request<NetworkResponse>.get("a").with(\.caching, .onlyIfCached))
    #expect(response.statusCode == 200)
  }

  @Test func `a cache that is listed further in is asked`() async throws {
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let cache = CachingBehavior(MemoryCacheStore()).ordered(.inside(.redirects))
    let client = NetworkClient(transport, [.retry(), cache])
    try await client.send(.get("a"))
    let response = try await client.send(Request<NetworkResponse>.get("a").with(\.caching, .onlyIfCached))
    #expect(response.source == .cache)
    #expect(transport.sent.count == 1)
  }

  @Test func `a stored redirect is followed only to a stored response`() async throws {
    let fixture = CacheFixture([
      Reply(status: 301, headers: ["Location": "b", "Cache-Control": "max-age=60"]),
      Reply(headers: ["Cache-Control": "max-age=10"], body: "b"),
    ])
    try await fixture.send()
    #expect(try await fixture.send(.get("a").with(\.caching, .onlyIfCached)).text == "b")
    fixture.wait(11)
    #expect(try await fixture.send(.get("a").with(\.caching, .onlyIfCached)).statusCode == 504)
    #expect(fixture.sent.count == 2)
  }
}
