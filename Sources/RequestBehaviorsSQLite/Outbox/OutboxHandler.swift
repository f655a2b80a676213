import Foundation
import RequestBehaviors

/// A registered type of operations, without its type.
struct OutboxHandler: Sendable {
  let name: String
  /// The type, for the check that a value belongs to it.
  let type: any OutboxOperation.Type
  /// Returns the request of a stored value.
  let request: @Sendable (Data, OutboxFiles?, Database) throws -> Request<NetworkResponse>
  /// Decodes a response.
  let value: @Sendable (NetworkResponse) throws -> any Sendable
  let delivered: @Sendable (Data, OutboxFiles?, any Sendable, Database) throws -> Void
  let rejected: @Sendable (Data, OutboxFiles?, OutboxFailure, Database) throws -> Void

  init<Operation: OutboxOperation>(_ type: Operation.Type) {
    name = Operation.name
    self.type = type
    request = { payload, files, db in
      try OutboxCoding.decode(type, from: payload, files).request(in: db.readOnly()).returning(NetworkResponse.self)
    }
    value = { try Operation.value(of: $0) }
    delivered = { payload, files, value, db in
      guard let value = value as? Operation.Value else { return }
      try OutboxCoding.decode(type, from: payload, files).delivered(value, in: db)
    }
    rejected = { payload, files, failure, db in
      try OutboxCoding.decode(type, from: payload, files).rejected(failure, in: db)
    }
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

extension Database {
  /// Returns the same database for a closure that must not write.
  func readOnly() throws -> Database { Database(connection: try connection(), isReadOnly: true) }
}

/// Encodes the values of operations.
enum OutboxCoding {
  /// Returns the stored form of an operation, and the names of its attachments.
  static func encode(_ operation: some OutboxOperation) throws -> (payload: Data, files: [String]) {
    let collector = OutboxFiles.Collector()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if let key = OutboxFiles.collectorKey { encoder.userInfo[key] = collector }
    return (try encoder.encode(operation), collector.names)
  }

  static func decode<Operation: OutboxOperation>(
    _ type: Operation.Type, from payload: Data, _ files: OutboxFiles?
  ) throws -> Operation {
    let decoder = JSONDecoder()
    if let key = OutboxFiles.folderKey, let files { decoder.userInfo[key] = files.folder }
    return try decoder.decode(type, from: payload)
  }
}
