import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The owners of responses that are kept while sessions begin, before and after the first token.
@Suite(.limited) struct CacheSessionTests {
  private let store = MemoryCacheStore()
  private let events = Box<[CacheEvent]>([])

  private var caching: CachingBehavior {
    let events = events
    return CachingBehavior(store) { event in events.update { $0.append(event) } }
  }

  /// Answers with the token that came.
  private let transport = ClosureTransport { request in
    let token = request.headers["Authorization"] ?? "none"
    return NetworkResponse(
      request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: .data(Data(token.utf8)))
  }

  private let get = Request<String>.get("me")

  @Test func `the response to the request that waited for the very first token is cached`() async throws {
    let session = TokenSession(source: .closure { _ in AccessToken("t1") })
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    for _ in 0..<2 { #expect(try await client.send(get) == "Bearer t1") }
    #expect(events.value.map(\.kind) == [.miss, .stored, .hit])
  }

  @Test func `a call that waits for the token store gets no response of a user who signs in meanwhile`() async throws {
    let earlier = TokenSession(source: .signInOnly)
    try await earlier.signIn(AccessToken("bob's"), as: "bob")
    let before = NetworkClient(transport, [caching, .tokenAuth(earlier)])
    #expect(try await before.send(get) == "Bearer bob's")
    let gate = TestGate()
    defer { gate.open() }
    let session = TokenSession(source: .signInOnly, store: GatedTokenStore(gate: gate))
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    let call = Task { try await client.send(get) }
    await gate.waitForArrivals(1)
    let signIn = Task { try await session.signIn(AccessToken("bob's"), as: "bob") }
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .signedOut)
    gate.open()
    try await signIn.value
    #expect(try await client.send(get) == "Bearer bob's")
    #expect(transport.sent.count == 1)
  }

  @Test func `the responses to all requests that waited for the very first token are stored`() async throws {
    let gate = TestGate()
    let session = TokenSession(
      source: .closure { _ in
        await gate.pass()
        return AccessToken("t1")
      })
    let observer = RecordedEvents()
    let client = NetworkClient(transport, [observer, caching, .tokenAuth(session)])
    let calls = (0..<3).map { index in Task { try await client.send(Request<String>.get("users/\(index)")) } }
    await observer.waitFor(3, "miss")
    await gate.waitForArrivals(1)
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(store.count == 3)
    #expect(events.value.compactMap(\.refusal).isEmpty)
  }

