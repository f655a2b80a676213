import Foundation

/// One pass over text of unknown form that hides probable secrets.
struct TextRedaction {
  let bytes: UnsafeBufferPointer<UInt8>
  let rules: RedactionRules
  /// The rules for text that a test is to play; `nil` for those of logs.
  private let playable: PlayableRedaction?
  /// Whether the text ends where a value may go on.
  let isCutOff: Bool
  static let words = ASCIISet.words
  let words = TextRedaction.words
  private let nameEnds = ASCIISet.nameEnds
  var index = 0
  var knownRun: Run?
  /// The index before which all text is in the output.
  private(set) var copied = 0
  private(set) var output: [UInt8] = []

  init(
    bytes: UnsafeBufferPointer<UInt8>, rules: RedactionRules, playable: PlayableRedaction? = nil, isCutOff: Bool = false
  ) {
    self.bytes = bytes
    self.rules = rules
    self.isCutOff = isCutOff
    self.playable = playable
  }

  /// Returns the text in the form that may be shown; `nil` if nothing has to be hidden.
  mutating func run() -> [UInt8]? {
    // Elements and blocks first, because their content may contain words of any kind.
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "<"), hideElement() { continue }
      if bytes[index] == UInt8(ascii: "-"), let block = pemBlock(at: index) {
        hide(from: block.content.lowerBound, to: block.content.upperBound)
        index = block.end
        continue
      }
      guard bytes[index].isASCIIAlphanumeric else {
        index += 1
        continue
      }
      let start = index
      skipWord()
      redact(wordFrom: start)
    }
    guard copied > 0 else { return nil }
    output.append(contentsOf: bytes[copied...])
    return output
  }

  /// Whether text without any of `:=<\` may hold a secret: the name of an authentication scheme, or a PEM block.
  ///
  /// It looks up only the words that end like such a name, and ``run()`` every word. A JSON Web Token is not searched
  /// for.
  static func mayHoldCredential(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let (words, lastBytes) = (ASCIISet.words, Redactor.schemes.lastBytes)
    var space = 0
    while space < text.count {
      defer { space += 1 }
      guard text[space] == UInt8(ascii: " "), space > 0, lastBytes.contains(text[space - 1]) else { continue }
      // As in `run()`, a word begins with a letter or digit.
      var (place, start) = (space, space)
      while place > 0, words.contains(text[place - 1]) {
        place -= 1
        if text[place].isASCIIAlphanumeric { start = place }
      }
      if Redactor.schemes.contains(UnsafeBufferPointer(rebasing: text[start..<space])) { return true }
    }
    return end(of: pemDashes, in: text, from: 0) != nil
  }

  private mutating func skipWord() {
    var place = index
    while place < bytes.count, words.contains(bytes[place]) {
      // The dashes that begin a PEM block do not belong to a word before them.
      if bytes[place] == UInt8(ascii: "-"), isDash(place + 1), bytes[place...].starts(with: TextRedaction.pemDashes) {
        break
      }
      place += 1
    }
    index = place
  }

  private mutating func redact(wordFrom start: Int) {
    if index - start >= 20, let token = webTokenStart(in: bytes[start..<index]) {
      return hide(from: token, to: index, as: playable?.placeholders.placeholder(for: text(token..<index)))
    }
    guard index < bytes.count else { return }
    let next = bytes[index]
    if next == UInt8(ascii: ":"), byte(1) == UInt8(ascii: "/"), byte(2) == UInt8(ascii: "/") {
      return redactURL(from: start)
    }
    if next == UInt8(ascii: ":"), let end = signInCallback(from: start) { return hide(from: index + 1, to: end) }
    let word = UnsafeBufferPointer(rebasing: bytes[start..<index])
    if next == UInt8(ascii: " "), Redactor.schemes.contains(word) { return hideCredentials(of: word) }
    // Few words have a value, so this is asked before the name is looked up.
    guard let value = valueStart(), rules.isSensitive(field: word) || isOfSignIn(word, from: start) else { return }
    hide(from: value, to: valueEnd(from: value, after: word))
  }

  private func webTokenStart(in word: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    playable == nil ? word.webTokenStart : word.dottedWebTokenStart
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Returns the index of the value of the name that ends here; `nil` if no value follows.
  private func valueStart() -> Int? {
    var place = index
    while place < bytes.count, nameEnds.contains(bytes[place]) {
      let isSeparator = bytes[place] == UInt8(ascii: "=") || bytes[place] == UInt8(ascii: ":")
      place += 1
      guard isSeparator else { continue }
      while place < bytes.count, bytes[place] == UInt8(ascii: " ") || bytes[place] == UInt8(ascii: ">") { place += 1 }
      return place
    }
    return nil
  }

  /// Returns the index after a value: of the closing quote if it begins with one, else of the next delimiter.
  private func valueEnd(from start: Int, after name: UnsafeBufferPointer<UInt8>) -> Int {
    if let block = pemBlock(at: start) { return block.end }
    // The value of these fields is the whole line, which may contain spaces, commas and quotes.
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

  /// Returns the index of the quote that closes a value; it has as many escapes as the quote that opened it.
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
    let colon = index
    let isQuoted = start > 0 && bytes[start - 1] == UInt8(ascii: "'")
    let end = end(from: start) { $0.endsURL || (isQuoted && $0 == UInt8(ascii: "'")) }
    index = end
    // Before a cut nothing tells a host from the user info of a URL: the `@` after it may be missing.
    let authority = bytes[(colon + 3)..<max(end, colon + 3)]
    if isCutOff, end == bytes.count, !authority.isEmpty, !authority.contains(where: \.endsAuthority) {
      return hide(from: authority.startIndex, to: end)
    }
    let url = bytes[start..<end]
    guard url.contains(where: \.isURLSuspect) || url.webTokenStart != nil, let shown = shown(url: url) else { return }
    output.append(contentsOf: bytes[copied..<start])
    output.append(contentsOf: shown)
    copied = end
  }

  /// Returns a URL in the form that may be shown; `nil` if nothing has to be hidden.
  private func shown(url: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8]? {
    if let playable { return playable.link(text(url.startIndex..<url.endIndex)).map { Array($0.utf8) } }
    var redaction = URLRedaction(bytes: UnsafeBufferPointer(rebasing: url), rules: rules)
    return redaction.run()
  }

  /// Hides the word after the name of an authentication scheme, unless it is prose: "basic authentication failed".
  ///
  /// A test plays words that do not look like a credential: "Basic Tee" is the name of a product. After the name of
  /// another scheme every word is one.
  private mutating func hideCredentials(of scheme: UnsafeBufferPointer<UInt8>) {
    let start = index + 1
    let end = end(from: start) { $0.endsBareValue }
    let word = UnsafeBufferPointer(rebasing: bytes[start..<end])
    guard !word.isEmpty, !Redactor.proseWords.contains(word), !isProse(word, after: scheme) else {
      index = start
      return
    }
    hide(from: start, to: end)
  }

  /// Whether a test plays the word after the name of a scheme that is a word of prose too.
  private func isProse(_ word: UnsafeBufferPointer<UInt8>, after scheme: UnsafeBufferPointer<UInt8>) -> Bool {
    guard playable != nil, Redactor.proseSchemes.contains(scheme) else { return false }
    if SignInNames.looksSecret(word) || SignInNames.hasWordOfKey(word, mayBeShort: false) { return false }
    // The base64 of a user name and a password has a colon (RFC 7617 §2). Padding may be missing, a stop may follow.
    let digits = word.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "=") }
    let padding = repeatElement(UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
    return Data(base64Encoded: Data(digits) + padding)?.contains(UInt8(ascii: ":")) != true
  }

  /// Returns the index of the first delimiter; a placeholder of an earlier redaction is not a delimiter.
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

  mutating func hide(from start: Int, to end: Int, as placeholder: String? = nil) {
    output.append(contentsOf: bytes[copied..<start])
    output.append(contentsOf: placeholder.map { Array($0.utf8) } ?? RedactionRules.placeholder)
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

  private func isDash(_ place: Int) -> Bool { place < bytes.count && bytes[place] == UInt8(ascii: "-") }

  private func byte(_ offset: Int) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }
}

