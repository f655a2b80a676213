import Foundation
import RequestBehaviorsSQLite
import Testing

/// What must not be done is an error that says so.
@Suite struct MisuseTests {
  private struct Stop: Error {}

  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
  }

  private func makeStore(_ script: String, _ format: RowFormat = RowFormat()) throws -> SQLiteStore {
    try SQLiteStore(
      path: ":memory:", configuration: SQLiteConfiguration(format: format),
      migrations: [SQLiteMigration("schema") { try $0.execute(script: script) }])
  }

  @Test(arguments: ["COMMIT", "/* x */ COMMIT", "-- x\nEND", ";ROLLBACK", "SAVEPOINT s", "RELEASE nested", "BEGIN"])
  func `nobody but the store ends a transaction`(sql: String) async throws {
    for isScript in [false, true] {
      let test = try TestStore()
      let error = await #expect(throws: SQLiteError.self) {
        try await test.store.write { db in
          try db.save(Artwork(id: 1, title: "one"), into: "artwork")
          if isScript { try db.execute(script: sql + "; BEGIN") } else { try db.execute(SQL(verbatim: sql)) }
        }
      }
      #expect(error?.code == .misuse && error?.message.contains("savepoint { }") == true)
      #expect(try await test.artworks.isEmpty)
      try await test.store.write { _ = try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
      #expect(try await test.artworks.count == 1)
    }
  }

  @Test(arguments: [
    "COMMIT", "ROLLBACK", "BEGIN IMMEDIATE", "SAVEPOINT nested", "RELEASE nested", "ROLLBACK TO nested",
  ])
  func `nobody but the store ends a transaction with the store's own words`(sql: String) throws {
    let folder = try TemporaryFolder()
    let schema = SQLiteMigration("t") { try $0.execute("CREATE TABLE t (a TEXT)") }
    let store = try SQLiteStore(path: folder.file(), migrations: [schema])
    // The store has prepared all of its own.
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        try db.savepoint {}
        do { try db.savepoint { throw Stop() } } catch is Stop {}
        throw Stop()
      }
    }
    try store.writeAndWait { _ = try $0.execute("DELETE FROM t") }
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { db in
        try db.execute("INSERT INTO t VALUES ('y')")
        try db.execute(SQL(verbatim: sql))
      }
    }
    #expect(error?.code == .misuse && error?.message.contains("savepoint { }") == true)
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
  }

  @Test func `full-text search keeps the savepoints of its own`() throws {
    let store = try makeStore("CREATE VIRTUAL TABLE f USING fts4(x)")
    try store.writeAndWait { db in
      try db.execute("INSERT INTO f VALUES ('hello world')")
      try db.execute("INSERT INTO f VALUES ('hello you')")
      #expect(try db.first("SELECT optimize(f) FROM f LIMIT 1", as: String.self) != nil)
    }
  }

  @Test func `what follows a NUL in SQL is not left out silently`() throws {
    let store = try makeStore("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1), (2)")
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute(SQL(verbatim: "DELETE FROM a\u{0} WHERE x = 1")) }
    }
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM a", as: Int.self) } == 2)
  }

  @Test func `a task that a closure begins may use the store`() async throws {
    let test = try TestStore()
    let store = test.store
    @Sendable func count() throws -> Int? {
      try store.readAndWait { try $0.first("SELECT count(*) FROM artwork", as: Int.self) }
    }
    let (tasks, continuation) = AsyncStream.makeStream(of: Task<Int?, any Error>.self)
    try await store.write { db in
      try db.save(Artwork(id: 1, title: "one"), into: "artwork")
      try db.afterCommit { continuation.yield(Task { try count() }) }
    }
    for await task in tasks {
      #expect(try await task.value == 1)
      break
    }
  }

  @Test func `a comment after a statement is no second statement`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT)")
    try store.writeAndWait { db in
      try db.execute("DELETE FROM t; -- all of it")
      try db.execute("DELETE FROM t; /* all */ ; ")
    }
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("DELETE FROM t; -- x\nSELECT 1") }
    }
    #expect(error?.message.contains("more than one statement") == true)
  }

  private struct Keeper: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) throws { self.decoder = decoder }
  }

  private struct Lazy: Decodable {
    enum Keys: CodingKey { case a }
    let container: KeyedDecodingContainer<Keys>
    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Keys.self) }
  }

  private struct Single: Decodable {
    let container: any SingleValueDecodingContainer
    init(from decoder: any Decoder) throws { container = try decoder.singleValueContainer() }
  }

  @Test func `a decoder that is kept throws when its rows are gone`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT, b INTEGER); INSERT INTO t VALUES ('one', 1), ('two', 2)")
    let (keepers, lazies, singles) = try store.writeAndWait { db in
      try (
        db.query("SELECT a, b FROM t", as: Keeper.self), db.query("SELECT a, b FROM t", as: Lazy.self),
        db.query("SELECT a FROM t", as: Single.self)
      )
    }
    let check = {
      #expect(throws: DecodingError.self) { try Row(from: keepers[0].decoder) }
      #expect(throws: DecodingError.self) { try lazies[0].container.decode(String.self, forKey: .a) }
      #expect(throws: DecodingError.self) { try singles[0].container.decode(String.self) }
      #expect(singles[0].container.decodeNil())
    }
    check()
    // The change of the schema finalises the statements; others take their place.
    try store.writeAndWait { db in
      try db.execute(script: "CREATE TABLE z (a)")
      for number in 0..<60 {
        try db.forEach("SELECT 'FOREIGN' AS x, \(number) AS y FROM t", as: String.self) { _ in check() }
      }
    }
  }

  private final class Sink: Sendable {
    // Used by one thread at a time: the test waits for each save.
    nonisolated(unsafe) var encoders: [any Encoder] = []
    // As above.
    nonisolated(unsafe) var containers: [KeyedEncodingContainer<Lazy.Keys>] = []
  }

  private struct Leaking: Encodable {
    let a: String
    let sink: Sink

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Lazy.Keys.self)
      try container.encode(a, forKey: .a)
      sink.encoders.append(encoder)
      sink.containers.append(container)
    }
  }

  @Test func `an encoder that is kept throws when its save is over`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT)")
    let sink = Sink()
    try store.writeAndWait { _ = try $0.save(Leaking(a: "one", sink: sink), into: "t") }
    #expect(throws: SQLiteError.self) { try sink.containers[0].encode("two", forKey: .a) }
    try store.writeAndWait { try $0.execute(script: "CREATE TABLE z (a)") }
    #expect(throws: SQLiteError.self) { try sink.containers[0].encode("two", forKey: .a) }
    #expect(throws: SQLiteError.self) { try Row(a: "x", b: 1).encode(to: sink.encoders[0]) }
    #expect(try store.readAndWait { try $0.query("SELECT a FROM t", as: String.self) } == ["one"])
  }

  @Test func `a number too large for a Float is an error`() throws {
    let store = try makeStore("CREATE TABLE t (a)")
    #expect(throws: DecodingError.self) { try store.readAndWait { try $0.first("SELECT 1e300", as: Float.self) } }
    #expect(try store.readAndWait { try $0.first("SELECT 1e300", as: Double.self) } == 1e300)
  }

  @Test func `a store inside another's closure inside its own is an error`() throws {
    let one = try makeStore("CREATE TABLE t (a)")
    let two = try makeStore("CREATE TABLE t (a)")
    let error = #expect(throws: SQLiteError.self) {
      try one.writeAndWait { _ in try two.writeAndWait { _ in try one.writeAndWait { _ in } } }
    }
    #expect(error?.code == .misuse)
    try one.writeAndWait { _ in try two.writeAndWait { _ = try $0.execute("INSERT INTO t VALUES (1)") } }
  }

  @Test func `a backup onto the database by another name is refused`() async throws {
    let test = try TestStore()
    for path in [
      test.folder.path + "/./store.sqlite",
      test.folder.path + "/../" + (test.folder.path as NSString).lastPathComponent + "/store.sqlite",
    ] {
      let error = await #expect(throws: SQLiteError.self) { try await test.store.backup(to: path) }
      #expect(error?.code == .misuse)
    }
  }

  private struct Event: Codable, Equatable {
    var id: UUID
    var day: Date
  }

  @Test(arguments: [
    RowFormat(), RowFormat(dates: .iso8601, uuids: .text), RowFormat(dates: .unixSeconds),
    RowFormat(dates: .unixMilliseconds),
  ])
  func `dates and UUIDs in SQL have the form of the rows`(format: RowFormat) throws {
    let schema = SQLiteMigration("event") { try $0.createTable("event", for: Event.self) }
    let store = try SQLiteStore(
      path: ":memory:", configuration: SQLiteConfiguration(format: format), migrations: [schema])
    let event = Event(id: UUID(), day: Date(timeIntervalSince1970: 1000))
    try store.writeAndWait { _ = try $0.save(event, into: "event") }
    try store.readAndWait { db throws in
      #expect(try db.find(Event.self, in: "event", key: event.id) == event)
      #expect(try db.query("SELECT * FROM event WHERE day = \(event.day)", as: Event.self) == [event])
      #expect(
        try db.query(SQL("SELECT * FROM event WHERE id = ?", arguments: [Optional(event.id)]), as: Event.self) == [
          event
        ])
      let later = Date(timeIntervalSince1970: 2000)
      #expect(try db.query("SELECT * FROM event WHERE day > \(later)", as: Event.self).isEmpty)
      #expect(try db.query("SELECT * FROM event WHERE day < \(later)", as: Event.self).count == 1)
    }
  }

  @Test func `what is to be done after a commit is not done where there is none`() throws {
    let store = try makeStore("CREATE TABLE t (a)")
    let log = Log()
    try store.writeAndWait { db in
      try db.afterCommit { log.append("write") }
      #expect(throws: Stop.self) {
        try db.savepoint {
          try db.afterCommit { log.append("savepoint") }
          throw Stop()
        }
      }
    }
    #expect(log.lines == ["write"])
    let error = #expect(throws: SQLiteError.self) {
      try store.readAndWait { try $0.afterCommit { log.append("read") } }
    }
    #expect(error?.code == .readOnly)
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        try db.afterCommit { log.append("undone") }
        throw Stop()
      }
    }
    try store.writeAndWait { _ in }
    #expect(log.lines == ["write"])
  }

  @Test(.timeLimit(.minutes(1))) func `a store closes while reads keep coming`() async throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 2))
    let store = test.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          // Until the store refuses.
          while (try? await store.read { try $0.first("SELECT count(*) FROM artwork", as: Int.self) }) != nil {}
        }
      }
      for _ in 0..<200 { _ = try await store.read { try $0.first("SELECT 1", as: Int.self) } }
      await store.close()
      try await group.waitForAll()
    }
    let error = await #expect(throws: SQLiteError.self) { try await store.read { _ in } }
    #expect(error?.code == .misuse)
  }

  @Test func `a decimal is a number as a whole`() throws {
    let store = try makeStore("CREATE TABLE t (d TEXT)")
    for text in ["'12abc'", "'1,5'", "'abc'", "''", "'NaN'"] {
      #expect(throws: DecodingError.self) {
        try store.readAndWait { try $0.first(SQL(verbatim: "SELECT " + text), as: Decimal.self) }
      }
    }
    #expect(try store.readAndWait { try $0.first("SELECT '-12.50e1'", as: Decimal.self) } == -125)
    struct Price: Codable { var d: Decimal }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(Price(d: .nan), into: "t") } }
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("INSERT INTO t VALUES (\(Decimal.nan))") }
    }
  }
}
