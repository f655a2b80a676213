import RequestBehaviors

/// A name and a value in octets, as OAuth 1.0a signs them (RFC 5849 §3.4.1.3.1).
///
/// They are octets and not text, because a query may hold invalid UTF-8, and because `String` compares and orders its
/// values differently.
public struct OAuth1EncodedPair: Sendable, Hashable, CustomStringConvertible {
  /// The decoded name.
  public let name: [UInt8]
  /// The decoded value, empty if the parameter has no value.
  public let value: [UInt8]

  /// Creates a parameter from octets.
  public init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// Creates a parameter from the UTF-8 of two texts, not percent-encoded.
  public init(_ name: String, _ value: String) {
    self.init(name: Array(name.utf8), value: Array(value.utf8))
  }

  /// Whether the name is this text.
  func isNamed(_ text: String) -> Bool { name.count == text.utf8.count && name.elementsEqual(text.utf8) }

  /// Creates a parameter from a pair of a query or form, such as `a=b+c`.
  init(form pair: ArraySlice<UInt8>) {
    let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
    self.init(
      name: PercentEncoding.decodedForm(pair[..<equals]),
      value: PercentEncoding.decodedForm(pair[equals...].dropFirst()))
  }

  /// Returns the parameters of a query or form body, without empty pairs (RFC 5849 §3.4.1.3.1).
  static func list(form octets: ArraySlice<UInt8>) -> [OAuth1EncodedPair] {
    octets.split(separator: UInt8(ascii: "&")).map { OAuth1EncodedPair(form: $0) }
  }

  /// The name and value percent-encoded, with `=` between them (RFC 5849 §3.4.1.3.2).
  public var encoded: String {
    String(decoding: OAuth1EncodedParameter(self).octets, as: UTF8.self)
  }

  /// The percent-encoded name and value.
  public var description: String { encoded }
}
