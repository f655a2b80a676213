import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

struct Tag: Codable, Equatable, Sendable {
  var id: Int
  var name: String
}

private struct Poster: Equatable {
  var id: Int
  var title: String
  var price: Double?
}

extension Poster: SQLiteRecord {
  init(row: SQLiteRow) throws {
    self.init(
      id: try row["id"], title: try row["title"],
      price: try row["price"])
  }
}

enum Technique: String, SQLReadable { case oil, ink }

private struct Artwork: Codable, Sendable {
  var id: Int
  var title: String
}

@MainActor final class TagList {
  private(set) var tags: [Tag] = []
  private let client: NetworkClient
  private let store: SQLiteStore

  init(client: NetworkClient, store: SQLiteStore) {
    self.client = client
    self.store = store
  }

  func follow() async throws {
    let all: SQL = "SELECT * FROM tag ORDER BY name"
    let saved = store.values { db in
      try db.query(all, as: Tag.self)
    }
    for try await tags in saved { self.tags = tags }
  }

  func refresh() async throws {
    let request = Request<Void>.get("tags")
      .with(
        .saveRecords(
          [Tag].self, into: "tag", in: store,
          deletingOthers: .all))
    try await client.send(request)
  }
}

@MainActor private func tagsOfModel(over store: SQLiteStore, _ client: NetworkClient) async throws -> [String] {
  let model = TagList(client: client, store: store)
  try await model.refresh()
  let following = Task { try await model.follow() }
  _ = try await eventually { !model.tags.isEmpty }
  // Closing ends the loop.
  await store.close()
  try await following.value
  return model.tags.map(\.name)
}

/// Shows tags by the loop alone.
private actor Shelf {
  let shown = AsyncStream<[String]>.makeStream()
  private var tags: [Tag] = [] {
    didSet { shown.continuation.yield(tags.map(\.name)) }
  }

  func follow(_ store: SQLiteStore) async throws {
    let all: SQL = "SELECT * FROM tag ORDER BY name"
    let saved = store.values { db in
      try db.query(all, as: Tag.self)
    }
    for try await tags in saved { self.tags = tags }
  }
}

/// The samples of the landing page and the articles of RequestBehaviorsSQLite.
@Suite(.limited) final class SavingSamplesTests {
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

  @Test func `the sample that polls for commits of other programs opens a store`() throws {
    let path = path
    let configuration = SQLiteConfiguration(
      changePollInterval: .seconds(1))
    let store = try SQLiteStore(
      path: path, configuration: configuration)
    #expect(store.configuration.changePollInterval == .seconds(1))
  }

  @Test func `the sample for a shared file opens a store`() throws {
    let path = path
    let configuration = SQLiteConfiguration(trustsSchema: true)
    let store = try SQLiteStore(
      path: path, configuration: configuration)
    #expect(store.configuration.trustsSchema)
  }

  @Test func `the samples of a save save`() async throws {
    let store = try makeStore()
    let artworks = [Artwork(id: 1, title: "one")]
    let counts = try await store.save(
      artworks, into: "artwork", durability: .full)
    #expect(counts.inserted == 1)
    try await store.save(artworks, into: "artwork", durability: .full)
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

  @Test func `a request saves the value that it decodes`() async throws {
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
    let shelf = Shelf()
    let following = Task { try await shelf.follow(store) }
    var shown = shelf.shown.stream.makeAsyncIterator()
    #expect(await shown.next() == [])
    try await store.write { db in try db.save([Tag(id: 1, name: "oil")], into: "tag") }
    #expect(await shown.next() == ["oil"])
    following.cancel()
    await #expect(throws: CancellationError.self) { try await following.value }
  }

  @Test func `a model shows what its requests save`() async throws {
    #expect(try await tagsOfModel(over: makeStore(), NetworkClient(baseURL: baseURL)) == ["oil"])
  }

  @Test func `rows are read by decoding, by closures and by initializers`() async throws {
    let store = try makeStore()
    try await store.write { db in
      try db.execute(script: "ALTER TABLE artwork ADD COLUMN price REAL; INSERT INTO tag VALUES (1, 'oil', 7)")
      try db.save([Artwork(id: 3, title: "three"), Artwork(id: 7, title: "seven")], into: "artwork")
    }
    let last = 3
    try await store.read { db in
      let recent: [Artwork] = try db.query(
        "SELECT * FROM artwork WHERE id > \(last) ORDER BY title")
      let artwork = try db.find(Artwork.self, in: "artwork", key: 7)
      let count = try db.first(
        "SELECT count(*) FROM artwork", as: Int.self)
      #expect((recent.map(\.id), artwork?.title, count ?? 0) == ([7], "seven", 2))
      let counted: SQL = """
        SELECT title, count(tag.id) AS tags
        FROM artwork JOIN tag ON tag.artwork = artwork.id
        """
      let lines = try db.query(counted) { row in
        "\(try row["title"] as String): \(try row["tags"] as Int)"
      }
      #expect(lines == ["seven: 1"])
      let posters = try db.query("SELECT * FROM artwork ORDER BY id", as: Poster.self)
      #expect(posters == [Poster(id: 3, title: "three"), Poster(id: 7, title: "seven")])
      let technique = try db.first("SELECT name FROM tag", as: Technique.self)
      #expect(technique == .oil)
    }
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
