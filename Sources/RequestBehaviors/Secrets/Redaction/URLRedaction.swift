/// One pass over a URL or a relative reference that hides its secrets.
struct URLRedaction {
  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  private let bytes: UnsafeBufferPointer<UInt8>
  private let rules: RedactionRules
  /// The index before which all text is in the output, or is not shown.
  private var copied = 0
  private var output: [UInt8] = []

  init(bytes: UnsafeBufferPointer<UInt8>, rules: RedactionRules) {
    self.bytes = bytes
    self.rules = rules
  }

  /// Returns the text in the form that may be shown; `nil` if nothing has to be hidden.
  mutating func run() -> [UInt8]? {
    let path = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
    let query = bytes[path...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
    if redact(hierarchy: bytes[..<path]) {
      redact(query: bytes[path..<query])
      if query < bytes.count { replace(query..<bytes.count, by: []) }
    } else {
      copied = bytes.count
    }
    guard copied > 0 else { return nil }
    output.append(contentsOf: bytes[copied...])
    return output
  }

  private mutating func replace(_ range: Range<Int>, by text: [UInt8] = RedactionRules.placeholder) {
    output.append(contentsOf: bytes[copied..<range.lowerBound])
    output.append(contentsOf: text)
    copied = range.upperBound
  }

  /// Hides what may be secret before the query and the fragment.
  ///
  /// - Returns: Whether the query may be shown; false if a placeholder replaces everything up to the end.
  private mutating func redact(hierarchy: Bytes) -> Bool {
    let colon = URLRedaction.schemeEnd(hierarchy)
    let start = colon.map { $0 + 1 } ?? 0
    let slash = UInt8(ascii: "/")
    guard start + 1 < hierarchy.endIndex, bytes[start] == slash, bytes[start + 1] == slash else {
      // Without an authority, this is a relative path, or a scheme whose content may be a secret.
      guard colon == nil else {
        replace(start..<hierarchy.endIndex)
        return false
      }
      redact(path: hierarchy)
      return true
    }
    let authority = hierarchy[(start + 2)...].prefix { $0 != slash }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
    // A port without digits is a password with a slash in it: `https://user:p/w@host/`.
    guard URLRedaction.isHostAndPort(authority[host...]) else {
      replace(authority.startIndex..<hierarchy.endIndex)
      return false
    }
    if host > authority.startIndex { replace(authority.startIndex..<host, by: []) }
    redact(path: hierarchy[authority.endIndex...])
    return true
  }

  /// Hides JSON Web Tokens in the segments of a path.
  private mutating func redact(path: Bytes) {
    var rest = path
    while !rest.isEmpty {
      let segment = rest.prefix { $0 != UInt8(ascii: "/") }
      if let token = segment.webTokenStart { replace(token..<segment.endIndex) }
      rest = rest[segment.endIndex...].dropFirst()
    }
  }

  /// Hides the values of a query that are not allowed.
  private mutating func redact(query: Bytes) {
    let pairs = query.dropFirst()
    guard !pairs.isEmpty else { return }
    let isSignIn = SignInNames.isSignIn(pairs: pairs)
    var rest = pairs
    while !rest.isEmpty {
      let item = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") }
      redact(item: item, isSignIn: isSignIn)
      rest = rest[item.endIndex...].dropFirst()
    }
  }

  private mutating func redact(item: Bytes, isSignIn: Bool) {
    guard !item.isEmpty else { return }
    let name = UnsafeBufferPointer(rebasing: item.prefix { $0 != UInt8(ascii: "=") })
    let isShown = rules.queryNames.contains(name) || (!isSignIn && SignInNames.ambiguous(name) == .state)
    if isShown, !rules.isSensitive(field: name) { return }
    // An item without `=` has no name to judge by: `?c2VjcmV0` may be a token.
    replace((name.count < item.count ? item.startIndex + name.count + 1 : item.startIndex)..<item.endIndex)
  }

  private static func isHostAndPort(_ bytes: Bytes) -> Bool {
    let port = bytes.reversed().prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "]") }
    return port.count == bytes.count || port.allSatisfy(\.isASCIIDigit)
  }

  /// Returns the index of the colon that ends a scheme (RFC 3986 §3.1).
  private static func schemeEnd(_ bytes: Bytes) -> Int? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else { return nil }
    let isScheme = bytes[..<colon].allSatisfy(\.isSchemeByte)
    return isScheme && !bytes[bytes.startIndex].isASCIIDigit ? colon : nil
  }
}

extension UInt8 {
  var isSchemeByte: Bool {
    isASCIIAlphanumeric || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
  }
}
