internal import CRequestBehaviorsSQLite

/// Records the tables that SQLite reports while it prepares a statement.
///
/// It refuses transaction control, and pragmas by which later writes would fail or be kept less safely.
struct Authorization {
  /// Whether the store runs its own statements, which alone may begin and end transactions.
  var isStore = false
  /// Whether the statement that is being prepared begins or ends a transaction or savepoint.
  private(set) var isControl = false
  private var isPreparing = false
  private var reads: Set<String> = []
  private var writes: Set<String> = []
  private var refusal: String?

  /// Pragmas by which later writes would fail or be kept less safely: they stay set when the closure has ended.
  private static let storesPragmas: Set<String> = [
    "busy_timeout", "cell_size_check", "foreign_keys", "journal_mode", "journal_size_limit", "locking_mode",
    "query_only", "synchronous", "trusted_schema",
  ]

  /// Begins preparing a statement.
  mutating func begin() {
    reads = []
    writes = []
    isControl = false
    isPreparing = true
  }

  /// Ends preparing.
  ///
  /// Statements that SQLite itself runs after that, as full-text search does, are not refused.
  mutating func end() { isPreparing = false }

  /// Records the reads, writes and controls of a statement; returns `false` if the statement is refused.
  ///
  /// - Parameters:
  ///   - action: What the statement does, by SQLite's codes.
  ///   - name: The table, the word of control or the pragma.
  ///   - isSetting: Whether a pragma has a value.
  /// - Returns: Whether the statement may be prepared.
  mutating func allows(_ action: Int32, _ name: UnsafePointer<CChar>, isSetting: Bool) -> Bool {
    switch action {
    case SQLITE_READ:
      reads.insert(String(cString: name).lowercased())
      return true
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      writes.insert(String(cString: name).lowercased())
      return true
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
      guard isPreparing else { return true }
      isControl = isStore
      if !isStore { refusal = Authorization.rule(ofControl: String(cString: name)) }
      return isStore
    case SQLITE_PRAGMA:
      guard isPreparing, isSetting, !isStore else { return true }
      let name = String(cString: name).lowercased()
      guard Authorization.storesPragmas.contains(name) else { return true }
      refusal = "PRAGMA \(name) is the store's: the setting would last longer than the closure"
      return false
    default: return true
    }
  }

  /// Returns the tables, in lower case, that were recorded as read since the last call, and forgets them.
  mutating func takeReads() -> Set<String> {
    defer { reads = [] }
    return reads
  }

  /// Returns the tables, in lower case, that were recorded as written to since the last call, and forgets them.
  mutating func takeWrites() -> Set<String> {
    defer { writes = [] }
    return writes
  }

  /// Returns the message for the statement that was refused, and forgets it.
  mutating func takeRefusal() -> String? {
    defer { refusal = nil }
    return refusal
  }

  /// Returns the message for a statement that begins or ends a transaction.
  static func rule(ofControl word: String) -> String {
    "\(word) is the store's: it opens and ends transactions; use savepoint { }"
  }
}
