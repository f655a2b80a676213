internal import CRequestBehaviorsSQLite

/// Records the tables that SQLite reports while it prepares a statement, and refuses transaction control.
struct Authorization {
  /// Whether the store runs its own statements, which alone may begin and end transactions.
  var isStore = false
  /// Whether the statement that is being prepared begins or ends a transaction or savepoint.
  private(set) var isControl = false
  private var isPreparing = false
  private var reads: Set<String> = []
  private var writes: Set<String> = []
  private var refusedWord: String?

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
  mutating func allows(_ action: Int32, _ name: UnsafePointer<CChar>) -> Bool {
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
      if !isStore { refusedWord = String(cString: name) }
      return isStore
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

  /// Returns the word that was refused, such as COMMIT, and forgets it.
  mutating func takeRefusedWord() -> String? {
    defer { refusedWord = nil }
    return refusedWord
  }
}
