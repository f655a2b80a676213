import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct ReadmeTests {
  @Test func `the client of the README is made and prints its pipeline`() async throws {
    let session = TokenSession(source: AccountTokens())
    let login = "octocat"
    let page: Int? = nil
    let id = 7
    func use() async throws {
      let client = NetworkClient(
        baseURL: URL(string: "https://api.example.com/v1")!,
        behaviors: [.logging(), .tokenAuth(session)])

      let user: User = try await client.send(.get("users/\(login)"))
      let issues: [Issue] = try await client.send(
        .get("issues", query: ["state": "open", "page": page]))
      try await client.send(.delete("issues/\(id)"))
      _ = (user, issues)
    }
    let behaviors: [any RequestBehavior] = [.logging(), .tokenAuth(session)]
    let entries = try NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: answering("{}"))
      .pipeline(for: Request<Void>.get("x")).entries
    #expect(entries.map(\.order) == [.observation, .redirects, .authentication])
  }

  @Test func `the mock of the README answers`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "users/octocat")
      .respond(200, jsonText: #"{"name":"Mona"}"#)
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let user: User = try await client.send(.get("users/octocat"))
    try mock.verify()
    #expect(user.name == "Mona")
  }
}
