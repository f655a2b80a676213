import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct SignOutTests {
  private let server = TokenServer()
  private let clock = ManualClock()
  private let store = InMemoryTokenStore()

  private func session(_ source: any TokenSource = .refreshToken(.test)) -> TokenSession {
    TokenSession(source: source, store: store, clock: clock.requestClock)
  }

  private func signedIn(as token: String = "t0", name: String = "") async throws -> TokenSession {
    let session = TokenSession(name: name, source: .refreshToken(.test), store: store, clock: clock.requestClock)
    try await session.signIn(AccessToken(token, lifetime: .seconds(3_600), refreshToken: "r0"))
    return session
  }

  private func client(_ session: TokenSession, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(server.transport, [.tokenAuth(session)] + behaviors)
  }

  private func error(_ client: NetworkClient, _ request: Request<Void> = .get("a")) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await client.send(request) }
  }

  private func answerAll(_ statusCode: Int, isVerified: Bool = true) {
    server.state.update { state in
      state.answer = { NetworkResponse(request: $0, statusCode: statusCode, isVerified: isVerified) }
    }
  }

  @Test func `a 401 after a refresh signs out, and is returned after two sends`() async throws {
    let session = try await signedIn()
    let events = session.events
    answerAll(401)
    let error = try await error(client(session))
    #expect(error.statusCode == 401)
    #expect(error.attempts.count == 2)
    #expect(try await session.isSignedIn() == false)
    #expect(try await store.load() == nil)
    var seen: [String] = []
    for await event in events {
      seen.append("\(event)".prefix { $0.isLetter }.description)
      if case .signedOut = event { break }
    }
    #expect(seen == ["refreshed", "signedOut"])
  }

  @Test func `a 401 that is not verified does not change the session`() async throws {
    let session = try await signedIn()
    answerAll(401, isVerified: false)
    #expect(try await error(client(session)).statusCode == 401)
    #expect(try await session.isSignedIn())
    #expect(server.tokenRequests.isEmpty)
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a forged 401 without the nonce does not sign out`() async throws {
    let session = try await signedIn()
    answerAll(401)
    #expect(try await error(client(session, .nonceVerification())).code == .intercepted)
    #expect(try await session.isSignedIn())
    #expect(server.tokenRequests.isEmpty)
  }

  @Test func `a 401 to a request without the session's token does not change the session`() async throws {
    let session = try await signedIn()
    answerAll(401)
    let stripping = ClosureBehavior("strip", order: .last, modify: { $0.headers.remove("Authorization") })
    #expect(try await error(client(session, stripping)).statusCode == 401)
    #expect(try await error(client(session), .get("a").with(\.authentication, .none)).statusCode == 401)
    #expect(try await session.isSignedIn())
    #expect(server.tokenRequests.isEmpty)
    #expect(server.apiRequests.count == 2)
  }

  @Test func `a custom check decides which response is unauthorized`() async throws {
    let session = try await signedIn(as: "t0")
    answerAll(419)
    let client = NetworkClient(
      server.transport, [.tokenAuth(session, isUnauthorized: { $0.statusCode == 419 })])
    #expect(try await error(client).statusCode == 419)
    #expect(server.tokenRequests.count == 1)
    #expect(server.apiRequests.count == 2)
  }

  @Test func `signing out during a refresh fails the waiting calls, and the late token is dropped`() async throws {
    let gate = TestGate()
    server.tokenGate.value = gate
    let session = try await signedIn()
    let client = client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    let error = try await #require(throws: NetworkError.self) { try await task.value }
    #expect(error.code == .signedOut)
    gate.open()
    // The server accepts no token until it has given one.
    await server.given.waitForArrivals(1)
    try await session.signIn(AccessToken("t1"))
    try await client.send(.get("a"))
    #expect(try await store.load()?.value == "t1")
    #expect(try await store.load()?.refreshToken == nil)
  }

  @Test func `signing out while the new token is being stored leaves no token in the store`() async throws {
    let gate = TestGate()
    let slow = GatedStore(gate)
    let session = TokenSession(source: .clientCredentials(.test), store: slow, clock: clock.requestClock)
    let client = client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    let signOut = Task { try await session.signOut() }
    let error = try await #require(throws: NetworkError.self) { try await task.value }
    #expect(error.code == .signedOut)
    gate.open()
    try await signOut.value
    #expect(slow.token.value == nil)
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a call of one user is not sent again as another`() async throws {
    let session = try await signedIn(as: "alice")
    server.state.update { $0.valid = "bob" }
    let gate = TestGate()
    server.refusalGate.value = gate
    let again = ClosureBehavior(
      "again", order: .retry,
      intercept: { request, next in
        let response = try await next(request)
        return response.isAcceptable ? response : try await next(request)
      })
    let client = client(session, again)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    try await session.signIn(AccessToken("bob"))
    gate.open()
    let error = try await #require(throws: NetworkError.self) { try await task.value }
    #expect(error.code == .signedOut)
    #expect(server.apiRequests.map { $0.headers["Authorization"] } == ["Bearer alice"])
    try await client.send(.get("a"))
  }

  @Test func `responses of two users never share a scope, those of one user do`() async throws {
    let session = try await signedIn()
    let behavior = TokenAuthBehavior(session)
    let request = NetworkRequest(url: baseURL, call: Call(baseOrigin: Origin(baseURL)))
    let first = try #require(await behavior.scope(for: request))
    try await client(session).send(.get("a"))
    #expect(await behavior.scope(for: request) == first)
    try await session.signOut()
    let nobody = await behavior.scope(for: request)
    try await session.signIn(AccessToken("bob"))
    let second = await behavior.scope(for: request)
    #expect(Set([first, nobody, second]).count == 3)
    #expect(await behavior.scope(for: NetworkRequest(url: try #require(URL(string: "https://other.example")))) == nil)
  }

  @Test func `every subscriber gets all events`() async throws {
    let session = session()
    let subscribers = [session.events, session.events]
    try await session.signIn(AccessToken("t0"))
    try await session.signOut()
    try await session.signOut()
    try await session.signIn(AccessToken("t0"))
    for events in subscribers {
      var seen: [String] = []
      for await event in events {
        seen.append("\(event)".prefix { $0.isLetter }.description)
        if seen.count == 3 { break }
      }
      #expect(seen == ["signedIn", "signedOut", "signedIn"])
    }
  }

  @Test func `an event is sent before waiting requests continue`() async throws {
    let (server, gate, clock) = (server, TestGate(), ManualClock())
    server.tokenGate.value = gate
    let (subscribed, late) = (Box<TokenSession?>(nil), Box<TokenEvents?>(nil))
    // The timer of the wait ends with the refresh, before the requests continue.
    let observed = RequestClock(
      now: clock.requestClock.now, date: clock.requestClock.date,
      sleep: { duration in
        try await withTaskCancellationHandler {
          try await clock.requestClock.sleep(for: duration)
        } onCancel: {
          late.value = subscribed.value?.events
        }
      })
    let session = TokenSession(source: .refreshToken(.test), clock: observed)
    try await session.signIn(AccessToken("alice", refreshToken: "r0"))
    let events = session.events
    subscribed.value = session
    let task = Task { try await client(session).send(.get("a")) }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    gate.open()
    try await task.value
    #expect(await events.namesSoFar() == ["refreshed"])
    #expect(try await #require(late.value).namesSoFar() == [])
  }

  @Test func `without a token and a way to get one the request is not sent`() async throws {
    let error = try await error(client(session()))
    #expect(error.code == .notSignedIn)
    #expect(error.message.contains("signIn(_:)"))
    #expect(server.transport.sent.isEmpty)
  }

  @Test func `a token that came without a refresh token ends with its session`() async throws {
    let session = session()
    try await session.signIn(AccessToken("t0"))
    #expect(try await error(client(session)).code == .notSignedIn)
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a 401 that may concern another credential keeps a token that cannot be refreshed`() async throws {
    answerAll(401)
    let session = session()
    try await session.signIn(AccessToken("t0"))
    let client = NetworkClient(server.transport, [.apiKey("X-API-Key", "k"), .tokenAuth(session)])
    #expect(try await error(client).statusCode == 401)
    #expect(try await session.isSignedIn())
    #expect(server.transport.sent.count == 1)
  }

  @Test func `a token that cannot be refreshed is used until it has expired`() async throws {
    let session = session()
    answerAll(200)
    let client = client(session)
    try await client.send(.get("a").with(\.authentication, .none))
    try await session.signIn(AccessToken("t0", lifetime: .seconds(600)))
    clock.advance(by: .seconds(599))
    try await client.send(.get("a"))
    #expect(server.apiRequests.last?.headers["Authorization"] == "Bearer t0")
    clock.advance(by: .seconds(2))
    #expect(try await error(client).code == .notSignedIn)
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a one-shot body is not sent again, but the token is refreshed for later calls`() async throws {
    let session = try await signedIn()
    let client = client(session)
    let taking = ClosureBehavior(
      "take", order: .last,
      beforeSend: {
        if case .oneShot(let stream)? = $0.body?.content { _ = try? await stream.take().collect(upTo: 1) }
      })
    let upload = Request<Void>.post("a", body: .body(.oneShot(ByteStream(chunks: [Data("x".utf8)])))).with(taking)
    let refused = try await error(client, upload)
    #expect(refused.statusCode == 401)
    #expect(server.apiRequests.count == 1)
    #expect(refused.request?.call.events.contains { $0.message.contains("one-shot") } == true)
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
  }

  // MARK: - The option

  @Test func `an optional request is sent without a token if none is available`() async throws {
    answerAll(200)
    let request = Request<Void>.get("a").with(\.authentication, .optional)
    try await client(session()).send(request)
    let app = session(.clientCredentials(.test))
    server.refuseToken(500)
    try await client(app).send(request)
    #expect(server.apiRequests.allSatisfy { !$0.headers.contains("Authorization") })
    try await client(app).send(request)
    #expect(server.apiRequests.last?.headers["Authorization"] == "Bearer t1")
  }

  @Test func `a request can ask for the token of one session by name`() async throws {
    answerAll(200)
    let user = TokenSession(name: "user", source: .refreshToken(.test))
    let app = TokenSession(name: "app", source: .clientCredentials(.test))
    try await user.signIn(AccessToken("u1"))
    let client = NetworkClient(
      server.transport, [.tokenAuth(user), .tokenAuth(app, header: .field("X-App-Token"))])
    try await client.send(.get("a").with(\.authentication, .only("user")))
    try await client.send(.get("a").with(\.authentication, .only("app")))
    try await client.send(.get("a"))
    let sent = server.apiRequests.map { [$0.headers["Authorization"], $0.headers["X-App-Token"]] }
    #expect(sent == [["Bearer u1", nil], [nil, "t1"], ["Bearer u1", "t1"]])
  }
}

/// Holds every write back until its gate is open.
private final class GatedStore: TokenStore {
  let token = Box<AccessToken?>(nil)
  private let gate: TestGate

  init(_ gate: TestGate) { self.gate = gate }

  func load() async throws -> AccessToken? { nil }

  func save(_ token: AccessToken?) async throws {
    await gate.pass()
    self.token.value = token
  }
}
