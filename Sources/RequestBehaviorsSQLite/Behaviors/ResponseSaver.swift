public import RequestBehaviors

/// What to save of a response, given the database.
///
/// All that is left to write of a save is what is saved; where and when it runs, the transaction and the failure are the behavior's
/// that `.persist(_:in:durability:)` makes of it, a ``PersistBehavior``:
///
/// ```swift
/// struct TagSaver: ResponseSaver {
///   func save(_ response: NetworkResponse, in db: Database) throws {
///     let endpoint = response.request.endpoint
///     guard endpoint == "artworks/{}/tags" else { return }
///     let tags: [Tag] = try response.decode()
///     try db.save(tags, into: "tag")
///   }
/// }
///
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.persist(TagSaver(), in: store)])
/// ```
///
/// It is not a behavior and has no other method, so nothing in the conforming type can turn the saving off.
public protocol ResponseSaver: Sendable {
  /// Saves what is wanted of a response.
  ///
  /// Called once for each response with an acceptable status that passed all checks, on the store's thread, in a write transaction. The body
  /// is in memory.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - db: The database, until the method returns.
  /// - Throws: What undoes everything that was saved and fails the request.
  func save(_ response: NetworkResponse, in db: Database) throws
}
