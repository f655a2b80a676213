public import RequestBehaviors

/// A request that must arrive: a value that is kept in a file, and the request that it becomes when it is sent.
///
/// ```swift
/// struct CreateNote: OutboxOperation {
///   static let name = "note.create"
///   var note: Note
///
///   func request(in db: Database) -> Request<Receipt> {
///     .post("notes", body: .json(note))
///   }
///
///   func delivered(_ receipt: Receipt, in db: Database) throws {
///     try db.execute(
///       "UPDATE note SET serverID = \(receipt.id) WHERE id = \(note.id)")
///   }
/// }
/// ```
///
/// The value is stored and not the request, so that a request is made anew for each attempt. It has the token, the
/// behaviors and the URL of that moment, and can look up an ID that the server has given since.
///
/// The three methods run on the store's thread. Each may run several times for one entry, and must depend only on the
/// value and the database.
public protocol OutboxOperation: Codable, Sendable {
  /// The type that the response is decoded as; `Void` by default.
  associatedtype Value: Sendable = Void

  /// The name of the type in the file.
  ///
  /// Never change it. Properties that are added later must be optional or have a default when they are decoded.
  static var name: String { get }

  /// The order and the conditions of the delivery; by default any order and no condition.
  var delivery: OutboxDelivery { get }

  /// Returns the request for one attempt, to a path below the base URL.
  ///
  /// It is called when the operation is enqueued, as a check, and in a read before each attempt. The request can have
  /// behaviors of its own, such as a password for this operation alone. A session is listed in the client: a request
  /// with one that the client does not have is refused.
  ///
  /// - Parameter db: The database; it cannot be written to.
  /// - Returns: The request. Its method is neither GET nor HEAD.
  /// - Throws: ``OutboxNotReady`` to wait. Any other error makes a dead letter.
  func request(in db: Database) throws -> Request<Value>

  /// Saves the response, in the transaction that removes the entry.
  ///
  /// If it throws, the entry is sent again later under the same key, and it is called again. It does nothing by
  /// default.
  ///
  /// - Parameters:
  ///   - value: The decoded response.
  ///   - db: The database.
  /// - Throws: An error to have the entry sent again.
  func delivered(_ value: Value, in db: Database) throws

  /// Takes back what was saved in advance, in the transaction that makes the entry a dead letter.
  ///
  /// If it throws, its changes are undone and the entry is a dead letter all the same. It does nothing by default.
  ///
  /// - Parameters:
  ///   - failure: The reason.
  ///   - db: The database.
  /// - Throws: An error, which ``Outbox/events()`` tells.
  func rejected(_ failure: OutboxFailure, in db: Database) throws

  /// Returns the value of a response.
  ///
  /// It is given for `Void`, `Decodable` types and `NetworkResponse`.
  static func value(of response: NetworkResponse) throws -> Value
}

extension OutboxOperation {
  /// The default delivery: any order, each enqueued operation once, from now on and without an end.
  public var delivery: OutboxDelivery { OutboxDelivery() }

  /// Does nothing.
  public func delivered(_ value: Value, in db: Database) throws {}

  /// Does nothing.
  public func rejected(_ failure: OutboxFailure, in db: Database) throws {}
}

extension OutboxOperation where Value == Void {
  /// Drops the body.
  public static func value(of response: NetworkResponse) throws {}
}

extension OutboxOperation where Value: Decodable {
  /// Decodes the body with the client's decoder.
  public static func value(of response: NetworkResponse) throws -> Value { try response.decode(Value.self) }
}

extension OutboxOperation where Value == NetworkResponse {
  /// Returns the response itself.
  public static func value(of response: NetworkResponse) throws -> NetworkResponse { response }
}

/// The error that ``OutboxOperation/request(in:)`` throws while a request cannot be made yet.
///
/// The entry waits and is asked again after a delivery, and every 30 seconds. No attempt is counted.
///
/// An operation whose request names its credentials, such as `.only("anna")`, has the error name them too. It is not
/// known otherwise whose entry it is, and it belongs to all users who are signed in to the client.
public struct OutboxNotReady: Error, Sendable, Hashable {
  /// The credentials that the request will have; `nil` for those that the client asks for by default.
  public var authentication: AuthenticationRequirement?

  /// Creates the error.
  ///
  /// - Parameter authentication: The credentials that the request will have; by default those that the client asks for.
  public init(authentication: AuthenticationRequirement? = nil) {
    self.authentication = authentication
  }
}
