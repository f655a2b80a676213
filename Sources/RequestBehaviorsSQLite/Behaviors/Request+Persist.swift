public import RequestBehaviors

extension Request where Value: Decodable & Sendable {
  /// Returns the request with its decoded answer saved before the caller gets it.
  ///
  /// ```swift
  /// let tags = try await client.send(
  ///   Request<[Tag]>.get("artworks/\(id)/tags")
  ///     .persist(in: store) { tags, db in
  ///       try db.save(tags, into: "tag")
  ///     })
  /// ```
  ///
  /// The response is decoded once, before the transaction begins; a 404 that the request takes as nil is nil here too. For the rest see ``PersistBehavior``.
  ///
  /// - Parameters:
  ///   - store: Where to save.
  ///   - durability: What the commit survives; the store's own by default.
  ///   - save: Saves the value; called on the store's thread in a write transaction.
  /// - Returns: The request.
  public func persist(
    in store: SQLiteStore, durability: SQLiteDurability? = nil,
    save: @escaping @Sendable (Value, Database) throws -> Void
  ) -> Self {
    with(PersistValueBehavior(store: store, durability: durability, save: save))
  }
}

/// Saves the decoded value of one request.
struct PersistValueBehavior<Value: Decodable & Sendable>: RequestBehavior {
  let order = BehaviorOrder.persistence
  let store: SQLiteStore
  let durability: SQLiteDurability?
  let save: @Sendable (Value, Database) throws -> Void

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let received = try await next(request)
    guard received.isAcceptable, received.isVerified, received.statusCode != 304 else { return received }
    var response = try await received.buffered()
    let value = try response.decode(Value.self)
    response.keepDecoded(value)
    let save = save
    let persistence = Persistence(
      store: store, durability: durability,
      prepare: { _ in
        { db in
          try save(value, db)
          return nil
        }
      }, takesNil: true)
    return try await persistence.save(response)
  }
}
