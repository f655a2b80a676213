import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Two clients share a session, and the one that requested the next token is shut down.
@Suite(.limited) struct TokenRequestShutdownTests {
  private let clock = ManualClock()
  private let gate = TestGate()
  private let staying = MockTransport(baseURL: baseURL)
  private let leaving = MockTransport(baseURL: baseURL)

  private func client(_ session: TokenSession, _ mock: MockTransport, _ behaviors: any RequestBehavior...)
    -> NetworkClient
  {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session)] + behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  /// A session whose token has expired.
  private func session() async throws -> TokenSession {
    let session = TokenSession(source: .refreshToken(.test))
    try await session.signIn(AccessToken("t1", expiresAt: clock.date.addingTimeInterval(-10), refreshToken: "r1"))
    return session
  }

  private func code(_ call: Task<Void, any Error>) async throws -> NetworkError.Code {
    try await #require(throws: NetworkError.self) { try await call.value }.code
  }

  /// Makes a transport give the next token, when the gate is open.
  private func giveToken(from mock: MockTransport) {
    let gate = gate
    mock.on(.post, "token").respond { request in
      await gate.pass()
      let json = #"{"access_token":"t2","token_type":"Bearer","refresh_token":"r2","expires_in":3600}"#
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(Data(json.utf8)))
    }
  }

  @Test func `a token request that was sent may finish, and its token serves the other client`() async throws {
    giveToken(from: leaving)
    staying.on(.get, "a").respond(200)
    let session = try await session()
    let (first, second) = (client(session, leaving), client(session, staying))
    let events = session.events
    let ended = Task { try await first.send(.get("b")) }
    await gate.waitForArrivals(1)
    let waiting = Task { try await second.send(.get("a")) }
    let shutdown = Task { await first.shutdown() }
    #expect(try await code(ended) == .clientShutDown)
    gate.open()
    await shutdown.value
    try await waiting.value
    #expect(staying.sent.map { $0.headers["Authorization"] } == ["Bearer t2"])
    #expect(await events.names(through: "refreshed") == ["refreshed"])
    await #expect(throws: NetworkError.self) { try await first.send(.get("b")) }
  }

  @Test func `a client that replaces one that is being shut down gets the token`() async throws {
    giveToken(from: leaving)
    staying.on(.get, "a").respond(200)
    let session = try await session()
    let old = client(session, leaving)
    let ended = Task { try await old.send(.get("b")) }
    await gate.waitForArrivals(1)
    let shutdown = Task { await old.shutdown() }
    #expect(try await code(ended) == .clientShutDown)
    let waiting = Task { try await client(session, staying).send(.get("a")) }
    gate.open()
    await shutdown.value
    try await waiting.value
    #expect(try await session.isSignedIn())
  }

  @Test func `shutdown waits for a token request no longer than the refresh may take`() async throws {
    giveToken(from: leaving)
    let session = try await session()
    let first = client(session, leaving)
    let ended = Task { try await first.send(.get("b")) }
    await gate.waitForArrivals(1)
    let shutdown = Task { await first.shutdown() }
    #expect(try await code(ended) == .clientShutDown)
    // The limit of the wait for the token, and that of the shutdown.
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(30))
    await shutdown.value
    #expect(gate.arrivalCount == 1)
    gate.open()
  }

  @Test func `a token request that was not sent ends at once, and the other client sends its own`() async throws {
    giveToken(from: staying)
    staying.on(.get, "a").respond(200)
    gate.open()
    let (arrived, never) = (TestGate(), ManualClock())
    let hold = ClosureBehavior("hold", order: .last) { request, next in
      guard request.method == .post else { return try await next(request) }
      arrived.arrive()
      try await request.call.wait { try await never.requestClock.sleep(for: .seconds(1)) }
      return try await next(request)
    }
    let session = try await session()
    let (first, second) = (client(session, leaving, hold), client(session, staying))
    let ended = Task { try await first.send(.get("b")) }
    await arrived.waitForArrivals(1)
    let waiting = Task { try await second.send(.get("a")) }
    await first.shutdown()
    #expect(try await code(ended) == .clientShutDown)
    try await waiting.value
    #expect(staying.sent.count == 2)
    #expect(leaving.sent.isEmpty)
  }

  @Test func `a request during the end of a token request is refused`() async throws {
    giveToken(from: leaving)
    leaving.on(.get, "c").respond(200)
    let session = try await session()
    let holding = TestGate()
    let first = client(session, leaving)
    let late = first.with {
      $0.behaviors = [
        ClosureBehavior("hold") { request, next in
          await holding.pass()
          return try await next(request)
        }
      ]
    }
    let ended = Task { try await first.send(.get("b")) }
    await gate.waitForArrivals(1)
    let sent = Task { try await late.send(.get("c")) }
    await holding.waitForArrivals(1)
    let shutdown = Task { await first.shutdown() }
    #expect(try await code(ended) == .clientShutDown)
    holding.open()
    #expect(try await code(sent) == .clientShutDown)
    gate.open()
    await shutdown.value
  }

  @Test(arguments: [AuthenticationRequirement.required, .optional])
  func `a call whose token was refused ends at once while another client asks for the next`(
    _ requirement: AuthenticationRequirement
  ) async throws {
    giveToken(from: staying)
    let refused = TestGate()
    leaving.on(.get, "b").respond { request in
      await refused.pass()
      return NetworkResponse(request: request, statusCode: 401)
    }
    staying.on(.get, "a").respond(401)
    let session = TokenSession(source: .refreshToken(.test))
    try await session.signIn(AccessToken("t1", refreshToken: "r1"))
    let end = clock.now + .seconds(100)
    let deadline = ClosureBehavior("deadline", modify: { $0.call.deadline = end })
    let (first, second) = (client(session, leaving, deadline), client(session, staying))
    let call = Task { try await first.send(.get("b").with(\.authentication, requirement)) }
    await refused.waitForArrivals(1)
    let other = Task { try await second.send(.get("a")) }
    await gate.waitForArrivals(1)
    refused.open()
    // The limit of the refresh, and that of this call's wait for it.
    await clock.waitForSleepers(2)
    await first.shutdown()
    #expect(try await code(call) == .clientShutDown)
    gate.open()
    _ = await other.result
  }

  @Test func `a call with an optional token is not sent without one because its client is shut down`() async throws {
    giveToken(from: leaving)
    leaving.on(.get, "b").respond(200)
    let session = try await session()
    let first = client(session, leaving)
    let call = Task { try await first.send(.get("b").with(\.authentication, .optional)) }
    await gate.waitForArrivals(1)
    let shutdown = Task { await first.shutdown() }
    #expect(try await code(call) == .clientShutDown)
    gate.open()
    await shutdown.value
    #expect(leaving.sent.count == 1)
  }

  @Test func `a token request that itself needs a token is let finish in the same way`() async throws {
    giveToken(from: leaving)
    staying.on(.get, "a").respond(200)
    let app = TokenSession(name: "app", source: .refreshToken(.test))
    try await app.signIn(AccessToken("t1", expiresAt: clock.date.addingTimeInterval(-10), refreshToken: "r1"))
    let user = TokenSession(
      name: "user",
      source: .closure { client in
        try await client.send(.get("exchange").with(.tokenAuth(app)).with(\.authentication, .only("app")))
        return AccessToken("u")
      })
    let (first, second) = (client(user, leaving), client(app, staying))
    let ended = Task { try await first.send(.get("b")) }
    await gate.waitForArrivals(1)
    let waiting = Task { try await second.send(.get("a")) }
    let shutdown = Task { await first.shutdown() }
    #expect(try await code(ended) == .clientShutDown)
    gate.open()
    await shutdown.value
    try await waiting.value
    #expect(try await app.isSignedIn())
  }
}
