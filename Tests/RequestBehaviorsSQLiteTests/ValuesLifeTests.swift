import Foundation
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// Loops over values, and what becomes of them when the store is closed, suspended, busy or changed by others.
@Suite(.limited) struct ValuesLifeTests {
  private static let titles: @Sendable (Database) throws -> [String] = {
    try $0.query("SELECT title FROM artwork ORDER BY id", as: String.self)
  }

  private func save(_ id: Int, in store: SQLiteStore) async throws {
    try await store.write { try $0.save(Artwork(id: id, title: "\(id)"), into: "artwork") }
  }

  // MARK: Closing

  @Test func `a loop that was made before its store is closed ends, whatever it does at that time`() async throws {
    let test = try TestStore()
    var fresh = test.store.values(Self.titles).makeAsyncIterator()
    var behind = test.store.values(Self.titles).makeAsyncIterator()
    #expect(try await behind.next() == [])
    try await save(1, in: test.store)
    await test.store.close()
    #expect(try await fresh.next() == nil)
    #expect(try await behind.next() == nil)
    #expect(try await behind.next() == nil)
  }

  @Test func `a loop over a store that was closed before is an error`() async throws {
    let test = try TestStore()
    await test.store.close()
    var values = test.store.values(Self.titles).makeAsyncIterator()
    let error = await #expect(throws: SQLiteError.self) { try await values.next() }
    #expect(error?.code == .misuse)
  }

