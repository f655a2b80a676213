public import RequestBehaviors

/// Saves responses in a store before the caller gets them.
///
/// A response with an acceptable status, that passed verification, is handed to the saver in one write transaction. The caller gets it
/// after the commit. If the saver throws, or the commit fails, everything is rolled back and the request fails with
/// the code `persistenceFailed`; the error holds the response.
///
/// Rows that are there unchanged cost nothing. A 304 to the caller's own conditional request has nothing to save, nor has
/// a 404 that the request takes as nil. Each behavior of this kind that is listed saves; a request's does not replace the
/// configuration's.
public struct PersistBehavior: RequestBehavior {
  /// Outside of redirects, authentication and verification: only what passed all of them is saved, once.
  public let order = BehaviorOrder.persistence
  private let persistence: Persistence

  /// Creates a behavior that saves with a saver.
  ///
  /// - Parameters:
  ///   - saver: What to save.
  ///   - store: Where to save it.
  ///   - durability: What the commit survives; the store's own by default.
  public init(_ saver: some ResponseSaver, in store: SQLiteStore, durability: SQLiteDurability? = nil) {
    self.init(in: store, durability: durability) { response, db in try saver.save(response, in: db) }
  }

  /// Creates a behavior that saves with a closure.
  ///
  /// - Parameters:
  ///   - store: Where to save.
  ///   - durability: What the commit survives; the store's own by default.
  ///   - save: Saves what is wanted of the response; see ``ResponseSaver/save(_:in:)``.
  public init(
    in store: SQLiteStore, durability: SQLiteDurability? = nil,
    save: @escaping @Sendable (NetworkResponse, Database) throws -> Void
  ) {
    persistence = Persistence(store: store, durability: durability) { response in
      { db in
        try save(response, db)
        return nil
      }
    }
  }

  /// Runs the request and saves its response.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await persistence.save(try await next(request))
  }
}

extension RequestBehavior where Self == PersistBehavior {
  /// Saves responses with a saver before the caller gets them; see ``PersistBehavior``.
  ///
  /// - Parameters:
  ///   - saver: What to save.
  ///   - store: Where to save it.
  ///   - durability: What the commit survives; the store's own by default.
  /// - Returns: The behavior.
  public static func persist(
    _ saver: some ResponseSaver, in store: SQLiteStore, durability: SQLiteDurability? = nil
  ) -> PersistBehavior {
    PersistBehavior(saver, in: store, durability: durability)
  }

  /// Saves responses with a closure before the caller gets them; see ``PersistBehavior``.
  ///
  /// - Parameters:
  ///   - store: Where to save.
  ///   - durability: What the commit survives; the store's own by default.
  ///   - save: Saves what is wanted of the response.
  /// - Returns: The behavior.
  public static func persist(
    in store: SQLiteStore, durability: SQLiteDurability? = nil,
    save: @escaping @Sendable (NetworkResponse, Database) throws -> Void
  ) -> PersistBehavior {
    PersistBehavior(in: store, durability: durability, save: save)
  }
}