  @Test func `the first token after a sign-out has a scope of its own`() async throws {
    let count = Box(0)
    let session = TokenSession(
      source: .closure { _ in
        let number = count.update { count in
          count += 1
          return count
        }
        return AccessToken("t\(number)")
      })
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    for number in 1...3 {
      for _ in 0..<2 { #expect(try await client.send(get) == "Bearer t\(number)") }
      try await session.signOut()
      #expect(store.count == 0)
    }
    #expect(transport.sent.count == 3)
  }

  @Test(arguments: ["no-store", "max-age=60"], [1, 2])
  func `a request that is redirected to the session's origin does not get a response stored without a token`(
    control: String, hops: Int
  ) async throws {
    let inner = transport
    let transport = ClosureTransport { request in
      let isLast = request.url.lastPathComponent == "me"
      if isLast { return try await inner.send(request) }
      let next = request.origin == Origin(baseURL) || hops == 1 ? "me" : "hop"
      return NetworkResponse(
        request: request, statusCode: 302,
        headers: ["Location": "https://api.example.com/v1/\(next)", "Cache-Control": control])
    }
    let session = TokenSession(source: .closure { _ in throw Failure("no token") })
    try await session.signIn(AccessToken("t1"))
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    let other = Request<String>.get(url: try #require(URL(string: "https://other.example.net/x")))
    #expect(try await client.send(get.with(\.authentication, .none)) == "none")
    for _ in 0..<2 { #expect(try await client.send(other) == "Bearer t1") }
    #expect(try await client.send(get.with(\.authentication, .none)) == "none")
  }

  /// A client whose token has expired, and whose response is stale.
  private func stale(
    _ failure: @escaping @Sendable () async throws -> AccessToken, _ behaviors: any RequestBehavior...
  ) async throws -> (NetworkClient, ManualClock) {
    let clock = ManualClock()
    let session = TokenSession(source: .closure { _ in try await failure() }, clock: clock.requestClock)
    try await session.signIn(AccessToken("t1", lifetime: .seconds(3_600), refreshToken: "r1"))
    let client = NetworkClient(
      transport, clock.requestClock,
      behaviors + [.caching(store, policy: CachePolicy(staleIfError: .seconds(86_400))), .tokenAuth(session)])
    _ = try await client.send(get)
    clock.advance(by: .seconds(7_200))
    return (client, clock)
  }

  private func response(_ status: Int) -> NetworkResponse {
    NetworkResponse(request: NetworkRequest(.post, url: baseURL), statusCode: status)
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .offline, .timedOut, .circuitOpen])
  func `a stale response is used if the token cannot be refreshed because the server cannot be reached`(
    code: NetworkError.Code
  ) async throws {
    let (client, _) = try await stale { throw NetworkError(code, "the test's server fails") }
    #expect(try await client.send(get.returning(NetworkResponse.self)).source == .stale)
  }

  @Test(arguments: [500, 502, 503, 504])
  func `a stale response is used if the token endpoint reports its own failure`(status: Int) async throws {
    let error = NetworkError.unacceptableStatus(response(status))
    let (client, _) = try await stale { throw error }
    #expect(try await client.send(get.returning(NetworkResponse.self)).source == .stale)
  }

  @Test func `a stale response stands in where the deadline passes while the token is refreshed`() async throws {
    let gate = TestGate()
    let (client, clock) = try await stale(
      {
        await gate.pass()
        return AccessToken("t2")
      }, .deadline(.seconds(5)))
    let call = Task { try await client.send(get.returning(NetworkResponse.self)).source }
    await gate.waitForArrivals(1)
    clock.advance(by: .seconds(6))
    #expect(try await call.value == .stale)
    gate.open()
  }

  @Test func `a stale response does not replace a token that the server refuses, or an error of the token source`()
    async throws
  {
    let refused = NetworkError.unacceptableStatus(response(400))
    for error: any Error in [refused, Failure("own"), NetworkError.notSignedIn()] {
      let (client, _) = try await stale { throw error }
      await #expect(throws: NetworkError.self) { try await client.send(get.returning(NetworkResponse.self)) }
    }
  }

  @Test func `a response without a token is not used for a user who signs in, nor the reverse`() async throws {
    let isDown = Box(true)
    let session = TokenSession(
      source: .closure { _ in
        if isDown.value { throw Failure("no token") }
        return AccessToken("t1")
      })
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    let optional = get.with(\.authentication, .optional)
    for _ in 0..<2 { #expect(try await client.send(optional) == "none") }
    #expect(transport.sent.count == 1)
    isDown.value = false
    try await session.signIn(AccessToken("t2"))
    #expect(try await client.send(optional) == "Bearer t2")
    try await session.signOut()
    isDown.value = true
    #expect(try await client.send(optional) == "none")
  }

  @Test func `a response without a token is not used for a user whose first token came later`() async throws {
    let isDown = Box(true)
    let session = TokenSession(
      source: .closure { _ in
        if isDown.value { throw Failure("no token") }
        return AccessToken("t1")
      })
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    #expect(try await client.send(get.with(\.authentication, .optional)) == "none")
    isDown.value = false
    #expect(try await client.send(get.with(\.caching, .reload)) == "Bearer t1")
    #expect(try await client.send(get) == "Bearer t1")
    let scopes = await Set(store.entries(limit: 9).map(\.key.scopes))
    #expect(scopes.count == store.count)
  }

  @Test(arguments: ["Authorization", ""])
  func `a response without the token of the signed-in user is not stored as the user's`(_ varies: String) async throws {
    let isDown = Box(true)
    let transport = ClosureTransport { request in
      let headers: HeaderFields = ["Cache-Control": "max-age=60", "Vary": varies]
      let token = request.headers["Authorization"] ?? "none"
      return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(Data(token.utf8)))
    }
    let session = TokenSession(
      source: .refreshing { _, _ in
        if isDown.value { throw Failure("no token") }
        return AccessToken("t2")
      })
    try await session.signIn(AccessToken("t1", expiresAt: .distantPast, refreshToken: "r1"), as: "anna")
    let client = NetworkClient(transport, [caching, .tokenAuth(session)])
    #expect(try await client.send(get.with(\.authentication, .optional)) == "none")
    #expect(events.value.compactMap(\.refusal) == [.otherUser])
    isDown.value = false
    #expect(try await client.send(get) == "Bearer t2")
    #expect(try await client.send(get) == "Bearer t2")
    #expect(transport.sent.count == 2)
  }

  @Test func `a response without the token of the signed-in user is not used for a call that requires it`() async throws
  {
    let (gate, isDown) = (TestGate(), Box(true))
    let transport = ClosureTransport { request in
      let token = request.headers["Authorization"] ?? "none"
      if token == "none" { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(token.utf8)))
    }
    let session = TokenSession(
      source: .refreshing { _, _ in
        if isDown.value { throw Failure("no token") }
        return AccessToken("t2")
      })
    try await session.signIn(AccessToken("t1", expiresAt: .distantPast, refreshToken: "r1"), as: "anna")
    let client = NetworkClient(transport, [.coalescing(), .tokenAuth(session)])
    let optional = Task { try await client.send(get.with(\.authentication, .optional)) }
    await gate.waitForArrivals(1)
    isDown.value = false
    #expect(try await client.send(get) == "Bearer t2")
    gate.open()
    #expect(try await optional.value == "none")
  }

  @Test func `events may come without the token of the signed-in user`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "text/event-stream"],
        body: .data(Data("data: \(request.headers["Authorization"] ?? "none")\n\n".utf8)))
    }
    let session = TokenSession(source: .refreshing { _, _ in throw Failure("no token") })
    try await session.signIn(AccessToken("t1", expiresAt: .distantPast, refreshToken: "r1"))
    let client = NetworkClient(transport, [.tokenAuth(session)])
    var events: [String] = []
    let request = Request<NetworkResponse>.get("feed").with(\.authentication, .optional)
    for try await event in client.events(request, reconnecting: EventReconnection()) {
      events.append(event.data)
      break
    }
    #expect(events == ["none"])
  }
}

/// A store whose first reading waits.
private final class GatedTokenStore: TokenStore {
  private let gate: TestGate

  init(gate: TestGate) { self.gate = gate }

  func load() async throws -> AccessToken? {
    await gate.pass()
    return nil
  }

  func save(_ token: AccessToken?) async throws {}
}
