import Foundation
public import RequestBehaviors

/// A token store in a SQLite file: a row for each name, replaced in one transaction that survives a power cut.
///
/// ```swift
/// let tokens = SQLiteTokenStore(store, name: "account")
/// ```
///
/// The table `access_token` is created when a token is first saved. The file holds the token unencrypted. A token that
/// is replaced or removed is overwritten in the file. When it is removed, the `-wal`, which may hold it too, is
/// emptied, or by a later write if open reads or a full disk prevent it. Saving or reading a token takes the
/// permissions of all but the file's owner from the file, its `-wal` and its `-shm`.
///
/// Several processes may use one file, but only one at a time refreshes the token of a name. The table
/// `access_token_refresh` names that process for 30 seconds, which it renews. On Linux and macOS the others notice at
/// once that it has ended, on macOS only after its parent has noticed. On other platforms, and for a process that is
/// stopped, they wait until the 30 seconds have passed.
///
/// The processes compare these times by their wall clocks. Two whose clocks differ by more than 30 seconds, as of two
/// machines, may refresh at the same time.
public final class SQLiteTokenStore: TokenStore, ClosableTokenStore {
  private let store: SQLiteStore
  private let name: String
  private let clock: RequestClock
  /// The lease under which this store refreshes.
  private let held = Locked<SQLiteTokenLease?>(nil)

  /// Creates a token store.
  ///
  /// - Parameters:
  ///   - store: The file.
  ///   - name: Tells several tokens in one file apart; `default` by default.
  public convenience init(_ store: SQLiteStore, name: String = "default") {
    self.init(store, name: name, clock: .system)
  }

  package init(_ store: SQLiteStore, name: String = "default", clock: RequestClock) {
    self.store = store
    self.name = name
    self.clock = clock
  }

  /// The file's own path, without symbolic links, and the name; a database in memory is its own.
  public var location: String? { store.path == ":memory:" ? nil : store.state.file + "#" + name }

  package var isClosed: Bool { store.state.isClosed }

  /// Returns the token; `nil` if no token is stored.
  ///
  /// - Throws: `NetworkError` of code `tokenStoreFailed` when the file cannot be read or its token is invalid.
  public func load() async throws -> AccessToken? {
    let (name, path, file, held) = (name, store.path, store.state.file, held)
    let lease = held.withLock { $0 }
    return try await reporting("read") {
      try await store.read { db in
        // A token that another process refreshes must not be refreshed here. A lease that was given back meanwhile
        // belongs to a refresh that has ended.
        if let lease, try !lease.isHeld(in: db), held.withLock({ $0 == lease }) {
          throw NetworkError(
            .tokenStoreFailed, "another process refreshes the token \"\(name)\" in \(path), as this one was stopped")
        }
        let token = try SQLiteTokenStore.token(name, in: db)
        if token != nil, file != ":memory:" { try PrivateFile.protect(file) }
        return token
      }
    }
  }

  /// Replaces the token, wholly or not at all; `nil` removes it.
  ///
  /// - Throws: `NetworkError` of code `tokenStoreFailed` when the file cannot be written, or when the token is empty or
  ///   has control characters, because it could not be read again.
  public func save(_ token: AccessToken?) async throws {
    try token?.checkReadableAgain()
    let name = name
    let file = store.state.file
    try await reporting("write") {
      try await store.writeErasing(durability: .full, emptiesLog: token == nil) { db in
        try SQLiteTokenStore.write(token, as: name, in: db, file)
      }
    }
  }

  /// Replaces the token in one transaction if it is the one that is expected.
  ///
  /// - Throws: `NetworkError` of code `tokenStoreFailed` when the file cannot be read or written, or when the new token
  ///   is empty or has control characters, because it could not be read again.
  public func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool {
    try new?.checkReadableAgain()
    let name = name
    let file = store.state.file
    let wasExpected = Locked(false)
    try await reporting("write") {
      try await store.writeErasing(durability: .full, emptiesLog: new == nil) { db in
        guard AccessToken.isSame(try SQLiteTokenStore.token(name, in: db), old) else { return }
        try SQLiteTokenStore.write(new, as: name, in: db, file)
        wasExpected.withLock { $0 = true }
      }
    }
    return wasExpected.withLock { $0 }
  }

  private static func token(_ name: String, in db: Database) throws -> AccessToken? {
    let isThere = try db.first("SELECT 1 FROM sqlite_master WHERE name = 'access_token'", as: Int.self) != nil
    return isThere ? try db.first("SELECT token FROM access_token WHERE name = \(name)", as: Stored.self)?.token : nil
  }

  private static func write(_ token: AccessToken?, as name: String, in db: Database, _ file: String) throws {
    if token != nil, file != ":memory:" { try PrivateFile.protect(file) }
    try db.execute("CREATE TABLE IF NOT EXISTS access_token (name TEXT PRIMARY KEY, token TEXT NOT NULL)")
    if let token {
      try db.save(Stored(name: name, token: token), into: "access_token")
    } else {
      try db.execute("DELETE FROM access_token WHERE name = \(name)")
    }
  }

  // MARK: - One process at a time

  /// Runs the work while no other process refreshes the token of this name.
  ///
  /// - Throws: `CancellationError`, or `NetworkError` of code `tokenStoreFailed` when the file cannot be written.
  public func withRefreshLock(_ work: RefreshWork) async throws {
    // No other process has a database in memory.
    guard store.path != ":memory:" else { return await work() }
    let (store, lease) = (store, SQLiteTokenLease(name: name))
    let holder = RefreshLease(
      clock: clock,
      take: { now in try await store.write { try lease.take(in: $0, at: now) } },
      renew: { now in try await store.write { try lease.renew(in: $0, at: now) } },
      end: {
        do { try await store.write { try lease.end(in: $0) } } catch {
          lease.leave()
          throw error
        }
      })
    try await reporting("lock") {
      try await holder.run {
        held.withLock { $0 = lease }
        await work()
        held.withLock { $0 = nil }
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
        .tokenStoreFailed, "the entry for the token \"\(name)\" in \(store.path) is not a token; sign in again")
    }
  }

  private struct Stored: Codable {
    var name: String?
    var token: AccessToken
  }
}
