import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The work that continues after the caller has its response.
@Suite(.limited) struct CacheBackgroundTests {
  private let gate = TestGate()
  private let clock = ManualClock(date: Date(timeIntervalSince1970: 1_767_225_600))
  private let events = AsyncStream.makeStream(of: CacheEvent.Kind.self)
  private let version = Box("1")

  /// A client whose server holds every request but the first at a gate.
  private func client(_ cacheControl: String, _ store: MemoryCacheStore = MemoryCacheStore()) -> NetworkClient {
    let (gate, version, events) = (gate, version, events.continuation)
    let transport = ClosureTransport { request in
      if request.headers.contains("If-None-Match") { await gate.pass() }
      let headers: HeaderFields = ["ETag": "\"\(version.value)\"", "Cache-Control": cacheControl]
      let isSame = request.headers["If-None-Match"] == headers["ETag"]
      return NetworkResponse(
        request: request, statusCode: isSame ? 304 : 200, headers: headers,
        body: isSame ? .empty : .data(Data(version.value.utf8)))
    }
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [.caching(store) { event in events.yield(event.kind) }])
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  private func wait(for kind: CacheEvent.Kind) async {
    for await event in events.stream where event == kind { return }
  }

  @Test(arguments: ["Range", "If-None-Match"])
  func `a validation in the background asks for the whole response, without the caller's condition`(
    field: String
  ) async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"a\""])
    try await fixture.send()
    fixture.wait(61)
    let value = field == "Range" ? "bytes=0-1" : "\"b\""
    try await fixture.send(.get("a", headers: HeaderFields([.init(field, value)])))
    _ = try await eventually { fixture.kinds.contains(.revalidated) }
    #expect(fixture.sent.count == 2)
    #expect(fixture.sent.last?.headers["Range"] == nil)
    #expect(fixture.sent.last?.headers["If-None-Match"] == "\"a\"")
  }

  @Test func `RFC 5861 §3: a stale response is used at once, and the next caller gets the refreshed one`() async throws
  {
    let client = client("max-age=60, stale-while-revalidate=60")
    _ = try await client.send(.get("a")) as String
    clock.advance(by: .seconds(90))
    version.value = "2"
    for _ in 0..<3 {
      let response: NetworkResponse = try await client.send(.get("a"))
      #expect(response.source == .stale)
      #expect(try response.text == "1")
    }
    await wait(for: .stored)
    await gate.waitForArrivals(1)
    gate.open()
    await wait(for: .stored)
    let response: NetworkResponse = try await client.send(.get("a"))
    #expect(response.source == .cache)
    #expect(try response.text == "2")
  }

  @Test func `shutting the client down ends the refresh`() async throws {
    let client = client("max-age=60, stale-while-revalidate=60")
    _ = try await client.send(.get("a")) as String
    clock.advance(by: .seconds(90))
    _ = try await client.send(.get("a")) as String
    await gate.waitForArrivals(1)
    await client.shutdown()
    gate.open()
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) as String }
  }

  @Test func `a client that verifies does not use a stored response that was not verified`() async throws {
    let store = MemoryCacheStore()
    let transport = ClosureTransport { request in
      var headers: HeaderFields = ["Cache-Control": "max-age=60"]
      headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      return NetworkResponse(request: request, statusCode: 200, headers: headers)
    }
    let client = NetworkClient(transport, [.caching(store), .nonceVerification()])
    let request: Request<NetworkResponse> = .get("a")
    _ = try await client.send(request.without(NonceVerificationBehavior.self))
    #expect(try await client.send(request).source == .network)
    #expect(try await client.send(request).source == .cache)
    #expect(try await client.send(request.without(NonceVerificationBehavior.self)).source == .cache)
    #expect(transport.sent.count == 2)
  }

  @Test func `the stored responses of a user are removed when the user's scope ends`() async throws {
    struct Scope: RequestBehavior {
      let user: String
      func scope(for request: NetworkRequest) async -> String? { user }
    }
    let store = MemoryCacheStore()
    let behavior = CachingBehavior(store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    for user in ["alice", "bob"] {
      _ = try await NetworkClient(transport, [behavior, Scope(user: user)]).send(.get("a")) as String
    }
    #expect(store.count == 2)
    await behavior.scopeEnded("alice")
    #expect(await store.entries(limit: 9).map(\.key.scopes) == [["bob"]])
  }

  @Test(arguments: [[], [.coalescing()]] as [[any RequestBehavior]])
  func `a stale response replaces the failure of a missed deadline, but not a cancellation`(
    behaviors: [any RequestBehavior]
  ) async throws {
    let transport = ClosureTransport.validatingLate("1")
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [.deadline(.seconds(10)), .caching(MemoryCacheStore())] + behaviors)
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: transport)
    _ = try await client.send(.get("a")) as String
    clock.advance(by: .seconds(90))
    let late = Task { try await client.send(.get("a")) as NetworkResponse }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(11))
    #expect(try await late.value.source == .stale)
    let cancelled = Task { try await client.send(.get("a")) as NetworkResponse }
    await clock.waitForSleepers(2)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }
}
