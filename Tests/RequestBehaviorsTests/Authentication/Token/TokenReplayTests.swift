import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The consequences of a 401, apart from a successful replay.
@Suite(.limited) struct TokenReplayTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()

  @Test func `a late 401 to an older token does not end the session`() async throws {
    let session = try await fixture.alice()
    let transport = server.transport
    let slow = ClosureTransport { [gate] request in
      let response = try await transport.send(request)
      guard request.url.lastPathComponent == "slow", request.headers["Authorization"] == "Bearer t1" else {
        return response
      }
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 401)
    }
    let client = NetworkClient(slow, [.tokenAuth(session)])
    let task = Task { try await client.send(.get("slow")) }
    await gate.waitForArrivals(1)
    server.revoke()
    try await client.send(.get("b"))
    gate.open()
    #expect(try await fixture.error(task).statusCode == 401)
    #expect(try await session.isSignedIn())
  }

  @Test func `a refused replay with another call's token does not end the session`() async throws {
    let session = try await fixture.alice()
    let gate = gate
    let isHeld = Box(true)
    let transport = ClosureTransport { [server] request in
      guard !request.url.path().hasSuffix("/token") else { return try await server.transport.send(request) }
      let isLate = request.url.lastPathComponent == "late"
      if isLate,
        isHeld.update({ isHeld in
          defer { isHeld = false }
          return isHeld
        })
      {
        await gate.pass()
      }
      let isRefused = isLate || request.headers["Authorization"] == "Bearer alice"
      return NetworkResponse(request: request, statusCode: isRefused ? 401 : 200)
    }
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let late = Task { try await client.send(.get("late")) }
    await gate.waitForArrivals(1)
    try await client.send(.get("quick"))
    gate.open()
    #expect(try await fixture.error(late).statusCode == 401)
    #expect(try await session.isSignedIn())
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `the error of a refresh after a 401 does not say that the request was not sent`() async throws {
    let session = try await fixture.alice()
    fixture.answer(401)
    server.refuseToken(503)
    let client = fixture.client(session)
    let task = Task { try await client.send(.put("a")) }
    let error = try await fixture.error(task)
    #expect(error.code == .tokenUnavailable)
    #expect(error.mayHaveArrived)
    #expect(!"\(error)".contains("not sent"))
  }

  @Test func `the error of a sign-out after a 401 does not say that the request was not sent`() async throws {
    let session = try await fixture.alice()
    let transport = ClosureTransport { [gate] request in
      if request.url.path().hasSuffix("/token") { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 401)
    }
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let task = Task { try await client.send(.put("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    gate.open()
    let error = try await fixture.error(task)
    #expect(error.code == .signedOut)
    #expect(error.mayHaveArrived)
    #expect(!"\(error)".contains("was not sent"))
  }

  @Test func `a call that has been replayed does not refresh again`() async throws {
    let session = try await fixture.alice()
    fixture.answer(401, 503, 401)
    let client = fixture.client(session, SecondAttempt())
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).statusCode == 401)
    #expect(server.tokenRequests.count == 1)
    #expect(server.apiRequests.count == 3)
    #expect(try await session.isSignedIn())
  }

  @Test func `an optional request gets its 401 when the refresh fails`() async throws {
    let session = try await fixture.alice()
    server.refuseToken(500)
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a").with(\.authentication, .optional)) }
    #expect(try await fixture.error(task).statusCode == 401)
  }

  @Test func `a one-shot upload that was taken gets its 401 when the refresh fails`() async throws {
    let session = try await fixture.alice()
    server.refuseToken(500)
    let taking = ClosureBehavior(
      "take", order: .last,
      beforeSend: {
        if case .oneShot(let stream)? = $0.body?.content { _ = try? await stream.take().collect(upTo: 1) }
      })
    let client = fixture.client(session)
    let task = Task {
      try await client.send(
        Request<Void>.post("a", body: .body(.oneShot(ByteStream(chunks: [Data("x".utf8)])))).with(taking))
    }
    #expect(try await fixture.error(task).statusCode == 401)
  }

  @Test func `the body of a refusal is read before the wait for a newer token`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let reads = Box(0)
    server.state.update { state in
      state.answer = { request in
        let body = AsyncStream<Data> {
          reads.update { $0 += 1 }
          return reads.value > 3 ? nil : Data("x".utf8)
        }
        return NetworkResponse(request: request, statusCode: 401, body: .stream(ByteStream(body)))
      }
    }
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    #expect(reads.value > 0)
    gate.open()
    #expect(try await fixture.error(task).statusCode == 401)
  }

  @Test func `a refusal whose body is too long to keep is returned without it, and its stream is cancelled`()
    async throws
  {
    let session = try await fixture.alice()
    server.refuseToken(500)
    let source = ChunkSource()
    source.send(String(repeating: "x", count: 65_537))
    server.state.update { state in
      state.answer = { NetworkResponse(request: $0, statusCode: 401, body: .stream(source.stream)) }
    }
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a").with(\.authentication, .optional)) }
    let error = try await fixture.error(task)
    #expect(error.statusCode == 401)
    #expect(try error.response?.data == Data())
    #expect(source.cancelCount == 1)
  }

  @Test func `invalid_grant signs out, however its body comes`() async throws {
    let session = try await fixture.alice()
    let chunks = [Data(#"{"error":"#.utf8), Data(#""invalid_grant"}"#.utf8)]
    server.state.update { state in
      state.refusals.append {
        NetworkResponse(request: $0, statusCode: 400, body: .stream(ByteStream(chunks: chunks)))
      }
    }
    await #expect(throws: NetworkError.self) { try await fixture.client(session).send(.get("a")) }
    #expect(try await session.isSignedIn() == false)
  }

  @Test(arguments: [false, true])
  func `over a real connection invalid_grant signs out`(usesClosure: Bool) async throws {
    let server = try LoopbackServer { (request: LoopbackRequest) in
      request.path == "/token" ? .json(#"{"error":"invalid_grant"}"#, status: 400) : .status(401)
    }
    let source: any TokenSource =
      usesClosure
      ? ClosureTokenSource(refresh: { _, client in try await client.send(.post("token")) }) : .refreshToken(.test)
    let session = TokenSession(source: source)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)])
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(try await session.isSignedIn() == false)
  }
}
