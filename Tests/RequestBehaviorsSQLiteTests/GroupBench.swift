import Foundation

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

  /// Queues writes behind one that is held, and then lets them run.
  @MainActor func together(
    _ writes: [@MainActor () async throws -> Void],
    before letGo: @MainActor ([Task<Void, any Error>]) async -> Void = { _ in }
  ) async throws -> [Result<Void, any Error>] {
    let store = store
    let held = held
    let holding = Task { try await store.write { _ in held.hold() } }
    await held.isHeld()
    var tasks: [Task<Void, any Error>] = []
    for write in writes { tasks.append(await queue { try await write() }) }
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
