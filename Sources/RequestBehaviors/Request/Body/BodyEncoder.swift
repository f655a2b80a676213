public import Foundation

/// Turns values into request bodies; `JSONEncoder` is one.
public protocol BodyEncoder: Sendable {
  /// The media type of the bytes, sent as `Content-Type`.
  var contentType: String { get }

  /// Returns the bytes of a value.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {
  /// The media type `application/json`.
  public var contentType: String { "application/json" }
}
