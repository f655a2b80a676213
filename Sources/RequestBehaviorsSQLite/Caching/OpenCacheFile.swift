import Foundation

/// The open file of a cache, with what is read from it once.
struct OpenCacheFile: Sendable {
  let store: SQLiteStore
  let digestKey: Data

  /// Tells a cache from other databases: what is not one is not deleted.
  private static let applicationID = 0x5242_4331

  /// Opens the file; a cache that is damaged or newer is replaced by an empty one.
  ///
  /// - Throws: ``SQLiteError`` when there can be no such file, or when it is a database of something else.
  static func open(_ path: String, bodies: CacheBodies, configuration: SQLiteConfiguration) throws -> OpenCacheFile {
    do {
      return try openExisting(path, bodies: bodies, configuration: configuration)
    } catch let error as SQLiteError where [.corrupt, .notADatabase, newer].contains(error.code) {
      delete(path, bodies: bodies)
      return try openExisting(path, bodies: bodies, configuration: configuration)
    }
  }

  /// Removes the file, what belongs to it, and the bodies.
  static func delete(_ path: String, bodies: CacheBodies) {
    for file in [path, path + "-wal", path + "-shm"] { try? FileManager.default.removeItem(atPath: file) }
    bodies.removeAll()
  }

  /// The code of a cache that a newer version of this library made.
  private static let newer = SQLiteError.Code(rawValue: -1)

  private static func openExisting(
    _ path: String, bodies: CacheBodies, configuration: SQLiteConfiguration
  ) throws -> OpenCacheFile {
    let version = try checkKind(path, configuration: configuration)
    guard version <= migrations.count else { throw SQLiteError(newer, "the cache is newer than this program") }
    let store = try SQLiteStore(path: path, configuration: configuration, migrations: migrations)
    let (digestKey, files) = try store.readAndWait { db in
      let key = try db.first("SELECT digest_key FROM cache") { row in try row[0] as Data } ?? Data()
      return (key, Set(try db.query("SELECT file FROM entry WHERE file IS NOT NULL", as: String.self)))
    }
    bodies.sweep(except: files)
    return OpenCacheFile(store: store, digestKey: digestKey)
  }

  /// Throws for a database that is no cache.
  ///
  /// - Returns: The version of its schema; 0 for a file that is new.
  private static func checkKind(_ path: String, configuration: SQLiteConfiguration) throws -> Int {
    guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size > 0 else { return 0 }
    return try SQLiteStore(path: path, configuration: configuration).readAndWait { db in
      let id = try db.first("PRAGMA application_id", as: Int.self)
      let isEmpty = try db.first("SELECT 1 FROM sqlite_master", as: Int.self) == nil
      guard id == applicationID || isEmpty else {
        throw SQLiteError(
          .misuse, "the file is a database and no cache; give the cache a file of its own", path: path)
      }
      return try db.first("PRAGMA user_version", as: Int.self) ?? 0
    }
  }

  private static let migrations = [
    SQLiteMigration("cache") { db in
      try db.execute(script: schema)
      var random = SystemRandomNumberGenerator()
      let key = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
      try db.execute("INSERT INTO cache (id, bytes, digest_key) VALUES (1, 0, \(key))")
    }
  ]

  // The number of bytes is kept by triggers, so that it is right in every process and costs the same at any size.
  private static let schema = """
    PRAGMA application_id=\(applicationID);
    CREATE TABLE cache (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, digest_key BLOB NOT NULL);
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, url_hash INTEGER NOT NULL, url TEXT NOT NULL, scopes TEXT NOT NULL,
      discriminator TEXT NOT NULL, variant TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL,
      stored_at REAL NOT NULL, received_at REAL NOT NULL, initial_age REAL NOT NULL, lifetime REAL NOT NULL,
      flags INTEGER NOT NULL, stale_while_revalidate REAL, stale_if_error REAL, size INTEGER NOT NULL,
      body_size INTEGER NOT NULL, last_used INTEGER NOT NULL, file TEXT);
    CREATE TABLE body (id INTEGER PRIMARY KEY REFERENCES entry (id) ON DELETE CASCADE, body BLOB NOT NULL);
    CREATE INDEX entry_url ON entry (url_hash);
    CREATE INDEX entry_use ON entry (last_used, id, size);
    CREATE INDEX entry_file ON entry (file) WHERE file IS NOT NULL;
    CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN UPDATE cache SET bytes = bytes + NEW.size; END;
    CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN UPDATE cache SET bytes = bytes - OLD.size; END;
    CREATE TRIGGER entry_resized AFTER UPDATE OF size ON entry
      BEGIN UPDATE cache SET bytes = bytes + NEW.size - OLD.size; END;
    """
}

/// The bodies that are too large for the database: a file for each, in a folder of their own; every call blocks.
struct CacheBodies: Sendable {
  let folder: String

  /// The most bytes of a body that is kept in the database.
  static let inlineLimit = 64 << 10

  /// Writes a body.
  ///
  /// - Returns: The name of its file.
  func write(_ body: Data) throws -> String {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let name = UUID().uuidString
    do {
      try body.write(to: url(of: name))
    } catch {
      remove([name])
      throw SQLiteError(
        .full, "the body could not be written to \(folder): \(error.localizedDescription)", path: folder)
    }
    return name
  }

  /// Reads a body without copying it; nil if there is none.
  func read(_ name: String) -> Data? { try? Data(contentsOf: url(of: name), options: .mappedIfSafe) }

  /// Removes bodies.
  func remove(_ names: [String]) {
    for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
  }

  /// Removes all bodies.
  func removeAll() { try? FileManager.default.removeItem(atPath: folder) }

  /// Removes bodies that no entry has, of processes that ended in the middle.
  ///
  /// Those of the last hour are left alone: another process may be about to commit their entry.
  func sweep(except names: Set<String>) {
    let limit = Date(timeIntervalSinceNow: -3_600)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where !names.contains(name) {
      let attributes = try? FileManager.default.attributesOfItem(atPath: url(of: name).path(percentEncoded: false))
      if let date = attributes?[.modificationDate] as? Date, date < limit { remove([name]) }
    }
  }

  private func url(of name: String) -> URL { URL(filePath: folder).appending(path: name) }
}
