import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct TokenOriginTests {
  private let session = TokenSession(source: .closure { _ in AccessToken("canary-access-7731") })

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  @Test func `a request to another host by an absolute URL does not get a token`() async throws {
    let transport = ClosureTransport(200)
    let client = NetworkClient(transport, [.tokenAuth(session)])
    for other in ["https://other.example/a", "http://api.example.com/a", "https://api.example.com:8443/a"] {
      try await client.send(.get(url: url(other)))
    }
    #expect(transport.sent.count == 3)
    #expect(transport.sent.allSatisfy { !$0.headers.contains("Authorization") })
    try await client.send(.get(url: url("https://API.example.com:443/other")))
    #expect(transport.sent.last?.headers["Authorization"] == "Bearer canary-access-7731")
  }

  @Test func `a redirect to another origin does not get a token, and its 401 does not refresh`() async throws {
    let transport = ClosureTransport { request in
      if request.url.host() == "other.example" { return NetworkResponse(request: request, statusCode: 401) }
      return NetworkResponse(
        request: request, statusCode: 302, headers: ["Location": "https://other.example/b"])
    }
    await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [.tokenAuth(session)]).send(.get("a"))
    }
    #expect(transport.sent.map { $0.headers["Authorization"] } == ["Bearer canary-access-7731", nil])
    #expect(try await session.isSignedIn())
  }

  @Test func `a redirect to a server that gets no token is followed after a sign-out`() async throws {
    let out = ClosureBehavior(
      "out", order: .last,
      beforeSend: { [session] in if $0.url.host() == "other.example" { try? await session.signOut() } })
    let transport = ClosureTransport { request in
      if request.url.host() == "other.example" { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "https://other.example/b"])
    }
    try await NetworkClient(transport, [.tokenAuth(session), out]).send(.get("a"))
    #expect(transport.sent.map { $0.headers["Authorization"] } == ["Bearer canary-access-7731", nil])
  }

  @Test func `a redirect to a listed origin gets its own authentication`() async throws {
    let transport = ClosureTransport { request in
      if request.url.host() == "files.example" { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "https://files.example/b"])
    }
    let origins = Set([Origin("https://api.example.com"), Origin("https://files.example")].compactMap(\.self))
    try await NetworkClient(transport, [.tokenAuth(session, origins: .only(origins))]).send(.get("a"))
    #expect(transport.sent.allSatisfy { $0.headers["Authorization"] == "Bearer canary-access-7731" })
  }

  @Test func `a token request to another server carries its own credentials only`() async throws {
    let transport = ClosureTransport { request in
      if request.url.host() == "id.example" {
        return NetworkResponse(
          request: request, statusCode: 200, body: .data(Data(#"{"access_token":"t1"}"#.utf8)))
      }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let endpoint = TokenEndpoint(url: try url("https://id.example/token"), clientID: "app", clientSecret: "s")
    let session = TokenSession(source: .clientCredentials(endpoint))
    try await NetworkClient(transport, [.tokenAuth(session), .apiKey("X-Key", "secret-key")]).send(.get("a"))
    #expect(transport.sent[0].headers["Authorization"] == "Basic YXBwOnM=")
    #expect(!transport.sent[0].headers.contains("X-Key"))
    #expect(transport.sent[1].headers["X-Key"] == "secret-key")
  }

  @Test func `a token endpoint given by its path stays on the server of the session's first client`() async throws {
    let transport = ClosureTransport { request in
      let isToken = request.url.lastPathComponent == "token"
      let body = isToken ? #"{"access_token":"t1","expires_in":100,"refresh_token":"r1"}"# : "{}"
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(body.utf8)))
    }
    let clock = ManualClock()
    let session = TokenSession(source: .refreshToken(.test), clock: clock.requestClock)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(100), refreshToken: "r0"))
    let staging = NetworkClient(
      baseURL: try url("https://staging.example/v2"), behaviors: [.tokenAuth(session)], transport: transport)
    try await NetworkClient(transport, [.tokenAuth(session)]).send(.get("a"))
    clock.advance(by: .seconds(100))
    try await staging.send(.get("b"))
    #expect(
      transport.sent.map(\.url.absoluteString) == [
        "https://api.example.com/v1/a", "https://api.example.com/v1/token", "https://staging.example/v2/b",
      ])
    #expect(transport.sent[1].headers["Authorization"] == "Basic YXBwOmFwcC1zZWNyZXQ=")
  }
}
