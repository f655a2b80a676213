import Foundation
import RequestBehaviors

/// Claims entries: chooses the one that is sent next.
extension OutboxCore {
  /// The wait of an entry that this program cannot send.
  private static let heldAgain: Int64 = 60_000

  /// The largest number of entries that a look holds or buries, so that other writes need not wait for thousands.
  private static let looks = 64

  /// The result of looking for the entry that is sent next.
  struct Claimed: Sendable {
    /// The entry, if one is due.
    var row: OutboxRow?
    /// Whether the look has ended before it found out.
    var isCut = false
    var events: [OutboxEvent] = []
  }

  /// The things that decide which entry is claimed, as they are at one moment.
  struct ClaimTerms: Sendable {
    var claim: Int64
    /// The owners of calls before the claim.
    var members: [ClientOwners.Member]
    /// The number of deliveries before the claim.
    var deliveries: Int
    /// The owners whose entries may be sent; empty if nothing may.
    ///
    /// Asked within the transaction: an attempt that has just failed can have begun a pause, and made its entry due.
    var owners: @Sendable () -> Set<String?>
  }

  /// Returns the terms of a claim.
  ///
  /// - Parameter permitted: Returns the owners, of those who are present, whose entries may be sent.
  /// - Returns: The terms.
  func claimTerms(_ permitted: @escaping @Sendable (Set<String?>) -> Set<String?>) -> ClaimTerms {
    var random = RandomSource()
    let (members, present) = (members, present)
    return ClaimTerms(
      claim: .random(in: .min ... .max, using: &random), members: members, deliveries: deliveryCount
    ) { permitted(present) }
  }

  /// Claims the entry that is sent next.
  ///
  /// - Parameter permitted: Returns the owners, of those who are present, whose entries may be sent.
  /// - Returns: The attempt; nil if no entry is due that may be sent.
  /// - Throws: The error of the file.
  func claimNext(of permitted: @escaping @Sendable (Set<String?>) -> Set<String?>) async throws -> OutboxAttempt? {
    while true {
      let terms = claimTerms(permitted)
      let (claimed, made) = try await store.writeTogether(durability: .normal) { db in
        try self.claimNext(terms, db)
      } thenReading: { claimed, db in
        try self.make(claimed.row, db)
      }
      tell(claimed.events)
      if claimed.row != nil || !claimed.isCut { return attempt(claimed.row, made, terms) }
    }
  }

  /// Returns the request of a claimed entry, for which the claim is in the file: a method that ends the process must
  /// not do so at each launch.
  func make(_ row: OutboxRow?, _ db: Database) throws -> OutboxHandler.Made? {
    guard let row, let handler = handlers[row.operation] else { return nil }
    return try handler.make(row.payload, files, db)
  }

  func attempt(
    _ row: OutboxRow?, _ made: Result<OutboxHandler.Made?, any Error>, _ terms: ClaimTerms?
  ) -> OutboxAttempt? {
    guard let row, let terms else { return nil }
    return OutboxAttempt(
      core: self, row: row, members: terms.members, deliveries: terms.deliveries,
      made: made.flatMap { $0.map { .success($0) } ?? .failure(OutboxNotReady()) })
  }

  func claimNext(_ terms: ClaimTerms, _ db: Database) throws -> Claimed {
    let (table, now) = (table(db), now)
    var claimed = Claimed()
    let owners = terms.owners()
    for _ in 0..<Self.looks {
      let due = try owners.compactMap { try table.next(of: $0, now: now) }
      guard var row = due.min(by: { ($0.notBefore, $0.seq) < ($1.notBefore, $1.seq) }) else { return claimed }
      if let reason = reasonToHold(row) {
        try table.hold(row, until: now + Self.heldAgain, now: now)
        claimed.events.append(OutboxEvent(.held, id: row.id, name: row.operation, message: reason))
      } else if let end = row.expiresAt, end <= now {
        let failure = OutboxFailure(.expired, message: "its time was over at \(Date(storedTime: end))")
        claimed.events.append(try bury(row, failure, db))
      } else {
        try table.claim(row, terms.claim)
        row.claim = terms.claim
        row.sends += 1
        claimed.row = row
        return claimed
      }
    }
    claimed.isCut = true
    return claimed
  }

  /// Makes a dead letter of an entry that is not under way, and takes back what was saved for it.
  func bury(_ row: OutboxRow, _ failure: OutboxFailure, _ db: Database) throws -> OutboxEvent {
    try table(db).bury(row, failure, lanes: settings.lanes, now: now)
    return OutboxEvent(
      .dead, id: row.id, name: row.operation, failure: failure, error: try reject(row, failure, db))
  }

  /// Lets the operation take back what was saved; returns the error with which that failed.
  func reject(_ row: OutboxRow, _ failure: OutboxFailure, _ db: Database) throws -> (any Error)? {
    guard let handler = handlers[row.operation] else { return nil }
    do {
      try db.savepoint { try handler.operation(row.payload, files).rejected(failure, in: db) }
      return nil
    } catch  where !SQLiteError.isEnvironmental(error) {
      return error
    }
  }

  /// Returns whether an entry is being sent, by any outbox on the file.
  func isSending() async throws -> Bool {
    try await store.read { db in
      try db.first("SELECT 1 FROM outbox_entry WHERE queue = \(self.queue) AND state = 1 LIMIT 1", as: Int.self) != nil
    }
  }
}
