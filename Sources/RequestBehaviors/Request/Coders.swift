public import Foundation

/// Turns values into request bodies; `JSONEncoder` is one.
public protocol BodyEncoder: Sendable {
  /// The media type of what it makes, sent as `Content-Type`.
  var contentType: String { get }

  /// Returns the bytes of a value.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Turns response bodies into values; `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
  /// The media types that it reads, such as `application/json` or `*/*+json`; sent as `Accept` (without wildcards).
  var contentTypes: [String] { get }

  /// Returns the value of the bytes.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONEncoder: BodyEncoder {
  /// The media type `application/json`.
  public var contentType: String { "application/json" }
}

extension JSONDecoder: BodyDecoder {
  /// JSON under its registered names: `application/json`, `text/json` and every type with the suffix `+json`.
  public var contentTypes: [String] { ["application/json", "text/json", "*/*+json"] }
}
