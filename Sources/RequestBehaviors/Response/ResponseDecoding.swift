import Foundation

/// Converts a response into a value; the type decides how.
struct ResponseDecoding {
  private let response: NetworkResponse
  private let decoder: any BodyDecoder
  private let options: RequestOptions
  /// The place of the value in the body; empty for the whole body.
  private let path: [PathKey]

  init(_ response: NetworkResponse, at path: String? = nil) {
    self.response = response
    self.decoder = response.request.call.decoder
    self.options = response.request.call.options
    // The path leads to the value that the request asks for. The server's account of a failure is elsewhere.
    self.path = PathKey.keys(of: path ?? (response.hasAcceptedStatus ? options.decodingPath : nil))
  }

  /// Returns the value of the body.
  ///
  /// - Throws: ``NetworkError`` that names the type, the place and the rule.
  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Unwrapped before the cast, because casting `nil` to an optional type would succeed.
    if let decoded = response.info[DecodedValue.self], let ready = decoded as? Value { return ready }
    let optional = type as? any OptionalValue.Type
    if options.nilWhenNotFound, response.statusCode == 404, let none = optional?.noValue as? Value { return none }
    let data = try response.data
    let wrapped = optional?.wrappedType ?? type
    if path.isEmpty, let plain = Self.plain(data, as: wrapped, response), let value = plain as? Value { return value }
    guard !data.isEmpty else {
      if let none = optional?.noValue as? Value { return none }
      throw NetworkError.emptyBody(type, response)
    }
    try checkContentType(for: type)
    do {
      return try decode(type, from: data)
    } catch {
      throw NetworkError.decodingFailed(error, as: type, response)
    }
  }

  /// Returns whether a type is decoded by the decoder; without a path, `Data` and `String` are the body itself.
  static func decodes(_ type: Any.Type, at path: String?) -> Bool {
    let wrapped = (type as? any OptionalValue.Type)?.wrappedType ?? type
    return wrapped != Data.self && wrapped != String.self || !PathKey.keys(of: path).isEmpty
  }

  /// Returns the body itself for the types that need no decoder; `nil` for other types.
  private static func plain(_ data: Data, as type: Any.Type, _ response: NetworkResponse) -> Any? {
    if type == Data.self { return data }
    if type == String.self { return String(body: data, contentType: response.headers[.contentType]) }
    return nil
  }

  private func checkContentType(for type: Any.Type) throws {
    let wanted = options.acceptableContentTypes ?? decoder.contentTypes
    guard !wanted.isEmpty, let found = response.headers["Content-Type"] else { return }
    guard let media = MediaType(found), wanted.contains(where: media.matches) else {
      throw NetworkError.unexpectedContentType(found, wanted, as: type, response)
    }
  }

  /// Decodes a value from bytes, at the path of the options if they have one.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    if path.isEmpty { return try decoder.decode(type, from: data) }
    return try PathKey.$path.withValue(path) { try decoder.decode(Nested<Value>.self, from: data).value }
  }
}

/// The value of the body, if a behavior has decoded it already.
private enum DecodedValue: ResponseInfoKey {
  typealias Value = any Sendable
}

extension NetworkResponse {
  /// Keeps a value that a behavior has decoded from the body, so that it is not decoded again for the caller.
  public mutating func keepDecoded(_ value: some Sendable) { info[DecodedValue.self] = value }

  /// Drops the decoded value, because the body has changed.
  mutating func forgetDecoded() {
    if info[DecodedValue.self] != nil { info[DecodedValue.self] = nil }
  }

  /// Decodes the value at a path inside the body, regardless of the request's own path.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - path: Keys separated by `.`, empty for the whole body; the request's own path if it is `nil`.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError`` that says where the body does not fit.
  public func decode<Value: Decodable>(_ type: Value.Type, at path: String?) throws -> Value {
    do { return try ResponseDecoding(original, at: path).value(type) } catch { throw errorMapping(error) }
  }
}

/// An optional type without its wrapped type, for casts.
private protocol OptionalValue {
  static var noValue: Any { get }
  static var wrappedType: Any.Type { get }
}

extension Optional: OptionalValue {
  fileprivate static var noValue: Any { Self.none as Any }
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

/// One step of a path into a body: a key, or the index of an array's element.
private struct PathKey: CodingKey {
  // A task-local value, because a decoder creates the outermost value from its type alone.
  @TaskLocal static var path: [PathKey] = []

  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(_ text: String) { stringValue = text }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { self.stringValue = "\(intValue)" }

  /// Returns the steps of a path, which are separated by `.`.
  static func keys(of path: String?) -> [PathKey] { path?.split(separator: ".").map { PathKey(String($0)) } ?? [] }
}

/// A value at ``PathKey/path`` inside the decoded data.
private struct Nested<Value: Decodable>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    value = try Nested.decode(PathKey.path[...], from: decoder)
  }

  private static func decode(_ path: ArraySlice<PathKey>, from decoder: any Decoder) throws -> Value {
    guard let key = path.first else { return try Value(from: decoder) }
    if let index = key.intValue, index >= 0, var elements = try? decoder.unkeyedContainer() {
      for _ in 0..<index { _ = try elements.superDecoder() }
      // By the container, because only that follows the decoder's strategies, such as base64 for data.
      if path.count == 1 { return try elements.decode(Value.self) }
      return try decode(path.dropFirst(), from: try elements.superDecoder())
    }
    let container = try decoder.container(keyedBy: PathKey.self)
    if path.count == 1 { return try container.decode(Value.self, forKey: key) }
    guard container.contains(key) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: container.codingPath, debugDescription: "no such key"))
    }
    return try decode(path.dropFirst(), from: try container.superDecoder(forKey: key))
  }
}
