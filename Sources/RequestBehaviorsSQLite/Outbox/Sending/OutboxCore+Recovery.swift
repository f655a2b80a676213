import Foundation
import RequestBehaviors

/// Treats entries as a whole: after a process has ended, after a change of the clock, and when their owner stays away.
extension OutboxCore {
  /// The days after which an account that is away is taken to be gone.
  private static let longestAbsence: Int64 = 30 * 86_400_000

  /// Prepares the entries for sending, once the lock of the file is held.
  func recover() async throws {
    let events = try await store.write(durability: .normal) { db in
      let crashed = try self.table(db).recover(now: self.now)
      let text = "the process ended \(OutboxTable.maximumCrashes) times while it sent the entry"
      let failure = OutboxFailure(.crashed, message: text)
      return try crashed.map { try self.bury($0, failure, db) }
    }
    tell(events)
  }

  /// Keeps the waits of entries after the clock was set back, and their limits after it was set forward.
  ///
  /// - Parameter jump: The milliseconds by which it was set forward.
  /// - Throws: The error of the file.
  func followClock(setForwardBy jump: Int64 = 0) async throws {
    let now = now
    try await store.write(durability: .normal) { db in
      try self.table(db).followClock(now: now)
      if jump > 0 { try self.table(db).followClock(setForwardBy: jump, now: now) }
    }
  }

  /// Makes the entries due whose user was not signed in at their last attempt.
  func wakeWithoutUser() async throws {
    let (present, now) = (present, now)
    try await store.write(durability: .normal) { db in
      for scope in present { try self.table(db).wakeWithoutUser(of: scope, now: now) }
    }
  }

  /// Returns whether entries wait for owners who are not present.
  func hasAbsentOwners() async throws -> Bool {
    let present = present
    return try await store.read { try !self.table($0).waitingScopes().allSatisfy { present.contains($0) } }
  }

  /// Ends the entries of accounts that have been away for too long.
  ///
  /// They become dead letters, or are removed where the outbox discards. But an account of a session that the client
  /// does not list may be signed in elsewhere, so that its entries become dead letters there too.
  ///
  /// - Parameter readSessions: Reads again who is signed in; returns whether all sessions could be read.
  /// - Returns: False if it is not known whether accounts are away, because a token store could not be read.
  /// - Throws: The error of the file.
  func buryAbsent(readingBy readSessions: () async -> Bool) async throws -> Bool {
    let (present, now) = (present, now)
    let (gone, last) = try await store.write(durability: .normal) { db in
      let gone = try self.table(db).absentScopes(present: present, now: now, limit: Self.longestAbsence)
      return (gone, try self.table(db).last())
    }
    // A user whom another process has signed in is not gone.
    guard !gone.isEmpty else { return true }
    guard await readSessions() else { return false }
    try await refreshOwners()
    if settings.atSignOut == .discard {
      try await discard(upTo: last) {
        gone.contains($0.scope) && $0.isListed(self.members) && !self.present.contains($0.scope)
      }
    }
    for scope in gone where !self.present.contains(scope) { try await bury(scope) }
    return true
  }

  /// Makes dead letters of the waiting entries of an owner.
  func bury(_ scope: String) async throws {
    let failure = OutboxFailure.ownerHasLeft
    var last: Int64? = 0
    // In parts, so that other writes need not wait for all of them. Each part begins after the one before.
    while let after = last {
      let (events, end) = try await store.write(durability: .full) { db in
        let rows = try self.table(db).rows(where: "scope = \(scope) AND state IN (0,2) AND seq > \(after)", limit: 100)
        return (try rows.map { try self.bury($0, failure, db) }, rows.count == 100 ? rows.last?.seq : nil)
      }
      tell(events)
      last = end
    }
  }
}

extension OutboxFailure {
  /// The failure of an entry whose owner has left for good.
  static let ownerHasLeft = OutboxFailure(.signedOut, message: "its user has signed out and does not come back")
}

extension OutboxTable {
  /// Gives back the entries that an ended process was sending; returns those for which that has happened too often.
  func recover(now: Int64) throws -> [OutboxRow] {
    let left = try rows(where: "state = 1")
    guard !left.isEmpty else { return [] }
    // An earlier entry of a lane may have been put back while this one was sent, and then goes before it.
    try db.execute(
      """
      UPDATE outbox_entry SET state = CASE WHEN lane IS NULL THEN 0 ELSE 2 END, claim = NULL, crashes = crashes + 1
      WHERE queue = \(queue) AND state = 1
      """)
    for row in left { try promote(row.lane, row.scope, now: now) }
    return left.filter { $0.crashes + 1 >= Self.maximumCrashes }
  }
}
