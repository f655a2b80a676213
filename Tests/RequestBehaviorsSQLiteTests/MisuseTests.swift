import Foundation
import RequestBehaviorsSQLite
import Testing

/// Misuse of a store is an error that says so, without a wait or a loss.
@Suite(.limited) struct MisuseTests {
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

  @Test func `the use of a store inside another's closure inside its own closure is an error`() throws {
    let one = try TestStore.inMemory("CREATE TABLE t (a)")
    let two = try TestStore.inMemory("CREATE TABLE t (a)")
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

  @Test func `a store reads with any number of readers`() async throws {
    for number in [Int.min, 0, 1] {
      let test = try TestStore(SQLiteConfiguration(maximumReaders: number))
      #expect(try await test.store.read { try $0.first("SELECT count(*) FROM artwork", as: Int.self) } == 0)
    }
  }

  @Test func `a store closes while reads keep coming`() async throws {
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
}
