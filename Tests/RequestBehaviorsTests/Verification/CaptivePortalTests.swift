import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Nonce verification over real connections, against what stands between a client and its server.
@Suite(.limited) struct CaptivePortalTests {
  private let journal = Journal()

  /// A client whose outer behavior notes what reaches it.
  private func client(_ server: LoopbackServer) -> NetworkClient {
    NetworkClient(
      baseURL: server.baseURL, behaviors: [JournalBehavior(name: "outer", journal: journal), .nonceVerification()])
  }

  private func expectUnmasked(_ server: LoopbackServer, sourceLocation: SourceLocation = #_sourceLocation) async {
    let error = await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) {
      let _: String = try await client(server).send(.get("profile"))
    }
    #expect(error?.code == .intercepted, sourceLocation: sourceLocation)
    #expect(error?.response == nil, sourceLocation: sourceLocation)
    #expect(journal.count(of: "outer.afterSuccess") == 0, sourceLocation: sourceLocation)
    #expect(journal.count(of: "outer.interceptAfter") == 0, sourceLocation: sourceLocation)
    #expect(server.requests.count == 1, sourceLocation: sourceLocation)
  }

  @Test func `a portal that responds to everything with 200 and a login page is detected`() async throws {
    await expectUnmasked(try LoopbackServer { _ in .html("<h1>Please sign in</h1>") })
  }

  @Test func `a portal that redirects to its login page is not followed`() async throws {
    let login = try LoopbackServer { _ in .html("login") }
    let target = "\(login.baseURL)login"
    await expectUnmasked(try LoopbackServer { _ in .redirect(to: target) })
    #expect(login.requestCount == 0)
  }

  @Test func `a forged 401 reaches no behavior`() async throws {
    await expectUnmasked(
      try LoopbackServer { _ in .status(401).header("WWW-Authenticate", #"Basic realm="portal""#) })
  }

  @Test func `an old nonce is not a proof`() async throws {
    let first = Box<String?>(nil)
    let server = try LoopbackServer { request in
      let nonce = first.update { stored in
        stored = stored ?? request.headers["X-API-Nonce"]
        return stored ?? ""
      }
      return .text("hello").header("X-API-Nonce", nonce)
    }
    let text: String = try await client(server).send(.get("profile"))
    #expect(text == "hello")
    let error = await #expect(throws: NetworkError.self) { let _: String = try await client(server).send(.get("x")) }
    #expect(error?.code == .intercepted)
  }

  @Test func `white space around a field of the server is removed`() async throws {
    let server = try LoopbackServer { request in
      let answer: LoopbackResponse = request.path == "/old" ? .redirect(to: " \t/new \t ") : .text("hello")
      return answer.header("X-API-Nonce", " \(request.headers["X-API-Nonce"] ?? "")\t ")
    }
    let response: NetworkResponse = try await client(server).send(.get("old"))
    #expect(response.request.url.path() == "/new")
    #expect(response.isVerified)
    #expect(response.headers["X-API-Nonce"] == server.requests.last?.headers["X-API-Nonce"])
  }

  @Test func `a forged 404 of a portal does not become nil`() async throws {
    let server = try LoopbackServer { _ in .status(404) }
    let error = await #expect(throws: NetworkError.self) {
      let _: String? = try await client(server).send(.get("profile").nilWhenNotFound())
    }
    #expect(error?.code == .intercepted)
    #expect(journal.count(of: "outer.afterSuccess") == 0)
  }

  @Test func `the server itself is trusted, and so are redirects within it`() async throws {
    let server = try LoopbackServer { request in
      let answer: LoopbackResponse = request.path == "/old" ? .redirect(to: "/new") : .text("hello")
      return answer.header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
    }
    let response: NetworkResponse = try await client(server).send(.get("old"))
    #expect(try response.text == "hello")
    #expect(response.isVerified)
    #expect(Set(server.requests.compactMap { $0.headers["X-API-Nonce"] }).count == 2)
  }
}
