import Foundation
import RequestBehaviors

/// Claims and settles entries.
extension OutboxCore {
  /// The wait of an entry that this program cannot send.
  private static let heldAgain: Int64 = 60_000

  /// The days after which an account that is away is taken to be gone.
  private static let longestAbsence: Int64 = 30 * 86_400_000

  private struct Claimed: Sendable {
    var row: OutboxRow?
    var events: [OutboxEvent] = []
  }

  /// Claims the entry that is sent next; nil if no entry is due.
  func claimNext() async throws -> OutboxRow? {
    let (present, now) = (present, now)
    var random = RandomSource()
    let claim = Int64.random(in: .min ... .max, using: &random)
    let claimed = try await store.writeTogether(durability: .normal) { db in
      try self.claimNext(of: present, claim, now, db)
    }
    tell(claimed.events)
    return claimed.row
  }

  private func claimNext(of present: Set<String?>, _ claim: Int64, _ now: Int64, _ db: Database) throws -> Claimed {
    let table = table(db)
    var claimed = Claimed()
    while true {
      let due = try present.compactMap { try table.next(of: $0, now: now) }
      guard var row = due.min(by: { ($0.notBefore, $0.seq) < ($1.notBefore, $1.seq) }) else { return claimed }
      if let reason = reasonToHold(row) {
        try table.hold(row, until: now + Self.heldAgain, now: now)
        claimed.events.append(OutboxEvent(.held, id: row.id, name: row.operation, message: reason))
      } else if let end = row.expiresAt, end <= now {
        let failure = OutboxFailure(.expired, message: "its time was over at \(Date(outboxTime: end))")
        claimed.events.append(try bury(row, failure, db))
      } else {
        try table.claim(row, claim)
        row.claim = claim
        row.sends += 1
        claimed.row = row
        return claimed
      }
    }
  }

  /// Makes a dead letter of an entry that is not under way, and takes back what was saved for it.
  private func bury(_ row: OutboxRow, _ failure: OutboxFailure, _ db: Database) throws -> OutboxEvent {
    try table(db).bury(row, failure, lanes: settings.lanes, now: now)
    return OutboxEvent(
      .dead, id: row.id, name: row.operation, failure: failure, error: try reject(row, failure, db))
  }

  /// Lets the operation take back what was saved; returns the error with which that failed.
  private func reject(_ row: OutboxRow, _ failure: OutboxFailure, _ db: Database) throws -> (any Error)? {
    guard let handler = handlers[row.operation] else { return nil }
    do {
      try db.savepoint { try handler.rejected(row.payload, files, failure, db) }
      return nil
    } catch  where !OutboxRules.isEnvironmental(error) {
      return error
    }
  }

  /// Returns whether an entry is being sent, by any outbox on the file.
  func isSending() async throws -> Bool {
    try await store.read { db in
      try db.first("SELECT 1 FROM outbox_entry WHERE queue = \(self.queue) AND state = 1 LIMIT 1", as: Int.self) != nil
    }
  }

  // MARK: The end of an attempt

  /// Records what an attempt has shown; returns its outcome, which differs if the response could not be saved.
  func settle(_ row: OutboxRow, _ handler: OutboxHandler, _ ending: OutboxAttempt.Ending) async throws
    -> OutboxOutcome
  {
    guard ending.outcome == .delivered, let response = ending.response else {
      try await settle(row, ending.outcome)
      return ending.outcome
    }
    // Decoded outside the transaction, and after it is certain that the server has the request.
    let value = Result { try handler.value(response) }
    do {
      try await deliver(row, handler, value)
      return .delivered
    } catch let unsaved as Unsaved {
      let outcome = OutboxOutcome.notSaved(Redactor.standard.redact(text: "\(unsaved.error)"))
      try await settle(row, outcome)
      return outcome
    }
  }

  /// The error of the operation's own method.
  private struct Unsaved: Error {
    var error: any Error
  }

  private func deliver(
    _ row: OutboxRow, _ handler: OutboxHandler, _ value: Result<any Sendable, any Error>
  ) async throws {
    let (now, remembered) = (now, settings.remembersDelivered.outboxTime)
    let isOurs = try await store.writeTogether(durability: .full) { db in
      guard try self.table(db).deliver(row, now: now, remembered: remembered) else { return false }
      if case .success(let value) = value {
        do {
          try handler.delivered(row.payload, self.files, value, db)
        } catch  where !OutboxRules.isEnvironmental(error) {
          throw Unsaved(error: error)
        }
      }
      let unused = try self.table(db).unused(row.files, besides: row)
      try db.afterCommit { self.files?.remove(unused) }
      return true
    }
    guard isOurs else { return }
    note(value, of: row.id)
    var failure: (any Error)?
    if case .failure(let error) = value { failure = error }
    tell(OutboxEvent(.delivered, id: row.id, name: row.operation, error: failure))
    try? await wakeNotReady()
  }

