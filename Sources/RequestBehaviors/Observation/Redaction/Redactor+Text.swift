import Foundation

extension Redactor {
  /// Returns free text, such as the message of an underlying error, with what looks like a secret hidden.
  ///
  /// URLs in it are shown as ``redact(_:)-(URL)`` shows them. The values of sensitive names are hidden in the forms
  /// `name=value`, `name: value`, `"name": "value"` and `<name>value</name>`; so are the credentials after the name of
  /// an authentication scheme. This is a net for text whose form is unknown, not a proof: pass the secrets that are
  /// known.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - secrets: Values that must not appear, neither raw nor percent-encoded nor in base64; those of less than four
  ///     bytes are not looked for.
  /// - Returns: The text as it may be shown.
  public func redact(text: String, hiding secrets: [String] = []) -> String {
    var text = Redactor.hide(secrets, in: text)
    let shown = text.withUTF8 { bytes in
      var scanner = TextRedaction(bytes: bytes, rules: rules)
      return scanner.run().map { String(decoding: $0, as: UTF8.self) }
    }
    return shown ?? text
  }

  /// The values in a request's or response's fields that must not appear in any text about it.
  ///
  /// - Returns: The values of sensitive fields and of fields that are not allowed, each whole and, where it begins with
  ///   an authentication scheme, without that.
  package func secrets(in headers: HTTPHeaders) -> [String] {
    headers.flatMap { field -> [String] in
      guard redactedValue(of: field) == Redactor.placeholder else { return [] }
      let words = field.value.split(separator: " ", maxSplits: 1)
      return words.count == 2 ? [field.value, String(words[1])] : [field.value]
    }
  }

  private static func hide(_ secrets: [String], in text: String) -> String {
    var shown = text
    for secret in secrets where secret.utf8.count >= 4 {
      let base64 = Data(secret.utf8).base64EncodedString()
      let forms: [String?] = [
        secret, secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics),
        secret.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed), base64,
        base64.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" },
      ]
      for form in forms.compactMap(\.self) where shown.contains(form) {
        shown = shown.replacing(form, with: placeholder)
      }
    }
    return shown
  }
}

/// One pass over text of unknown form that hides what looks like a secret.
struct TextRedaction {
  let bytes: UnsafeBufferPointer<UInt8>
  let rules: RedactionRules
  private var index = 0
  /// Everything before this place is in the output.
  private var copied = 0
  private var output: [UInt8] = []

  init(bytes: UnsafeBufferPointer<UInt8>, rules: RedactionRules) {
    self.bytes = bytes
    self.rules = rules
  }

  /// Returns the text as it may be shown; `nil` if nothing has to be hidden.
  mutating func run() -> [UInt8]? {
    while index < bytes.count {
      guard bytes[index].isASCIIAlphanumeric else {
        index += 1
        continue
      }
      let start = index
      while index < bytes.count, bytes[index].isWordByte { index += 1 }
      guard index < bytes.count else { break }
      redact(wordFrom: start)
    }
    guard copied > 0 else { return nil }
    output.append(contentsOf: bytes[copied...])
    return output
  }

  private mutating func redact(wordFrom start: Int) {
    let next = bytes[index]
    if next == UInt8(ascii: ":"), byte(1) == UInt8(ascii: "/"), byte(2) == UInt8(ascii: "/") {
      return redactURL(from: start)
    }
    let word = UnsafeBufferPointer(rebasing: bytes[start..<index])
    if next == UInt8(ascii: " "), Redactor.schemes.contains(word) { return hideCredentials() }
    guard next == UInt8(ascii: ">") || next == UInt8(ascii: " ") || next.endsName else { return }
    if next == UInt8(ascii: ">"), start == 0 || bytes[start - 1] == UInt8(ascii: "/") { return }
    guard rules.isSensitive(field: word), let value = valueStart() else { return }
    hide(from: value, to: valueEnd(from: value, after: word))
  }

  /// The place where the value of the name that ends here begins; `nil` if none follows.
  private func valueStart() -> Int? {
    if bytes[index] == UInt8(ascii: ">") { return index + 1 }
    var place = index
    while place < bytes.count, bytes[place].endsName || bytes[place] == UInt8(ascii: " ") {
      let isSeparator = bytes[place] == UInt8(ascii: "=") || bytes[place] == UInt8(ascii: ":")
      place += 1
      guard isSeparator else { continue }
      while place < bytes.count, bytes[place] == UInt8(ascii: " ") || bytes[place] == UInt8(ascii: ">") { place += 1 }
      return place
    }
    return nil
  }

