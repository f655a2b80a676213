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

  var artworks: [Artwork] {
    get async throws { try await store.read { try $0.query("SELECT * FROM artwork ORDER BY id") } }
  }

  /// Whether SQLite finds the file sound.
  var isIntact: Bool {
    get async throws { try await store.read { try $0.query("PRAGMA integrity_check", as: String.self) } == ["ok"] }
  }
}
