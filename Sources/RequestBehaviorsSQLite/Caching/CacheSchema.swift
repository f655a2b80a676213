import Foundation
import RequestBehaviors

/// The tables of a cache.
enum CacheSchema {
  /// The number that marks a database as a cache (`PRAGMA application_id`).
  static let applicationID = 0x5242_4331

  static let migrations = [
    SQLiteMigration("cache") { db in
      try db.execute(script: tables)
      let key = RandomSource.bytes(32, isSecret: true)
      try db.execute("INSERT INTO cache (id, bytes, digest_key) VALUES (1, 0, \(key))")
      // The count begins at a random number, so that a mark of another file, such as a replaced one, is out of range.
      var random = RandomSource()
      try db.execute("INSERT INTO removal (number) VALUES (\(Int64.random(in: 1..<1 << 40, using: &random)))")
    }
  ]

  // Triggers keep the number of bytes, so that it is right in every process and costs the same at any size.
  private static let tables = """
    PRAGMA application_id=\(applicationID);
    CREATE TABLE cache (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, digest_key BLOB NOT NULL);
    CREATE TABLE removal (number INTEGER PRIMARY KEY, what INTEGER);
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, url_hash INTEGER NOT NULL, url TEXT NOT NULL, scopes TEXT NOT NULL,
      discriminator TEXT NOT NULL, variant TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL,
      stored_at REAL NOT NULL, received_at REAL NOT NULL, initial_age REAL NOT NULL, lifetime REAL NOT NULL,
      flags INTEGER NOT NULL, stale_while_revalidate REAL, stale_if_error REAL, size INTEGER NOT NULL,
      body_size INTEGER NOT NULL, checksum INTEGER NOT NULL, last_used INTEGER NOT NULL, file TEXT);
    CREATE TABLE body (id INTEGER PRIMARY KEY REFERENCES entry (id) ON DELETE CASCADE, body BLOB NOT NULL);
    CREATE INDEX entry_url ON entry (url_hash);
    CREATE INDEX entry_use ON entry (last_used, id, size);
    CREATE INDEX entry_file ON entry (file) WHERE file IS NOT NULL;
    CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN UPDATE cache SET bytes = bytes + NEW.size; END;
    CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN UPDATE cache SET bytes = bytes - OLD.size; END;
    CREATE TRIGGER entry_resized AFTER UPDATE OF size ON entry
      BEGIN UPDATE cache SET bytes = bytes + NEW.size - OLD.size; END;
    """
}
