import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Requests that wait, with a token, for their turn: what they are sent with, and whether.
@Suite(.limited) struct TokenLateSendTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()

  /// Holds requests as a limiter does.
  private var limiter: ClosureBehavior {
    ClosureBehavior(
      "limiter", order: .rateLimit,
      intercept: { [gate] request, next in
        await gate.pass()
        return try await next(request)
      })
  }

  @Test func `two sends of a call with two tokens are both dropped after a sign-out`() async throws {
    let session = try await fixture.alice()
    let (gate, failures, second) = (gate, Box<[NetworkError.Code?]>([]), TestGate())
    let twice = ClosureBehavior(
      "twice", order: .hedging,
      intercept: { request, next in
        @Sendable func attempt() async throws -> NetworkResponse {
          do { return try await next(request) } catch {
            failures.update { $0.append((error as? NetworkError)?.code) }
            throw error
          }
        }
        async let first = attempt()
        await second.pass()
        async let other = attempt()
        _ = try? await first
        return try await other
      })
    let task = Task { try await fixture.client(session, twice, limiter).send(.get("a")) }
    await gate.waitForArrivals(1)
    try await fixture.client(session).send(.get("b"))
    second.open()
    await gate.waitForArrivals(2)
    try await session.signOut()
    let before = server.apiRequests.count
    gate.open()
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(failures.value == [.signedOut, .signedOut])
    #expect(server.apiRequests.count == before)
  }

  @Test func `a request whose token was replaced while it waited in a limiter is sent with the newer one`() async throws
  {
    let session = try await fixture.alice()
    let signed = Box<[String?]>([])
    let signing = ClosureBehavior(
      "signing", order: .signing,
      beforeSend: { request in signed.update { $0.append(request.headers["Authorization"]) } })
    let waiting = fixture.client(session, limiter, signing)
    let task = Task { try await waiting.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await fixture.client(session).send(.get("b"))
    gate.open()
    try await task.value
    #expect(fixture.sentTokens == ["Bearer alice", "Bearer t1", "Bearer t1"])
    #expect(signed.value == ["Bearer t1"], "what signs sees what is sent")
    #expect(server.apiRequests.last?.headers.field(named: "Authorization")?.sensitivity == .baseURL)
  }

  @Test func `a newer token that is refused after all is replaced and the request sent again`() async throws {
    let session = try await fixture.alice()
    let waiting = fixture.client(session, limiter)
    let task = Task { try await waiting.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await fixture.client(session).send(.get("b"))
    server.revoke()
    gate.open()
    try await task.value
    #expect(fixture.sentTokens == ["Bearer alice", "Bearer t1", "Bearer t1", "Bearer t2"])
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `a token field that a behavior further in has replaced keeps its value`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let own = ClosureBehavior("own", order: .authentication, modify: { $0.headers["Authorization"] = "Own x" })
    let waiting = fixture.client(session, own, limiter)
    let task = Task { try await waiting.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    gate.open()
    try await task.value
    #expect(fixture.sentTokens == ["Own x"])
  }

  // MARK: - On real threads

  /// Reports requests that arrive with a token after the end of its session.
  private final class WatchingTransport: Transport {
    let ended = Box(0)
    let late = Box(0)
    let arrived = Box(0)

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      let number = Int(request.headers["Authorization"]?.dropFirst(7) ?? "") ?? 0
      if number <= ended.value { late.update { $0 += 1 } }
      arrived.update { $0 += 1 }
      return NetworkResponse(request: request, statusCode: 200)
    }

    func shutdown() async {}
  }

  @Test func `after a sign-out returns no request arrives with a token, in thousands of sends`() async throws {
    let transport = WatchingTransport()
    let session = TokenSession(source: .refreshToken(.test))
    let client = NetworkClient(transport, [.tokenAuth(session)])
    for round in 1...250 {
      try await session.signIn(AccessToken("\(round)"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<32 { group.addTask { try? await client.send(.get("a")) } }
        group.addTask {
          try await session.signOut()
          transport.ended.value = round
        }
        try await group.waitForAll()
      }
    }
    #expect(transport.late.value == 0, "of \(transport.arrived.value)")
    #expect(transport.arrived.value > 1_000)
  }

  @Test func `a sign-out by the transport itself does not wait for its own request`() async throws {
    let session = try await fixture.alice()
    let transport = ClosureTransport { request in
      try await session.signOut()
      return NetworkResponse(request: request, statusCode: 200)
    }
    try await NetworkClient(transport, [.tokenAuth(session)]).send(.get("a"))
    #expect(try await session.isSignedIn() == false)
  }

  #if os(Linux)
    /// Takes a request with its present jar, and signs out in between, where a request cannot be held otherwise.
    private final class JarTransport: Transport {
      let session: TokenSession
      let jar = Box(0)
      let usedJar = Box<Int?>(nil)
      let signOut = Box<Task<Void, any Error>?>(nil)

      init(_ session: TokenSession) { self.session = session }

      func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        signOut.value = Task.immediate { [session] in try await session.signOut() }
        usedJar.value = jar.value
        return NetworkResponse(request: request, statusCode: 200)
      }

      func forgetUser() { jar.update { $0 += 1 } }
      func shutdown() async {}
    }

    @Test func `the next user does not get a cookie jar used by a request handed over during the sign-out`()
      async throws
    {
      let session = try await fixture.alice()
      let transport = JarTransport(session)
      let client = NetworkClient(transport, [.tokenAuth(session)])
      try await client.send(.get("a"))
      try await transport.signOut.value?.value
      #expect(try transport.jar.value > #require(transport.usedJar.value))
      withExtendedLifetime(client) {}
    }
  #endif

  @Test func `a sign-out does not wait for the response to a request under way`() async throws {
    let session = try await fixture.alice()
    let gate = gate
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    #expect(try await session.isSignedIn() == false)
    gate.open()
    try await task.value
  }

  @Test func `a cancelled call reaches the transport as cancelled`() async throws {
    let session = try await fixture.alice()
    let (gate, wasCancelled) = (gate, Box(false))
    let transport = ClosureTransport { request in
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        wasCancelled.value = true
        gate.open()
      }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(wasCancelled.value)
  }
}
