import Foundation

/// The steps of sending: claim, settle, and what is done for entries as a whole.
extension OutboxTable {
  // MARK: Claiming

  /// The number of processes that may end with a claim of an entry before the entry is a dead letter.
  static let maximumCrashes = 20

  /// Returns the due entry of an owner that is sent next; nil if no entry is due.
  func next(of scope: String?, now: Int64) throws -> OutboxRow? {
    try db.first(
      """
      SELECT \(sql: OutboxRow.columns) FROM outbox_entry
      WHERE queue = \(queue) AND scope IS \(scope) AND state = 0 AND not_before <= \(now)
      ORDER BY not_before, seq LIMIT 1
      """
    ) { try OutboxRow($0) }
  }

  /// Returns the time at which the next entry of an owner is due; nil if none waits.
  func nextTime(of scope: String?) throws -> Int64? {
    try db.first(
      """
      SELECT not_before FROM outbox_entry WHERE queue = \(queue) AND scope IS \(scope) AND state = 0
      ORDER BY not_before LIMIT 1
      """, as: Int64.self
    ).map(OutboxRow.time)
  }

  /// Returns the time at which the next entry of an owner is due that is of one of these types and origins.
  func nextTime(of scope: String?, operations: [String], origins: [String]) throws -> Int64? {
    try db.first(
      """
      SELECT not_before FROM outbox_entry WHERE queue = \(queue) AND scope IS \(scope) AND state = 0
        AND operation IN \(list: operations) AND origin IN \(list: origins)
      ORDER BY not_before LIMIT 1
      """, as: Int64.self
    ).map(OutboxRow.time)
  }

  /// Marks an entry as being sent; the claim is asked for when the attempt ends.
  func claim(_ row: OutboxRow, _ claim: Int64) throws {
    try db.execute(
      "UPDATE outbox_entry SET state = 1, claim = \(claim), sends = sends + 1 WHERE seq = \(row.seq) AND state = 0")
  }

  /// Lets an entry wait that cannot be sent by this program, so that it is not found again at each look.
  func hold(_ row: OutboxRow, until time: Int64, now: Int64) throws {
    try db.execute(
      "UPDATE outbox_entry SET not_before = \(time), set_at = \(now) WHERE seq = \(row.seq) AND state = 0")
  }

  /// Makes the entries due that wait because their user was not signed in.
  func wakeWithoutUser(of scope: String?, now: Int64) throws {
    // Quotes within the message are escaped, so that the text is found nowhere else.
    let mark = #""reason":"\#(OutboxFailure.Reason.signedOut)""#
    try db.execute(
      """
      UPDATE outbox_entry SET not_before = \(now), set_at = \(now)
      WHERE queue = \(queue) AND scope IS \(scope) AND state = 0 AND not_before > \(now) AND instr(failure, \(mark)) > 0
      """)
  }

  // MARK: Settling

  /// Returns whether the entry is still claimed by this attempt.
  private func owns(_ row: OutboxRow) throws -> Bool {
    try db.first(
      "SELECT 1 FROM outbox_entry WHERE seq = \(row.seq) AND state = 1 AND claim = \(row.claim)", as: Int.self) != nil
  }

  /// Keeps a delivered entry without its value, and lets its lane go on; false if the claim was lost.
  func deliver(_ row: OutboxRow, now: Int64, remembered: Int64) throws -> Bool {
    let changed = try db.execute(
      """
      UPDATE outbox_entry SET state = 5, claim = NULL, payload = x'', files = NULL, failure = NULL, ended_at = \(now)
      WHERE seq = \(row.seq) AND state = 1 AND claim = \(row.claim)
      """)
    guard changed == 1 else { return false }
    try promote(row.lane, row.scope, now: now)
    // Two for each one that is added, so that there is never much to do at once.
    try db.execute(
      """
      DELETE FROM outbox_entry WHERE seq IN (
        SELECT seq FROM outbox_entry WHERE queue = \(queue) AND state = 5 AND ended_at < \(now - remembered) LIMIT 2)
      """)
    return true
  }

  /// Makes a claimed entry ready for another attempt; false if the claim was lost.
  func release(_ row: OutboxRow, _ again: OutboxNextStep.Again, now: Int64) throws -> Bool {
    let failure = again.failure.flatMap { OutboxRow.text($0) }
    // An earlier entry of its lane may have been put back meanwhile, and then goes before it.
    let state = row.lane == nil ? StoredState.ready : StoredState.blocked
    let changed = try db.execute(
      """
      UPDATE outbox_entry SET state = \(state), claim = NULL, not_before = \(again.time), set_at = \(now),
        failures = \(again.failures), refused_since = \(again.refusedSince), failure = \(failure),
        sends = sends - \(again.wasSent ? 0 : 1) WHERE seq = \(row.seq) AND state = 1 AND claim = \(row.claim)
      """)
    guard changed == 1 else { return false }
    try promote(row.lane, row.scope, now: now)
    return true
  }

  /// Makes a dead letter of a claimed entry; false if the claim was lost.
  func kill(_ row: OutboxRow, _ failure: OutboxFailure, lanes: OutboxConfiguration.LaneFailure, now: Int64) throws
    -> Bool
  {
    guard try owns(row) else { return false }
    try bury(row, failure, lanes: lanes, now: now)
    return true
  }

