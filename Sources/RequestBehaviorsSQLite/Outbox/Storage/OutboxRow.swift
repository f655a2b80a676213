import Foundation
import RequestBehaviors

/// The states of an entry in the file.
///
/// SQL names them by their numbers: a partial index serves only a condition with the constants of its own.
enum StoredState {
  static let ready = 0
  static let sending = 1
  static let blocked = 2
  static let dead = 3
  static let stopping = 4
  static let delivered = 5
}

/// An entry as it is in the file.
struct OutboxRow: Sendable {
  var seq: Int64
  var id: UUID
  var key: String
  var operation: String
  var payload: Data
  var files: [String]
  var scope: String?
  var origin: String
  var lane: String?
  var identity: String?
  var state: Int
  var claim: Int64?
  var notBefore: Int64
  var expiresAt: Int64?
  var createdAt: Int64
  var sends: Int
  var failures: Int
  var crashes: Int
  var refusedSince: Int64?
  var failure: OutboxFailure?

  static let columns: SQL = """
    seq, id, key, operation, payload, files, scope, origin, lane, identity, state, claim, not_before, expires_at, \
    created_at, sends, failures, crashes, refused_since, failure
    """

  /// Reads an entry.
  ///
  /// - Throws: ``SQLiteError`` that names the entry and the column, if the file is damaged.
  init(_ row: SQLiteRow) throws {
    do {
      try self.init(reading: row)
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      let number = (try? row[0] as Int64).map { "\($0)" } ?? "without a number"
      throw SQLiteError(.mismatch, "the outbox cannot read its entry \(number): \(context.debugDescription)")
    }
  }

  private init(reading row: SQLiteRow) throws {
    seq = try row[0]
    let text: String = try row[1]
    guard let id = UUID(uuidString: text) else {
      throw SQLiteError(.mismatch, "the outbox has an entry whose id \"\(text)\" is not a UUID")
    }
    self.id = id
    key = try row[2]
    operation = try row[3]
    payload = try row[4]
    files = OutboxRow.list(try row[5])
    scope = try row[6]
    origin = try row[7]
    lane = try row[8]
    identity = try row[9]
    state = try row[10]
    claim = try row[11]
    notBefore = Self.time(try row[12])
    expiresAt = (try row[13] as Int64?).map(Self.time)
    createdAt = Self.time(try row[14])
    sends = Self.count(try row[15])
    failures = Self.count(try row[16])
    crashes = Self.count(try row[17])
    refusedSince = (try row[18] as Int64?).map(Self.time)
    failure = OutboxRow.failure(try row[19])
  }

  /// Limits a time, because a damaged file may hold any number.
  ///
  /// A wait that begins at the last date ends after it. If it were cut off there, the entry would look due to a drain,
  /// while the statement that claims entries does not find it.
  static func time(_ stored: Int64) -> Int64 { min(max(stored, -2 * Date.storedLimit), 2 * Date.storedLimit) }

  private static func count(_ stored: Int) -> Int { min(max(stored, 0), 1_000_000) }

  /// Creates the row of a new entry; its number is known when it has been inserted.
  init(_ new: OutboxTable.NewEntry, lane: String?, state: Int, now: Int64) {
    seq = 0
    id = new.id
    key = new.delivery.key.givenValue ?? OutboxRow.key(of: new.id)
    (operation, payload, files) = (new.operation, new.payload, new.files)
    (scope, origin, self.lane, identity) = (new.scope, new.origin, lane, new.delivery.identity)
    self.state = state
    expiresAt = new.delivery.expires?.storedTime
    // An entry that expires before it may be sent is looked at when it does.
    notBefore = max(min(new.delivery.notBefore?.storedTime ?? now, expiresAt ?? .max), now)
    createdAt = now
    (sends, failures, crashes) = (0, 0, 0)
  }

  /// Gives an entry that was never sent the value and the conditions of a new one; it keeps its ID and its lane.
  mutating func become(_ new: OutboxTable.NewEntry, now: Int64) {
    let other = OutboxRow(new, lane: lane, state: state, now: now)
    (operation, payload, files, origin) = (new.operation, new.payload, new.files, new.origin)
    // A key that the first value was given is for that alone.
    key = new.delivery.key.givenValue ?? (key == OutboxRow.key(of: id) ? key : other.key)
    // One that need not wait keeps its place among the others.
    notBefore = other.notBefore > now ? other.notBefore : min(notBefore, now)
    expiresAt = other.expiresAt
  }

  /// Returns the key of an entry that was given none.
  private static func key(of id: UUID) -> String { id.uuidString.lowercased() }

  /// Whether the entry is still to be delivered.
  var isLive: Bool { state <= StoredState.blocked }

  var isDead: Bool { state == StoredState.dead || state == StoredState.stopping }

  /// The failure of a dead letter.
  var reason: OutboxFailure {
    failure ?? OutboxFailure(.unreadable, message: "the reason was not kept")
  }

  static func list(_ text: String?) -> [String] {
    text.flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) } ?? []
  }

  static func text(_ value: some Encodable) -> String? {
    (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func failure(_ text: String?) -> OutboxFailure? {
    text.flatMap { try? JSONDecoder().decode(OutboxFailure.self, from: Data($0.utf8)) }
  }
}
