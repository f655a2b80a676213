#if os(macOS) || os(Linux)
  import Dispatch
  import Foundation
  import RequestBehaviorsSQLite
  import Testing

  /// Real processes that are killed in the middle of their saves.
  @Suite(.serialized) struct KillTests {
    @Test(arguments: ["normal", "full"])
    func `a process killed while it saves loses nothing it was told is saved, and leaves no half save`(
      durability: String
    ) async throws {
      let folder = try TemporaryFolder()
      var acknowledged: Set<Int> = []
      for round in 0..<12 {
        let writer = try Writer(file: folder.file(), first: round * 100_000, step: 1, durability: durability)
        acknowledged.formUnion(try await writer.kill(after: Int.random(in: 1...40)))
      }
      try await check(folder.file(), acknowledged)
    }

    @Test func `two processes that write one file are killed, and the file is sound`() async throws {
      let folder = try TemporaryFolder()
      var acknowledged: Set<Int> = []
      for round in 0..<6 {
        let one = try Writer(file: folder.file(), first: round * 100_000, step: 2, durability: "normal")
        let two = try Writer(file: folder.file(), first: round * 100_000 + 1, step: 2, durability: "normal")
        async let first = one.kill(after: Int.random(in: 1...40))
        async let second = two.kill(after: Int.random(in: 1...40))
        acknowledged.formUnion(try await first)
        acknowledged.formUnion(try await second)
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
  private final class Writer: Sendable {
    private let process = Process()
    private let output = Pipe()

    init(file: String, first: Int, step: Int, durability: String) throws {
      process.executableURL = try Self.executable
      process.arguments = [file, "\(first)", "\(step)", durability]
      process.standardOutput = output
      try process.run()
    }

    private static var executable: URL {
      get throws {
        var folder = Bundle.main.bundleURL
        #if os(macOS)
          folder =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
            ?? folder
        #endif
        return try #require(
          [folder, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
            .map { $0.appendingPathComponent("CrashingWriter") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) })
      }
    }

    /// Kills the process when it has told of so many groups, and returns all it has told of.
    func kill(after count: Int) async throws -> [Int] {
      await withCheckedContinuation { continuation in
        // Reading a pipe blocks, so it has a thread of its own.
        Thread.detachNewThread { continuation.resume(returning: self.killed(after: count)) }
      }
    }

    private func killed(after count: Int) -> [Int] {
      var text = Data()
      let newline = UInt8(ascii: "\n")
      while text.filter({ $0 == newline }).count < count {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        text += data
      }
      process.terminate(with: SIGKILL)
      text += output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      // What follows the last line end was cut off by the kill.
      let whole = text.prefix(through: text.lastIndex(of: newline) ?? text.startIndex)
      return String(decoding: whole, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
    }
  }

  extension Process {
    fileprivate func terminate(with signal: Int32) { kill(processIdentifier, signal) }
  }
#endif