  @Test func `loops that read while their store is closed end without an error`() async throws {
    for _ in 1...20 {
      let test = try TestStore()
      let store = test.store
      let loops = (0..<20).map { _ in Task { for try await _ in store.values(Self.titles) {} } }
      for id in 1...5 { try await save(id, in: store) }
      await store.close()
      for loop in loops {
        let result = await loop.result
        // A loop that had not begun yet is a loop over a closed store.
        if case .failure(let error) = result { #expect((error as? SQLiteError)?.code == .misuse) }
      }
    }
  }

  // MARK: Suspending

  @MainActor @Test func `a loop continues when its store resumes`() async throws {
    let test = try TestStore()
    let store = test.store
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    try await save(1, in: store)
    await store.suspend()
    let log = Log()
    let loop = await queue {
      for try await titles in store.values(Self.titles) {
        log.append("\(titles)")
        if titles.count == 2 { return }
      }
    }
    #expect(log.lines.isEmpty)
    store.resume()
    #expect(try await values.next() == ["1"])
    try await save(2, in: store)
    #expect(try await values.next() == ["1", "2"])
    try await loop.value
    #expect(log.lines.last == #"["1", "2"]"#)
  }

  @Test(arguments: [false, true])
  func `a read that a suspension stops is repeated, though its error was replaced`(isReplaced: Bool) async throws {
    struct Other: Error {}
    let test = try TestStore()
    let (store, reads) = (test.store, Log())
    let (readings, reading) = AsyncStream.makeStream(of: Void.self)
    let loop = Task {
      var values = store.values { db in
        reads.append("read")
        guard reads.lines.count == 1 else { return try Self.titles(db) }
        reading.yield()
        do {
          return try db.query(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", as: String.self)
        } catch {
          throw isReplaced ? Other() : error
        }
      }.makeAsyncIterator()
      return try await values.next()
    }
    for await _ in readings { break }
    await store.suspend()
    store.resume()
    #expect(try await loop.value == [])
    #expect(reads.lines.count == 2)
  }

  @Test(arguments: [false, true])
  func `a read that a suspension stops is repeated, though its error was swallowed`(isOver: Bool) async throws {
    let test = try TestStore()
    let (store, reads, held) = (test.store, Log(), HeldWork())
    try await save(1, in: store)
    let (readings, reading) = AsyncStream.makeStream(of: Void.self)
    let loop = Task {
      var values = store.values { db -> [String] in
        reads.append("read")
        guard reads.lines.count == 1 else { return try Self.titles(db) }
        reading.yield()
        let endless: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        let titles = (try? db.query(endless, as: String.self)) ?? []
        if isOver { held.hold() }
        return titles
      }.makeAsyncIterator()
      return try await values.next()
    }
    for await _ in readings { break }
    let suspension = Task { await store.suspend() }
    if isOver {
      await held.isHeld()
      store.resume()
      held.letGo()
    }
    await suspension.value
    store.resume()
    #expect(try await loop.value == ["1"])
  }

  @MainActor @Test func `a loop ends when its store is closed while it is suspended`() async throws {
    let test = try TestStore()
    let store = test.store
    await store.suspend()
    let loop = await queue {
      var values = store.values(Self.titles).makeAsyncIterator()
      return try await values.next() == nil
    }
    await store.close()
    #expect(try await loop.value)
  }

  @MainActor @Test func `a loop is cancelled while its store is suspended`() async throws {
    let test = try TestStore()
    let store = test.store
    await store.suspend()
    let loop = await queue { for try await _ in store.values(Self.titles) {} }
    loop.cancel()
    await #expect(throws: CancellationError.self) { try await loop.value }
  }

  // MARK: Many loops

  @MainActor @Test func `a read does not wait for the reads of loops`() async throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 1))
    let (store, held, log) = (test.store, HeldWork(), Log())
    let first = Task { try await store.read { _ in held.hold() } }
    await held.isHeld()
    var loops: [Task<Void, any Error>] = []
    for _ in 0..<20 {
      loops.append(
        await queue {
          var values = store.values { _ in log.append("loop") }.makeAsyncIterator()
          try await values.next()
        })
    }
    let read = await queue { try await store.read { _ in log.append("read") } }
    held.letGo()
    for task in [first, read] + loops { try await task.value }
    #expect(log.lines.count == 21)
    let position = try #require(log.lines.firstIndex(of: "read"))
    #expect(position <= 1)
  }

  @MainActor @Test func `loops leave a reader to other reads, if there are several`() async throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 3))
    let (store, held) = (test.store, HeldWork())
    var loops: [Task<Void, any Error>] = []
    for _ in 0..<5 {
      loops.append(
        await queue {
          var values = store.values { _ in held.hold() }.makeAsyncIterator()
          try await values.next()
        })
    }
    await held.isHeld()
    #expect(try await test.artworks.isEmpty)
    for loop in loops {
      held.letGo()
      _ = loop
    }
    for loop in loops { try await loop.value }
  }

  @MainActor @Test func `a loop that is cancelled before its turn leaves the turn to the next`() async throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 1))
    let (store, held, log) = (test.store, HeldWork(), Log())
    let first = await queue {
      var values = store.values { _ in held.hold() }.makeAsyncIterator()
      try await values.next()
    }
    await held.isHeld()
    var loops: [Task<Void, any Error>] = []
    for number in 0..<10 {
      loops.append(
        await queue {
          var values = store.values { _ in log.append("\(number)") }.makeAsyncIterator()
          try await values.next()
        })
    }
    for number in 0..<9 { loops[number].cancel() }
    for number in 0..<9 { await #expect(throws: CancellationError.self) { try await loops[number].value } }
    held.letGo()
    try await first.value
    try await loops[9].value
    #expect(log.lines == ["9"])
  }

  // MARK: Others' commits

  private func makeClocked(_ clock: ManualClock, _ path: String) throws -> SQLiteStore {
    var configuration = SQLiteConfiguration(changePollInterval: .seconds(1))
    configuration.clock = clock.requestClock
    return try SQLiteStore(path: path, configuration: configuration)
  }

  @MainActor @Test func `commits of another store are seen within the interval`() async throws {
    let (test, clock) = (try TestStore(), ManualClock())
    let store = try makeClocked(clock, test.store.path)
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    let ticks = store.changes(in: "artwork")
    let tick = await queue { for await _ in ticks { break } }
    for id in 1...3 {
      try await save(id, in: test.store)
      let looking = look(clock)
      #expect(try await values.next() == (1...id).map(String.init))
      await looking.value
    }
    try await tick.value
    await store.close()
  }

  // MARK: Replaced files

  @MainActor @Test func `a loop fails when a write finds that the file was replaced`() async throws {
    let test = try TestStore()
    let store = test.store
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    let ticks = store.changes(in: "artwork")
    let tick = await queue { for await _ in ticks { break } }
    try FileManager.default.removeItem(atPath: store.path)
    await #expect(throws: SQLiteError.self) { try await save(1, in: store) }
    let error = await #expect(throws: SQLiteError.self) { try await values.next() }
    #expect(error?.message.contains("removed or replaced") == true)
    try await tick.value
  }

  @MainActor @Test func `a loop fails when a look for commits of others finds that the file was replaced`() async throws
  {
    let (test, clock) = (try TestStore(), ManualClock())
    let store = try makeClocked(clock, test.store.path)
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    try FileManager.default.removeItem(atPath: store.path)
    let looking = look(clock)
    let error = await #expect(throws: SQLiteError.self) { try await values.next() }
    #expect(error?.message.contains("removed or replaced") == true)
    await looking.value
    await store.close()
  }

  @MainActor @Test func `commits of others are seen again when the file is back in its place`() async throws {
    let (test, clock) = (try TestStore(), ManualClock())
    let (store, files) = (try makeClocked(clock, test.store.path), FileManager.default)
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    try files.moveItem(atPath: store.path, toPath: store.path + ".away")
    var looking = look(clock)
    await #expect(throws: SQLiteError.self) { try await values.next() }
    await looking.value
    try files.moveItem(atPath: store.path + ".away", toPath: store.path)
    values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    try await save(1, in: test.store)
    looking = look(clock)
    #expect(try await values.next() == ["1"])
    await looking.value
    await store.close()
  }

  /// Lets the time pass after which a store that waits looks for commits of others.
  private func look(_ clock: ManualClock) -> Task<Void, Never> {
    Task {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
    }
  }

  @MainActor @Test
  func `a store's own commits are not reported as another's, and the file is not polled while no loop waits`()
    async throws
  {
    let (test, clock) = (try TestStore(), ManualClock())
    let (store, reads) = (try makeClocked(clock, test.store.path), Log())
    try await save(1, in: store)
    #expect(clock.sleeperCount == 0)
    let loop = await queue {
      for try await titles in store.values({ db in
        reads.append("read")
        return try Self.titles(db)
      }) where titles.count == 3 { return }
    }
    try await save(2, in: store)
    for _ in 0..<3 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
    }
    await clock.waitForSleepers(1)
    try await save(3, in: store)
    try await loop.value
    #expect(reads.lines.count <= 3)
    // The poll under way finds no waiting loop.
    clock.advance(by: .seconds(1))
    try await store.write { _ in }
    #expect(clock.sleeperCount == 0)
  }

  @MainActor @Test func `the file is polled for commits of others only on request`() async throws {
    let test = try TestStore()
    let other = try SQLiteStore(path: test.store.path)
    let reads = Log()
    let loop = await queue {
      for try await titles in test.store.values({ db in
        reads.append("read")
        return try Self.titles(db)
      }) where titles.count == 2 { return }
    }
    try await save(1, in: other)
    try await save(2, in: test.store)
    try await loop.value
    #expect(reads.lines.count <= 2)
  }

  @MainActor @Test func `commits of others that a suspension has hidden are seen after it`() async throws {
    let (test, clock) = (try TestStore(), ManualClock())
    let store = try makeClocked(clock, test.store.path)
    var values = store.values(Self.titles).makeAsyncIterator()
    #expect(try await values.next() == [])
    await store.suspend()
    try await save(1, in: test.store)
    let waiting = await queue { for await _ in store.changes() { break } }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    // The look was refused; the next one comes after the suspension.
    await clock.waitForSleepers(1)
    store.resume()
    clock.advance(by: .seconds(1))
    #expect(try await values.next() == ["1"])
    try await waiting.value
  }
}
