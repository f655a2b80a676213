import Foundation

/// Makes values of a response: which way follows from the type.
struct ResponseDecoding {
  private let response: NetworkResponse
  private let decoder: any BodyDecoder
  private let options: RequestOptions

  init(_ response: NetworkResponse, at path: String? = nil) {
    self.response = response
    self.decoder = response.request.call.decoder
    var options = response.request.call.options
    if let path { options.decodingPath = path }
    self.options = options
  }

  /// Returns the value of the body.
  ///
  /// - Throws: ``NetworkError`` that names the type, the place and the rule.
  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Unwrapped before the cast: casting nothing to an optional type would make a value of it.
    if let decoded = response.info[DecodedValue.self], let ready = decoded as? Value { return ready }
    let optional = type as? any OptionalValue.Type
    if options.nilWhenNotFound, response.statusCode == 404, let none = optional?.noValue as? Value { return none }
    let data = try response.data
    if let plain = Self.plain(data, as: optional?.wrappedType ?? type), let value = plain as? Value { return value }
    guard !data.isEmpty else {
      if let none = optional?.noValue as? Value { return none }
      throw NetworkError.emptyBody(type, response)
    }
    try checkContentType()
    do {
      return try decode(type, from: data)
    } catch {
      throw NetworkError.decodingFailed(error, as: type, response)
    }
  }

  /// Whether values of a type come out of the decoder; `Data` and `String` are the body itself.
  static func decodes(_ type: Any.Type) -> Bool {
    plain(Data(), as: (type as? any OptionalValue.Type)?.wrappedType ?? type) == nil
  }

  /// The body itself for the types that need no decoder.
  private static func plain(_ data: Data, as type: Any.Type) -> Any? {
    if type == Data.self { return data }
    if type == String.self { return String(decoding: data, as: UTF8.self) }
    return nil
  }

  private func checkContentType() throws {
    let wanted = options.acceptableContentTypes ?? decoder.contentTypes
    guard !wanted.isEmpty, let found = response.headers["Content-Type"] else { return }
    guard let type = MediaType(found), wanted.contains(where: type.matches) else {
      throw NetworkError.unexpectedContentType(found, wanted, response)
    }
  }

  /// Decodes a value that stands in bytes at the path of the options, if they have one.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    guard let path = options.decodingPath else { return try decoder.decode(type, from: data) }
    let keys = path.split(separator: ".").map { PathKey(String($0)) }
    return try PathKey.$path.withValue(keys) { try decoder.decode(Nested<Value>.self, from: data).value }
  }
}

/// The value of the body, where a behavior has decoded it already.
private enum DecodedValue: ResponseInfoKey {
  typealias Value = any Sendable
}

extension NetworkResponse {
  /// Keeps what a behavior has decoded of the body, so that it is not decoded again for the caller.
  public mutating func keepDecoded(_ value: some Sendable) { info[DecodedValue.self] = value }

  /// Forgets it, because the body is another one.
  mutating func forgetDecoded() {
    if info[DecodedValue.self] != nil { info[DecodedValue.self] = nil }
  }

  /// Returns what stands at a path inside the body, whatever path the request decodes its own value from.
  ///
  /// - Parameters:
  ///   - type: What to decode.
  ///   - path: Names of keys separated by `.`; the request's own path when nil.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError`` that says where the body does not fit.
  public func decode<Value: Decodable>(_ type: Value.Type, at path: String?) throws -> Value {
    try ResponseDecoding(self, at: path).value(type)
  }
}

/// An optional, seen without its wrapped type.
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
  // A decoder makes the outermost value only from a type; what else it is to know travels beside it.
  @TaskLocal static var path: [PathKey] = []

  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(_ text: String) { stringValue = text }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { self.stringValue = "\(intValue)" }
}

/// A value that stands at ``PathKey/path`` inside what is decoded.
private struct Nested<Value: Decodable>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    value = try Nested.decode(PathKey.path[...], from: decoder)
  }

  private static func decode(_ path: ArraySlice<PathKey>, from decoder: any Decoder) throws -> Value {
    guard let key = path.first else { return try Value(from: decoder) }
    if let index = key.intValue, var elements = try? decoder.unkeyedContainer() {
      for _ in 0..<max(0, index) { _ = try elements.superDecoder() }
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