  /// The place after a value: the closing quote if it begins with one, else the next delimiter.
  private func valueEnd(from start: Int, after name: UnsafeBufferPointer<UInt8>) -> Int {
    if bytes[index] == UInt8(ascii: ">") {
      return end(from: start) { $0 == UInt8(ascii: "<") }
    }
    // A whole header line: the value may hold spaces, commas and quotes.
    if Redactor.lineFields.contains(name) {
      return bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
    }
    var place = start
    while place < bytes.count, bytes[place] == UInt8(ascii: "\\") { place += 1 }
    guard place < bytes.count else { return place }
    let quote = bytes[place]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return end(from: place) { $0.endsBareValue }
    }
    return closingQuote(quote, openedAt: place, escapes: place - start)
  }

  /// The place of the quote that closes a value, which is escaped as often as the one that opened it.
  private func closingQuote(_ quote: UInt8, openedAt open: Int, escapes: Int) -> Int {
    var run = 0
    for place in (open + 1)..<max(bytes.count, open + 1) {
      if bytes[place] == UInt8(ascii: "\\") {
        run += 1
        continue
      }
      if bytes[place] == quote, run <= escapes { return place - run }
      run = 0
    }
    return bytes.count
  }

  private mutating func redactURL(from start: Int) {
    let isQuoted = start > 0 && bytes[start - 1] == UInt8(ascii: "'")
    let end = end(from: start) { $0.endsURL || (isQuoted && $0 == UInt8(ascii: "'")) }
    index = end
    guard bytes[start..<end].contains(where: \.isURLSuspect) else { return }
    output.append(contentsOf: bytes[copied..<start])
    rules.appendURL(UnsafeBufferPointer(rebasing: bytes[start..<end]), to: &output)
    copied = end
  }

  /// Hides the word after the name of an authentication scheme, unless it is prose: "basic authentication failed".
  private mutating func hideCredentials() {
    let start = index + 1
    let end = end(from: start) { $0.endsBareValue }
    let word = UnsafeBufferPointer(rebasing: bytes[start..<end])
    guard !word.isEmpty, !Redactor.proseWords.contains(word) else {
      index = start
      return
    }
    hide(from: start, to: end)
  }

  /// The place of the first delimiter; a placeholder, from a redaction before this one, is none.
  private func end(from start: Int, where isDelimiter: (UInt8) -> Bool) -> Int {
    var place = start
    while place < bytes.count {
      if isDelimiter(bytes[place]) {
        guard bytes[place...].starts(with: RedactionRules.placeholder) else { return place }
        place += RedactionRules.placeholder.count
      } else {
        place += 1
      }
    }
    return place
  }

  private mutating func hide(from start: Int, to end: Int) {
    output.append(contentsOf: bytes[copied..<start])
    output.append(contentsOf: RedactionRules.placeholder)
    // The closing quote, if the value had one, goes with its opening quote.
    copied = end < bytes.count && isQuoteOpen(at: start) ? end + quoteLength(at: end) : end
    index = copied
  }

  private func isQuoteOpen(at start: Int) -> Bool {
    start < bytes.count && (bytes[start].isQuote || bytes[start] == UInt8(ascii: "\\"))
  }

  private func quoteLength(at end: Int) -> Int {
    let rest = bytes[end...].prefix { $0 == UInt8(ascii: "\\") || $0.isQuote }
    return (rest.firstIndex { $0.isQuote }.map { $0 + 1 } ?? end) - end
  }

  private func byte(_ offset: Int) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }
}

extension Redactor {
  fileprivate static let schemes = FieldNameTable(
    ["Bearer", "Basic", "Digest", "DPoP", "Negotiate", "NTLM", "OAuth"], ignoringPunctuation: false)
  fileprivate static let proseWords = FieldNameTable(
    [
      "auth", "authentication", "authorization", "challenge", "challenges", "credential", "credentials", "error",
      "flow", "header", "realm", "scheme", "token", "tokens",
    ], ignoringPunctuation: true)
  fileprivate static let lineFields = FieldNameTable(
    ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"], ignoringPunctuation: false)
}

extension UInt8 {
  fileprivate var isWordByte: Bool {
    isASCIIAlphanumeric || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
      || self == UInt8(ascii: "+")
  }
  fileprivate var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
  /// What may stand between a name and its value.
  fileprivate var endsName: Bool {
    isQuote || self == UInt8(ascii: "=") || self == UInt8(ascii: ":") || self == UInt8(ascii: "\\")
      || self == UInt8(ascii: "]")
  }
  fileprivate var endsBareValue: Bool {
    self <= 0x20 || isQuote || self == UInt8(ascii: "&") || self == UInt8(ascii: ",") || self == UInt8(ascii: ";")
      || self == UInt8(ascii: "<") || self == UInt8(ascii: ">") || self == UInt8(ascii: "}")
      || self == UInt8(ascii: "]") || self == UInt8(ascii: ")")
  }
  /// What begins user info's host, a query or a fragment; a URL without any has nothing to hide.
  fileprivate var isURLSuspect: Bool {
    self == UInt8(ascii: "?") || self == UInt8(ascii: "@") || self == UInt8(ascii: "#")
  }
  fileprivate var endsURL: Bool {
    self <= 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "<") || self == UInt8(ascii: ">")
      || self == UInt8(ascii: "\\")
  }
}
