import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private func respond(to request: LoopbackRequest) -> LoopbackResponse {
  request.path == "/profile" ? .json(#"{"name":"Mona"}"#) : .status(404)
}

/// The samples of "The nonce, for the server's author".
@Suite(.limited) struct NonceSamplesTests {
  private func makeServer() throws -> LoopbackServer {
    let server = try LoopbackServer { request in
      let response = respond(to: request)
      guard let nonce = request.headers["X-API-Nonce"] else {
        return response
      }
      return response.header("X-API-Nonce", nonce)
    }
    return server
  }

  @Test func `a server that returns the nonce is believed`() async throws {
    let server = try makeServer()
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.nonceVerification()])
    let user: User = try await client.send(.get("profile"))
    #expect(user.name == "Mona")
    let other: User? = try await client.send(.get("other").nilWhenNotFound())
    #expect(other == nil)
    let nonces = server.requests.compactMap { $0.headers["X-API-Nonce"] }
    #expect(Set(nonces).count == 2)
    #expect(nonces.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9_-]{22}/) != nil })
  }

  /// The table of the article.
  @Test(arguments: [
    (200, true), (302, true), (304, true), (401, true), (407, true), (511, true), (403, false), (404, false),
    (422, false), (502, false),
  ])
  func `a response without the nonce is judged by its status`(status: Int, isIntercepted: Bool) async throws {
    let server = try LoopbackServer { _ in .status(status) }
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.nonceVerification()])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("profile")) }
    #expect(error?.code == (isIntercepted ? .intercepted : .unacceptableStatus))
    #expect(error?.response?.isVerified == (isIntercepted ? nil : false))
    let found = await #expect(throws: NetworkError.self) {
      let _: User? = try await client.send(.get("profile").nilWhenNotFound())
    }
    #expect((found?.code == .intercepted) == (isIntercepted || status == 404))
  }

  @Test func `another field goes to the servers that are listed`() async throws {
    let filesURL = try #require(URL(string: "https://files.example.com"))
    let otherURL = try #require(URL(string: "https://cdn.example.com"))
    let origins = [baseURL, filesURL].compactMap { Origin($0) }
    let behaviors: [any RequestBehavior] = [
      .nonceVerification(header: "X-Echo", origins: .only(Set(origins)))
    ]
    let mock = MockTransport()
    mock.on().respond(502)
    let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: mock)
    for url in [baseURL, filesURL, otherURL] {
      await #expect(throws: NetworkError.self) { try await client.send(.get(url: url)) }
    }
    #expect(mock.sent.map { $0.headers["X-Echo"]?.count } == [22, 22, nil])
  }
}
