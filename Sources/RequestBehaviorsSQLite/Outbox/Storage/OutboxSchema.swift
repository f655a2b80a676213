/// The tables of outboxes in a user's file, with a version of their own: `user_version` belongs to the user.
enum OutboxSchema {
  /// The name of the table of entries, for those who wait for its changes.
  static let entries = "outbox_entry"

  private static let version = 2

  /// Brings the tables up to date; call it in a write.
  static func migrate(_ db: Database) throws {
    try db.execute("CREATE TABLE IF NOT EXISTS outbox_meta(version INTEGER NOT NULL)")
    let found = try db.first("SELECT version FROM outbox_meta", as: Int.self) ?? 0
    guard found <= version else {
      throw OutboxError(
        .newerFile,
        "the tables of the outbox have version \(found), and this version of the library knows \(version); update the "
          + "program")
    }
    guard found < version else { return }
    if found == 0 {
      try db.execute(script: tables)
    } else {
      try db.execute("ALTER TABLE outbox_entry ADD COLUMN sessions TEXT")
    }
    try db.execute("DELETE FROM outbox_meta")
    try db.execute("INSERT INTO outbox_meta VALUES (\(version))")
  }

  // States: 0 ready, 1 sending, 2 blocked by an earlier entry of its lane, 3 dead, 4 dead and stopping its lane,
  // 5 delivered. Times are milliseconds since 1970. A wait is not_before - set_at, whatever becomes of the clock. The
  // sessions are those of the scope (`OutboxOwner`); version 1 did not have them.
  private static let tables = """
    CREATE TABLE outbox_entry(
      seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, key TEXT NOT NULL,
      operation TEXT NOT NULL, payload BLOB NOT NULL, files TEXT, scope TEXT, sessions TEXT, origin TEXT NOT NULL,
      lane TEXT, identity TEXT, state INTEGER NOT NULL, claim INTEGER, not_before INTEGER NOT NULL,
      set_at INTEGER NOT NULL, expires_at INTEGER, created_at INTEGER NOT NULL, ended_at INTEGER,
      sends INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
      refused_since INTEGER, failure TEXT,
      CHECK (state IN (0,1,2,3,4,5)), CHECK ((state=1) = (claim IS NOT NULL)), CHECK (state<>4 OR lane IS NOT NULL));
    CREATE INDEX outbox_ready ON outbox_entry(queue, scope, not_before, seq) WHERE state=0;
    CREATE INDEX outbox_lane ON outbox_entry(queue, scope, lane, seq) WHERE lane IS NOT NULL AND state IN (0,1,2,4);
    CREATE UNIQUE INDEX outbox_identity ON outbox_entry(queue, ifnull(scope,''), identity)
      WHERE identity IS NOT NULL AND state IN (0,1,2);
    CREATE INDEX outbox_delivered ON outbox_entry(queue, ifnull(scope,''), identity)
      WHERE identity IS NOT NULL AND state=5;
    CREATE INDEX outbox_claimed ON outbox_entry(queue) WHERE state=1;
    CREATE INDEX outbox_files ON outbox_entry(files) WHERE files IS NOT NULL;
    CREATE INDEX outbox_ended ON outbox_entry(queue, ended_at) WHERE state=5;
    CREATE TABLE outbox_absence(
      queue TEXT NOT NULL, scope TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (queue, scope)) WITHOUT ROWID;
    """
}
