import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private struct Tag: Codable, Sendable {
  var id: Int
  var name: String
}

private struct ArtworkTags: ResponseSaver {
  func save(_ response: NetworkResponse, in db: Database) throws {
    let tags: [Tag] = try response.decode()
    try db.save(tags, into: "tag")
  }
}

/// The samples of the module's articles.
@Suite struct SampleTests {
  @Test func `the landing page's sample saves`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
    mock.on(.get).respond(json: [Tag(id: 1, name: "oil")])

    let store = try SQLiteStore(
      path: path,
      migrations: [
        SQLiteMigration("tags") { db in
          try db.execute("CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        }
      ])
    let client = NetworkClient(
      baseURL: mock.baseURL, behaviors: [.persist(ArtworkTags(), in: store)], transport: mock)

    let received: [Tag] = try await client.send(.get("artworks/7/tags"))
    let tags: [Tag] = try await store.read { db in try db.query("SELECT * FROM tag ORDER BY name") }
    #expect(received.count == 1)
    #expect(tags.map(\.name) == ["oil"])
  }

  @Test func `the articles' samples work`() async throws {
    let test = try TestStore(migrations: [
      TestStore.artwork,
      SQLiteMigration("tags") { db in
        try db.execute("CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL, artwork INTEGER)")
        try db.execute("CREATE TABLE statistics (artworks INTEGER)")
        try db.execute("INSERT INTO statistics VALUES (0)")
      },
    ])
    let store = test.store
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
    mock.on(.get).respond(json: [Tag(id: 1, name: "oil")])
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let id = 7
    let tags = try await client.send(
      Request<[Tag]>.get("artworks/\(id)/tags").persist(in: store) { tags, db in
        try db.save(tags, into: "tag", deletingOthers: .rows(where: "artwork = \(id)"))
      })
    #expect(tags.count == 1)

    let artworks = [Artwork(id: 1, title: "one")]
    try await store.write { db in
      try db.save(artworks, into: "artwork")
      let count = try db.first("SELECT count(*) FROM artwork", as: Int.self) ?? 0
      try db.execute("UPDATE statistics SET artworks = \(count)")
    }
    #expect(try await store.read { try $0.first("SELECT artworks FROM statistics", as: Int.self) } == 1)
  }
}
