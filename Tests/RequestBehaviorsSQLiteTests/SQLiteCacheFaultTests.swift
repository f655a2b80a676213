import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Files that are damaged, newer, full or of something else: the cache starts empty or goes without, never a request.
@Suite(.limited) struct SQLiteCacheFaultTests {
  private func write(_ data: Data, to file: String) throws { try data.write(to: URL(filePath: file)) }

  @Test func `a file that is no longer a database is replaced by an empty cache`() async throws {
    let folder = try TemporaryFolder()
    await (try CacheBench(folder)).store.close()
    try write(Data(String(repeating: "no database at all ", count: 100).utf8), to: folder.file("cache.sqlite"))
    let bench = try CacheBench(folder)
    bench.serve("body")
    _ = try await bench.send()
    #expect(try await bench.send().source == .cache)
  }

  @Test(arguments: ["My notes.\n", String(repeating: "My notes.\n", count: 1_000), "SQLite format 3\0My notes."])
  func `a file that was not a cache is refused and not changed, also the second time`(text: String) throws {
    let folder = try TemporaryFolder()
    try write(Data(text.utf8), to: folder.file("cache.sqlite"))
    for _ in 0..<2 {
      let error = #expect(throws: SQLiteError.self) { try CacheBench(folder) }
      #expect(error?.message.contains("is not a cache") == true)
      #expect(error?.path == folder.file("cache.sqlite"))
    }
    #expect(try Data(contentsOf: URL(filePath: folder.file("cache.sqlite"))) == Data(text.utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cache.sqlite"])
  }

