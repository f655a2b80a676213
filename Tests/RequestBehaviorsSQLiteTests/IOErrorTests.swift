import Foundation
import RequestBehaviorsSQLite
import Testing

/// Every single write, truncation and sync of an operation fails once, then it and all that follow.
@Suite(.limited) struct IOErrorTests {
  private let old = (1...20).map { Artwork(id: $0, title: "old \($0)") }
  private let new = (1...40).map { Artwork(id: $0, title: String(repeating: "new \($0) ", count: 100)) }

  @Test(arguments: [false, true], [SQLiteDurability.normal, .full])
  func `a save during a disk error is undone completely, and the next one succeeds`(
    lasts: Bool, durability: SQLiteDurability
  ) async throws {
    let count = try await failEverywhere(lasts, durability) {
      try await $0.write { _ = try $0.save(new, into: "artwork") }
    }
    #expect(count > 10)
  }

  @Test(arguments: [false, true])
  func `a checkpoint during a disk error does not lose a row`(lasts: Bool) async throws {
    let count = try await failEverywhere(lasts, .normal) { try await $0.checkpoint() }
    #expect(count > 2)
  }

  @Test(arguments: [false, true])
  func `a vacuum during a disk error does not lose a row`(lasts: Bool) async throws {
    let count = try await failEverywhere(lasts, .normal) { try await $0.vacuum() }
    #expect(count > 2)
  }

  @Test(arguments: [false, true])
  func `a file that could not be created because of a disk error can be created later`(lasts: Bool) throws {
    var n = 0
    var hasFailed = true
    while hasFailed {
      n += 1
      let vfs = FaultVFS()
      let folder = try TemporaryFolder()
      let open = {
        try SQLiteStore(path: folder.file(), configuration: vfs.configuration(), migrations: [TestStore.artwork])
      }
      vfs.fail(at: n, andAfter: lasts)
      do { _ = try open() } catch let error as SQLiteError { #expect(error.isOfTheDisk, "\(error)") }
      hasFailed = vfs.heal()
      let store = try open()
      try store.writeAndWait { _ = try $0.save(old, into: "artwork") }
      #expect(try store.readAndWait { try $0.query("SELECT * FROM artwork ORDER BY id") } == old)
    }
    #expect(n > 5)
  }

  /// Does something to a file of 20 rows over and over, each time with another of its file operations failing.
  ///
  /// - Returns: How many operations it has.
  private func failEverywhere(
    _ lasts: Bool, _ durability: SQLiteDurability, _ operation: (SQLiteStore) async throws -> Void
  ) async throws -> Int {
    var n = 0
    var hasFailed = true
    while hasFailed {
      n += 1
      let vfs = FaultVFS()
      let test = try TestStore(vfs.configuration(durability))
      try await test.store.write { _ = try $0.save(old, into: "artwork") }
      vfs.fail(at: n, andAfter: lasts)
      var hasThrown = false
      do {
        try await operation(test.store)
      } catch let error as SQLiteError {
        #expect(error.isOfTheDisk, "operation \(n): \(error)")
        #expect(error.path == test.store.path)
        hasThrown = true
      }
      hasFailed = vfs.heal()
      let rows = try await test.artworks
      #expect(rows == old || (!hasThrown && rows == new), "operation \(n)")
      try await test.store.write { _ = try $0.save(Artwork(id: 100, title: "next"), into: "artwork") }
      #expect(try await test.artworks.count == rows.count + 1)
      #expect(try await test.isIntact, "operation \(n)")
      await test.store.close()
    }
    return n - 1
  }
}

extension SQLiteError {
  /// Whether it reports a failed file operation.
  fileprivate var isOfTheDisk: Bool { [.io, .full, .cannotOpen].contains(code) }
}