  private func settle(_ row: OutboxRow, _ outcome: OutboxOutcome) async throws {
    if outcome == .notReady { noteNotReady(row.seq) }
    let now = now
    let verdict = OutboxVerdict(outcome, row, settings, now: now, random: RandomSource.fraction())
    switch verdict {
    case .delivered: break
    case .again(let again), .pause(let again):
      let isOurs = try await store.writeTogether(durability: .full) { db in
        try self.table(db).release(row, again, now: now)
      }
      guard isOurs, outcome != .ended, case .again = verdict else { return }
      tell(
        OutboxEvent(
          .retrying, id: row.id, name: row.operation, failure: again.failure, date: Date(outboxTime: again.time)))
    case .dead(let failure):
      let event = try await store.writeTogether(durability: .full) { db -> OutboxEvent? in
        guard try self.table(db).kill(row, failure, lanes: self.settings.lanes, now: now) else { return nil }
        let error = try self.reject(row, failure, db)
        return OutboxEvent(.dead, id: row.id, name: row.operation, failure: failure, error: error)
      }
      if let event { tell(event) }
    }
  }

  /// Makes entries due that waited for a delivery.
  private func wakeNotReady() async throws {
    let waiting = takeNotReady()
    guard !waiting.isEmpty else { return }
    let now = now
    try await store.writeTogether(durability: .normal) { db in
      for seq in waiting {
        try db.execute(
          "UPDATE outbox_entry SET not_before = \(now), set_at = \(now) WHERE seq = \(seq) AND state = 0")
      }
    }
  }

  // MARK: All entries

  /// Prepares the entries for sending, once the lock of the file is held.
  func recover() async throws {
    let events = try await store.write(durability: .normal) { db in
      let crashed = try self.table(db).recover()
      let text = "the process ended \(OutboxTable.maximumCrashes) times while it sent the entry"
      let failure = OutboxFailure(.crashed, message: text)
      return try crashed.map { try self.bury($0, failure, db) }
    }
    tell(events)
  }

  /// Keeps the waits of entries after the clock was set back.
  func followClock() async throws {
    let now = now
    try await store.write(durability: .normal) { try self.table($0).followClock(now: now) }
  }

  /// Makes dead letters of the entries of accounts that have been away for too long.
  func buryAbsent() async throws {
    let (present, now) = (present, now)
    let gone = try await store.write(durability: .normal) { db in
      try self.table(db).absentScopes(present: present, now: now, limit: Self.longestAbsence)
    }
    for scope in gone { try await bury(scope) }
  }

  /// Makes dead letters of the waiting entries of an owner.
  private func bury(_ scope: String) async throws {
    let failure = OutboxFailure(.signedOut, message: "its user has signed out and does not come back")
    var isDone = false
    // In parts, so that other writes need not wait for all of them.
    while !isDone {
      let events = try await store.write(durability: .full) { db in
        try self.table(db).rows(where: "scope = \(scope) AND state IN (0,2)").prefix(100)
          .map { try self.bury($0, failure, db) }
      }
      tell(events)
      isDone = events.count < 100
    }
  }

  /// Treats the entries of an owner who has left.
  func ownerEnded(_ ended: String) async {
    _ = try? await refreshOwners()
    let scopes = try? await store.read { db in
      try db.query(
        "SELECT DISTINCT scope FROM outbox_entry WHERE queue = \(self.queue) AND scope IS NOT NULL AND state <> 5",
        as: String.self)
    }
    for scope in scopes ?? [] where OutboxScopes.contains(ended, in: scope) {
      do {
        if settings.atSignOut == .discard {
          try await discard(scope)
        } else if !mayReturn(ended) {
          try await bury(scope)
        }
      } catch {
        tell(OutboxEvent(.failed, message: "the entries of a user who has left could not be changed", error: error))
      }
    }
    signal.raise()
  }

  private func discard(_ scope: String) async throws {
    try await store.write(durability: .full) { db in
      let rows = try self.table(db).rows(where: "scope = \(scope) AND state <> 5")
      try db.execute("DELETE FROM outbox_entry WHERE queue = \(self.queue) AND scope = \(scope) AND state <> 5")
      let unused = try self.table(db).unused(rows.flatMap(\.files))
      try db.afterCommit { self.files?.remove(unused) }
    }
  }
}
