import Dispatch
import Foundation
import RequestBehaviorsSQLite

/// A folder of a test's own, removed with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "RequestBehaviorsSQLite-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String = "store.sqlite") -> String { path + "/" + name }
}

struct Artwork: Codable, Equatable, Sendable {
  var id: Int
  var title: String
  var note: String?
  var price = 1.5
}

/// A store in a folder of its own.
struct TestStore {
  let folder: TemporaryFolder
  let store: SQLiteStore

  static let artwork = SQLiteMigration("artwork") { db in
    try db.execute(
      "CREATE TABLE artwork (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT, price REAL NOT NULL DEFAULT 0)")
  }

  init(
    _ configuration: SQLiteConfiguration = SQLiteConfiguration(), migrations: [SQLiteMigration] = [artwork]
  ) throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file(), configuration: configuration, migrations: migrations)
  }

  /// Opens a store in memory whose schema a script makes.
  static func inMemory(_ script: String, _ format: RowFormat = RowFormat()) throws -> SQLiteStore {
    try SQLiteStore(
      path: ":memory:", configuration: SQLiteConfiguration(format: format),
      migrations: [SQLiteMigration("schema") { try $0.execute(script: script) }])
  }

  var artworks: [Artwork] {
    get async throws { try await store.read { try $0.query("SELECT * FROM artwork ORDER BY id") } }
  }

  /// Whether SQLite finds the file sound.
  var isIntact: Bool {
    get async throws { try await store.read { try $0.query("PRAGMA integrity_check", as: String.self) } == ["ok"] }
  }
}

/// Begins work of a store, and returns when it is queued there.
@MainActor func queue<T: Sendable>(_ work: @escaping @MainActor () async throws -> T) async -> Task<T, any Error> {
  let task = Task { try await work() }
  // The main actor runs its tasks in order, but the work hops off it and back on its way to the store. So this goes the
  // same way behind it, some times more often than the work does.
  for _ in 0..<5 {
    await Task.detached {}.value
    await Task {}.value
  }
  return task
}

/// Work that runs in a store until it is let go.
struct HeldWork: Sendable {
  private let gate = DispatchSemaphore(value: 0)
  private let started = AsyncStream.makeStream(of: Void.self)

  /// Waits on the store's thread until it is let go; call it in the work's closure.
  func hold() {
    started.continuation.yield()
    gate.wait()
  }

  /// Returns when the work holds.
  func isHeld() async { for await _ in started.stream { return } }

  func letGo() { gate.signal() }
}