  @Test(arguments: [100, 4_096]) func `a damaged database of another kind is refused and not changed`(from start: Int)
    async throws
  {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("cache.sqlite"), migrations: [TestStore.artwork])
    try await store.write { try $0.execute("INSERT INTO artwork (id, title) VALUES (1, 'a')") }
    await store.close()
    var bytes = try Data(contentsOf: URL(filePath: store.path))
    for offset in start..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
    try write(bytes, to: store.path)
    #expect(throws: SQLiteError.self) { try CacheBench(folder) }
    #expect(try Data(contentsOf: URL(filePath: store.path)) == bytes)
  }

  @Test(arguments: [0, 100]) func `a cache whose first page is damaged is replaced by an empty one`(from start: Int)
    async throws
  {
    let folder = try TemporaryFolder()
    let first = try CacheBench(folder)
    first.serve("body")
    _ = try await first.send()
    await first.store.close()
    var bytes = try Data(contentsOf: URL(filePath: first.store.path))
    for offset in start..<4_096 { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
    try write(bytes, to: first.store.path)
    let bench = try CacheBench(folder)
    #expect(try await bench.store.entries(limit: 9).isEmpty)
  }

  @Test(arguments: ["DELETE FROM cache", "UPDATE cache SET digest_key = x''", "DROP TABLE cache"])
  func `a cache without its key for digests is replaced by an empty one`(damage: String) async throws {
    let folder = try TemporaryFolder()
    let first = try CacheBench(folder)
    first.serve("body")
    _ = try await first.send()
    await first.store.close()
    let raw = try SQLiteStore(path: folder.file("cache.sqlite"))
    try await raw.write { try $0.execute(script: damage) }
    await raw.close()
    let bench = try CacheBench(folder)
    #expect(bench.store.digestKey.count == 32)
    #expect(try await bench.store.entries(limit: 9).isEmpty)
  }

  @Test(arguments: [
    "UPDATE entry SET last_used = 'x'", "UPDATE entry SET file = x'00'", "UPDATE entry SET size = 9e999",
    "UPDATE cache SET digest_key = 1",
  ])
  func `a cache with an impossible value is replaced by an empty one, also while it is open`(damage: String)
    async throws
  {
    for isOpen in [true, false] {
      let folder = try TemporaryFolder()
      var bench = try CacheBench(folder)
      bench.serve("body")
      _ = try await bench.send()
      try await bench.store.database.write { try $0.execute(script: damage) }
      if !isOpen {
        await bench.store.close()
        bench = try CacheBench(folder)
        bench.serve("body")
      }
      _ = try await bench.send("b")
      try await bench.store.removeAll()
      _ = try await bench.send("c")
      #expect(try await bench.send("c").source == .cache)
    }
  }

  @Test func `numbers of a damaged cache that are too large do not fail a request`() async throws {
    let bench = try CacheBench()
    bench.serve("body")
    _ = try await bench.send()
    try await bench.store.database.write { db in
      try db.execute("UPDATE entry SET last_used = 9223372036854775807, initial_age = -1e308")
    }
    #expect(try await bench.send().text == "body")
    #expect(try await bench.send("b").text == "body")
  }

  @Test func `an empty database becomes a cache, as one of a process that was killed while it made one`() async throws {
    let folder = try TemporaryFolder()
    await (try SQLiteStore(path: folder.file("cache.sqlite"))).close()
    #expect(FileManager.default.fileExists(atPath: folder.file("cache.sqlite")))
    let bench = try CacheBench(folder)
    bench.serve("body")
    _ = try await bench.send()
    #expect(try await bench.send().source == .cache)
  }

  @Test func `a cache that a newer version made is replaced by an empty one`() async throws {
    let folder = try TemporaryFolder()
    let old = try CacheBench(folder)
    old.serve("body")
    _ = try await old.send()
    await old.store.close()
    let raw = try SQLiteStore(path: folder.file("cache.sqlite"))
    try await raw.write { try $0.execute(script: "PRAGMA user_version=99; ALTER TABLE entry RENAME TO other") }
    await raw.close()
    let bench = try CacheBench(folder)
    #expect(try await bench.store.entries(limit: 9).isEmpty)
    bench.serve("body")
    _ = try await bench.send()
    #expect(try await bench.send().source == .cache)
  }

  @Test func `a cache that a newer version has open, or had when it was killed, is replaced by an empty one`()
    async throws
  {
    let folder = try TemporaryFolder()
    let newer = try CacheBench(folder)
    newer.serve("body")
    _ = try await newer.send()
    // Nothing is moved from the `-wal` into the file before the last store of it is closed.
    let raw = try SQLiteStore(path: folder.file("cache.sqlite"))
    try await raw.write { try $0.execute(script: "PRAGMA user_version=99; ALTER TABLE entry RENAME TO other") }
    let bench = try CacheBench(folder)
    #expect(try await bench.store.entries(limit: 9).isEmpty)
    bench.serve("body")
    _ = try await bench.send()
    #expect(try await bench.send().source == .cache)
    await raw.close()
  }

  @Test func `a database of another kind is refused and not changed`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.save([Artwork(id: 1, title: "a")], into: "artwork") }
    let error = #expect(throws: SQLiteError.self) { try SQLiteCacheStore(path: test.store.path) }
    #expect(error?.message.contains("no cache") == true)
    #expect(try await test.artworks.count == 1)
  }

  @Test func `a folder that does not exist is an error of the initializer`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: SQLiteError.self) { try SQLiteCacheStore(path: folder.file("none/cache.sqlite")) }
  }

  @Test func `pages that are damaged while the cache is in use lose stored responses, and do not fail the request`()
    async throws
  {
    let folder = try TemporaryFolder()
    let first = try CacheBench(folder)
    first.serve("body")
    for number in 0..<200 { _ = try await first.send("\(number)") }
    await first.store.close()
    var bytes = try Data(contentsOf: URL(filePath: first.store.path))
    for offset in 4_096 * 2..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
    try write(bytes, to: first.store.path)

    let bench = try CacheBench(folder)
    bench.serve("body")
    for number in 0..<5 { #expect(try await bench.send("\(number)").text == "body") }
    #expect(try await bench.send("4").source == .cache)
  }

  @Test func `a body whose file is gone or cut short is a miss`() async throws {
    let bench = try CacheBench()
    let body = String(repeating: "x", count: 100_000)
    bench.serve(body)
    for cut in [true, false] {
      _ = try await bench.send()
      let file = try #require(bench.bodyFiles.first)
      let path = bench.folder.file("cache.sqlite-bodies/") + file
      if cut { try write(Data(count: 5), to: path) } else { try FileManager.default.removeItem(atPath: path) }
      let response = try await bench.send()
      #expect(response.source == .network)
      #expect(try response.text == body)
      try await bench.store.removeAll()
    }
  }

  @Test func `a response whose body is damaged is removed by the request that finds it`() async throws {
    let bench = try CacheBench()
    bench.serve(String(repeating: "x", count: 100_000))
    _ = try await bench.send()
    let file = try #require(bench.bodyFiles.first)
    try write(Data(count: 5), to: bench.folder.file("cache.sqlite-bodies/") + file)
    #expect(try await bench.send("a", .onlyIfCached).statusCode == 504)
    #expect(try await bench.store.entries(limit: 9).isEmpty)
    #expect(bench.bodyFiles.isEmpty)
  }

  @Test(arguments: [1, 7, 8, 31, 32, 33, 40, 1_000]) func `damage to any byte of a body is noticed`(length: Int)
    async throws
  {
    let bench = try CacheBench()
    bench.serve(String(repeating: "x", count: length))
    for place in Set([0, length / 2, length - 1]) {
      _ = try await bench.send()
      var damaged = Data(repeating: UInt8(ascii: "x"), count: length)
      damaged[place] ^= 1
      try await bench.store.database.write { [damaged] db in try db.execute("UPDATE body SET body = \(damaged)") }
      #expect(try await bench.send("a", .onlyIfCached).statusCode == 504)
    }
  }

  @Test func `damage to two words of a body is noticed`() async throws {
    let bench = try CacheBench()
    bench.serve(String(repeating: "x", count: 100_000))
    _ = try await bench.send()
    let file = URL(filePath: bench.folder.file("cache.sqlite-bodies/") + (try #require(bench.bodyFiles.first)))
    var bytes = try Data(contentsOf: file)
    // The highest bits of two neighbors, in the last block of 32 bytes.
    for place in [99_975, 99_983] { bytes[place] ^= 0x80 }
    try bytes.write(to: file)
    #expect(try await bench.send("a", .onlyIfCached).statusCode == 504)
  }

  @Test func `a full disk evicts responses, and a response that still does not fit is not stored`() async throws {
    let bench = try CacheBench()
    bench.serve(String(repeating: "x", count: 20_000))
    for number in 0..<8 { _ = try await bench.send("\(number)") }
    _ = try await bench.store.database.write { db in
      let pages = try db.first("PRAGMA page_count", as: Int.self) ?? 0
      return try db.first(SQL(verbatim: "PRAGMA max_page_count = \(pages)"), as: Int.self)
    }
    let events = Box<[CacheEvent.Kind]>([])
    let client = bench.client { events.append($0.kind) }
    _ = try await client.send(.get("new")) as NetworkResponse
    #expect(events.value == [.miss, .stored, .evicted])
    #expect(try await bench.send("new").source == .cache)
    bench.serve(String(repeating: "x", count: 60_000))
    bench.clock.advance(by: .seconds(61))
    let response: NetworkResponse = try await client.send(.get("large").with(\.bodyLimit, 99_000))
    #expect(response.statusCode == 200)
    #expect(events.value.last == .failed || events.value.last == .evicted)
  }

  @Test func `failed writes lose stored responses, and do not fail the request`() async throws {
    let vfs = FaultVFS()
    let bench = try CacheBench(TemporaryFolder(), configuration: vfs.configuration())
    bench.serve("body")
    vfs.fail(at: 1, andAfter: true)
    let events = Box<[CacheEvent.Kind]>([])
    let client = bench.client { events.append($0.kind) }
    let response: NetworkResponse = try await client.send(.get("a"))
    #expect(try response.text == "body")
    #expect(events.value == [.miss, .failed])
    #expect(vfs.heal())
    _ = try await bench.send()
    #expect(try await bench.send().source == .cache)
    await bench.store.close()
  }

  @Test(arguments: [1_000, 1_003, 100_000, 100_003])
  func `a body of which the last byte was changed is a miss, in the file and beside it`(count: Int) async throws {
    let bench = try CacheBench()
    let body = String(repeating: "x", count: count)
    bench.serve(body)
    _ = try await bench.send()
    if let file = bench.bodyFiles.first {
      let path = bench.folder.file("cache.sqlite-bodies/") + file
      var bytes = try Data(contentsOf: URL(filePath: path))
      bytes[count - 1] ^= 1
      try write(bytes, to: path)
    } else {
      let changed = Data((String(repeating: "x", count: count - 1) + "y").utf8)
      try await bench.store.database.write { _ = try $0.execute("UPDATE body SET body = \(changed)") }
    }
    let response = try await bench.send()
    #expect(response.source == .network)
    #expect(try response.text == body)
    #expect(try await bench.send().source == .cache)
  }

  @Test func `old orphaned body files are removed when the cache is opened`() async throws {
    let folder = try TemporaryFolder()
    let first = try CacheBench(folder)
    first.serve(String(repeating: "x", count: 100_000))
    _ = try await first.send()
    await first.store.close()
    for (name, age) in [("old", 7_200.0), ("new", 0)] {
      let path = folder.file("cache.sqlite-bodies/\(name)")
      try write(Data(count: 5), to: path)
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
    }
    let bench = try CacheBench(folder)
    #expect(bench.bodyFiles.count == 1)
    #expect(try await bench.send().source == .cache)
  }

  @Test func `files of a killed process are removed with the next eviction, while the cache is open`() async throws {
    let bench = try CacheBench(TemporaryFolder(), capacity: 500_000, maximumBodySize: 400_000)
    bench.serve(String(repeating: "x", count: 100_000))
    for path in ["a", "b", "c", "d"] { _ = try await bench.send(path) }
    try write(Data(count: 400_000), to: bench.folder.file("cache.sqlite-bodies/orphan"))
    _ = try await bench.send("e")
    #expect(!bench.bodyFiles.contains("orphan"))
    #expect(bench.bodyFiles.count == 4)
  }

  @Test func `a body that cannot be written although the disk is not full evicts no other response`() async throws {
    let bench = try CacheBench()
    bench.serve("body")
    for number in 0..<8 { _ = try await bench.send("\(number)") }
    let folder = bench.folder.file("cache.sqlite-bodies")
    try FileManager.default.removeItem(atPath: folder)
    try write(Data(), to: folder)
    bench.serve(String(repeating: "x", count: 100_000))
    let error = Box<SQLiteError?>(nil)
    let client = bench.client { if $0.kind == .failed { error.value = $0.error as? SQLiteError } }
    _ = try await client.send(.get("large")) as NetworkResponse
    #expect(error.value?.code == .io)
    #expect(try await bench.store.entries(limit: 99).count == 8)
  }

  @Test func `a body whose entry could not be stored leaves no file`() async throws {
    let vfs = FaultVFS()
    let bench = try CacheBench(TemporaryFolder(), configuration: vfs.configuration())
    bench.serve(String(repeating: "x", count: 100_000))
    vfs.fail(at: 1, andAfter: true)
    let response = try await bench.send()
    #expect(response.source == .network)
    #expect(vfs.heal())
    #expect(bench.bodyFiles.isEmpty)
    await bench.store.close()
  }
}

#if os(macOS) || os(Linux)
  /// Real processes that are killed while they store responses.
  @Suite(.limited, .serialized) struct CacheKillTests {
    @Test(arguments: [1 as UInt64])
    func `processes that are killed while they store keep stored responses, and leave no partial one`(
      seed: UInt64
    ) async throws {
      var random = SeededGenerator(seed: seed)
      let folder = try TemporaryFolder()
      let file = folder.file("cache.sqlite")
      var told: Set<Int> = []
      for round in 0..<6 {
        // Two at a time on one file, each killed at another moment.
        let writers = try (0..<2).map { index in
          let executable = try #require(ChildProcess.fixture("CrashingWriter"))
          return try ChildProcess(executable, [file, "\(round * 100_000 + index)", "2", "cache"])
        }
        let counts = (Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random))
        async let first = writers[0].kill(afterLines: counts.0).text
        async let second = writers[1].kill(afterLines: counts.1).text
        for text in await [first, second] {
          let whole = text.lastIndex(of: "\n").map { text.prefix(through: $0) } ?? ""
          told.formUnion(whole.split(separator: "\n").compactMap { Int($0) })
        }
      }
      try await check(file, told)
    }

    private func check(_ file: String, _ told: Set<Int>) async throws {
      let store = try SQLiteCacheStore(path: file)
      let client = NetworkClient(
        baseURL: URL(string: "https://api.example.com")!, behaviors: [.caching(store)], transport: MockTransport())
      let entries = try await store.entries(limit: .max)
      let stored = Set(entries.compactMap { $0.key.url.split(separator: "/").last.flatMap { Int($0) } })
      #expect(!told.isEmpty)
      #expect(told.subtracting(stored).isEmpty)
      for number in stored {
        let response: NetworkResponse = try await client.send(
          .get("\(number)").with(\.caching, .onlyIfCached))
        let expected = Data(repeating: UInt8(truncatingIfNeeded: number), count: number % 3 == 0 ? 100_000 : 1_000)
        #expect(try response.data == expected)
      }
    }
  }
#endif

#if os(Linux)
  /// A disk that is really full, in a process of its own.
  @Suite(.limited) struct CacheFullDiskTests {
    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `the removal of other body files makes room for a new one`() async throws {
      #expect(try await use(bodies: 100_000, leaving: 80_000, "keep") == "stored evicted 7\n")
    }

    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `a cache on a full disk can be emptied, and used again`() async throws {
      #expect(try await use(bodies: 20_000, leaving: 0, "remove") == "stored 1\n")
    }

    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `a cache whose own log fills the disk continues to work`() async throws {
      #expect(try await use(bodies: 60_000, leaving: 0, "many") == "cache\n")
    }

    /// Returns what becomes of a response after eight were stored and the disk was filled, and how many are stored.
    private func use(bodies size: Int, leaving rest: Int, _ step: String) async throws -> String {
      let (folder, program) = (try TemporaryFolder(), try #require(ChildProcess.fixture("CrashingWriter")))
      let script = "mount -t tmpfs -o size=2m tmpfs \"$1\""
      let arguments = [folder.path, "\(size)", "\(rest)", step, "cache-full"]
      let text = try await PrivateMounts.start(script, program, arguments).end().text
      let first = String(repeating: "stored ", count: 8)
      return text.hasPrefix(first) ? String(text.dropFirst(first.count)) : text
    }
  }
#endif
