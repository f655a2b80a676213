import Foundation
import RequestBehaviors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The right to refresh the token of a row.
///
/// One process at a time holds it, for 30 seconds unless it is renewed.
///
/// The lease is a row of its own, so that no transaction stays open while the server is asked. After a process has lost
/// its lease, ``SQLiteTokenStore/replace(_:with:)`` refuses its tokens, and it reads no token to refresh with.
struct SQLiteTokenLease: Sendable, Equatable {
  private let name: String
  private let owner: String

  init(name: String) {
    self.name = name
    owner = LeaseOwner.make()
  }

  /// Takes the lease unless another process has it; returns whether it did.
  func take(in db: Database, at now: TimeInterval) throws -> Bool {
    try db.execute(
      """
      CREATE TABLE IF NOT EXISTS access_token_refresh
      (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)
      """)
    let found = try db.first("SELECT owner, until FROM access_token_refresh WHERE name = \(name)", as: Row.self)
    let isFree = { (row: Row) in
      RefreshLease.isOver(row.until, at: now) || LeaseOwner.isGone(row.owner) || Self.isLeft(row.owner)
    }
    if let found, !isFree(found) { return false }
    let until = now + RefreshLease.duration
    try db.execute("REPLACE INTO access_token_refresh (name, owner, until) VALUES (\(name), \(owner), \(until))")
    return true
  }

  /// Extends the lease, unless another process has taken it.
  func renew(in db: Database, at now: TimeInterval) throws {
    let until = now + RefreshLease.duration
    try db.execute(
      "UPDATE access_token_refresh SET until = \(until) WHERE name = \(name) AND owner = \(owner)")
  }

  /// Gives the lease back.
  func end(in db: Database) throws {
    try db.execute("DELETE FROM access_token_refresh WHERE name = \(name) AND owner = \(owner)")
  }

  /// Records that the lease could not be given back: this process holds it no more, and may take it over at once.
  func leave() { Self.left.withLock { _ = $0.insert(owner) } }

  /// The owners of the leases that this process could not give back, such as those of a suspended store.
  private static let left = Locked<Set<String>>([])

  private static func isLeft(_ owner: String) -> Bool { left.withLock { $0.contains(owner) } }

  /// Whether this lease is still held.
  func isHeld(in db: Database) throws -> Bool {
    try db.first("SELECT owner FROM access_token_refresh WHERE name = \(name)", as: String.self) == owner
  }

  private struct Row: Codable {
    var owner: String
    var until: Double
  }
}

/// The process that holds a lease.
///
/// If that process was killed, its lease is free at once.
enum LeaseOwner {
  /// Returns an owner for this process: its process id, with a nonce and the space in which the id is valid.
  static func make() -> String { "\(place) \(getpid()) \(RandomSource.uniqueName())" }

  /// Whether the process of an owner is known to have ended.
  static func isGone(_ owner: String) -> Bool {
    let parts = owner.split(separator: " ")
    guard parts.count == 3, !place.isEmpty, parts[0] == place, let process = Int32(parts[1]) else { return false }
    return kill(process, 0) == 0 ? hasEnded(process) : errno == ESRCH
  }

  /// Whether a process has ended whose id is still taken, because its parent has not asked yet how it ended.
  private static func hasEnded(_ process: Int32) -> Bool {
    #if os(Linux)
      guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return false }
      // The name of the program comes before these, in parentheses, and may hold any byte (proc(5)).
      let fields = data.suffix(from: data.lastIndex(of: UInt8(ascii: ")")) ?? data.endIndex).split(separator: 32)
      guard fields.count > 18, let threads = Int(String(decoding: fields[18], as: UTF8.self)) else { return false }
      // A process whose first thread has ended before the others, as by `pthread_exit`, has the same state.
      return fields[1].elementsEqual("Z".utf8) && threads <= 1
    #else
      return false
    #endif
  }

  /// The space in which a process id is unique; empty where it cannot be determined.
  private static let place: String = {
    #if os(Linux)
      let boot = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      let space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
      guard let boot, let space else { return "" }
      return boot.trimmingCharacters(in: .whitespacesAndNewlines) + space
    #elseif os(macOS)
      return "macOS"
    #else
      return ""
    #endif
  }()
}
