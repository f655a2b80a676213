import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import Testing

/// Data of a user who has signed out is not saved.
@Suite(.limited) struct SaveOwnerTests {
  /// Answers with an artwork, after doing something.
  private struct Server: Transport {
    let beforeResponse: @Sendable () async throws -> Void

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      try await beforeResponse()
      let body = try JSONEncoder().encode([Artwork(id: 1, title: "alice's")])
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(body))
    }

    func shutdown() async {}
  }

  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
  private let request = Request<NetworkResponse>.get("artworks")

  private func client(
    _ saving: SaveBehavior, _ beforeResponse: @escaping @Sendable () async throws -> Void = {}
  ) async throws -> NetworkClient {
    try await session.signIn(AccessToken("alice"))
    return NetworkClient(
      baseURL: try #require(URL(string: "https://api.example.com/")), behaviors: [.tokenAuth(session), saving],
      transport: Server(beforeResponse: beforeResponse))
  }

  private func kinds(_ store: SQLiteStore) -> [SaveBehavior] {
    [
      .saveRecords([Artwork].self, into: "artwork", in: store),
      .ingest(into: "artwork", in: store),
      .persist(in: store) { response, db in try db.save(try response.decode([Artwork].self), into: "artwork") },
    ]
  }

  @Test(arguments: 0..<3) func `a response that comes after the sign-out is not saved`(kind: Int) async throws {
    let test = try TestStore()
    let session = session
    let client = try await client(kinds(test.store)[kind]) { try await session.signOut() }
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.code == .signedOut)
    #expect(error?.request?.url.lastPathComponent == "artworks")
    #expect(try await test.artworks == [])
  }

  @Test func `a request's own save also checks the owner`() async throws {
    let test = try TestStore()
    let session = session
    let client = try await client(.persist(in: test.store) { _, _ in }) { try await session.signOut() }
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(
        Request<[Artwork]>.get("artworks").persist(in: test.store) { try $1.save($0, into: "artwork") })
    }
    #expect(error?.code == .signedOut)
    #expect(try await test.artworks == [])
  }

  @Test func `a sign-out while a save is under way undoes it`() async throws {
    let test = try TestStore()
    let saving = HeldWork()
    let client = try await client(
      .persist(in: test.store) { response, db in
        try db.save(try response.decode([Artwork].self), into: "artwork")
        saving.hold()
      })
    let call = Task { try await client.send(request) }
    await saving.isHeld()
    try await session.signOut()
    saving.letGo()
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .signedOut)
    #expect(try await test.artworks == [])
  }

  @Test func `rows that are deleted after the sign-out are not restored`() async throws {
    let test = try TestStore()
    let session = session
    let client = try await client(.saveRecords([Artwork].self, into: "artwork", in: test.store)) {
      try await session.signOut()
      try await test.store.write { try $0.execute("DELETE FROM artwork") }
    }
    await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(try await test.artworks == [])
  }

  @Test func `while the user is signed in every response is saved`() async throws {
    let test = try TestStore()
    let client = try await client(.saveRecords([Artwork].self, into: "artwork", in: test.store))
    _ = try await client.send(request)
    #expect(try await test.artworks.map(\.id) == [1])
  }
}
