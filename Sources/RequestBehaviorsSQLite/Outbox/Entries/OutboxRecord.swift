public import Foundation

/// An entry of any type, such as a dead letter.
public struct OutboxRecord: Sendable, Identifiable {
  /// The ID of the entry.
  public let id: UUID
  /// The name of its operation.
  public let name: String
  /// The state when it was read.
  public let state: OutboxState
  /// The time at which it was enqueued.
  public let createdAt: Date
  /// Whether it belongs to the signed-in user, or to no user.
  public let isOfPresentUser: Bool

  private let payload: Data
  private let files: OutboxFiles?

  init(_ row: OutboxRow, _ core: OutboxCore, present: Set<String?>) {
    id = row.id
    name = row.operation
    state = core.state(of: row, present: present)
    createdAt = Date(storedTime: row.createdAt)
    isOfPresentUser = present.contains(row.scope)
    payload = row.payload
    files = core.files
  }

  /// Returns the operation.
  ///
  /// - Parameter type: The type with the record's ``name``.
  /// - Returns: The operation.
  /// - Throws: ``OutboxError`` of code ``OutboxError/Code-swift.struct/invalidOperations`` for another type;
  ///   `DecodingError`.
  public func operation<Operation: OutboxOperation>(_ type: Operation.Type = Operation.self) throws -> Operation {
    guard name == Operation.name else {
      throw OutboxError(
        .invalidOperations, "the entry is a \"\(name)\", and \(type) has the name \"\(Operation.name)\"")
    }
    return try OutboxCoding.decode(type, from: payload, files)
  }
}
