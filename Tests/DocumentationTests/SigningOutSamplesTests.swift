import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private struct Visit: Codable, Sendable {
  var page: URL
}

/// The behavior of "Signing out" that keeps something.
private struct VisitBehavior {
  let store: SQLiteStore
}

extension VisitBehavior: RequestBehavior {
  func afterSuccess(
    _ response: NetworkResponse, for request: NetworkRequest
  ) async throws {
    let visit = Visit(page: response.request.url)
    try await store.write { db in
      try request.call.owner.verify()
      try db.save(visit, into: "visit")
    }
  }
}

@Suite(.limited) struct SigningOutSamplesTests {
  @Test func `a behavior that checks the owner keeps nothing of a user who has signed out`() async throws {
    let store = try SQLiteStore(
      path: ":memory:",
      migrations: [SQLiteMigration("visit") { try $0.execute("CREATE TABLE visit (page TEXT PRIMARY KEY)") }])
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
    mock.on(.get, "a").respond(200)
    let leaving = ClosureBehavior(
      "leaving", order: .last,
      afterSuccess: { _, request in if request.url.query() != nil { try await session.signOut() } })
    let client = NetworkClient(
      baseURL: mock.baseURL, behaviors: [.tokenAuth(session), VisitBehavior(store: store), leaving], transport: mock)
    try await session.signIn(AccessToken("alice"))
    try await client.send(.get("a"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a", query: ["leave": 1])) }
    #expect(error?.code == .signedOut)
    #expect(try await store.read { try $0.query("SELECT page FROM visit", as: String.self) }.count == 1)
  }
}
