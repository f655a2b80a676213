import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// Queries that are read again when what they read has changed.
@Suite(.limited) struct ValuesTests {
  private static let schema = SQLiteMigration("schema") { db in
    try db.execute(
      script: """
        CREATE TABLE other (id INTEGER PRIMARY KEY);
        CREATE TABLE part (id INTEGER PRIMARY KEY, artwork INTEGER REFERENCES artwork(id) ON DELETE CASCADE);
        CREATE VIEW titles AS SELECT title FROM artwork JOIN part ON part.artwork = artwork.id;
        CREATE TABLE log (id INTEGER);
        CREATE TRIGGER t AFTER INSERT ON part BEGIN INSERT INTO log VALUES (new.id); END;
        CREATE VIRTUAL TABLE found USING fts4(text);
        """)
  }

  private func makeTest() throws -> TestStore { try TestStore(migrations: [TestStore.artwork, Self.schema]) }

  private static let titles: @Sendable (Database) throws -> [String] = {
    try $0.query("SELECT title FROM artwork ORDER BY id", as: String.self)
  }

  @Test func `a value is available at once and after each commit that changes it`() async throws {
    let test = try makeTest()
    var values = test.store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    for id in 1...3 {
      try await test.store.write { try $0.save(Artwork(id: id, title: "\(id)"), into: "artwork") }
      #expect(try await values.next() == (1...id).map(String.init))
    }
    try await test.store.write { try $0.execute("DELETE FROM artwork") }
    #expect(try await values.next() == [])
  }

