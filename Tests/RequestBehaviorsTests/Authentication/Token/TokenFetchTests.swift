import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct TokenFetchTests {
  private let server = TokenServer()
  private let clock = ManualClock()

  private func session(
    _ source: any TokenSource = .clientCredentials(.test), store: any TokenStore = InMemoryTokenStore(),
    policy: TokenRefreshPolicy = TokenRefreshPolicy()
  ) -> TokenSession {
    TokenSession(source: source, store: store, policy: policy, clock: clock.requestClock)
  }

  private func client(_ session: TokenSession, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(server.transport, [.tokenAuth(session)] + behaviors)
  }

  @Test func `a token is fetched before the first request, and kept`() async throws {
    let session = session()
    let client = client(session)
    #expect(try await session.isSignedIn() == false)
    try await client.send(.get("a"))
    try await client.send(.get("b"))
    #expect(server.transport.sent.map { $0.url.lastPathComponent } == ["token", "a", "b"])
    #expect(server.apiRequests.allSatisfy { $0.headers["Authorization"] == "Bearer t1" })
    #expect(server.tokenRequests.first?.headers["Authorization"] == "Basic YXBwOmFwcC1zZWNyZXQ=")
    #expect(try await session.isSignedIn())
  }

  @Test func `1000 concurrent first requests make one fetch`() async throws {
    let gate = TestGate()
    server.tokenGate.value = gate
    let client = client(session())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<1_000 { group.addTask { try await client.send(.get("items/\(index)")) } }
      await gate.waitForArrivals(1)
      gate.open()
      try await group.waitForAll()
    }
    #expect(server.tokenRequests.count == 1)
    #expect(server.apiRequests.count == 1_000)
  }

  @Test func `100 concurrent 401s make one refresh`() async throws {
    let client = client(session())
    try await client.send(.get("warm"))
    server.revoke()
    let gate = TestGate()
    server.refusalGate.value = gate
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<100 { group.addTask { try await client.send(.get("items/\(index)")) } }
      await gate.waitForArrivals(100)
      gate.open()
      try await group.waitForAll()
    }
    #expect(server.tokenRequests.count == 2)
    #expect(server.apiRequests.count == 201)
  }

  @Test func `a request with a late 401 for an older token is sent again without a refresh`() async throws {
    let client = client(session())
    try await client.send(.get("warm"))
    server.revoke()
    let gate = TestGate()
    server.refusalGate.value = gate
    async let late: Void = client.send(.get("late"))
    await gate.waitForArrivals(1)
    server.refusalGate.value = nil
    try await client.send(.get("quick"))
    #expect(server.tokenRequests.count == 2)
    gate.open()
    try await late
    #expect(server.tokenRequests.count == 2)
    #expect(server.apiRequests.filter { $0.url.lastPathComponent == "late" }.count == 2)
  }

  @Test func `a token is refreshed 60 seconds before it expires`() async throws {
    let client = client(session())
    try await client.send(.get("a"))
    clock.advance(by: .seconds(3_539))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
    clock.advance(by: .seconds(1))
    try await client.send(.get("c"))
    #expect(server.tokenRequests.count == 2)
    #expect(server.apiRequests.last?.headers["Authorization"] == "Bearer t2")
  }

  @Test func `a short-lived token is refreshed when a tenth of its lifetime is left`() async throws {
    server.state.update { $0.lifetime = 100 }
    let client = client(session())
    try await client.send(.get("a"))
    clock.advance(by: .seconds(89))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
    clock.advance(by: .seconds(1))
    try await client.send(.get("c"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test(arguments: [-86_400.0, 86_400])
  func `a jump of the wall clock does not change an expiry`(jump: Double) async throws {
    let client = client(session())
    try await client.send(.get("a"))
    clock.setDate(clock.date + jump)
    clock.advance(by: .seconds(3_539))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
    clock.advance(by: .seconds(1))
    try await client.send(.get("c"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `a token that arrives expired is used, and not requested again and again`() async throws {
    server.state.update { $0.lifetime = 0 }
    let client = client(session())
    for _ in 0..<20 { try await client.send(.get("a")) }
    #expect(server.tokenRequests.count == 1)
    server.revoke()
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `a stored token is used, and refreshed if it has expired`() async throws {
    let stored = AccessToken("t0", expiresAt: clock.date + 3_600, lifetime: .seconds(3_600), refreshToken: "r0")
    server.state.update { $0.valid = "t0" }
    let store = InMemoryTokenStore(stored)
    let client = client(session(.refreshToken(.test), store: store))
    try await client.send(.get("a"))
    #expect(server.tokenRequests.isEmpty)
    clock.advance(by: .seconds(3_600))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.first?.body?.data == Data("grant_type=refresh_token&refresh_token=r0".utf8))
    #expect(try await store.load()?.refreshToken == "r1")
  }

  @Test func `two clients that share a session share its token`() async throws {
    let session = session()
    try await client(session).send(.get("a"))
    let other = client(session)
    try await other.send(.get("b"))
    await other.reset()
    try await other.send(.get("c"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `two sessions over one store make one fetch`() async throws {
    let gate = TestGate()
    server.tokenGate.value = gate
    let store = InMemoryTokenStore()
    let clients = [client(session(store: store)), client(session(store: store))]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<50 { group.addTask { try await clients[index % 2].send(.get("a")) } }
      await gate.waitForArrivals(1)
      gate.open()
      try await group.waitForAll()
    }
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a token that the user's check rejects is refreshed before it is sent`() async throws {
    let session = session()
    let client = NetworkClient(
      server.transport, [.tokenAuth(session, validation: TokenValidation { $0.value != "t1" })])
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 2)
    #expect(server.apiRequests.map { $0.headers["Authorization"] } == ["Bearer t2"])
  }

  @Test func `the token is sent in the configured field`() async throws {
    server.state.update { $0.answer = { NetworkResponse(request: $0, statusCode: 200) } }
    for header in [TokenHeader.field("X-Xapp-Token"), .authorization("Token"), .authorization] {
      try await NetworkClient(server.transport, [.tokenAuth(session(), header: header)]).send(.get("a"))
    }
    let sent = server.apiRequests
    #expect(sent[0].headers["X-Xapp-Token"] == "t1")
    #expect(!sent[0].headers.contains("Authorization"))
    #expect(sent[1].headers["Authorization"] == "Token t2")
    #expect(sent[2].headers["Authorization"] == "Bearer t3")
  }

  @Test func `a token request does not wait for its caller in a limiter of one`() async throws {
    let orders: [BehaviorOrder] = [
      .first, .observation, .deadline, .request, .coalescing, .persistence, .caching, .gate, .retry, .inside(.retry),
      .hedging, .middle, .redirects, .outside(.authentication), .circuitBreaker, .rateLimit, .signing, .verification,
      .last,
    ]
    for order in orders {
      let client = client(session(), LimiterOfOne(order: order))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 { group.addTask { try await client.send(.get("a")) } }
        try await group.waitForAll()
      }
      server.revoke()
      try await client.send(.get("b"))
    }
    #expect(server.tokenRequests.count == 2 * orders.count)
  }
}

/// Lets one request pass at a time.
private struct LimiterOfOne: RequestBehavior {
  let order: BehaviorOrder
  private let lane = Lane()

  init(order: BehaviorOrder) { self.order = order }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    await lane.enter()
    defer { lane.leave() }
    return try await next(request)
  }

  private final class Lane: Sendable {
    private let state = Box<(isTaken: Bool, queue: [CheckedContinuation<Void, Never>])>((false, []))

    func enter() async {
      await withCheckedContinuation { continuation in
        let isFree = state.update { state in
          if state.isTaken { state.queue.append(continuation) }
          defer { state.isTaken = true }
          return !state.isTaken
        }
        if isFree { continuation.resume() }
      }
    }

    func leave() {
      let next = state.update { state -> CheckedContinuation<Void, Never>? in
        if state.queue.isEmpty {
          state.isTaken = false
          return nil
        }
        return state.queue.removeFirst()
      }
      next?.resume()
    }
  }
}
