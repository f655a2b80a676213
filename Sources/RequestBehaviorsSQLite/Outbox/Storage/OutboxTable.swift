import Foundation
import RequestBehaviors

/// The entries of one queue, within a transaction.
struct OutboxTable {
  let db: Database
  let queue: String

  /// An entry to be added.
  struct NewEntry: Sendable {
    var id: UUID
    var operation: String
    var payload: Data
    var files: [String]
    var scope: String?
    /// The sessions of the scope, as ``OutboxOwner`` has them.
    var sessions: String?
    var origin: String
    var delivery: OutboxDelivery
  }

  // MARK: Finding

  func row(_ id: UUID) throws -> OutboxRow? {
    try db.first(
      "SELECT \(sql: OutboxRow.columns) FROM outbox_entry WHERE id = \(id.uuidString) AND queue = \(queue)"
    ) { try OutboxRow($0) }
  }

  /// Returns whether an entry of any queue is still to be delivered.
  static func isLive(_ id: UUID, _ db: Database) throws -> Bool {
    let state = try db.first("SELECT state FROM outbox_entry WHERE id = \(id.uuidString)", as: Int.self)
    return state.map { $0 <= StoredState.blocked } ?? false
  }

  func rows(where condition: SQL, limit: Int? = nil) throws -> [OutboxRow] {
    try db.query(
      """
      SELECT \(sql: OutboxRow.columns) FROM outbox_entry WHERE queue = \(queue) AND \(sql: condition)
      ORDER BY seq LIMIT \(limit ?? -1)
      """
    ) { try OutboxRow($0) }
  }

  // MARK: Adding

  /// An entry as it is in the file, and the attachments that no entry has any more.
  typealias Added = (row: OutboxRow, dropped: [String])

  /// Adds an entry, or replaces or keeps the one of its identity.
  func add(_ new: NewEntry, now: Int64, remembered: Int64) throws -> Added {
    if new.delivery.identity != nil, let merged = try merge(new, now: now, remembered: remembered) { return merged }
    let lane = new.delivery.storedLane
    let isBlocked = try lane.map { try hasEntries(inLane: $0, of: new.scope) } ?? false
    var row = OutboxRow(new, lane: lane, state: isBlocked ? StoredState.blocked : StoredState.ready, now: now)
    try db.execute(
      """
      INSERT INTO outbox_entry(id, queue, key, operation, payload, files, scope, sessions, origin, lane, identity,
        state, not_before, set_at, expires_at, created_at)
      VALUES (\(row.id.uuidString), \(queue), \(row.key), \(row.operation), \(row.payload), \(text(row.files)),
        \(row.scope), \(new.sessions), \(row.origin), \(row.lane), \(row.identity), \(row.state), \(row.notBefore),
        \(now), \(row.expiresAt), \(row.createdAt))
      """)
    row.seq = db.lastInsertedRowID
    return (row, [])
  }

  /// Returns the entry that the new one is merged with; nil if it is to be added.
  private func merge(_ new: NewEntry, now: Int64, remembered: Int64) throws -> Added? {
    let identity = new.delivery.identity
    let same: SQL = "ifnull(scope,'') = \(new.scope ?? "") AND identity = \(identity)"
    if var first = try rows(where: "\(sql: same) AND identity IS NOT NULL AND state IN (0,1,2)").first {
      if new.delivery.repeats == .kept { return (first, []) }
      if first.sends == 0, first.state != StoredState.sending {
        let files = first.files.filter { !new.files.contains($0) }
        first.become(new, now: now)
        try db.execute(
          """
          UPDATE outbox_entry SET operation = \(first.operation), payload = \(first.payload),
            files = \(text(first.files)), key = \(first.key), origin = \(first.origin),
            not_before = \(first.notBefore), set_at = \(now), expires_at = \(first.expiresAt)
          WHERE seq = \(first.seq)
          """)
        return (first, try unused(files, besides: first))
      }
      // The server may have this one, so that the new one is sent behind it.
      try db.execute("UPDATE outbox_entry SET identity = NULL WHERE seq = \(first.seq)")
      return nil
    }
    guard new.delivery.repeats == .kept else { return nil }
    try followClockOfDelivered(now: now)
    let delivered = try rows(
      where: "\(sql: same) AND identity IS NOT NULL AND state = 5 AND ended_at > \(now - remembered)")
    return delivered.last.map { ($0, []) }
  }

