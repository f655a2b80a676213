import Foundation

/// The secrets in the value of a header field.
struct CredentialValue {
  /// The value without its authentication scheme, the password of basic authentication, and the values of cookies and
  /// of parameters with sensitive names.
  private(set) var secrets: [String] = []

  /// Whether a value has cookies.
  enum Cookie {
    case none
    /// Each pair is a cookie.
    case sent
    /// The pairs after the first one are attributes, such as `Domain=example.com`, which are no secrets.
    case set

    /// Tells it by the name of the field.
    init(_ name: String) {
      let isSet = name.utf8.starts(with: "set-cookie".utf8) { $0.lowercasedASCII == $1 }
      let isSent = name.utf8.suffix(6).elementsEqual("cookie".utf8) { $0.lowercasedASCII == $1 }
      self = isSet ? .set : isSent ? .sent : .none
    }
  }

  // Bytes instead of characters: this runs for every call that is logged.
  private typealias Bytes = UnsafeBufferPointer<UInt8>

  init(_ value: String, _ cookie: Cookie) {
    var text = value
    text.withUTF8 { bytes in
      let word = bytes.drop(while: HTTPSyntax.isSpace).prefix { !HTTPSyntax.isSpace($0) }
      let rest = Bytes(rebasing: bytes[word.endIndex...].drop(while: HTTPSyntax.isSpace))
      // A word with an equals sign is the first parameter, or a token by itself.
      let hasScheme = cookie == .none && !rest.isEmpty && !word.contains(UInt8(ascii: "="))
      if hasScheme {
        secrets.append(String(decoding: rest, as: UTF8.self))
        if word.elementsEqual("basic".utf8, by: { $0.lowercasedASCII == $1 }) { addParts(ofBasic: rest) }
      }
      // The name of a scheme is no secret, but another word before a space may be.
      if !hasScheme || !Redactor.schemes.contains(word) { secrets.append(value) }
      let pairs = hasScheme ? rest : bytes
      if pairs.contains(UInt8(ascii: "=")) { addParameters(pairs, cookie) }
    }
  }

  /// Adds `user:password` and the password (RFC 7617 §2).
  private mutating func addParts(ofBasic credentials: Bytes) {
    guard let data = Data(base64Encoded: Data(credentials)) else { return }
    secrets.append(String(decoding: data, as: UTF8.self))
    guard let colon = data.firstIndex(of: UInt8(ascii: ":")) else { return }
    secrets.append(String(decoding: data[(colon + 1)...], as: UTF8.self))
  }

  /// Adds the values of cookies, and of parameters with sensitive names.
  private mutating func addParameters(_ text: Bytes, _ cookie: Cookie) {
    for part in text.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = part[..<equals].drop(while: HTTPSyntax.isSpace)
      if cookie == .set, Redactor.cookieAttributes.contains(name) { continue }
      let value = part[(equals + 1)...].filter { $0 != UInt8(ascii: "\"") }
      guard Redactor.isCredentialField(name) || (cookie != .none && value.count >= 8) else { continue }
      secrets.append(PercentEncoding.lenientlyDecoded(String(decoding: value, as: UTF8.self)))
    }
  }
}
