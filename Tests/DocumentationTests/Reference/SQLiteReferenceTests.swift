import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private struct Artwork: Codable, Sendable {
  var id: Int
  var title: String
  var seen: Date
}

/// The samples in the reference of RequestBehaviorsSQLite.
@Suite(.limited) final class SQLiteReferenceTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var path: String { folder.appending(path: "store.sqlite").path() }
  private let server: LoopbackServer
  private var baseURL: URL { server.baseURL }
  private let artworks = [Artwork(id: 1, title: "one", seen: Date(timeIntervalSince1970: 0))]

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    server = try LoopbackServer { request in
      request.path.hasSuffix("tags")
        ? .json(#"[{"id": 1, "name": "oil"}]"#)
        : .json(#"{"data": {"items": [{"id": 7, "title": "a"}]}}"#)
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func makeStore() throws -> SQLiteStore {
    let migration = SQLiteMigration("all") { db in
      try db.createTable("tag", for: Tag.self)
      try db.execute("CREATE TABLE issue (id INTEGER PRIMARY KEY, title TEXT NOT NULL, repo TEXT)")
    }
    return try SQLiteStore(path: path, migrations: [migration])
  }

  @Test func `a store saves and reads`() async throws {
    let artworks = artworks
    let store = try SQLiteStore(
      path: path,
      migrations: [
        SQLiteMigration("artworks") { db in
          try db.createTable("artwork", for: Artwork.self)
        }
      ])
    let counts = try await store.write { db in
      try db.save(artworks, into: "artwork")
    }
    print(counts.inserted)
    let all: [Artwork] = try await store.read { db in
      try db.query("SELECT * FROM artwork ORDER BY id")
    }
    #expect(all.map(\.title) == ["one"])
  }

  @Test func `statements run inside a transaction`() async throws {
    let store = try makeStore()
    let lastWeek = Date(timeIntervalSince1970: -1)
    let artworks = artworks
    let (title, id, date) = ("uno", 1, lastWeek)
    try await store.write { db in
      try db.createTable("artwork", for: Artwork.self)
    }
    try await store.write { db in
      try db.save(artworks, into: "artwork")
      try db.execute("DELETE FROM artwork WHERE seen < \(lastWeek)")
    }
    try await store.write { db in
      try db.execute("UPDATE artwork SET title = \(title) WHERE id = \(id)")
      let recent: [Artwork] = try db.query(
        "SELECT * FROM artwork WHERE seen > \(date) ORDER BY title")
      let titles = try db.query(
        "SELECT title FROM artwork", as: String.self)
      #expect(recent.map(\.title) == ["uno"])
      #expect(titles == ["uno"])
    }
  }

  @Test func `a list is loaded again when its table changes`() async throws {
    let store = try makeStore()
    try await store.write { try $0.createTable("artwork", for: Artwork.self) }
    let shown = AsyncStream<Int>.makeStream()
    let following = Task {
      var artworks: [Artwork] = [] {
        didSet { shown.continuation.yield(artworks.count) }
      }
      func load() async throws -> [Artwork] { try await store.read { try $0.query("SELECT * FROM artwork") } }
      let changes = store.changes(in: "artwork")
      artworks = try await load()
      for await _ in changes { artworks = try await load() }
    }
    var counts = shown.stream.makeAsyncIterator()
    #expect(await counts.next() == 0)
    try await store.write { [artworks] db in _ = try db.save(artworks, into: "artwork") }
    #expect(await counts.next() == 1)
    following.cancel()
    _ = await following.result
  }

  @Test func `responses are saved`() async throws {
    let store = try makeStore()
    let id = 7
    do {
      struct TagSaver: ResponseSaver {
        func save(_ response: NetworkResponse, in db: Database) throws {
          let endpoint = response.request.endpoint
          guard endpoint == "artworks/{}/tags" else { return }
          let tags: [Tag] = try response.decode()
          try db.save(tags, into: "tag")
        }
      }

      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.persist(TagSaver(), in: store)])
      try await client.send(.get("artworks/\(id)/tags"))
      #expect(try await store.read { try $0.query("SELECT name FROM tag", as: String.self) } == ["oil"])
    }
    let client = NetworkClient(baseURL: baseURL)
    let tags = try await client.send(
      Request<[Tag]>.get("artworks/\(id)/tags")
        .persist(in: store) { tags, db in
          try db.save(tags, into: "tag")
        })
    #expect(tags.count == 1)
  }

  @Test func `records of a response are saved and counted`() async throws {
    let store = try makeStore()
    let repo = "demo"
    let client = NetworkClient(baseURL: baseURL)
    let response = try await client.send(
      Request<NetworkResponse>.get("repos/\(repo)/issues").with(
        .saveRecords(
          [Issue].self, at: "data.items", into: "issue", in: store,
          deletingOthers: .rows(where: "repo = \(repo)"))))
    let counts = response.info[SavedRows.self]
    #expect(counts != nil)
  }

  @Test func `tokens are kept in a store`() async throws {
    let store = try makeStore()
    let tokens = SQLiteTokenStore(store, name: "account")
    try await tokens.save(AccessToken("t0"))
    #expect(try await tokens.load()?.value == "t0")
  }
}
