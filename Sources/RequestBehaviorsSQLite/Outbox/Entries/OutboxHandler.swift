import Foundation
import RequestBehaviors

/// A registered type of operations, without its type.
struct OutboxHandler: Sendable {
  let name: String
  /// The type, for the check that a value belongs to it.
  let type: any OutboxOperation.Type
  /// An operation and the request that it made.
  typealias Made = (operation: any OutboxOperation, request: Request<NetworkResponse>)

  /// Decodes a stored value.
  let operation: @Sendable (Data, OutboxFiles?) throws -> any OutboxOperation
  /// Decodes a response.
  let value: @Sendable (NetworkResponse) throws -> any Sendable
  let delivered: @Sendable (any OutboxOperation, any Sendable, Database) throws -> Void

  init<Operation: OutboxOperation>(_ type: Operation.Type) {
    name = Operation.name
    self.type = type
    operation = { payload, files in try OutboxCoding.decode(type, from: payload, files) }
    value = { try Operation.value(of: $0) }
    delivered = { operation, value, db in
      guard let operation = operation as? Operation, let value = value as? Operation.Value else { return }
      try operation.delivered(value, in: db)
    }
  }

  /// Returns the operation of a stored value, and the request that it makes.
  func make(_ payload: Data, _ files: OutboxFiles?, _ db: Database) throws -> Made {
    let operation = try operation(payload, files)
    let request = try operation.request(returningResponseIn: db)
    try OutboxRequestRules.check(request)
    return (operation, request)
  }

  /// Returns the handlers of types by their names.
  ///
  /// - Throws: ``OutboxError`` if two types have one name, or a name is empty.
  static func table(_ types: [any OutboxOperation.Type]) throws -> [String: OutboxHandler] {
    var table: [String: OutboxHandler] = [:]
    for type in types + [StoredRequest.self] {
      let handler = make(type)
      if handler.name.isEmpty {
        throw OutboxError(.invalidOperations, "the name of \(type) is empty; give it one that never changes")
      }
      if let other = table.updateValue(handler, forKey: handler.name) {
        throw OutboxError(
          .invalidOperations,
          "\(other.type) and \(type) have the same name \"\(handler.name)\"; each type needs a name of its own")
      }
    }
    return table
  }

  private static func make<Operation: OutboxOperation>(_ type: Operation.Type) -> OutboxHandler { OutboxHandler(type) }
}

extension OutboxOperation {
  /// Returns the request for one attempt, whose response is not decoded.
  fileprivate func request(returningResponseIn db: Database) throws -> Request<NetworkResponse> {
    try db.withReadOnly { try request(in: $0) }.returning(NetworkResponse.self)
  }
}

extension Database {
  /// Calls a closure that must not write with the same database, which it must not use later.
  func withReadOnly<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let database = Database(connection: try connection(), isReadOnly: true)
    defer { database.end() }
    return try body(database)
  }
}
