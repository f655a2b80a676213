/// Recognizes the `code` and the `state` of a sign-in (RFC 6749 §4.1, OpenID Connect).
///
/// Other values have these names too, such as the code of an error or a country, or the state of an issue.
enum SignInNames {
  /// The names that mean something else in most messages.
  enum Ambiguous { case code, state }

  /// Returns which of the two a name is; `nil` for any other name.
  static func ambiguous(_ name: some Collection<UInt8>) -> Ambiguous? {
    func isName(_ text: StaticString) -> Bool {
      name.count == text.utf8CodeUnitCount
        && zip(name, UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
          .allSatisfy { $0.lowercasedASCII == $1 }
    }
    return isName("code") ? .code : isName("state") ? .state : nil
  }

  /// The names that appear only beside a code or a state of a sign-in.
  static let markers = FieldNames(
    [
      "grant_type", "response_type", "client_id", "redirect_uri", "code_verifier", "code_challenge", "id_token",
      "access_token", "session_state", "post_logout_redirect_uri",
    ], ignoringPunctuation: true)

  /// The names that appear together, as far as they tell whether they belong to a sign-in.
  struct Company {
    private var hasCode = false
    private var hasState = false
    private var hasError = false
    private var hasMarker = false

    /// Adds a name.
    mutating func add(_ name: some Collection<UInt8>) {
      switch ambiguous(name) {
      case .code: hasCode = true
      case .state: hasState = true
      case nil:
        if name.elementsEqual("error".utf8) { hasError = true } else if markers.contains(name) { hasMarker = true }
      }
    }

    /// Whether the names belong to a sign-in: a marker, or a code or an error beside a state.
    var isOfSignIn: Bool { hasMarker || (hasState && (hasCode || hasError)) }
  }

  /// Whether names that appear together belong to a sign-in.
  static func areOfSignIn(_ names: some Sequence<some Collection<UInt8>>) -> Bool {
    var company = Company()
    for name in names { company.add(name) }
    return company.isOfSignIn
  }

  /// Whether the pairs of a query or form belong to a sign-in.
  static func isSignIn(pairs: some Collection<UInt8>) -> Bool {
    var company = Company()
    var rest = pairs[...]
    while !rest.isEmpty {
      let name = rest.prefix { $0 != UInt8(ascii: "=") && !$0.separatesPairs }
      company.add(name)
      rest = rest[name.endIndex...].drop { !$0.separatesPairs }.dropFirst()
    }
    return company.isOfSignIn
  }

  /// Whether the value of a `code` or a `state` without other names may belong to a sign-in.
  ///
  /// It is then neither short nor made of words, as the code of an error is.
  static func looksSecret(_ value: some Collection<UInt8>) -> Bool {
    let isOfWords = words(of: value).allSatisfy { word in
      word.allSatisfy { $0.isASCIIAlphanumeric && !$0.isASCIIDigit }
        || (word.count < 6 && word.allSatisfy(\.isASCIIDigit))
    }
    return !isOfWords && (value.count > 8 || value.allSatisfy(\.isASCIIDigit))
  }

  /// Whether a value has a word that is too long for a language, or, if a key may be short, letters beside digits.
  static func hasWordOfKey(_ value: some Collection<UInt8>, mayBeShort: Bool) -> Bool {
    words(of: value).contains { word in
      word.count >= 20 || mayBeShort && word.contains(where: \.isASCIIDigit) && !word.allSatisfy(\.isASCIIDigit)
    }
  }

  private static func words<Value: Collection<UInt8>>(of value: Value) -> [Value.SubSequence] {
    value.split { "_-. ".utf8.contains($0) }
  }
}

extension UInt8 {
  fileprivate var separatesPairs: Bool { self == UInt8(ascii: "&") || self == UInt8(ascii: ";") }
}

extension JSONRedaction {
  /// Whether the value after the name `code` or `state` belongs to a sign-in.
  mutating func isOfSignIn(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard SignInNames.ambiguous(name) != nil else { return false }
    let isMarked = hasSignInNames ?? SignInNames.areOfSignIn(quotedTexts.filter { SignInNames.ambiguous($0) == nil })
    hasSignInNames = isMarked
    if isMarked { return true }
    let quoted = bytes[index...].drop { $0 <= 0x20 }
    guard quoted.first == UInt8(ascii: "\"") else { return false }
    // The other names may be behind the end of an excerpt. So a state is judged by its value, too, and a value that is
    // cut off is hidden.
    let value = quoted.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
    return value.endIndex == bytes.endIndex || SignInNames.looksSecret(value)
  }

  /// The quoted texts that are short enough for a name.
  private var quotedTexts: [[UInt8]] {
    bytes.split(separator: UInt8(ascii: "\"")).filter { (5...32).contains($0.count) }.map(Array.init)
  }
}
