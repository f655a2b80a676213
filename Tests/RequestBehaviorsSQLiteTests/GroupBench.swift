import Foundation
import TestSupport
import Testing

// A call of the package can reach the grouped writes too.
@testable import RequestBehaviorsSQLite

/// A store whose statements are noted, and whose writer can be held.
struct GroupBench {
  let test: TestStore
  let held = HeldWork()
  let statements = Log()
  var store: SQLiteStore { test.store }
  var commits: Int { statements.lines.count { $0 == "COMMIT" } }

  init(_ migrations: [SQLiteMigration] = [TestStore.artwork]) throws {
    let statements = statements
    test = try TestStore(SQLiteConfiguration { statements.append($0.sql) }, migrations: migrations)
  }

  /// Begins writes, and returns when all of them wait behind one that is held.
  ///
  /// Closures are the last writes that are closures of a caller, which never share a commit.
  @MainActor func queued(
    _ writes: [@MainActor () async throws -> Void], closures: Int = 0
  ) async throws -> [Task<Void, any Error>] {
    let store = store
    var tasks: [Task<Void, any Error>] = []
    for (index, write) in writes.enumerated() {
      tasks.append(await queue { try await write() })
      // On a busy machine a save may come later, and would then have a commit of its own.
      let expected = min(index + 1, writes.count - closures)
      try #require(try await eventually { store.groups.count == expected })
    }
    return tasks
  }

  /// Queues writes behind one that is held, and then lets them run.
  @MainActor func together(
    _ writes: [@MainActor () async throws -> Void], closures: Int = 0,
    before letGo: @MainActor ([Task<Void, any Error>]) async -> Void = { _ in }
  ) async throws -> [Result<Void, any Error>] {
    let store = store
    let held = held
    let holding = Task { try await store.write { _ in held.hold() } }
    await held.isHeld()
    let tasks = try await queued(writes, closures: closures)
    await letGo(tasks)
    held.letGo()
    try await holding.value
    var results: [Result<Void, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  /// Saves rows of an id each.
  func saves(_ ids: some Sequence<Int>, _ durability: SQLiteDurability? = nil) -> [@MainActor () async throws -> Void] {
    let store = store
    return ids.map { id in
      { try await store.save([Artwork(id: id, title: "t")], into: "artwork", durability: durability) }
    }
  }

  /// The ids of the saved rows, in order.
  var ids: [Int] { get async throws { try await test.artworks.map(\.id) } }
}

extension [Result<Void, any Error>] {
  var succeeded: [Bool] { map { if case .success = $0 { true } else { false } } }
}
