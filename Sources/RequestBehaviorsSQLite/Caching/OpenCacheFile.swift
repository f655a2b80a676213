import Foundation
import RequestBehaviors

/// The open file of a cache, with the values that are read from it once; every call blocks.
struct OpenCacheFile: Sendable {
  let store: SQLiteStore
  let digestKey: Data

  /// Whether the file is still at its path: another process may have found it damaged and replaced it.
  var isInPlace: Bool { store.state.isFileInPlace }

  /// Opens the file; a cache that is damaged or newer is replaced by an empty one.
  ///
  /// - Throws: ``SQLiteError`` when the file cannot be created or opened, or when it is no cache.
  static func open(_ path: String, bodies: CacheBodies, configuration: SQLiteConfiguration) throws -> OpenCacheFile {
    // Another process may replace the file between the steps. More than two rounds are rare.
    for _ in 0..<4 {
      let found = FileIdentity(path)
      do {
        return try openOnce(path, bodies: bodies, configuration: configuration)
      } catch {
        // A file that is missing by now may have been made and removed since. A later file may have the number of one
        // that was removed.
        let now = FileIdentity(path)
        let hasMoved = (error as? SQLiteError)?.tellsOfMovedFile == true
        guard hasMoved || now == nil || now != found else { throw error }
      }
    }
    return try openOnce(path, bodies: bodies, configuration: configuration)
  }

  private static func openOnce(
    _ path: String, bodies: CacheBodies, configuration: SQLiteConfiguration
  ) throws -> OpenCacheFile {
    do {
      return try openExisting(path, bodies: bodies, configuration: configuration)
    } catch let error where isUnusable(error) {
      guard isNewer(error) || wasCache(path, bodies) else {
        let (code, reason) = (error as? SQLiteError).map { ($0.code, $0.message) } ?? (.corrupt, "\(error)")
        throw SQLiteError(
          code, "the file is not a cache and is left alone; give the cache a file of its own (\(reason))", path: path)
      }
      delete(path, bodies: bodies)
      return try openExisting(path, bodies: bodies, configuration: configuration)
    }
  }

  /// Removes the file, its `-wal` and `-shm`, and the bodies.
  static func delete(_ path: String, bodies: CacheBodies) {
    let path = RealPath.of(path)
    // The file is removed last: a process that made a new one meanwhile loses it, too, and sees that it is gone.
    for file in [path + "-wal", path + "-shm", path] { try? FileManager.default.removeItem(atPath: file) }
    bodies.remove(bodies.names)
  }

  /// The code of a cache that a newer version of this library made.
  private static let newer = SQLiteError.Code(rawValue: -1)

  /// Whether an error tells of such a cache, which need not have the mark of one in its head yet: that may be in the
  /// `-wal`, while another process has it open or after one was killed.
  private static func isNewer(_ error: any Error) -> Bool { (error as? SQLiteError)?.code == newer }

  /// Whether an error is a sign of a damaged file.
  ///
  /// A cache never writes a value of a wrong kind, and its writes never break a constraint.
  static func isOfDamage(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return error is DecodingError }
    return [.corrupt, .notADatabase, .constraint].contains(error.code)
  }

  /// Whether an error tells of a file that a cache cannot use; a missing table is an error of SQL.
  private static func isUnusable(_ error: any Error) -> Bool {
    isOfDamage(error) || isNewer(error) || (error as? SQLiteError)?.code == .error
  }

  private static func openExisting(
    _ path: String, bodies: CacheBodies, configuration: SQLiteConfiguration
  ) throws -> OpenCacheFile {
    let version = try checkKind(path, configuration: configuration)
    guard version <= CacheSchema.migrations.count else {
      throw SQLiteError(newer, "the cache is newer than this program")
    }
    bodies.prepare()
    let store = try SQLiteStore(path: path, configuration: configuration, migrations: CacheSchema.migrations)
    // They may have been there before, restored or made by another program. Only their owner can change that.
    try? PrivateFile.protect(store.state.file)
    bodies.protect()
    let (digestKey, hasOrphans) = try store.readAndWait { db in
      guard let key = try db.first("SELECT digest_key FROM cache", { row in try row[0] as Data }), !key.isEmpty else {
        throw SQLiteError(.corrupt, "the cache has no key for digests", path: path)
      }
      return (key, try !CacheChange.orphans(of: bodies, in: db).isEmpty)
    }
    // A file that another process has locked for long is opened all the same; the next eviction removes the orphans
    // then.
    if hasOrphans { _ = try? store.writeAndWait { db in bodies.remove(try CacheChange.orphans(of: bodies, in: db)) } }
    return OpenCacheFile(store: store, digestKey: digestKey)
  }

  /// Returns the size of a file in bytes; 0 if it does not exist.
  static func size(of path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  /// Checks that a file is a cache or new.
  ///
  /// - Returns: The version of its schema; 0 for a new file.
  private static func checkKind(_ path: String, configuration: SQLiteConfiguration) throws -> Int {
    guard size(of: path) > 0 else { return 0 }
    return try SQLiteStore(path: path, configuration: configuration).readAndWait { db in
      let id = try db.first("PRAGMA application_id", as: Int.self)
      let isEmpty = try db.first("SELECT 1 FROM sqlite_master", as: Int.self) == nil
      let version = try db.first("PRAGMA user_version", as: Int.self) ?? 0
      guard id == CacheSchema.applicationID || (isEmpty && version <= CacheSchema.migrations.count) else {
        throw SQLiteError(
          .misuse, "the file is a database and no cache; give the cache a file of its own", path: path)
      }
      return version
    }
  }

  /// Whether an unusable file was a cache, by its head or, if the head is damaged, by the folder beside it.
  private static func wasCache(_ path: String, _ bodies: CacheBodies) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    let head = [UInt8]((try? file.read(upToCount: 100)) ?? Data())
    guard head.starts(with: Array("SQLite format 3\0".utf8)), head.count == 100 else { return bodies.isPrepared }
    // The application id is in the bytes from 68 on (https://sqlite.org/fileformat.html §1.3).
    return head[68..<72].reduce(0) { $0 << 8 | Int($1) } == CacheSchema.applicationID
  }
}
