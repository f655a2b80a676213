#if os(macOS) || os(Linux)
  import Foundation
  import RequestBehaviorsSQLite
  import TestSupport
  import Testing

  /// Real processes that are killed while they enqueue and send.
  @Suite(.limited, .serialized) struct OutboxKillTests {
    private struct Sender {
      let process: ChildProcess

      init(_ folder: TemporaryFolder, first: Int, step: Int = 1, drains: Bool = false) throws {
        let executable = try #require(ChildProcess.fixture("OutboxSender"))
        let arguments = [folder.file(), folder.file("server"), "\(first)", "\(step)"] + (drains ? ["drain"] : [])
        process = try ChildProcess(executable, arguments)
      }

      /// Kills the process when it has told of so many entries, and returns all it has told of.
      func kill(after count: Int) async -> [Int] {
        let text = await process.kill(afterLines: count).text
        let whole = text.lastIndex(of: "\n").map { text.prefix(through: $0) } ?? ""
        return whole.split(separator: "\n").compactMap { Int($0) }
      }
    }

    /// How many times each process is killed; more with the variable OUTBOX_KILLS.
    private static let kills = Int(ProcessInfo.processInfo.environment["OUTBOX_KILLS"] ?? "") ?? 12

    @Test(arguments: [1, 2]) func `what was acknowledged arrives, under one key and in order, through kills`(
      processes: Int
    ) async throws {
      var random = SeededGenerator(seed: UInt64(processes))
      let folder = try TemporaryFolder()
      var acknowledged: [Int] = []
      for round in 0..<Self.kills {
        let senders = try (0..<processes).map {
          try Sender(folder, first: round * 100_000 + $0, step: processes)
        }
        let counts = senders.map { _ in Int.random(in: 1...60, using: &random) }
        acknowledged += await withTaskGroup(of: [Int].self) { group in
          for (sender, count) in zip(senders, counts) { group.addTask { await sender.kill(after: count) } }
          return await group.reduce(into: []) { $0 += $1 }
        }
      }
      let last = try Sender(folder, first: 0, drains: true)
      #expect(await last.process.end().status == 0)
      try await check(folder, Set(acknowledged), processes)
    }

    private func check(_ folder: TemporaryFolder, _ acknowledged: Set<Int>, _ processes: Int) async throws {
      let text = try String(contentsOfFile: folder.file("server"), encoding: .utf8)
      let arrivals = text.split(separator: "\n").map { $0.split(separator: " ") }
      let numbers = arrivals.compactMap { Int($0[0]) }
      #expect(!acknowledged.isEmpty)
      #expect(acknowledged.isSubset(of: numbers))
      let keys = Dictionary(grouping: arrivals, by: { $0[0] }).mapValues { Set($0.map { $0[1] }).count }
      #expect(keys.allSatisfy { $0.value == 1 })
      // Within a lane each number first arrives after those that its process enqueued before.
      var latest: [[Int]: Int] = [:]
      var seen: Set<Int> = []
      var overtaken = 0
      for number in numbers where seen.insert(number).inserted {
        let lane = [number % 4, number % processes]
        if let before = latest[lane], before > number { overtaken += 1 }
        latest[lane] = number
      }
      #expect(overtaken == 0)
      let store = try SQLiteStore(path: folder.file())
      let (integrity, delivered, left) = try await store.read { db in
        (
          try db.query("PRAGMA integrity_check", as: String.self),
          try db.query("SELECT number FROM delivered", as: Int.self),
          try db.query("SELECT state FROM outbox_entry WHERE state <> 5", as: Int.self)
        )
      }
      #expect(integrity == ["ok"])
      #expect(left.isEmpty)
      // The effects of a delivery are saved once, however often the request arrived.
      #expect(Set(delivered).count == delivered.count)
      #expect(Set(delivered) == Set(numbers))
      print("kills: \(acknowledged.count) acknowledged, \(arrivals.count) arrivals, \(seen.count) different")
    }
  }
#endif
