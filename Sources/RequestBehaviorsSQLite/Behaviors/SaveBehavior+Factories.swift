public import RequestBehaviors

extension RequestBehavior where Self == SaveBehavior {
  /// Saves responses with a saver before the caller gets them; see ``SaveBehavior``.
  public static func persist(
    _ saver: some ResponseSaver, in store: SQLiteStore, durability: SQLiteDurability? = nil,
    cached: CachedResponses = .save
  ) -> SaveBehavior {
    persist(in: store, durability, cached, SaveTarget(closureFor: type(of: saver))) { response, db in
      try saver.save(response, in: db)
    }
  }

  /// Saves responses with a closure before the caller gets them; see ``SaveBehavior``.
  public static func persist(
    in store: SQLiteStore, durability: SQLiteDurability? = nil, cached: CachedResponses = .save,
    save: @escaping @Sendable (NetworkResponse, Database) throws -> Void
  ) -> SaveBehavior {
    persist(in: store, durability, cached, SaveTarget(closureFor: NetworkResponse.self), save)
  }

  private static func persist(
    in store: SQLiteStore, _ durability: SQLiteDurability?, _ cached: CachedResponses, _ target: SaveTarget,
    _ save: @escaping @Sendable (NetworkResponse, Database) throws -> Void
  ) -> SaveBehavior {
    SaveBehavior(store: store, durability: durability, target: target, cached: cached) { response in
      let response = response
      return { db in
        try save(response, db)
        return nil
      }
    }
  }

  /// Saves the records of a response as rows of a table before the caller gets the response.
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
  /// The path leads to one record or an array of them, decoded by the configuration's decoder. Without a path, the
  /// records are read from the same place as the request's value: its `decoding(at:)` path, or the whole body. New rows
  /// are inserted and changed rows updated; unchanged rows are not written. See
  /// ``Database/save(_:into:)-([Record],_)``. The counts are in `response.info[SavedRows.self]`. For the rest see
  /// ``SaveBehavior``.
  ///
  /// - Parameters:
  ///   - type: The type of the records, as an array: `[Issue].self`.
  ///   - path: Names of keys separated by `.` that lead to the records; by default the path of the request's own value.
  ///   - table: The table.
  ///   - store: Where to save.
  ///   - scope: Rows to delete unless they are among the saved ones; none by default.
  ///   - durability: The failures that the commit survives; the store's own by default.
  ///   - cached: Whether a response that a cache already had is saved too; it is by default.
  /// - Returns: The behavior.
  public static func saveRecords<Record: Codable & Sendable>(
    _ type: [Record].Type, at path: String? = nil, into table: SQLiteTable, in store: SQLiteStore,
    deletingOthers scope: SQLiteScope? = nil, durability: SQLiteDurability? = nil, cached: CachedResponses = .save
  ) -> SaveBehavior {
    let target = SaveTarget(Record.self, at: path, into: table, deletingOthers: scope)
    return SaveBehavior(store: store, durability: durability, target: target, cached: cached, mayRunAgain: true) {
      response in
      let records = try response.decode(OneOrMany<Record>.self, at: path).records
      return { db in
        if let scope { return try db.save(records, into: table, deletingOthers: scope) }
        return try db.save(records, into: table)
      }
    }
  }

  /// Saves the records of a JSON response as rows, straight from its bytes, before the caller gets the response.
  ///
  /// Use it for responses that only the database reads: it is several times faster than
  /// `.saveRecords(_:at:into:in:deletingOthers:durability:cached:)`, which decodes.
  /// ``Database/ingest(_:at:into:columns:)`` describes which key goes to which column. The numbers of inserted, updated
  /// and unchanged rows are in `response.info[SavedRows.self]`. For the rest see ``SaveBehavior``.
  ///
  /// - Parameters:
  ///   - path: Names of keys separated by `.` that lead to the records; the whole body by default.
  ///   - table: The table.
  ///   - store: Where to save.
  ///   - columns: For columns whose key has another name or is nested deeper, the keys separated by `.`.
  ///   - durability: The failures that the commit survives; the store's own by default.
  ///   - cached: Whether a response that a cache already had is saved too; it is by default.
  /// - Returns: The behavior.
  public static func ingest(
    at path: String? = nil, into table: SQLiteTable, in store: SQLiteStore, columns: [String: String] = [:],
    durability: SQLiteDurability? = nil, cached: CachedResponses = .save
  ) -> SaveBehavior {
    let names = columns.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ",")
    let target = SaveTarget(nil, at: path, into: table, names)
    return SaveBehavior(store: store, durability: durability, target: target, cached: cached, mayRunAgain: true) {
      response in
      let json = try response.data
      return { db in try db.ingest(json, at: path, into: table, columns: columns) }
    }
  }
}

extension Request where Value: Decodable & Sendable {
  /// Returns the request with its decoded value saved before the caller gets it.
  ///
  /// ```swift
  /// let tags = try await client.send(
  ///   Request<[Tag]>.get("artworks/\(id)/tags")
  ///     .persist(in: store) { tags, db in
  ///       try db.save(tags, into: "tag")
  ///     })
  /// ```
  ///
  /// The value is decoded once, before the transaction begins. If the request takes a 404 as nil, the closure gets nil
  /// too. For the rest see ``SaveBehavior``.
  ///
  /// - Parameters:
  ///   - store: Where to save.
  ///   - durability: The failures that the commit survives; the store's own by default.
  ///   - cached: Whether a response that a cache already had is saved too; it is by default.
  ///   - save: Saves the value; called on the store's thread in a write transaction.
  /// - Returns: The request.
  public func persist(
    in store: SQLiteStore, durability: SQLiteDurability? = nil, cached: CachedResponses = .save,
    save: @escaping @Sendable (Value, Database) throws -> Void
  ) -> Self {
    with(
      SaveBehavior(
        store: store, durability: durability, target: SaveTarget(closureFor: Value.self), cached: cached, savesNil: true
      ) { response in
        let value = try response.decode(Value.self)
        response.keepDecoded(value)
        return { db in
          try save(value, db)
          return nil
        }
      })
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
