/// A name and a value in octets, as OAuth 1.0a signs them (RFC 5849 §3.4.1.3.1).
///
/// They are octets and not text because a query may hold what is no valid UTF-8, and because equality and order of
/// octets are not those of `String`.
public struct OAuth1Parameter: Sendable, Hashable, CustomStringConvertible {
  /// The decoded name.
  public let name: [UInt8]
  /// The decoded value, empty if there is none.
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

  /// The name and value percent-encoded, with `=` between them (RFC 5849 §3.4.1.3.2).
  public var encoded: String {
    var buffer = OctetBuffer(capacity: 3 * (name.count + value.count) + 1)
    name.withUnsafeBufferPointer { buffer.append(escaping: $0) }
    buffer.append(UInt8(ascii: "="))
    value.withUnsafeBufferPointer { buffer.append(escaping: $0) }
    return buffer.string()
  }

  /// The percent-encoded name and value.
  public var description: String { encoded }
}
