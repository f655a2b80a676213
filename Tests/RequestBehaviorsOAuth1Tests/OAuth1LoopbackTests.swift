import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Over a real connection, with a service that verifies what it received.
@Suite(.limited) struct OAuth1LoopbackTests {
  /// A service that answers a request that is signed right with 200, and others with their problem.
  private func makeServer(_ verifier: Box<OAuth1Verifier>) throws -> LoopbackServer {
    try LoopbackServer { request in
      let verdict = verifier.update { $0.verify(OAuth1Verifier.Received(request)) }
      guard case .refused(let problem) = verdict else { return .text("fine") }
      return .text("oauth_problem=\(problem)", status: 401).header("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    }
  }

  private func client(_ server: LoopbackServer, _ session: OAuth1Session = .sample()) -> NetworkClient {
    NetworkClient(baseURL: server.baseURL, behaviors: [.oauth1(session)])
  }

  @Test func `a service accepts the client's signatures, in any notation of the request`() async throws {
    let server = try makeServer(Box(.sample(now: Date())))
    let client = client(server)
    let requests: [Request<Void>] = [
      .get("plain"), .get("a b/\u{e9}", query: ["q": "1+2 3&4=5%", "\u{1F600}": "\r\n", "empty": ""]),
      .get(url: try #require(URL(string: "a/../b/./c//d%2Fe;v=1?x=%FF&x=%fe&&=&y=a+b", relativeTo: server.baseURL))),
      .post("form", body: .form(["status": "Hello + \"world\"", "list": ["b", "a"]]), query: ["status": "x"]),
      .post("json", body: .json(["a": "b"])), .post("empty"), .put("put", body: .form(["a": "1"])),
      .patch("patch", body: .text("text")), .delete("delete"),
      .post("untyped", body: .body(.data(Data("a=1".utf8)))),
    ]
    for request in requests { try await client.send(request) }
    #expect(server.requestCount == requests.count)
  }

  @Test(arguments: [OAuth1ParameterLocation.query, .formBody])
  func `the service accepts parameters in other places`(location: OAuth1ParameterLocation) async throws {
    let server = try makeServer(Box(.sample(now: Date())))
    var options = OAuth1Options()
    options.location = location
    let client = client(server, .sample(.hmacSHA256, options: options))
    try await client.send(.post("p", body: .form(["a": "1 2"]), query: ["b": "3+4"]))
    try await client.send(.post("p"))
    #expect(server.requests.allSatisfy { !$0.headers.contains("Authorization") })
  }

  @Test func `a replay is refused, and a second send of the client is not`() async throws {
    let server = try makeServer(Box(.sample(now: Date())))
    let client = client(server)
    try await client.send(.get("p"))
    try await client.send(.get("p"))
    let field = try #require(server.requests.first?.headers["Authorization"])
    let replay = Request<Void>.get("p").with(header: "Authorization", field)
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(replay.with(\.authentication, .none))
    }
    #expect(try error?.response?.text == "oauth_problem=nonce_used")
  }

  @Test func `a stale timestamp is refused, and corrected for a service that is trusted`() async throws {
    let server = try makeServer(Box(.sample(now: Date(timeIntervalSince1970: 784_111_777))))
    let error = await #expect(throws: NetworkError.self) { try await client(server).send(.get("p")) }
    #expect(try error?.response?.text == "oauth_problem=timestamp_refused")
    try await client(server, .sample(trustsClockOverHTTP: true)).send(.get("p"))
    #expect(server.requestCount == 3)
  }

  @Test func `a wrong secret is refused`() async throws {
    let server = try makeServer(Box(.sample(now: Date())))
    let session = OAuth1Session.sample()
    session.signIn(OAuth1Credentials(token: "tk", secret: "other"))
    let error = await #expect(throws: NetworkError.self) { try await client(server, session).send(.get("p")) }
    #expect(try error?.response?.text == "oauth_problem=signature_invalid")
  }

  @Test func `each redirect and each concurrent send has its own signature`() async throws {
    let verifier = Box(OAuth1Verifier.sample(now: Date()))
    let server = try LoopbackServer { request in
      let verdict = verifier.update { $0.verify(OAuth1Verifier.Received(request)) }
      guard verdict == .accepted else { return .text("\(verdict)", status: 401) }
      return request.path == "/old" ? .redirect(to: "/new?a=b", status: 307) : .text("fine")
    }
    let client = client(server)
    let failures = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<10 { group.addTask { (try? await client.send(.post("old", body: .form(["c": "d"])))) == nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 0)
    #expect(server.requestCount == 20)
  }
}
