import RequestBehaviors

/// The protocol parameters of one request (RFC 5849 §3.1), without the method and the signature.
public struct OAuth1ProtocolParameters: Sendable {
  /// The value of `oauth_consumer_key`.
  public var consumerKey: String
  /// The value of `oauth_token`; `nil` leaves it out.
  public var token: String?
  /// The value of `oauth_nonce`, different for every request of one timestamp; only `PLAINTEXT` goes without.
  public var nonce: String?
  /// The value of `oauth_timestamp`, seconds since 1970, at least 1; only `PLAINTEXT` goes without.
  public var timestamp: Int?
  /// The value of `oauth_body_hash` for a body whose octets are not in memory; `nil`, the default, leaves it to
  /// ``OAuth1Options/includesBodyHash``.
  public var bodyHash: String?
  /// Further protocol parameters, such as `oauth_callback` and `oauth_verifier`; by default none.
  ///
  /// `realm` is refused, and so are the names that the other properties or the signature set.
  public var additional: [(name: String, value: String)] = []

  /// The names that only the signature itself may send.
  static let protocolNames: Set = [
    "oauth_consumer_key", "oauth_token", "oauth_signature_method", "oauth_signature", "oauth_timestamp", "oauth_nonce",
    "oauth_version",
  ]

  /// Creates the parameters of a request.
  ///
  /// - Parameters:
  ///   - consumerKey: The consumer's key.
  ///   - token: The token; by default none.
  ///   - nonce: A text that no other request of the timestamp has; at least 128 random bits are safe.
  ///   - timestamp: Seconds since 1970.
  public init(consumerKey: String, token: String? = nil, nonce: String?, timestamp: Int?) {
    self.consumerKey = consumerKey
    self.token = token
    self.nonce = nonce
    self.timestamp = timestamp
  }
}

extension OAuth1ProtocolParameters: CustomStringConvertible, CustomReflectable {
  /// The names of the parameters, and the values of nonce and timestamp only, which are no secrets.
  public var description: String {
    let names = ["oauth_consumer_key"] + (token == nil ? [] : ["oauth_token"]) + additional.map(\.name)
    let facts = [nonce.map { "oauth_nonce=\($0)" }, timestamp.map { "oauth_timestamp=\($0)" }].compactMap(\.self)
    return "OAuth1ProtocolParameters(\((names + facts).joined(separator: ", ")))"
  }

  /// Only the description: printing or dumping parameters must not show a token or a verifier.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

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
    var result: [UInt8] = []
    OAuth1EncodedParameter(self).append(to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  /// The percent-encoded name and value.
  public var description: String { encoded }
}

/// A name and a value percent-encoded, in the order in which they are signed: by name, then by value, both by octets
/// (RFC 5849 §3.4.1.3.2).
struct OAuth1EncodedParameter: Comparable {
  let name: [UInt8]
  let value: [UInt8]

  init(_ parameter: OAuth1EncodedPair) {
    name = PercentEncoding.escaped(parameter.name)
    value = PercentEncoding.escaped(parameter.value)
  }

  init(_ parameter: (name: String, value: String)) {
    name = PercentEncoding.escaped(parameter.name.utf8)
    value = PercentEncoding.escaped(parameter.value.utf8)
  }

  /// Appends `name=value`.
  func append(to result: inout [UInt8]) {
    result += name
    result.append(UInt8(ascii: "="))
    result += value
  }

  static func < (left: OAuth1EncodedParameter, right: OAuth1EncodedParameter) -> Bool {
    left.name == right.name
      ? left.value.lexicographicallyPrecedes(right.value) : left.name.lexicographicallyPrecedes(right.name)
  }
}
