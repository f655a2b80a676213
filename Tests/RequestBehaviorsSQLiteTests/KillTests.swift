#if os(macOS) || os(Linux)
  import Foundation
  import RequestBehaviorsSQLite
  import TestSupport
  import Testing

  /// Real processes that are killed in the middle of their saves.
  @Suite(.limited, .serialized) struct KillTests {
    @Test(arguments: zip(["normal", "full"], 1...2 as ClosedRange<UInt64>))
    func `a killed process keeps all acknowledged saves, and leaves no partial save`(
      durability: String, seed: UInt64
    ) async throws {
      var random = SeededGenerator(seed: seed)
      let folder = try TemporaryFolder()
      var acknowledged: Set<Int> = []
      for round in 0..<12 {
        let writer = try Writer(file: folder.file(), first: round * 100_000, step: 1, durability: durability)
        acknowledged.formUnion(await writer.kill(after: Int.random(in: 1...40, using: &random)))
      }
      try await check(folder.file(), acknowledged)
    }

    @Test(arguments: [3 as UInt64])
    func `two processes that write one file are killed, and the file is sound`(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let folder = try TemporaryFolder()
      var acknowledged: Set<Int> = []
      for round in 0..<6 {
        let one = try Writer(file: folder.file(), first: round * 100_000, step: 2, durability: "normal")
        let two = try Writer(file: folder.file(), first: round * 100_000 + 1, step: 2, durability: "normal")
        let counts = (Int.random(in: 1...40, using: &random), Int.random(in: 1...40, using: &random))
        async let first = one.kill(after: counts.0)
        async let second = two.kill(after: counts.1)
        acknowledged.formUnion(await first)
        acknowledged.formUnion(await second)
      }
      try await check(folder.file(), acknowledged)
    }

    private func check(_ file: String, _ acknowledged: Set<Int>) async throws {
      let store = try SQLiteStore(path: file)
      let (groups, partial, integrity) = try await store.read { db in
        (
          try db.query("SELECT DISTINCT \"group\" FROM member", as: Int.self),
          try db.query("SELECT \"group\" FROM member GROUP BY 1 HAVING count(*) <> 5", as: Int.self),
          try db.query("PRAGMA integrity_check", as: String.self)
        )
      }
      #expect(integrity == ["ok"])
      #expect(partial.isEmpty)
      #expect(!acknowledged.isEmpty)
      #expect(acknowledged.isSubset(of: groups))
      // At most the save that was under way at each kill is there without having been told of.
      #expect(groups.count <= acknowledged.count + 12)
    }
  }

  /// A process that saves groups of rows and tells of each.
  private struct Writer {
    private let process: ChildProcess

    init(file: String, first: Int, step: Int, durability: String) throws {
      let executable = try #require(ChildProcess.fixture("CrashingWriter"))
      process = try ChildProcess(executable, [file, "\(first)", "\(step)", durability])
    }

    /// Kills the process when it has told of so many groups, and returns all it has told of.
    func kill(after count: Int) async -> [Int] {
      let text = await process.kill(afterLines: count).text
      // What follows the last line end was cut off by the kill.
      let whole = text.lastIndex(of: "\n").map { text.prefix(through: $0) } ?? ""
      return whole.split(separator: "\n").compactMap { Int($0) }
    }
  }
#endif
