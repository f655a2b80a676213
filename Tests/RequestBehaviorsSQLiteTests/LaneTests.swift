import CFaultVFS
import Foundation
import RequestBehaviors
import TestSupport
import Testing

// The connection behind a store is looked at: what SQLite keeps and what it refuses cannot be seen from outside.
@testable import RequestBehaviorsSQLite

/// The order of waits: readers, the writer, other processes, and the close.
@Suite(.limited) struct LaneTests {
  private struct Stop: Error {}

  @Test func `one reader serves blocking reads one after the other`() throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 1))
    for number in 0..<3 {
      #expect(try test.store.readAndWait { try $0.first("SELECT \(number)", as: Int.self) } == number)
    }
  }

  /// Returns the processor time that readers take to go from one waiting read to the next.
  private func time(ofWaitingReads count: Int) async -> Duration {
    let (state, held, time) = (StoreState(path: ":memory:"), HeldWork(), Locked(Duration.zero))
    let pool = ReaderPool(maximum: 1) { ConnectionLane(label: "test", state: state) { throw Stop() } }
    pool.enqueue { _ in
      held.hold()
      return {}
    }
    await held.isHeld()
    for _ in 0..<count {
      pool.enqueue { _ in
        let start = ThreadTime.now
        // Called when the reader has its next read.
        return { time.withLock { $0 += ThreadTime.now - start } }
      }
    }
    held.letGo()
    await pool.drain()
    return time.withLock { $0 }
  }

  @Test func `a read that waits costs the same, however many others wait`() async throws {
    #expect(await Growth.isLinear(from: 4_000) { await time(ofWaitingReads: $0) })
  }

  @Test func `waiting reads get a reader in their order, and are released afterwards`() async throws {
    final class Work: Sendable {}
    let (state, held, log) = (StoreState(path: ":memory:"), HeldWork(), Log())
    let pool = ReaderPool(maximum: 1) { ConnectionLane(label: "test", state: state) { throw Stop() } }
    var kept: [Kept] = []
    for round in 0..<3 {
      pool.enqueue { _ in
        held.hold()
        return {}
      }
      await held.isHeld()
      for number in 0..<3 {
        let work = Work()
        kept.append(Kept(work: work))
        pool.enqueue { _ in
          withExtendedLifetime(work) { log.append("\(round)\(number)") }
          return {}
        }
      }
      held.letGo()
      await pool.drain()
    }
    #expect(log.lines == ["00", "01", "02", "10", "11", "12", "20", "21", "22"])
    #expect(try await eventually { kept.allSatisfy { $0.work == nil } })
  }

  private struct Kept {
    weak var work: AnyObject?
  }

  @Test func `work that was queued before a suspension does not run`() async throws {
    let test = try TestStore()
    let (store, held, log) = (test.store, HeldWork(), Log())
    let first = Task { try await store.write { _ in held.hold() } }
    await held.isHeld()
    let queued = await queue { try await store.write { _ in log.append("ran") } }
    let suspension = await queue { await store.suspend() }
    held.letGo()
    for task in [first, queued] {
      let error = await #expect(throws: SQLiteError.self) { try await task.value }
      #expect(error?.code == .interrupted)
    }
    try await suspension.value
    #expect(log.lines.isEmpty)
    store.resume()
    try await store.write { _ in log.append("resumed") }
    #expect(log.lines == ["resumed"])
  }

  @MainActor @Test func `reads that wait for a reader end before a store closes`() async throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 1))
    let (store, held) = (test.store, HeldWork())
    let first = Task { try await store.read { _ in held.hold() } }
    await held.isHeld()
    var waiting: [Task<Int?, any Error>] = []
    for number in 0..<20 {
      waiting.append(await queue { try await store.read { try $0.first("SELECT \(number)", as: Int.self) } })
    }
    let closing = await queue { await store.close() }
    // As far as closing gets without the reads.
    _ = try? await store.write { _ in }
    held.letGo()
    try await first.value
    for (number, task) in waiting.enumerated() { #expect(try await task.value == number) }
    try await closing.value
    await #expect(throws: SQLiteError.self) { try await store.read { _ in } }
  }

  @Test func `writes continue while a checkpoint waits for a read, and the checkpoint ends after the read`()
    async throws
  {
    let test = try TestStore(SQLiteConfiguration(busyTimeout: .seconds(20)))
    let (store, held) = (test.store, HeldWork())
    try await store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    let reading = Task {
      try await store.read { db in
        let count = try db.first("SELECT count(*) FROM artwork", as: Int.self)
        held.hold()
        return count
      }
    }
    await held.isHeld()
    let checkpoint = await queue { try await store.checkpoint() }
    try await store.write { try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    held.letGo()
    #expect(try await reading.value == 1)
    try await checkpoint.value
    #expect(try size(store.path + "-wal") == 0)
  }

  @Test func `many writes that wait for another's lock wait together`() async throws {
    let test = try TestStore(SQLiteConfiguration(busyTimeout: .seconds(1)))
    let (other, held) = (try SQLiteStore(path: test.store.path), HeldWork())
    let writing = Task { try await other.write { _ in held.hold() } }
    await held.isHeld()
    let start = ContinuousClock.now
    let codes = await withTaskGroup(of: SQLiteError.Code?.self) { group in
      for _ in 0..<30 {
        group.addTask {
          do {
            try await test.store.write { _ in }
            return nil
          } catch { return (error as? SQLiteError)?.code }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: .busy, count: 30))
    // One after the other they would take 30 seconds.
    #expect(start.duration(to: .now) < .seconds(15))
    held.letGo()
    try await writing.value
    try await test.store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
  }

  @Test func `a checkpoint that may not wait reports at once that a read blocks it`() async throws {
    let test = try TestStore(SQLiteConfiguration(busyTimeout: .zero))
    let (store, held) = (test.store, HeldWork())
    let reading = Task {
      try await store.read { db in
        _ = try db.first("SELECT count(*) FROM artwork", as: Int.self)
        held.hold()
      }
    }
    await held.isHeld()
    try await store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    let error = await #expect(throws: SQLiteError.self) { try await store.checkpoint() }
    #expect(error?.code == .busy)
    held.letGo()
    try await reading.value
  }

  @Test func `closing does not wait for another store's read`() async throws {
    let test = try TestStore(SQLiteConfiguration(busyTimeout: .seconds(30)))
    let (other, held) = (try SQLiteStore(path: test.store.path), HeldWork())
    try await test.store.write { try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    let reading = Task {
      try await other.read { db in
        _ = try db.first("SELECT count(*) FROM artwork", as: Int.self)
        held.hold()
      }
    }
    await held.isHeld()
    let start = ContinuousClock.now
    await test.store.close()
    #expect(start.duration(to: .now) < .seconds(15))
    held.letGo()
    try await reading.value
  }

  private func size(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? -1
  }

  @Test func `a write that waits for another's lock is cancelled at once`() async throws {
    let test = try TestStore()
    let (held, log) = (HeldWork(), AsyncStream.makeStream(of: Void.self))
    // The last statement before the one that waits.
    let configuration = SQLiteConfiguration(busyTimeout: .seconds(20)) {
      if $0.sql == "PRAGMA synchronous=FULL" { log.continuation.yield() }
    }
    let other = try SQLiteStore(path: test.store.path, configuration: configuration)
    let holder = Task { try await test.store.write { _ in held.hold() } }
    await held.isHeld()
    let waiting = Task { try await other.write(durability: .full) { try $0.execute("DELETE FROM artwork") } }
    for await _ in log.stream { break }
    let start = ContinuousClock.now
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(start.duration(to: .now) < .seconds(15))
    held.letGo()
    try await holder.value
  }

  @Test func `a connection that cannot roll back is replaced`() throws {
    let test = try TestStore()
    #expect(throws: Stop.self) {
      try test.store.writeAndWait { db in
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        // SQLite fails no ROLLBACK by itself; what can fail is that it is prepared.
        fault_refuse_statements(try db.connection().handle)
        throw Stop()
      }
    }
    try test.store.writeAndWait { try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    #expect(try test.store.readAndWait { try $0.query("SELECT id FROM artwork", as: Int.self) } == [2])
  }

  @Test func `a connection keeps the 64 statements that were used last`() throws {
    let test = try TestStore()
    try test.store.writeAndWait { db throws in
      for number in 0..<200 {
        let sql = SQL(verbatim: "SELECT \(number) AS n, id FROM artwork")
        #expect(try db.query(sql, as: Artwork.self).isEmpty)
        #expect(try db.first("SELECT 'again'", as: String.self) == "again")
      }
      #expect((60...64).contains(fault_statement_count(try db.connection().handle)))
    }
  }

  @Test func `a new store waits for a file that another has locked`() async throws {
    let folder = try TemporaryFolder()
    let locked = try #require(fault_lock_file(folder.file()))
    let start = ContinuousClock.now
    let error = #expect(throws: SQLiteError.self) {
      try SQLiteStore(path: folder.file(), configuration: SQLiteConfiguration(busyTimeout: .milliseconds(20)))
    }
    #expect(error?.code == .busy)
    #expect(start.duration(to: .now) >= .milliseconds(20))
    async let opening = SQLiteStore.open(
      path: folder.file(), configuration: SQLiteConfiguration(busyTimeout: .seconds(30)))
    fault_unlock_file(locked)
    #expect(try await opening.read { try $0.first("SELECT count(*) FROM locked", as: Int.self) } == 0)
  }

  @MainActor @Test func `a store does not keep a stream of changes that has no reader`() async throws {
    let test = try TestStore()
    let waiting = await queue { for await _ in test.store.changes(in: "artwork") {} }
    #expect(test.store.state.changes.waiterCount == 1)
    waiting.cancel()
    try await waiting.value
    #expect(test.store.state.changes.waiterCount == 0)
  }
}
