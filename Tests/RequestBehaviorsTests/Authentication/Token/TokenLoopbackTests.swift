import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct TokenLoopbackTests {
  private let valid = Box("")
  private let issued = Box(0)

  /// Gives tokens at `/token`, redirects `/away` to another server, and wants the newest token elsewhere.
  private func makeServer(away: URL? = nil) throws -> LoopbackServer {
    let (valid, issued) = (valid, issued)
    return try LoopbackServer { (request: LoopbackRequest) in
      if request.path == "/token" {
        let number = issued.update { count in
          count += 1
          return count
        }
        valid.value = "canary-\(number)"
        return .json(#"{"access_token":"canary-\#(number)","expires_in":3600,"refresh_token":"r\#(number)"}"#)
      }
      guard request.headers["Authorization"] == "Bearer \(valid.value)" else { return .status(401) }
      if request.path == "/away", let away { return .redirect(to: away.absoluteString) }
      return .json(#"{"ok":true}"#)
    }
  }

  private func requests(_ server: LoopbackServer, _ path: String) -> [LoopbackRequest] {
    server.requests.filter { $0.path == path }
  }

  @Test func `over a real connection 100 concurrent 401s make one refresh`() async throws {
    let server = try makeServer()
    let session = TokenSession(source: .clientCredentials(.test))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)])
    try await client.send(.get("warm"))
    valid.value = "revoked"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { try await client.send(.get("a")) } }
      try await group.waitForAll()
    }
    #expect(requests(server, "/token").count == 2)
  }

  @Test func `over a real connection 1000 concurrent first requests make one fetch`() async throws {
    let server = try makeServer()
    let session = TokenSession(source: .clientCredentials(.test))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 { group.addTask { try await client.send(.get("a")) } }
      try await group.waitForAll()
    }
    #expect(requests(server, "/token").count == 1)
    #expect(requests(server, "/a").count == 1_000)
  }

  @Test func `over a real connection another origin does not get a token`() async throws {
    let other = try LoopbackServer { _ in .status(200) }
    let server = try makeServer(away: other.baseURL)
    let session = TokenSession(source: .clientCredentials(.test))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)])
    try await client.send(.get("away"))
    try await client.send(.get(url: other.baseURL))
    #expect(other.requests.count == 2)
    #expect(!other.requests.contains { $0.head.contains("canary") || $0.headers.contains("Authorization") })
  }

  @Test func `over a real connection the error for a token endpoint that responds with HTML names it`() async throws {
    let server = try LoopbackServer { _ in .html("<html>Welcome</html>") }
    let session = TokenSession(source: .clientCredentials(.test))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)])
    let error = try await #require(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(error.code == .tokenUnavailable)
    #expect(error.message.contains("text/html"))
    #expect(server.requests.map(\.path) == ["/token"])
  }

  @Test func `a sign-out waits until URLSession has a request, and not for its response`() async throws {
    let hasArrived = TestGate()
    let server = try LoopbackServer { _ in
      hasArrived.arrive()
      return LoopbackResponse.status(200).fault(.stall, at: .request)
    }
    let session = TokenSession(source: .closure { _ in AccessToken("a") })
    try await session.signIn(AccessToken("a"))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)])
    let call = Task { try await client.send(.get("x")) }
    await hasArrived.waitForArrivals(1)
    try await session.signOut()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    await client.shutdown()
  }
}
