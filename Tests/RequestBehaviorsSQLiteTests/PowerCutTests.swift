import Foundation
import RequestBehaviorsSQLite
import TestSupport
import Testing

/// A file after a power cut: the synced part, and any part of the later writes.
@Suite(.limited) struct PowerCutTests {
  /// A commit: two rows in two tables that belong together.
  private struct Entry: Codable, Equatable {
    var id: Int
    var text: String
  }

  private static let tables = SQLiteMigration("tables") { db in
    try db.execute(script: "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE b AS SELECT * FROM a")
  }

  @Test func `after a power cut the file is sound, and holds a prefix of the commits, each whole`()
    async throws
  {
    let attempts = try await History(.normal)
    for seed in 0..<150 as Range<UInt64> {
      let left = try attempts.cut(seed)
      #expect(left.commits == Array(0..<left.commits.count), "seed \(seed)")
      #expect(left.commits.count <= left.begun, "seed \(seed)")
    }
  }

  @Test func `an acknowledged commit of full durability is in the file after a power cut`() async throws {
    let attempts = try await History(.full)
    for seed in 0..<150 as Range<UInt64> {
      let left = try attempts.cut(seed)
      #expect(left.commits == Array(0..<left.commits.count), "seed \(seed)")
      #expect(left.commits.count >= left.acknowledged, "seed \(seed)")
    }
  }

  /// A file that was written to, with every change of it.
  private final class History {
    struct Left {
      let commits: [Int]
      let acknowledged: Int
      let begun: Int
    }

    private let vfs = FaultVFS(recording: true)
    private let folder: TemporaryFolder
    // After how many changes of the files each commit was acknowledged.
    private var acknowledgements: [Int] = []
    private let opened: Int

    init(_ durability: SQLiteDurability) async throws {
      folder = try TemporaryFolder()
      let store = try SQLiteStore(
        path: folder.file(), configuration: vfs.configuration(durability), migrations: [PowerCutTests.tables])
      opened = vfs.position
      for id in 0..<120 {
        // Every tenth is large, so that the WAL is checkpointed and restarted in between.
        let entry = Entry(id: id, text: String(repeating: "text \(id) ", count: id % 10 == 0 ? 20_000 : 50))
        try await store.write { db in
          try db.save(entry, into: "a")
          try db.execute("INSERT INTO b VALUES (\(id), \(entry.text))")
        }
        acknowledgements.append(vfs.position)
        if id % 50 == 49 { try await store.checkpoint() }
      }
      await store.close()
    }

    /// Cuts the power at some time and opens what is left.
    func cut(_ seed: UInt64) throws -> Left {
      var random = SeededGenerator(seed: seed)
      let position = Int.random(in: opened...(acknowledgements.last ?? opened), using: &random)
      let rest = try TemporaryFolder()
      try vfs.cut(at: position, seed: random.next(), to: rest.path)
      let store = try SQLiteStore(path: rest.file(), migrations: [PowerCutTests.tables])
      let (commits, others, integrity) = try store.readAndWait { db in
        (
          try db.query("SELECT a.id FROM a JOIN b ON b.id = a.id AND b.text = a.text ORDER BY 1", as: Int.self),
          try db.query("SELECT id FROM a EXCEPT SELECT id FROM b", as: Int.self)
            + db.query("SELECT id FROM b EXCEPT SELECT id FROM a", as: Int.self),
          try db.query("PRAGMA integrity_check", as: String.self)
        )
      }
      #expect(integrity == ["ok"], "seed \(seed)")
      #expect(others.isEmpty, "seed \(seed)")
      let acknowledged = acknowledgements.filter { $0 <= position }.count
      return Left(commits: commits, acknowledged: acknowledged, begun: acknowledged + 1)
    }
  }
}
