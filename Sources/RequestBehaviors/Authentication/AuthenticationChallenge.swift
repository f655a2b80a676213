/// A challenge of a 401: how the server wants to be told who sends (RFC 9110 §11.3).
struct AuthenticationChallenge: Sendable, Hashable {
  /// The scheme, in small letters.
  let scheme: String
  /// The protection space (RFC 9110 §11.5); `nil` if the challenge names none.
  let realm: String?

  /// Returns the challenges of `WWW-Authenticate` fields, up to the first place that breaks the grammar.
  static func all(in fields: [String]) -> [AuthenticationChallenge] {
    fields.flatMap { field in
      var reader = Reader(field)
      return reader.challenges()
    }
  }

  /// Reads a list of challenges, which shares its commas with their parameters (RFC 9110 §11.6.1).
  private struct Reader {
    private var rest: Substring.UTF8View

    init(_ field: String) { rest = Substring(field).utf8 }

    mutating func challenges() -> [AuthenticationChallenge] {
      var found: [AuthenticationChallenge] = []
      while true {
        skip(" \t,")
        guard let scheme = token() else { return found }
        let (realm, isWhole) = parameters()
        found.append(AuthenticationChallenge(scheme: scheme.lowercased(), realm: realm))
        guard isWhole else { return found }
      }
    }

    /// Reads what follows a scheme, up to where the next challenge begins.
    private mutating func parameters() -> (realm: String?, isWhole: Bool) {
      var realm: String?
      skip(" \t")
      if skipToken68() { return (nil, true) }
      while true {
        let beforeName = rest
        guard let name = token() else { return (realm, rest.isEmpty) }
        skip(" \t")
        guard rest.first == UInt8(ascii: "=") else {
          // A name without a value is the scheme of the next challenge.
          rest = beforeName
          return (realm, true)
        }
        rest.removeFirst()
        skip(" \t")
        guard let value = quoted() ?? token() else { return (realm, false) }
        if name.lowercased() == "realm" { realm = value }
        skip(" \t")
        guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return (realm, false) }
        skip(" \t,")
      }
    }

    private mutating func skip(_ characters: StaticString) {
      rest = rest.drop { byte in characters.withUTF8Buffer { $0.contains(byte) } }
    }

    private mutating func token() -> String? {
      let name = rest.prefix { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
      guard !name.isEmpty else { return nil }
      rest = rest[name.endIndex...]
      return String(Substring(name))
    }

    private mutating func quoted() -> String? {
      guard rest.first == UInt8(ascii: "\"") else { return nil }
      var value: [UInt8] = []
      var isEscaped = false
      for index in rest.indices.dropFirst() {
        let byte = rest[index]
        if isEscaped || (byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\"")) {
          value.append(byte)
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else {
          rest = rest[rest.index(after: index)...]
          return String(decoding: value, as: UTF8.self)
        }
      }
      return nil
    }

    /// Skips a scheme's only value, such as `dGVzdA==`; a name of a parameter looks alike up to its value.
    private mutating func skipToken68() -> Bool {
      let value = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: ",") }
      let after = rest[value.endIndex...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard !value.isEmpty, after.isEmpty || after.first == UInt8(ascii: ",") else { return false }
      let text = value.prefix { $0 != UInt8(ascii: "=") }
      guard !text.isEmpty, value[text.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }) else { return false }
      rest = after
      return true
    }
  }
}
