import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct RefreshFailureTests {
  private let server = TokenServer()
  private let clock = ManualClock()
  private let store = InMemoryTokenStore()

  private func session(
    _ source: any TokenSource = .refreshToken(.test), policy: TokenRefreshPolicy = TokenRefreshPolicy()
  ) -> TokenSession {
    TokenSession(source: source, store: store, policy: policy, clock: clock.requestClock)
  }

  /// A session that is signed in with a token that the server does not accept any more.
  private func staleSession(_ source: any TokenSource = .refreshToken(.test)) async throws -> TokenSession {
    let session = session(source)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    return session
  }

  private func client(_ session: TokenSession, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(server.transport, [.tokenAuth(session)] + behaviors)
  }

  private func error(_ client: NetworkClient, _ request: Request<Void> = .get("a")) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await client.send(request) }
  }

  // MARK: - The token endpoint refuses

  @Test(arguments: [
    (400, #"{"error":"invalid_grant"}"#, true), (401, #"{"error":"invalid_grant"}"#, true),
    (403, #"{"error":"invalid_grant"}"#, true), (200, #"{"error":"invalid_grant","access_token":"x"}"#, true),
    (401, "", false), (403, "", false), (401, #"{"error":"invalid_client"}"#, false),
    (400, #"{"error":"temporarily_unavailable"}"#, false), (400, #"{"error":{"code":"invalid_grant"}}"#, false),
    (400, #"[{"error":"invalid_grant"}]"#, false), (400, #"{"error":"invalid_request"}"#, false),
    (403, "<html>", false), (429, "", false), (500, "", false), (503, #"{"error":"invalid_grant"}"#, false),
  ])
  func `only a permanent refusal signs out`(status: Int, body: String, isTerminal: Bool) async throws {
    let session = try await staleSession()
    let events = session.events
    server.refuseToken(status, body)
    let error = try await error(client(session))
    #expect(error.code == .tokenUnavailable)
    #expect(error.statusCode == nil)
    #expect(error.response == nil)
    #expect((error.underlyingError as? NetworkError)?.statusCode == status)
    #expect(try await session.isSignedIn() == !isTerminal)
    #expect(try await store.load()?.value == (isTerminal ? nil : "t0"))
    for await event in events {
      switch event {
      case .signedOut(.refused(let reason)): #expect(isTerminal && (reason as? NetworkError)?.statusCode == status)
      case .refreshFailed: #expect(!isTerminal)
      default: Issue.record("unexpected \(event)")
      }
      break
    }
  }

  @Test func `a missing token endpoint is not a 404 of a request that may find nothing`() async throws {
    struct Thing: Decodable, Sendable {}
    server.refuseToken(404)
    let client = client(session(.clientCredentials(.test)))
    let error = try await #require(throws: NetworkError.self) {
      let _: Thing? = try await client.send(Request<Thing?>.get("a").nilWhenNotFound())
    }
    #expect(error.code == .tokenUnavailable)
    #expect(error.statusCode == nil)
    #expect(error.cause?.statusCode == 404)
    #expect(error.request?.url.lastPathComponent == "a")
    #expect(error.attempts.isEmpty)
    #expect(error.message.contains("404"))
  }

  @Test(arguments: [(400, #"{"error":"invalid_grant"}"#), (401, #"{"error":"invalid_grant"}"#), (403, "")])
  func `a refusal that is not verified does not sign out`(status: Int, body: String) async throws {
    let session = try await staleSession()
    server.refuseToken(status, body, isVerified: false)
    _ = try await error(client(session))
    #expect(try await session.isSignedIn())
  }

  @Test func `the error for a token endpoint that responds with HTML names it, and does not sign out`() async throws {
    let session = try await staleSession()
    server.state.update { state in
      state.refusals.append { request in
        NetworkResponse(
          request: request, statusCode: 200, headers: ["Content-Type": "text/html"],
          body: .data(Data("<html>Welcome to the hotel</html>".utf8)))
      }
    }
    let error = try await error(client(session))
    #expect(error.code == .tokenUnavailable)
    #expect(error.message.contains("answered 200 with no token (text/html): it is not a JSON object"))
    #expect(try await session.isSignedIn())
    try await client(session).send(.get("a"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `a failed refresh fails the waiting calls, and is not repeated for them`() async throws {
    let session = try await staleSession()
    let refusals = TestGate()
    server.refusalGate.value = refusals
    server.refuseToken(500)
    let client = client(session)
    await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<20 {
        group.addTask {
          do {
            try await client.send(.get("a"))
            return nil
          } catch { return (error as? NetworkError)?.cause?.statusCode }
        }
      }
      await refusals.waitForArrivals(20)
      refusals.open()
      for await status in group { #expect(status == 500) }
    }
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a call that is tried again does not refresh again after a failure`() async throws {
    server.refuseToken(500)
    let twice = ClosureBehavior(
      "twice", order: .retry,
      intercept: { request, next in
        do { return try await next(request) } catch { return try await next(request) }
      })
    let client = client(session(.clientCredentials(.test)), twice)
    #expect(try await error(client).cause?.statusCode == 500)
    #expect(server.tokenRequests.count == 1)
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `after a failed early refresh a token is used until it expires`() async throws {
    let session = session(.clientCredentials(.test))
    let client = client(session)
    try await client.send(.get("a"))
    clock.advance(by: .seconds(3_550))
    server.refuseToken(503)
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 2)
    #expect(server.apiRequests.last?.headers["Authorization"] == "Bearer t1")
  }

  @Test func `at most five refreshes are sent within 30 seconds`() async throws {
    let session = session(.clientCredentials(.test))
    let client = client(session)
    for _ in 0..<5 {
      server.refuseToken(500)
      #expect(try await error(client).cause?.statusCode == 500)
    }
    let refused = try await error(client)
    #expect(refused.code == .tokenUnavailable)
    #expect(refused.message.contains("5 times"))
    #expect(refused.statusCode == nil)
    #expect(refused.cause?.statusCode == 500)
    #expect(server.tokenRequests.count == 5)
    clock.advance(by: .seconds(30))
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 6)
  }

  @Test func `after the limit of refreshes the 401 is returned unchanged`() async throws {
    let session = session(policy: TokenRefreshPolicy(limit: 0))
    try await session.signIn(AccessToken("t0", refreshToken: "r0"))
    let error = try await error(client(session))
    #expect(error.code == .unacceptableStatus)
    #expect(error.statusCode == 401)
    #expect(try await session.isSignedIn())
    #expect(server.tokenRequests.isEmpty)
  }

  // MARK: - The source misbehaves

  @Test func `a source that throws fails the request, and the next one asks it again`() async throws {
    let throwing = Box(true)
    let session = session(
      .closure { _ in
        if throwing.value { throw CocoaError(.featureUnsupported) }
        return AccessToken("t9")
      })
    let client = client(session)
    server.state.update { $0.valid = "t9" }
    let error = try await error(client)
    #expect(error.code == .tokenUnavailable)
    #expect(error.underlyingError is CocoaError)
    throwing.value = false
    try await client.send(.get("a"))
  }

  @Test func `a source that cancels itself does not count as a cancelled caller`() async throws {
    let error = try await error(client(session(.closure { _ in throw CancellationError() })))
    #expect(error.code == .tokenUnavailable)
    #expect(error.underlyingError is CancellationError)
  }

  @Test func `a source that does not answer is waited for 30 seconds, and its late token is still taken`() async throws
  {
    let gate = TestGate()
    server.tokenGate.value = gate
    let session = session(.clientCredentials(.test))
    let events = session.events
    let client = client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(30))
    let error = try await #require(throws: NetworkError.self) { try await task.value }
    #expect(error.code == .tokenUnavailable)
    #expect(error.cause?.code == .timedOut)
    gate.open()
    for await event in events { if case .refreshed = event { break } }
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a source that needs its own token gets an error instead of a deadlock`() async throws {
    let outer = Box<NetworkClient?>(nil)
    let session = session(
      .closure { _ in
        guard let client = outer.value else { throw CancellationError() }
        return try await client.send(.get("token"))
      })
    let client = client(session)
    outer.value = client
    let error = try await error(client)
    outer.value = nil
    #expect(error.code == .invalidBehavior)
    #expect(error.message.contains("the client that the source is given"))
  }

  // MARK: - Leaving

  @Test func `cancelling the caller that triggered the fetch does not end it`() async throws {
    let gate = TestGate()
    server.tokenGate.value = gate
    let session = session(.clientCredentials(.test))
    let events = session.events
    let client = client(session)
    let first = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.open()
    for await event in events { if case .refreshed = event { break } }
    #expect(try await store.load()?.value == "t1")
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a call waits for a token no longer than until its deadline`() async throws {
    let gate = TestGate()
    server.tokenGate.value = gate
    let deadline = ClosureBehavior(
      "deadline", order: .deadline,
      modify: { $0.call.deadline = $0.call.clock.now() + .seconds(5) })
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [.tokenAuth(session(.clientCredentials(.test))), deadline])
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: server.transport)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(5))
    let error = try await #require(throws: NetworkError.self) { try await task.value }
    #expect(error.code == .deadlineExceeded)
    #expect(error.message.contains("deadline"))
    gate.open()
  }

  @Test func `the rotated token is stored before a waiting call continues`() async throws {
    let gate = TestGate()
    let slow = SlowStore(gate)
    let session = TokenSession(source: .clientCredentials(.test), store: slow, clock: clock.requestClock)
    let client = client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    #expect(server.tokenRequests.count == 1)
    #expect(server.apiRequests.isEmpty)
    gate.open()
    try await task.value
    #expect(slow.saved.value == ["t1"])
  }

  @Test func `a failed save of the store is an event, and the token is used`() async throws {
    let session = TokenSession(source: .clientCredentials(.test), store: FullStore(), clock: clock.requestClock)
    let events = session.events
    try await client(session).send(.get("a"))
    for await event in events { if case .storeFailed = event { break } }
    await #expect(throws: CocoaError.self) { try await session.signOut() }
    #expect(try await session.isSignedIn() == false)
  }
}

extension NetworkError {
  /// The error under this one.
  fileprivate var cause: NetworkError? { underlyingError as? NetworkError }
}

/// Saves when its gate is open.
private final class SlowStore: TokenStore {
  let saved = Box<[String?]>([])
  private let gate: TestGate

  init(_ gate: TestGate) { self.gate = gate }

  func load() async throws -> AccessToken? { nil }

  func save(_ token: AccessToken?) async throws {
    await gate.pass()
    saved.update { $0.append(token?.value) }
  }
}

/// Has no room.
private final class FullStore: TokenStore {
  func load() async throws -> AccessToken? { nil }
  func save(_ token: AccessToken?) async throws { throw CocoaError(.fileWriteOutOfSpace) }
}
