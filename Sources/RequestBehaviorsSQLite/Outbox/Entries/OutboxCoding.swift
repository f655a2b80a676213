import Foundation
import RequestBehaviors

/// Encodes the values of operations.
enum OutboxCoding {
  /// The stored form of an operation, and the names of its attachments.
  typealias Encoded = (payload: Data, files: [String])

  /// Returns the stored form of an operation.
  static func encode(_ operation: some OutboxOperation) throws -> Encoded {
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