  @Test func `the first value contains the commits before it`() async throws {
    let test = try makeTest()
    var values = test.store.values(Self.titles).makeAsyncIterator()
    try await test.store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await values.next() == ["one"])
  }

  @Test func `a commit during a read is seen by the next read`() async throws {
    let test = try makeTest()
    let (held, isFirst) = (HeldWork(), Log())
    let reading = Task {
      var values = test.store.values { db in
        let titles = try Self.titles(db)
        if isFirst.lines.isEmpty {
          isFirst.append("held")
          held.hold()
        }
        return titles
      }.makeAsyncIterator()
      return [try await values.next(), try await values.next()]
    }
    await held.isHeld()
    try await test.store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    held.letGo()
    #expect(try await reading.value == [[], ["one"]])
  }

  @Test func `commits to tables that were not read, unchanged rows and rollbacks read nothing again`() async throws {
    let test = try makeTest()
    let (store, reads) = (test.store, Log())
    var values = store.values { db in
      reads.append("read")
      return try Self.titles(db)
    }.makeAsyncIterator()
    try await store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await values.next() == ["one"])
    try await store.write { try $0.execute("INSERT INTO other VALUES (1)") }
    try await store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    try? await store.write { db in
      try db.execute("DELETE FROM artwork")
      throw CancellationError()
    }
    try await store.write { try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    #expect(try await values.next() == ["one", "two"])
    #expect(reads.lines.count == 2)
  }

  @Test func `an equal value is left out`() async throws {
    let test = try makeTest()
    let (reads, read) = AsyncStream.makeStream(of: Void.self)
    let next = Task {
      var values = test.store.values { db in
        let titles = try Self.titles(db)
        read.yield()
        return titles
      }.makeAsyncIterator()
      return [try await values.next(), try await values.next()]
    }
    var waiting = reads.makeAsyncIterator()
    await waiting.next()
    try await test.store.write { db in
      try db.execute("INSERT INTO artwork (id, title) VALUES (1, 'x')")
      try db.execute("DELETE FROM artwork")
    }
    // Read again, and found equal.
    await waiting.next()
    try await test.store.write { try $0.execute("INSERT INTO artwork (id, title) VALUES (1, 'y')") }
    #expect(try await next.value == [[], ["y"]])
  }

  @Test func `a commit that the first value contains does not cause another read`() async throws {
    let test = try makeTest()
    let reads = Log()
    let next = Task { @MainActor in
      var values = test.store.values { db in
        reads.append("read")
        return try Self.titles(db)
      }.makeAsyncIterator()
      try await test.store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
      #expect(try await values.next() == ["one"])
      let closing = Task { await test.store.close() }
      #expect(try await values.next() == nil)
      await closing.value
    }
    try await next.value
    #expect(reads.lines.count == 1)
  }

  @Test func `a value without equality is repeated after each commit`() async throws {
    struct Count: Sendable { var number: Int? }
    let test = try makeTest()
    var values = test.store.values { db in
      Count(number: try db.first("SELECT count(*) FROM artwork WHERE id > 100", as: Int.self))
    }.makeAsyncIterator()
    #expect(try await values.next()?.number == 0)
    try await test.store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await values.next()?.number == 0)
  }

  @Test func `a slow loop gets the latest value only`() async throws {
    let test = try makeTest()
    var values = test.store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    for id in 1...5 {
      try await test.store.write { try $0.save(Artwork(id: id, title: "\(id)"), into: "artwork") }
    }
    #expect(try await values.next() == ["1", "2", "3", "4", "5"])
    try await test.store.write { try $0.execute("DELETE FROM artwork WHERE id < 5") }
    #expect(try await values.next() == ["5"])
  }

  private typealias Count = @Sendable (Database) throws -> Int?
  private typealias Write = @Sendable (Database) throws -> Void
  private static let dependencies: [(String, Count, Write)] = [
    (
      "a view's tables", { try $0.first("SELECT count(*) FROM titles", as: Int.self) },
      { try $0.execute("INSERT INTO part VALUES (7, 1)") }
    ),
    (
      "a trigger's table", { try $0.first("SELECT count(*) FROM log", as: Int.self) },
      { try $0.execute("INSERT INTO part VALUES (7, 1)") }
    ),
    (
      "a cascade's table", { try $0.first("SELECT count(*) FROM part", as: Int.self) },
      { try $0.execute("DELETE FROM artwork WHERE id = 2") }
    ),
    (
      "a table in a subquery",
      { try $0.first("SELECT (SELECT count(*) FROM Part) FROM artwork LIMIT 1", as: Int.self) },
      { try $0.execute("INSERT INTO part VALUES (7, 1)") }
    ),
    (
      "a table that is found by key", { try $0.find(in: "artwork", key: 1) { try $0["note"] == String?.none ? 0 : 1 } },
      { try $0.execute("UPDATE artwork SET note = 'n'") }
    ),
    (
      "a full-text index", { try $0.first("SELECT count(*) FROM found WHERE found MATCH 'word'", as: Int.self) },
      { try $0.execute("INSERT INTO found VALUES ('a word')") }
    ),
    (
      "an ingest", { try $0.first("SELECT count(*) FROM artwork", as: Int.self) },
      { try $0.ingest(Data(#"[{"id": 9, "title": "nine"}]"#.utf8), into: "artwork") }
    ),
    (
      "a script", { try $0.first("SELECT count(*) FROM artwork", as: Int.self) },
      { try $0.execute(script: "DELETE FROM part; DELETE FROM artwork") }
    ),
    (
      "a table that is made anew", { try $0.first("SELECT count(*) FROM other", as: Int.self) },
      { try $0.execute(script: "DROP TABLE other; CREATE TABLE other (x); INSERT INTO other VALUES (1), (2)") }
    ),
    (
      "what several statements read",
      {
        try $0.query("SELECT id FROM artwork", as: Int.self).count + $0.query("SELECT id FROM part", as: Int.self).count
      },
      { try $0.execute("INSERT INTO part VALUES (7, 1)") }
    ),
  ]

  @Test(arguments: dependencies.indices) func `a value is read again when one of its dependencies changes`(index: Int)
    async throws
  {
    let test = try makeTest()
    try await test.store.write { db in
      try db.save([Artwork(id: 1, title: "one"), Artwork(id: 2, title: "two")], into: "artwork")
      try db.execute("INSERT INTO part VALUES (1, 1), (2, 2)")
    }
    let (name, read, write) = Self.dependencies[index]
    var values = test.store.values(read).makeAsyncIterator()
    let before = try await values.next()
    try await test.store.write(write)
    #expect(try await values.next() != before, "\(name)")
  }

  @Test func `a view that another connection has changed is followed to its new table`() async throws {
    let test = try makeTest()
    let read: @Sendable (Database) throws -> Int? = { try $0.first("SELECT count(*) FROM titles", as: Int.self) }
    var values = test.store.values(read).makeAsyncIterator()
    #expect(try await values.next() == 0)
    let other = try SQLiteStore(path: test.store.path)
    try await other.write {
      try $0.execute(script: "DROP VIEW titles; CREATE VIEW titles AS SELECT id FROM other")
    }
    // Unobserved: SQLite prepares the statement again for it.
    #expect(try await test.store.read(read) == 0)
    var again = test.store.values(read).makeAsyncIterator()
    #expect(try await again.next() == 0)
    try await test.store.write { try $0.execute("INSERT INTO other VALUES (1)") }
    #expect(try await again.next() == 1)
  }

  @Test func `rows that a request saves are seen`() async throws {
    let test = try makeTest()
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
    mock.on(.get, "artworks").respond(json: [Artwork(id: 1, title: "one")])
    let client = NetworkClient(
      baseURL: mock.baseURL, behaviors: [.saveRecords([Artwork].self, into: "artwork", in: test.store)],
      transport: mock)
    var values = test.store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    _ = try await client.send(Request<[Artwork]>.get("artworks"))
    #expect(try await values.next() == ["one"])
  }

  @Test func `values in memory are observed too`() async throws {
    let store = try SQLiteStore(path: ":memory:", migrations: [TestStore.artwork])
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    try await store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await values.next() == ["one"])
  }

  @Test func `a sequence ends when its store is closed, and throws when its task is cancelled`() async throws {
    let test = try makeTest()
    let values = test.store.values(Self.titles)
    func follow() async -> Task<Int, any Error> {
      await queue {
        var count = 0
        for try await _ in values { count += 1 }
        return count
      }
    }
    let cancelled = await follow()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let (seen, see) = AsyncStream.makeStream(of: Void.self)
    let closed = Task {
      var count = 0
      for try await _ in values {
        count += 1
        see.yield()
      }
      return count
    }
    for await _ in seen { break }
    await test.store.close()
    #expect(try await closed.value == 1)
    await #expect(throws: SQLiteError.self) {
      for try await _ in values {}
    }
  }

  @Test func `an error of the closure is thrown, and the next value is read when something changes`() async throws {
    struct Stop: Error {}
    let test = try makeTest()
    var values = test.store.values { db in
      let titles = try Self.titles(db)
      if titles == ["bad"] { throw Stop() }
      return titles
    }.makeAsyncIterator()
    #expect(try await values.next() == [])
    try await test.store.write { try $0.execute("INSERT INTO artwork (id, title) VALUES (1, 'bad')") }
    await #expect(throws: Stop.self) { _ = try await values.next() }
    try await test.store.write { try $0.execute("UPDATE artwork SET title = 'good'") }
    #expect(try await values.next() == ["good"])
  }

  @Test func `two loops of one stream of changes both end`() async throws {
    let test = try makeTest()
    let ticks = test.store.changes(in: "artwork")
    let loops = (0..<2).map { _ in Task { for await _ in ticks {} } }
    await test.store.close()
    var ended = 0
    for loop in loops {
      await loop.value
      ended += 1
    }
    #expect(ended == 2)
  }
}
