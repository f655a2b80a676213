import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The responses of a token endpoint (RFC 6749 §5), and the tokens made from them.
@Suite(.limited) struct TokenEndpointTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }

  private func token(_ body: String, status: Int = 200, type: String = "application/json") async throws -> AccessToken {
    let transport = ClosureTransport(status, body, headers: ["Content-Type": type])
    return try await TokenEndpoint.test.requestToken(["grant_type": "x"], using: NetworkClient(transport))
  }

  @Test(arguments: ["Bearer", "bearer", "BEARER"])
  func `a token of type Bearer is taken, in whatever case`(type: String) async throws {
    let token = try await token(
      #"{"access_token":"a","token_type":"\#(type)","expires_in":60,"refresh_token":"r","scope":"x y"}"#)
    #expect(token.value == "a")
    #expect(token.type == "Bearer")
    #expect(token.lifetime == .seconds(60))
    #expect(token.refreshToken == "r")
    #expect(token.scopes == ["x", "y"])
  }

  @Test(arguments: [
    (#"{"access_token":"a"}"#, Duration?.none), (#"{"access_token":"a","token_type":null}"#, nil),
    (#"{"access_token":"a","expires_in":"60"}"#, .seconds(60)), (#"{"access_token":"a","expires_in":0}"#, nil),
    (#"{"access_token":"a","expires_in":""}"#, nil), (#"{"access_token":"a","expires_in":-1}"#, nil),
    (#"{"access_token":"a","expires_in":null}"#, nil),
    (#"{"access_token":"a","expires_in":1.5}"#, .milliseconds(1_500)),
    (#"{"access_token":"a","error":null}"#, nil), (#"{"access_token":"a","error":""}"#, nil),
  ])
  func `members that are missing, empty or meaningless are ignored`(body: String, lifetime: Duration?) async throws {
    let token = try await token(body)
    #expect(token.value == "a")
    #expect(token.lifetime == lifetime)
  }

  @Test func `scopes may be a list`() async throws {
    #expect(try await token(#"{"access_token":"a","scope":["x","y"]}"#).scopes == ["x", "y"])
    #expect(try await token(#"{"access_token":"a","scope":""}"#).scopes == [])
  }

  @Test(arguments: [
    (#"{"device_token":"d"}"#, "there is no access_token"), (#"{"token":"d"}"#, "there is no access_token"),
    (#"{"Access_Token":"d"}"#, "there is no access_token"), (#"{"access_token":""}"#, "there is no access_token"),
    (#"{"access_token":7}"#, "there is no access_token"), (#"{"access_token":null}"#, "there is no access_token"),
    (#"{"access_token":"a","token_type":"mac"}"#, "token_type is not Bearer"),
    (#"{"access_token":"a","token_type":"N_A"}"#, "token_type is not Bearer"),
    (#"{"access_token":"a","token_type":"DPoP"}"#, "token_type is not Bearer"),
    (#"{"access_token":"a","token_type":""}"#, "token_type is not Bearer"),
    (#"{"access_token":"a","token_type":7}"#, "token_type is not Bearer"),
    (#"{"access_token":"a\r\nX: y"}"#, "not visible ASCII"), (#"{"access_token":"a b"}"#, "not visible ASCII"),
    (#"{"access_token":"ä"}"#, "not visible ASCII"),
    (#"{"access_token":"a","expires_in":"soon"}"#, "expires_in is not a number"),
    (#"{"access_token":"a","expires_in":true}"#, "expires_in is not a number"),
    (#"{"access_token":"a","expires_in":{}}"#, "expires_in is not a number"),
    (#"{"access_token":"a""#, "not a JSON object"), (#"["a"]"#, "not a JSON object"),
    ("access_token=a", "not a JSON object"),
    ("", "not a JSON object"), (#"{"error":"invalid_scope","access_token":"a"}"#, "the error invalid_scope"),
  ])
  func `any other response is an error that does not show a value`(body: String, reason: String) async throws {
    let error = try await #require(throws: NetworkError.self) { _ = try await token(body) }
    #expect(error.code == .tokenUnavailable)
    #expect(error.message.contains(reason), "\(error.message)")
    #expect(error.response?.statusCode == 200)
  }

  @Test func `an HTML page is not accepted as a token, whatever its content`() async throws {
    let error = try await #require(throws: NetworkError.self) {
      _ = try await token(#"{"access_token":"a"}"#, type: "text/html; charset=utf-8")
    }
    #expect(error.message.contains("not a JSON object"))
  }

  @Test(arguments: ["é", "a\"b", "", "a\nb"])
  func `an invalid error code is not shown`(code: String) async throws {
    let body = String(decoding: try JSONEncoder().encode(["error": code, "access_token": "a"]), as: UTF8.self)
    if code.isEmpty {
      #expect(try await token(body).value == "a")
    } else {
      let error = try await #require(throws: NetworkError.self) { _ = try await token(body) }
      #expect(error.message.contains("the error of an unknown form"))
    }
  }

  // MARK: - The session

  @Test func `an empty refresh token leaves the old one in its place`() async throws {
    server.state.update { state in
      state.refusals.append { TokenServer.json($0, #"{"access_token":"t9","refresh_token":""}"#) }
      state.valid = "t9"
    }
    let store = InMemoryTokenStore()
    let session = try await fixture.alice(store)
    try await fixture.client(session).send(.get("a"))
    #expect(try await store.load()?.value == "t9")
    #expect(try await store.load()?.refreshToken == "r0")
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect of a token endpoint is not followed, and its target cannot sign out`(status: Int) async throws {
    server.state.update { state in
      state.refusals.append { request in
        NetworkResponse(request: request, statusCode: status, headers: ["Location": "https://portal.example/token"])
      }
    }
    let session = try await fixture.alice()
    let task = Task { try await fixture.client(session).send(.get("a")) }
    let error = try await fixture.error(task)
    #expect((error.underlyingError as? NetworkError)?.statusCode == status)
    #expect(server.transport.sent.count == 2)
    #expect(try await session.isSignedIn())
  }

  @Test(arguments: ["https://portal.example/login", "https://api.example.com/v1/elsewhere"])
  func `a refusal after a redirect of a source's request does not end the session`(location: String) async throws {
    let transport = ClosureTransport { request in
      switch request.url.lastPathComponent {
      case "token": NetworkResponse(request: request, statusCode: 302, headers: ["Location": location])
      case "a": NetworkResponse(request: request, statusCode: 401)
      default: TokenServer.json(request, #"{"error":"invalid_grant"}"#, status: 401)
      }
    }
    let session = fixture.session(.refreshing { _, client in try await client.send(.post("token")) })
    try await session.signIn(AccessToken("t0"))
    let task = Task { try await NetworkClient(transport, [.tokenAuth(session)]).send(.get("a")) }
    #expect(try await fixture.error(task).code == .tokenUnavailable)
    #expect(transport.sent.count == 3)
    #expect(try await session.isSignedIn())
  }

  @Test func `a custom source ends the session by an OAuth error or by notSignedIn`() async throws {
    server.refuseToken(401, #"{"error":"invalid_grant"}"#)
    for source: ClosureTokenSource in [
      .refreshing { _, client in try await client.send(.post("token")) },
      .refreshing { _, _ in throw NetworkError.notSignedIn("gone") },
    ] {
      let session = fixture.session(source)
      try await session.signIn(AccessToken("t0"))
      let task = Task { try await fixture.client(session).send(.get("a")) }
      _ = try await fixture.error(task)
      #expect(try await session.isSignedIn() == false)
    }
  }

  @Test func `further errors that end the session can be named`() async throws {
    for (codes, isSignedIn) in [([], true), (["invalid_client"], false)] as [(Set<String>, Bool)] {
      server.refuseToken(401, #"{"error":"invalid_client"}"#)
      let session = fixture.session(.refreshToken(.test, endsSessionOn: codes))
      try await session.signIn(AccessToken("t0", refreshToken: "r0"))
      let task = Task { try await fixture.client(session).send(.get("a")) }
      let error = try await fixture.error(task)
      #expect(error.code == (isSignedIn ? .tokenUnavailable : .notSignedIn))
      #expect((error.underlyingError as? NetworkError)?.statusCode == 401)
      #expect(try await session.isSignedIn() == isSignedIn)
    }
  }

  @Test func `a token with control characters is refused when it arrives, and does not sign in`() async throws {
    let store = InMemoryTokenStore()
    let session = try await fixture.alice(store)
    for token in [AccessToken("a\r\nX: y"), AccessToken("a", type: "Bear\ner"), AccessToken("a\u{7F}")] {
      let error = try await #require(throws: NetworkError.self) { try await session.signIn(token) }
      #expect(error.code == .tokenUnavailable)
      #expect(error.message.contains("control characters"))
    }
    #expect(try await store.load()?.value == "alice")
    let own = fixture.session(.closure { _ in AccessToken("a\0b") })
    let task = Task { try await fixture.client(own).send(.get("a")) }
    #expect(try await fixture.error(task).message.contains("control characters"))
    #expect(server.transport.sent.isEmpty)
  }

  @Test(arguments: ["", " ", "a ", " a"])
  func `a token that no field can hold is refused when it arrives, and the one before it stays`(
    value: String
  ) async throws {
    let store = InMemoryTokenStore()
    let session = try await fixture.alice(store)
    let error = try await #require(throws: NetworkError.self) { try await session.signIn(AccessToken(value)) }
    #expect(error.code == .tokenUnavailable)
    #expect(try await store.load()?.value == "alice")
    let own = fixture.session(.closure { _ in AccessToken(value) })
    let client = NetworkClient(server.transport, [.tokenAuth(own, header: .field("X-Token"))])
    let failure = try await #require(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(failure.code == .tokenUnavailable)
    #expect(server.transport.sent.isEmpty)
  }

  @Test func `a token of type DPoP is sent under its own name`() async throws {
    fixture.answer(200)
    let session = fixture.session()
    try await session.signIn(AccessToken("t", type: "dpop"))
    try await fixture.client(session).send(.get("a"))
    #expect(fixture.sentTokens == ["DPoP t"])
  }
}
