import CFaultVFS
import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import Testing

/// Removed data is no longer in a file.
@Suite(.limited) struct ErasureTests {
  private let canary = "canary-" + String(repeating: "token", count: 20)

  /// The names of the files in the folder that hold the text.
  private func files(holding text: String, in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter { name in
      guard !name.hasSuffix("-bodies") else { return false }
      return try Data(contentsOf: URL(filePath: folder.file(name))).range(of: Data(text.utf8)) != nil
    }
  }

  private func setDeletion(_ mode: String, in store: SQLiteStore) async throws {
    _ = try await store.write { try $0.first(SQL(verbatim: "PRAGMA secure_delete=\(mode)"), as: Int.self) }
  }

  @Test(arguments: ["OFF", "ON", "FAST"])
  func `a token that was removed is in no file`(mode: String) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    try await setDeletion(mode, in: store)
    let tokens = SQLiteTokenStore(store)
    try await tokens.save(AccessToken(canary))
    #expect(try files(holding: canary, in: folder) == ["store.sqlite-wal"])
    try await store.checkpoint()
    #expect(try files(holding: canary, in: folder) == ["store.sqlite"])
    try await tokens.save(nil)
    #expect(try files(holding: canary, in: folder) == [])
    // The caller's own deletions are as they were.
    let now = try await store.write { try $0.first("PRAGMA secure_delete", as: Int.self) }
    #expect(now == ["OFF": 0, "ON": 1, "FAST": 2][mode])
  }

  @Test func `tokens that were replaced before are in no file after the sign-out`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    try await setDeletion("OFF", in: store)
    let tokens = SQLiteTokenStore(store)
    // Each shorter than the one before, so that the place of one is not filled by the next.
    for length in [60, 40, 20, 1] {
      try await tokens.save(AccessToken(canary + String(repeating: "x", count: length)))
      try await store.checkpoint()
    }
    try await tokens.save(nil)
    #expect(try files(holding: canary, in: folder) == [])
  }

  @Test func `a removal does not fail because of a read, and a later write empties the log`() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file(), configuration: SQLiteConfiguration(busyTimeout: .zero))
    let (tokens, held) = (SQLiteTokenStore(store), HeldWork())
    try await tokens.save(AccessToken(canary))
    let reading = Task {
      try await store.read { db in
        _ = try db.first("SELECT count(*) FROM access_token", as: Int.self)
        held.hold()
      }
    }
    await held.isHeld()
    try await tokens.save(nil)
    #expect(try await tokens.load() == nil)
    #expect(try files(holding: canary, in: folder) == ["store.sqlite-wal"])
    held.letGo()
    try await reading.value
    try await store.write { try $0.execute("CREATE TABLE t (a)") }
    #expect(try files(holding: canary, in: folder) == [])
  }

  @Test func `a removal that fails removes nothing and does not change deletions`() async throws {
    let vfs = FaultVFS()
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file(), configuration: vfs.configuration())
    try await setDeletion("OFF", in: store)
    let tokens = SQLiteTokenStore(store)
    try await tokens.save(AccessToken(canary))
    vfs.fail(at: 1)
    let error = await #expect(throws: NetworkError.self) { try await tokens.save(nil) }
    #expect(error?.code == .tokenStoreFailed)
    #expect(vfs.heal())
    #expect(try await tokens.load()?.value == canary)
    #expect(try await store.write { try $0.first("PRAGMA secure_delete", as: Int.self) } == 0)
    await store.close()
    withExtendedLifetime(vfs) {}
  }

  @Test(arguments: [false, true])
  func `cached responses of a scope that ended, or all, are in no file`(all: Bool) async throws {
    let bench = try CacheBench()
    _ = try await bench.store.database.write { try $0.first("PRAGMA secure_delete=OFF", as: Int.self) }
    let alice = bench.client().with { $0.behaviors.append(ScopeBehavior(user: "alice")) }
    let bob = bench.client().with { $0.behaviors.append(ScopeBehavior(user: "bob")) }
    bench.serve(canary)
    // One in a row, one in pages of its own, one in a file.
    for (path, size) in [("a", 1), ("b", 20_000), ("c", 100_000)] as [(RequestPath, Int)] {
      bench.serve(canary + String(repeating: "x", count: size))
      _ = try await alice.send(.get(path)) as NetworkResponse
    }
    bench.serve("of bob")
    _ = try await bob.send(.get("a")) as NetworkResponse
    #expect(try files(holding: canary, in: bench.folder) != [])
    if all { try await bench.store.removeAll() } else { try await bench.store.removeAll(scope: "alice") }
    #expect(try files(holding: canary, in: bench.folder) == [])
    #expect(bench.bodyFiles == [])
    #expect(try await bench.store.entries(limit: 9).count == (all ? 0 : 1))
  }

  /// The event that removes a response before its user signs out.
  enum Removal: CaseIterable, Sendable {
    case replacement, change, eviction
  }

  @Test(arguments: Removal.allCases)
  func `cached responses that went before the sign-out are in no file after it, whatever SQLite's default`(
    removal: Removal
  ) async throws {
    let folder = try TemporaryFolder()
    fault_keep_deleted(URL(filePath: folder.path).lastPathComponent)
    defer { fault_keep_deleted(nil) }
    let bench = try CacheBench(folder, capacity: 40_000, maximumBodySize: 30_000)
    let alice = bench.client().with { $0.behaviors.append(ScopeBehavior(user: "alice")) }
    // In pages of its own, which the removal frees.
    bench.serve(String(repeating: canary, count: 200))
    _ = try await alice.send(.get("b")) as NetworkResponse
    #expect(try files(holding: canary, in: folder) != [])
    switch removal {
    case .replacement:
      bench.serve("short")
      _ = try await alice.send(.get("b").with(\.caching, .reload)) as NetworkResponse
    case .change: _ = try await alice.send(.put("b")) as NetworkResponse
    case .eviction:
      bench.serve(String(repeating: "x", count: 25_000))
      _ = try await alice.send(.get("c")) as NetworkResponse
    }
    try await bench.store.removeAll(scope: "alice")
    #expect(try files(holding: canary, in: folder) == [])
  }

  @Test func `a token is not reported as saved if its file was removed`() async throws {
    let folder = try TemporaryFolder()
    let tokens = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
    try await tokens.save(AccessToken("one"))
    try FileManager.default.removeItem(atPath: folder.file())
    let error = await #expect(throws: NetworkError.self) { try await tokens.save(AccessToken("two")) }
    #expect(error?.code == .tokenStoreFailed)
    #expect(error?.message.contains("removed or replaced") == true)
  }
}
