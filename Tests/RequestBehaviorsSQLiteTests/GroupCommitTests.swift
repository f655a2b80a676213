import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

// A call of the package can reach the grouped writes too.
@testable import RequestBehaviorsSQLite

/// Writes that wait at the same time share only a commit.
@Suite(.limited) @MainActor struct GroupCommitTests {
  private struct Stop: Error {}

  // MARK: One commit

  @Test(arguments: [SQLiteDurability.normal, .full])
  func `saves that wait together are one commit`(_ durability: SQLiteDurability) async throws {
    let bench = try GroupBench()
    let before = bench.commits
    let results = try await bench.together(bench.saves(1...64, durability))
    #expect(results.succeeded.allSatisfy { $0 })
    #expect(try await bench.ids == Array(1...64))
    // One of them is that of the write that held the others up.
    #expect(bench.commits - before == 2)
  }

  @Test func `more saves than a transaction takes are some commits`() async throws {
    let bench = try GroupBench()
    let before = bench.commits
    #expect(try await bench.together(bench.saves(1...150)).succeeded.allSatisfy { $0 })
    #expect(try await bench.ids == Array(1...150))
    #expect(bench.commits - before == 4)
  }

  @Test func `a transaction that has changed many rows accepts no further writes`() async throws {
    let bench = try GroupBench()
    let before = bench.commits
    let store = bench.store
    let results = try await bench.together(
      (0..<3).map { number in
        { try await store.save((0..<600).map { Artwork(id: number * 600 + $0, title: "t") }, into: "artwork") }
      })
    #expect(results.succeeded.allSatisfy { $0 })
    #expect(try await bench.ids.count == 1_800)
    #expect(bench.commits - before == 3)
  }

  @Test func `one save with full durability gives it to all saves of the same commit`() async throws {
    let bench = try GroupBench()
    _ = try await bench.together(bench.saves(1...2) + bench.saves(3...3, .full) + bench.saves(4...4))
    let begin = try #require(bench.statements.lines.lastIndex(of: "BEGIN IMMEDIATE"))
    #expect(bench.statements.lines[..<begin].last { $0.contains("synchronous") } == "PRAGMA synchronous=FULL")
  }

