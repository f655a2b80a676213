public import Foundation

/// Turns response bodies into values; `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
  /// The media types that it reads, such as `application/json` or `*/*+json`; sent as `Accept` (without wildcards).
  var contentTypes: [String] { get }

  /// Returns the value of the bytes.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: BodyDecoder {
  /// JSON under its registered names: `application/json`, `text/json` and every type with the suffix `+json`.
  public var contentTypes: [String] { ["application/json", "text/json", "*/*+json"] }
}
