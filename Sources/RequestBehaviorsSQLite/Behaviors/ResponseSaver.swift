public import RequestBehaviors

/// A type that saves a response to a database.
///
/// A ``SaveBehavior`` runs it in a write transaction, and fails the request if it throws:
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
/// It is not a behavior and has no other method, so nothing in a conforming type can turn the saving off.
public protocol ResponseSaver: Sendable {
  /// Saves the wanted parts of a response.
  ///
  /// Called once for each response with an acceptable status that passed verification, on the store's thread, in a
  /// write transaction. The body is in memory.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - db: The database, until the method returns.
  /// - Throws: An error that undoes everything that was saved and fails the request.
  func save(_ response: NetworkResponse, in db: Database) throws
}
