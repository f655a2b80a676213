public import RequestBehaviors

/// A token store in a SQLite file: a row for each name, replaced in one transaction that survives a power cut.
///
/// ```swift
/// let tokens = SQLiteTokenStore(store, name: "account")
/// ```
///
/// The table `access_token` is created when a token is first saved. The file holds the token unencrypted. A token that
/// is replaced or removed is overwritten in the file; when it is removed, the `-wal` is emptied too, where it was before. Saving a
/// token takes the permissions of all but the file's owner from the file, its `-wal` and its `-shm`.
public final class SQLiteTokenStore: TokenStore {
  private let store: SQLiteStore
  private let name: String

  /// Creates a token store.
  ///
  /// - Parameters:
  ///   - store: The file.
  ///   - name: Tells several tokens in one file apart; `default` by default.
  public init(_ store: SQLiteStore, name: String = "default") {
    self.store = store
    self.name = name
  }

  /// The file's path and the name; a database in memory is its own.
  public var location: String? { store.path == ":memory:" ? nil : store.path + "#" + name }

  /// Returns the token; `nil` if there is none.
  ///
  /// - Throws: `NetworkError` of code `tokenStoreFailed` when the file cannot be read or what it holds is no token.
  public func load() async throws -> AccessToken? {
    let name = name
    return try await reporting("read") {
      try await store.read { db in
        let isThere = try db.first("SELECT 1 FROM sqlite_master WHERE name = 'access_token'", as: Int.self) != nil
        return isThere
          ? try db.first("SELECT token FROM access_token WHERE name = \(name)", as: Stored.self)?.token : nil
      }
    }
  }

  /// Replaces the token, wholly or not at all; `nil` removes it.
  ///
  /// - Throws: `NetworkError` of code `tokenStoreFailed` when the file cannot be written.
  public func save(_ token: AccessToken?) async throws {
    let name = name
    let path = store.path
    try await reporting("write") {
      try await store.writeErasing(durability: .full, emptiesLog: token == nil) { db in
        if token != nil, path != ":memory:" { try PrivateFile.protect(path) }
        try db.execute("CREATE TABLE IF NOT EXISTS access_token (name TEXT PRIMARY KEY, token TEXT NOT NULL)")
        if let token {
          try db.save(Stored(name: name, token: token), into: "access_token")
        } else {
          try db.execute("DELETE FROM access_token WHERE name = \(name)")
        }
      }
    }
  }

  private func reporting<T>(_ action: String, _ work: () async throws -> T) async throws -> T {
    do { return try await work() } catch let error as SQLiteError {
      throw NetworkError(
        .tokenStoreFailed, "could not \(action) the token \"\(name)\" in \(store.path): \(error.message)",
        underlyingError: error)
    } catch is DecodingError {
      // A decoder's error may quote the token.
      throw NetworkError(
        .tokenStoreFailed, "what stands as the token \"\(name)\" in \(store.path) is no token; sign in again")
    }
  }

  private struct Stored: Codable {
    var name: String?
    var token: AccessToken
  }
}
