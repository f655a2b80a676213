public import RequestBehaviors

/// Saves the records of a JSON response as rows, straight from its bytes, before the caller gets the response.
///
/// For answers that only the database is to see; it is several times faster than ``SaveRecordsBehavior``, which decodes. What goes where
/// is described at ``Database/ingest(_:at:into:columns:)``. How many rows were inserted, updated and left unchanged is in
/// `response.info[SavedRows.self]`. For everything else it does as ``PersistBehavior`` does.
public struct IngestBehavior: RequestBehavior {
  /// Outside of redirects, authentication and verification: only what passed all of them is saved, once.
  public let order = BehaviorOrder.persistence
  private let persistence: Persistence

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - path: Names of keys separated by `.` to where the records stand; the whole body when nil.
  ///   - table: The table.
  ///   - store: Where to save.
  ///   - columns: For columns whose key is called otherwise or stands deeper, the keys separated by `.`.
  ///   - durability: What the commit survives; the store's own by default.
  public init(
    at path: String? = nil, into table: SQLiteTable, in store: SQLiteStore, columns: [String: String] = [:],
    durability: SQLiteDurability? = nil
  ) {
    persistence = Persistence(store: store, durability: durability) { response in
      let json = try response.data
      return { db in try db.ingest(json, at: path, into: table, columns: columns) }
    }
  }

  /// Runs the request and saves the records of its response.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await persistence.save(try await next(request))
  }
}

extension RequestBehavior where Self == IngestBehavior {
  /// Saves the records of a JSON response as rows, straight from its bytes; see ``IngestBehavior``.
  ///
  /// - Parameters:
  ///   - path: Names of keys separated by `.` to where the records stand; the whole body when nil.
  ///   - table: The table.
  ///   - store: Where to save.
  ///   - columns: For columns whose key is called otherwise or stands deeper, the keys separated by `.`.
  ///   - durability: What the commit survives; the store's own by default.
  /// - Returns: The behavior.
  public static func ingest(
    at path: String? = nil, into table: SQLiteTable, in store: SQLiteStore, columns: [String: String] = [:],
    durability: SQLiteDurability? = nil
  ) -> IngestBehavior {
    IngestBehavior(at: path, into: table, in: store, columns: columns, durability: durability)
  }
}
