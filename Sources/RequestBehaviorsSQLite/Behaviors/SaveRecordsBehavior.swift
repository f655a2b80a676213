public import RequestBehaviors

/// Saves the records of a response as rows of a table, before the caller gets the response.
///
/// ```swift
/// let response = try await client.send(
///   Request<NetworkResponse>.get("repos/\(repo)/issues").with(
///     .saveRecords(
///       [Issue].self, at: "data.items", into: "issue", in: store,
///       deletingOthers: .rows(where: "repo = \(repo)"))))
/// let counts = response.info[SavedRows.self]
/// ```
///
/// What stands at the path is one record or an array of them, decoded by the configuration's decoder; without a path it is what the
/// request decodes its own value from: its own path if it has one, else the whole body. Rows are inserted,
/// updated where they differ, and left alone where they do not; see ``Database/save(_:into:)-([Record],_)``. How many of each is in
/// `response.info[SavedRows.self]`. For everything else it does as ``PersistBehavior`` does.
public struct SaveRecordsBehavior<Record: Codable & Sendable>: RequestBehavior {
  /// Outside of redirects, authentication and verification: only what passed all of them is saved, once.
  public let order = BehaviorOrder.persistence
  private let persistence: Persistence

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - path: Names of keys separated by `.` to where the records stand; when nil, the path that the request decodes its own
  ///     value from, or the whole body if it has none.
  ///   - table: The table.
  ///   - store: Where to save.
  ///   - scope: Rows to delete unless they are among the saved ones; none when nil.
  ///   - durability: What the commit survives; the store's own by default.
  public init(
    at path: String? = nil, into table: SQLiteTable, in store: SQLiteStore,
    deletingOthers scope: SQLiteScope? = nil, durability: SQLiteDurability? = nil
  ) {
    persistence = Persistence(store: store, durability: durability) { response in
      let records = try response.decode(OneOrMany<Record>.self, at: path).records
      return { db in
        if let scope { return try db.save(records, into: table, deletingOthers: scope) }
        return try db.save(records, into: table)
      }
    }
  }

  /// Runs the request and saves the records of its response.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await persistence.save(try await next(request))
  }
}

extension RequestBehavior {
  /// Saves the records of a response as rows of a table; see ``SaveRecordsBehavior``.
  ///
  /// - Parameters:
  ///   - type: The type of the records, as an array: `[Issue].self`.
  ///   - path: Names of keys separated by `.` to where the records stand; when nil, the path that the request decodes its own
  ///     value from, or the whole body if it has none.
  ///   - table: The table.
  ///   - store: Where to save.
  ///   - scope: Rows to delete unless they are among the saved ones; none when nil.
  ///   - durability: What the commit survives; the store's own by default.
  /// - Returns: The behavior.
  public static func saveRecords<Record>(
    _ type: [Record].Type, at path: String? = nil, into table: SQLiteTable, in store: SQLiteStore,
    deletingOthers scope: SQLiteScope? = nil, durability: SQLiteDurability? = nil
  ) -> SaveRecordsBehavior<Record> where Self == SaveRecordsBehavior<Record> {
    SaveRecordsBehavior(at: path, into: table, in: store, deletingOthers: scope, durability: durability)
  }
}

/// One record or an array of them.
private struct OneOrMany<Record: Decodable>: Decodable {
  let records: [Record]

  init(from decoder: any Decoder) throws {
    if (try? decoder.unkeyedContainer()) != nil {
      records = try [Record](from: decoder)
    } else {
      records = [try Record(from: decoder)]
    }
  }
}
