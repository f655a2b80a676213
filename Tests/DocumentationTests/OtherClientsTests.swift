import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "At a glance" and "Coming from another client" that no other article has.
@Suite(.limited) struct OtherClientsTests {
  private let login = "octocat"
  private let page: Int? = nil
  private let id = 7

  @Test func `the ten calls are sent`() async throws {
    let server = try LoopbackServer { request in
      switch (request.method, request.path) {
      case ("GET", "/issues"), ("GET", "/next"): .json("[]")
      case ("POST", _): .json(#"{"id":2,"title":"b"}"#)
      case ("DELETE", _): .status(204)
      default: .json(#"{"name":"Mona"}"#)
      }
    }
    let baseURL = server.baseURL
    let link = baseURL.appending(path: "next")
    let session = TokenSession(source: .closure { _ in AccessToken("t1") })
    let draft = Issue()

    // 1. A client: one for each server, made once and shared.
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.logging(), .tokenAuth(session)])

    // 2. A value: its type says how the body is decoded.
    let user: User = try await client.send(.get("users/\(login)"))

    // 3. A query: nil is left out, an array repeats its name.
    let issues: [Issue] = try await client.send(
      .get("issues", query: ["state": "open", "page": page]))

    // 4. A body, and behind it a query.
    let created: Issue = try await client.send(
      .post("issues", body: .json(draft), query: ["notify": "no"]))

    // 5. No value.
    try await client.send(.delete("issues/\(id)"))

    // 6. A value with its response.
    let response = try await client.response(
      for: .get("users/\(login)").returning(User.self))

    // 7. Fields and options of one request.
    let found: User? = try await client.send(
      .get("users/\(login)", headers: ["X-Trace": "on"])
        .nilWhenNotFound().with(\.timeout, .seconds(5)))

    // 8. A link that the server gave.
    let next: [Issue] = try await client.send(.get(url: link))

    // 9. Settings of all requests, in a variant of the client.
    let patient = client.with { $0.options.idleTimeout = .seconds(300) }

    // 10. The list that a request runs through.
    print(try client.pipeline(for: Request<User>.get("users/1")))

    #expect([user.name, response.value.name, found?.name] == ["Mona", "Mona", "Mona"])
    #expect((issues.count, next.count, created.id) == (0, 0, 2))
    #expect(patient.configuration.options.idleTimeout == .seconds(300))
    #expect(server.requests.first { $0.method == .post }?.query == "notify=no")
    #expect(server.requests.count { $0.headers["X-Trace"] == "on" } == 1)
    #expect(server.requests.map { $0.headers["Authorization"] }.allSatisfy { $0 == "Bearer t1" })
  }

  @Test func `a field is set on every request`() async throws {
    let server = try LoopbackServer { _ in .status(204) }
    let baseURL = server.baseURL
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.headers(["X-Tenant": "north"])])
    try await client.send(.get("x"))
    #expect(server.requests.first?.headers["X-Tenant"] == "north")
  }

  @Test func `a field is set on one request`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"name":"Mona"}"#) }
    let client = NetworkClient(baseURL: server.baseURL)
    let user: User = try await client.send(
      .get("me", headers: ["X-Trace": "on"]))
    let again: User = try await client.send(.get("me"))
    #expect([user.name, again.name] == ["Mona", "Mona"])
    #expect(server.requests.map { $0.headers["X-Trace"] } == ["on", nil])
  }

  @Test func `a token is refreshed`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/oauth/token" ? .json(#"{"access_token":"t1"}"#) : .status(204)
    }
    let baseURL = server.baseURL
    let endpoint = TokenEndpoint("oauth/token", clientID: "shop-ios")
    let session = TokenSession(source: .refreshToken(endpoint))
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)])
    try await session.signIn(AccessToken("t0", expiresAt: .distantPast, refreshToken: "r0"))
    try await client.send(.get("x"))
    #expect(server.requests.last?.headers["Authorization"] == "Bearer t1")
  }
}