  @Test func `a single save returns its own counts, and deletes the other rows of its scope`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    let first = try await store.save([Artwork(id: 1, title: "1"), Artwork(id: 2, title: "2")], into: "artwork")
    #expect(first.inserted == 2)
    let second = try await store.save([Artwork(id: 2, title: "2")], into: "artwork", deletingOthers: .all)
    #expect(second.unchanged == 1)
    #expect(second.deleted == 1)
    withExtendedLifetime(bench) {}
  }

  @Test func `each save returns the counts of its own rows`() async throws {
    let bench = try GroupBench()
    let (store, counts) = (bench.store, Log())
    let rows = [1...2, 2...4, 4...4]
    _ = try await bench.together(
      rows.map { ids in
        {
          let saved = try await store.save(ids.map { Artwork(id: $0, title: "t") }, into: "artwork")
          counts.append("\(ids.count): \(saved.inserted) \(saved.unchanged)")
        }
      })
    #expect(Set(counts.lines) == ["2: 2 0", "3: 2 1", "1: 0 1"])
  }

  @Test func `closures of callers are never committed together`() async throws {
    let bench = try GroupBench()
    let (store, before) = (bench.store, bench.commits)
    _ = try await bench.together((1...5).map { _ in { try await store.write { _ in } } }, closures: 5)
    #expect(bench.commits - before == 6)
  }

  @Test func `responses that are saved at the same time share a commit`() async throws {
    let bench = try GroupBench()
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/"))
    mock.on(.get, "one").respond(json: [Artwork(id: 1, title: "one")])
    mock.on(.get, "two").respond(json: [Artwork(id: 2, title: "two")])
    let store = bench.store
    let before = bench.commits
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let holding = Task { try await store.write { _ in bench.held.hold() } }
    await bench.held.isHeld()
    let behaviors: [any RequestBehavior] = [
      .saveRecords([Artwork].self, into: "artwork", in: store), .ingest(into: "artwork", in: store),
    ]
    let calls = zip(["one", "two"] as [RequestPath], behaviors).map { path, behavior in
      let request = Request<[Artwork]>.get(path).with(behavior)
      return Task { _ = try await client.send(request) }
    }
    #expect(try await eventually { store.groups.count == 2 })
    bench.held.letGo()
    for call in calls { try await call.value }
    try await holding.value
    #expect(try await bench.ids == [1, 2])
    #expect(bench.commits - before == 2)
  }

  // MARK: Separate outcomes

  @Test func `a save that fails fails alone`() async throws {
    struct Nameless: Codable, Sendable {
      var id: Int
      var title: String?
    }
    let bench = try GroupBench()
    let (store, before) = (bench.store, bench.commits)
    let failing: @MainActor () async throws -> Void = {
      try await store.save([Nameless(id: 100, title: "t"), Nameless(id: 101, title: nil)], into: "artwork")
    }
    let results = try await bench.together(bench.saves(1...3) + [failing] + bench.saves(4...6))
    #expect(results.succeeded == [true, true, true, false, true, true, true])
    let error = #expect(throws: SQLiteError.self) { try results[3].get() }
    #expect(error?.code == .constraint)
    #expect(error?.row == 1)
    #expect(try await bench.ids == Array(1...6))
    #expect(bench.commits - before == 2)
  }

  @Test func `saves that are cancelled while they wait end at once and write nothing`() async throws {
    let bench = try GroupBench()
    let before = bench.commits
    let results = try await bench.together(bench.saves(1...20)) { tasks in
      for index in stride(from: 0, to: 20, by: 2) { tasks[index].cancel() }
    }
    for (index, result) in results.enumerated() where index % 2 == 0 {
      #expect(throws: CancellationError.self) { try result.get() }
    }
    #expect(try await bench.ids == (1...20).filter { $0 % 2 == 0 })
    #expect(bench.commits - before == 2)
  }

  @Test func `a waiting save among others is cancelled at once, without the others`() async throws {
    // The last statement before the one that waits.
    let (lines, line) = AsyncStream.makeStream(of: Void.self)
    let test = try TestStore(
      SQLiteConfiguration(busyTimeout: .seconds(50)) { if $0.sql == "PRAGMA synchronous=FULL" { line.yield() } })
    let (store, other) = (test.store, try SQLiteStore(path: test.store.path))
    let (held, lock) = (HeldWork(), HeldWork())
    try await store.write { _ in }
    let locking = Task { try await other.write { _ in lock.hold() } }
    await lock.isHeld()
    let holding = Task { try await store.perform(on: store.writer) { _ in held.hold() } }
    await held.isHeld()
    var saves: [Task<Void, any Error>] = []
    for id in 1...3 {
      saves.append(
        await queue { try await store.save([Artwork(id: id, title: "t")], into: "artwork", durability: .full) })
    }
    held.letGo()
    for await _ in lines { break }
    saves[1].cancel()
    await #expect(throws: CancellationError.self) { try await saves[1].value }
    lock.letGo()
    for task in [locking, holding, saves[0], saves[2]] { try await task.value }
    #expect(try await test.artworks.map(\.id) == [1, 3])
  }

  /// Writes of which one is cancelled while it runs, so that SQLite undoes the whole transaction.
  @Test func `a write that is cancelled while it runs does not undo others of its commit`() async throws {
    let bench = try GroupBench()
    let (store, holder) = (bench.store, Holder())
    let endless: @MainActor () async throws -> Void = {
      try await store.writeTogether { db in
        holder.cancel()
        try db.execute(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          INSERT INTO artwork (id, title) SELECT 1000 + max(i), 'never' FROM n
          """)
      }
    }
    let results = try await bench.together(bench.saves(1...3) + [endless] + bench.saves(4...6)) { tasks in
      holder.set { tasks[3].cancel() }
    }
    #expect(results.succeeded == [true, true, true, false, true, true, true])
    #expect(throws: CancellationError.self) { try results[3].get() }
    #expect(try await bench.ids == Array(1...6))
  }

  @Test func `a write that fills the disk does not undo others of its commit`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    // A table of its own, because the pages of the other one have room.
    try await store.write { db in
      try db.execute("CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT)")
      let pages = try db.first("PRAGMA page_count", as: Int.self) ?? 0
      _ = try db.first(SQL(verbatim: "PRAGMA max_page_count = \(pages + 3)"), as: Int.self)
    }
    let large: @MainActor () async throws -> Void = {
      try await store.writeTogether { db in
        _ = try db.execute("INSERT INTO large (text) VALUES (\(String(repeating: "x", count: 100_000)))")
      }
    }
    let results = try await bench.together(bench.saves(1...3) + [large] + bench.saves(4...6))
    #expect(results.succeeded == [true, true, true, false, true, true, true])
    let error = #expect(throws: SQLiteError.self) { try results[3].get() }
    #expect(error?.code == .full)
    #expect(try await bench.ids == Array(1...6))
    #expect(try await bench.test.isIntact)
  }

  @Test func `a write that is alone is not committed if its check fails after it`() async throws {
    let bench = try GroupBench()
    let written = Log()
    let check: @Sendable () throws -> Void = { if !written.lines.isEmpty { throw Stop() } }
    await #expect(throws: Stop.self) {
      try await bench.store.writeTogether(check: check) { db in
        try db.save(Artwork(id: 1, title: "t"), into: "artwork")
        written.append("1")
      }
    }
    #expect(try await bench.ids == [])
  }

  @Test func `a write that rolls the transaction back fails, and the others are saved`() async throws {
    let bench = try GroupBench()
    let store = bench.store
    let rollingBack: @MainActor () async throws -> Void = {
      try await store.writeTogether { db in
        // The error is caught, as a saver may.
        _ = try? db.execute("INSERT OR ROLLBACK INTO artwork (id, title) VALUES (1, 'again')")
      }
    }
    let results = try await bench.together(bench.saves(1...2) + [rollingBack] + bench.saves(3...3))
    #expect(results.succeeded == [true, true, false, true])
    #expect(try await bench.ids == [1, 2, 3])
  }

  @Test func `actions after the commit run for committed writes, and changes are reported once`() async throws {
    let bench = try GroupBench()
    let (store, log) = (bench.store, Log())
    let ticks = store.changes(in: "artwork")
    let noting: [@MainActor () async throws -> Void] = [1, 2, 3].map { id in
      {
        try await store.writeTogether { db in
          try db.save(Artwork(id: id, title: "t"), into: "artwork")
          try db.afterCommit { log.append("\(id)") }
          if id == 2 { throw Stop() }
        }
      }
    }
    #expect(try await bench.together(noting).succeeded == [true, false, true])
    #expect(log.lines == ["1", "3"])
    await store.close()
    var count = 0
    for await _ in ticks { count += 1 }
    #expect(count == 1)
  }

  @Test func `a write that fails does not report a change`() async throws {
    let bench = try GroupBench([
      TestStore.artwork, SQLiteMigration("other") { try $0.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") },
    ])
    let store = bench.store
    let ticks = store.changes(in: "other")
    let failing: @MainActor () async throws -> Void = {
      try await store.writeTogether { db in
        try db.execute("INSERT INTO other VALUES (1)")
        throw Stop()
      }
    }
    #expect(try await bench.together(bench.saves(1...1) + [failing]).succeeded == [true, false])
    await store.close()
    var count = 0
    for await _ in ticks { count += 1 }
    #expect(count == 0)
  }

  @Test func `a failed commit fails each of its saves, and the reported outcomes match the file`()
    async throws
  {
    for number in 1...12 {
      let (vfs, folder) = (FaultVFS(), try TemporaryFolder())
      let store = try SQLiteStore(
        path: folder.file(), configuration: vfs.configuration(.full), migrations: [TestStore.artwork])
      let held = HeldWork()
      let holding = Task { try await store.read { _ in } }
      try await holding.value
      let writing = Task { try await store.write { _ in held.hold() } }
      await held.isHeld()
      var tasks: [Task<Int, any Error>] = []
      for id in 1...5 {
        tasks.append(
          await queue { try await store.save([Artwork(id: id, title: "t")], into: "artwork").inserted })
      }
      vfs.fail(at: number)
      held.letGo()
      try await writing.value
      var saved: [Int] = []
      for (index, task) in tasks.enumerated() {
        if case .success(1) = await task.result { saved.append(index + 1) }
      }
      _ = vfs.heal()
      #expect(try await store.read { try $0.query("SELECT id FROM artwork ORDER BY id", as: Int.self) } == saved)
      await store.close()
      withExtendedLifetime(vfs) {}
    }
  }
}