extension Redactor {
  static let schemes = FieldNames(
    ["Bearer", "Basic", "Digest", "DPoP", "Negotiate", "NTLM", "OAuth"], ignoringPunctuation: false)
  fileprivate static let proseSchemes = FieldNames(["Basic", "Digest", "OAuth"], ignoringPunctuation: false)
  fileprivate static let proseWords = FieldNames(
    [
      "auth", "authentication", "authorization", "challenge", "challenges", "credential", "credentials", "error",
      "flow", "header", "realm", "scheme", "token", "tokens",
    ], ignoringPunctuation: true)
  fileprivate static let lineFields = FieldNames(
    ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"], ignoringPunctuation: false)
}

extension ASCIISet {
  /// The characters of a word of free text, such as the name of a field.
  fileprivate static let words = ASCIISet(letters + digits + "_-.+")
  /// The characters that can be between a name and its value.
  fileprivate static let nameEnds = ASCIISet("\"'=:\\] ")
}

extension UInt8 {
  var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
  fileprivate var endsBareValue: Bool {
    self <= 0x20 || isQuote || self == UInt8(ascii: "&") || self == UInt8(ascii: ",") || self == UInt8(ascii: ";")
      || self == UInt8(ascii: "<") || self == UInt8(ascii: ">") || self == UInt8(ascii: "}")
      || self == UInt8(ascii: "]") || self == UInt8(ascii: ")")
  }
  /// Whether the byte begins a host after user info, a query or a fragment; other URLs have no part to hide.
  fileprivate var isURLSuspect: Bool {
    self == UInt8(ascii: "?") || self == UInt8(ascii: "@") || self == UInt8(ascii: "#")
  }
  /// Whether the byte ends the host of a URL.
  fileprivate var endsAuthority: Bool {
    self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
  }
  fileprivate var endsURL: Bool {
    self <= 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "<") || self == UInt8(ascii: ">")
      || self == UInt8(ascii: "\\")
  }
}
