import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private struct Tag: Codable, Sendable {
  var id: Int
  var name: String
}

private struct Artwork: Codable, Sendable {
  var id: Int
  var title: String
}

/// What a screen of tags does: it shows them, and shows them again when they change.
private actor TagList {
  let shown = AsyncStream<[String]>.makeStream()
  private var tags: [Tag] = [] {
    didSet { shown.continuation.yield(tags.map(\.name)) }
  }

  func follow(_ store: SQLiteStore) async throws {
    let all: SQL = "SELECT * FROM tag ORDER BY name"
    let changes = store.changes(in: "tag")
    tags = try await store.read { db in try db.query(all) }
    for await _ in changes {
      tags = try await store.read { db in try db.query(all) }
    }
  }
}

/// The samples of the landing page and the articles of RequestBehaviorsSQLite.
@Suite final class SavingSamplesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var path: String { folder.appending(path: "store.sqlite").path() }
  private let server: LoopbackServer
  private var baseURL: URL { server.baseURL }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    server = try LoopbackServer { _ in .json(#"[{"id": 1, "name": "oil"}]"#) }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func makeStore() throws -> SQLiteStore {
    let migration = SQLiteMigration("all") { db in
      try db.execute("CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL, artwork INTEGER)")
      try db.execute("CREATE TABLE artwork (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
      try db.execute("CREATE TABLE statistics (artworks INTEGER)")
      try db.execute("INSERT INTO statistics VALUES (0)")
    }
    return try SQLiteStore(path: path, migrations: [migration])
  }

  @Test func `the landing page's sample saves`() async throws {
    struct ArtworkTags: ResponseSaver {
      func save(_ response: NetworkResponse, in db: Database) throws {
        let tags: [Tag] = try response.decode()
        try db.save(tags, into: "tag")
      }
    }

    let store = try SQLiteStore(
      path: path,
      migrations: [
        SQLiteMigration("tags") { db in
          try db.execute(
            "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        }
      ])
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.persist(ArtworkTags(), in: store)])

    let received: [Tag] = try await client.send(.get("artworks/7/tags"))
    let tags: [Tag] = try await store.read { db in try db.query("SELECT * FROM tag ORDER BY name") }
    #expect(received.count == 1)
    #expect(tags.map(\.name) == ["oil"])
  }

  @Test func `a migration makes the table of a record type`() async throws {
    let store = try SQLiteStore(
      path: path,
      migrations: [
        SQLiteMigration("tags") { db in
          try db.createTable("tag", for: Tag.self)
        }
      ])
    try await store.write { db in _ = try db.save([Tag(id: 1, name: "oil")], into: "tag") }
    #expect(try await store.read { try $0.query("SELECT name FROM tag", as: String.self) } == ["oil"])
  }

  @Test func `a request saves what it decodes`() async throws {
    let store = try makeStore()
    let client = NetworkClient(baseURL: baseURL)
    let id = 7
    let tags = try await client.send(
      Request<[Tag]>.get("artworks/\(id)/tags")
        .persist(in: store) { tags, db in
          try db.save(
            tags, into: "tag",
            deletingOthers: .rows(where: "artwork = \(id)"))
        })
    #expect(tags.count == 1)
    #expect(try await store.read { try $0.query("SELECT name FROM tag", as: String.self) } == ["oil"])
  }

  @Test func `a list is read again when its table changes`() async throws {
    let store = try makeStore()
    let list = TagList()
    let following = Task { try await list.follow(store) }
    var shown = list.shown.stream.makeAsyncIterator()
    #expect(await shown.next() == [])
    _ = try await store.write { db in try db.save([Tag(id: 1, name: "oil")], into: "tag") }
    #expect(await shown.next() == ["oil"])
    following.cancel()
    _ = await following.result
  }

  @Test func `a write uses the database it is given`() async throws {
    let store = try makeStore()
    let artworks = [Artwork(id: 1, title: "one")]
    try await store.write { db in
      try db.save(artworks, into: "artwork")
      let count = try db.first(
        "SELECT count(*) FROM artwork", as: Int.self)
      try db.execute("UPDATE statistics SET artworks = \(count ?? 0)")
    }
    #expect(try await store.read { try $0.first("SELECT artworks FROM statistics", as: Int.self) } == 1)
  }
}