  /// Returns those attachments that no entry of any queue has, and that can be removed; the row does not count, because
  /// it ends or has others from now on.
  func unused(_ files: [String], besides row: OutboxRow? = nil) throws -> [String] {
    try files.filter { name in
      // As it is written in the list: JSON escapes some characters, which the extension of a name may have.
      let written = OutboxRow.text(name) ?? name
      return try db.first(
        """
        SELECT 1 FROM outbox_entry
        WHERE files IS NOT NULL AND seq <> \(row?.seq ?? 0) AND instr(files, \(written)) > 0 LIMIT 1
        """, as: Int.self) == nil
    }
  }

  private func hasEntries(inLane lane: String, of scope: String?) throws -> Bool {
    try db.first(
      """
      SELECT 1 FROM outbox_entry
      WHERE queue = \(queue) AND scope IS \(scope) AND lane = \(lane) AND state IN (0,1,2,4) LIMIT 1
      """, as: Int.self) != nil
  }

  private func text(_ files: [String]) -> String? { files.isEmpty ? nil : OutboxRow.text(files) }

  // MARK: Changing by hand

  /// Makes a dead letter ready again, or blocks it if an entry of its lane goes before it.
  func requeue(_ row: OutboxRow, now: Int64) throws {
    let state = try goesFirst(row) ? StoredState.ready : StoredState.blocked
    if state == StoredState.ready, let lane = row.lane {
      try db.execute(
        """
        UPDATE outbox_entry SET state = 2
        WHERE queue = \(queue) AND scope IS \(row.scope) AND lane = \(lane) AND lane IS NOT NULL
          AND state IN (0,1,2,4) AND seq > \(row.seq) AND state = 0
        """)
    }
    let isTaken =
      try rows(
        where: """
          ifnull(scope,'') = \(row.scope ?? "") AND identity = \(row.identity) AND identity IS NOT NULL \
          AND state IN (0,1,2)
          """
      ).isEmpty == false
    try db.execute(
      """
      UPDATE outbox_entry SET state = \(state), claim = NULL, not_before = \(now), set_at = \(now), ended_at = NULL,
        expires_at = NULL, failures = 0, crashes = 0, refused_since = NULL, failure = NULL,
        identity = \(isTaken ? nil : row.identity) WHERE seq = \(row.seq)
      """)
  }

  /// Returns whether an entry is the first of its lane, and no later one is being sent.
  private func goesFirst(_ row: OutboxRow) throws -> Bool {
    guard let lane = row.lane else { return true }
    let isPreceded = try db.first(
      """
      SELECT 1 FROM outbox_entry
      WHERE queue = \(queue) AND scope IS \(row.scope) AND lane = \(lane) AND lane IS NOT NULL
        AND state IN (0,1,2,4) AND seq < \(row.seq) LIMIT 1
      """, as: Int.self)
    let isOvertaken = try db.first(
      """
      SELECT 1 FROM outbox_entry
      WHERE queue = \(queue) AND state = 1 AND scope IS \(row.scope) AND lane = \(lane) LIMIT 1
      """, as: Int.self)
    return isPreceded == nil && isOvertaken == nil
  }

  /// Gives an entry another value; a dead letter gets another key, because the server may know the old one.
  func replace(_ row: OutboxRow, payload: Data, files: [String], key: String) throws {
    try db.execute(
      """
      UPDATE outbox_entry SET payload = \(payload), files = \(text(files)), key = \(key),
        sends = CASE WHEN state IN (3,4) THEN 0 ELSE sends END WHERE seq = \(row.seq)
      """)
  }

  /// Removes an entry and lets its lane go on.
  func remove(_ row: OutboxRow, now: Int64) throws {
    try db.execute("DELETE FROM outbox_entry WHERE seq = \(row.seq)")
    try promote(row.lane, row.scope, now: now)
  }

  /// Makes the first entry of a lane ready, if it was blocked.
  ///
  /// The clock may have been set back since it was enqueued: then its wait, and not its time, is kept.
  func promote(_ lane: String?, _ scope: String?, now: Int64) throws {
    guard let lane else { return }
    try db.execute(
      """
      UPDATE outbox_entry SET state = 0, not_before = not_before - max(set_at - \(now), 0), set_at = min(set_at, \(now))
      WHERE state = 2 AND seq = (
        SELECT seq FROM outbox_entry WHERE queue = \(queue) AND scope IS \(scope) AND lane = \(lane)
          AND lane IS NOT NULL AND state IN (0,1,2,4) ORDER BY seq LIMIT 1)
      """)
  }
}