  /// Makes a dead letter of an entry, whatever its state.
  func bury(_ row: OutboxRow, _ failure: OutboxFailure, lanes: OutboxConfiguration.LaneFailure, now: Int64) throws {
    let stops = lanes == .stops && row.lane.map(OutboxDelivery.stops) ?? false && failure.reason != .signedOut
    try db.execute(
      """
      UPDATE outbox_entry SET state = \(stops ? StoredState.stopping : StoredState.dead), claim = NULL,
        ended_at = \(now), failure = \(OutboxRow.text(failure)) WHERE seq = \(row.seq)
      """)
    if !stops { try promote(row.lane, row.scope, now: now) }
  }

  // MARK: All entries

  /// Keeps the waits of entries after the clock was set back.
  func followClock(now: Int64) throws {
    try db.execute(
      """
      UPDATE outbox_entry SET not_before = not_before - (set_at - \(now)), set_at = \(now)
      WHERE queue = \(queue) AND state = 0 AND set_at > \(now)
      """)
    try followClockOfDelivered(now: now)
  }

  /// Keeps the limits of entries after the clock was set forward by a number of milliseconds.
  ///
  /// That time has not passed, so it ends neither the patience with a server, nor the memory of a delivery, nor the 30
  /// days of an account that is away.
  func followClock(setForwardBy jump: Int64, now: Int64) throws {
    try db.execute(
      """
      UPDATE outbox_entry SET refused_since = min(refused_since + \(jump), \(now))
      WHERE queue = \(queue) AND state IN (0,1,2) AND refused_since < \(now)
      """)
    try db.execute(
      """
      UPDATE outbox_entry SET ended_at = min(ended_at + \(jump), \(now))
      WHERE queue = \(queue) AND state = 5 AND ended_at < \(now)
      """)
    try db.execute(
      "UPDATE outbox_absence SET since = min(since + \(jump), \(now)) WHERE queue = \(queue) AND since < \(now)")
  }

  /// Dates deliveries of the future now, after the clock was set back: they would be remembered for too long.
  func followClockOfDelivered(now: Int64) throws {
    try db.execute(
      "UPDATE outbox_entry SET ended_at = \(now) WHERE queue = \(queue) AND state = 5 AND ended_at > \(now)")
  }

  // MARK: Owners

  /// Returns the owners of entries that are not delivered, those of dead letters too.
  func owners() throws -> [OutboxOwner] {
    try db.query(
      "SELECT DISTINCT scope, sessions FROM outbox_entry WHERE queue = \(queue) AND scope IS NOT NULL AND state <> 5"
    ) { OutboxOwner(scope: try $0[0], sessions: try $0[1]) }
  }

  /// Returns the number of the last entry; 0 if there are no entries.
  func last() throws -> Int64 {
    try db.first("SELECT coalesce(max(seq), 0) FROM outbox_entry", as: Int64.self) ?? 0
  }

  /// Removes the entries of an owner, dead letters too.
  ///
  /// - Parameters:
  ///   - owner: The owner.
  ///   - last: The number of the last entry that is removed.
  /// - Returns: The IDs of the entries, and the attachments that no entry has any more.
  /// - Throws: The error of the file.
  func removeAll(of owner: OutboxOwner, upTo last: Int64) throws -> (ids: [UUID], unused: [String]) {
    let condition: SQL = "queue = \(queue) AND scope = \(owner.scope) AND state <> 5 AND seq <= \(last)"
    let removed = try db.query("SELECT id, files FROM outbox_entry WHERE \(sql: condition)") { row in
      (id: UUID(uuidString: try row[0]), files: OutboxRow.list(try row[1]))
    }
    try db.execute("DELETE FROM outbox_entry WHERE \(sql: condition)")
    return (removed.compactMap(\.id), try unused(removed.flatMap(\.files)))
  }

  // MARK: Accounts

  /// Notes since when the accounts of waiting entries are away; returns those that have been for too long.
  func absentScopes(present: Set<String?>, now: Int64, limit: Int64) throws -> [String] {
    let waiting = try waitingScopes()
    let known = try db.query(
      "SELECT scope, since FROM outbox_absence WHERE queue = \(queue)"
    ) { (scope: try $0[0] as String, since: try $0[1] as Int64) }
    let absent = waiting.filter { !present.contains($0) }
    for (scope, since) in known where !absent.contains(scope) || since > now {
      try db.execute("DELETE FROM outbox_absence WHERE queue = \(queue) AND scope = \(scope)")
    }
    for scope in absent where !known.contains(where: { $0.scope == scope && $0.since <= now }) {
      try db.execute("INSERT INTO outbox_absence VALUES (\(queue), \(scope), \(now))")
    }
    return absent.filter { scope in known.contains { $0.scope == scope && $0.since <= now - limit } }
  }

  /// Returns the owners of waiting entries, each by one seek of an index, however many entries there are.
  func waitingScopes() throws -> [String] {
    var scopes: Set<String> = []
    for condition: SQL in ["state = 0", "lane IS NOT NULL AND state IN (0,1,2,4)"] {
      var last = ""
      while let next = try db.first(
        """
        SELECT scope FROM outbox_entry WHERE queue = \(queue) AND \(sql: condition) AND scope > \(last)
        ORDER BY scope LIMIT 1
        """, as: String.self)
      {
        scopes.insert(next)
        last = next
      }
    }
    return scopes.sorted()
  }
}
