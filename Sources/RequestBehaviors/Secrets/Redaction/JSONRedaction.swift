/// One pass over JSON text that copies it with sensitive values replaced.
///
/// The text may be cut off anywhere, and it may be several values one after another. At the first byte that is not JSON
/// the pass shows no more, because names and values can then no longer be told apart.
///
/// Its states are the expectations of what comes next (``Expectation``):
///
/// | state | reads | next state |
/// |---|---|---|
/// | value | text, a number or a word | separator |
/// | value | `{` | name or end |
/// | value | `[` | element or end |
/// | name or end, name | `"name":` | value |
/// | element or end | the beginning of a value | that of a value |
/// | separator | `,` in an object | name |
/// | separator | `,` in an array | value |
/// | name or end, element or end, separator | the end of the container | separator |
///
/// Outside of all containers another value may follow in place of a separator. After the name of a hidden field the
/// value is replaced as a whole, whatever its type.
struct JSONRedaction {
  private enum Expectation { case value, elementOrEnd, nameOrEnd, name, separator }

  let bytes: UnsafeBufferPointer<UInt8>
  private let rules: RedactionRules
  private let pointers: [[[UInt8]]]
  /// The placeholders that keep the type and shape of hidden values; `nil` for the same text in place of each.
  private let placeholders: RedactionPlaceholders?
  /// The rules for text within strings that a test is to play; `nil` for those of logs.
  private let playable: PlayableRedaction?
  /// Whether everything so far was JSON.
  private(set) var isWellFormed = true
  private(set) var index = 0
  /// Whether the text contains names of a sign-in; computed when it is needed first.
  var hasSignInNames: Bool?
  private let ends = ASCIISet.ends
  private let suspects = ASCIISet.suspects
  private let times = ASCIISet.times
  private let suspectsAndSpace = ASCIISet.suspectsAndSpace
  private var copied = 0
  private var output: [UInt8] = []
  private var expectation = Expectation.value
  /// Whether each open container is an object.
  private var containers: [Bool] = []
  /// The reference token of the current member of each open container; kept only when there are pointers.
  private var path: [[UInt8]] = []
  private var positions: [Int] = []

  init(
    bytes: UnsafeBufferPointer<UInt8>, rules: RedactionRules, placeholders: RedactionPlaceholders? = nil,
    playable: PlayableRedaction? = nil
  ) {
    self.bytes = bytes
    self.placeholders = playable?.placeholders ?? placeholders
    self.playable = playable
    self.rules = rules
    pointers = rules.pointers
  }

  /// Returns the text in the form that may be shown.
  mutating func run() -> [UInt8] {
    output.reserveCapacity(bytes.count + 64)
    containers.reserveCapacity(16)
    // Servers on Windows write a byte order mark, which decoders read over (RFC 8259 §8.1). A cassette keeps it.
    if placeholders != nil, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    while skipWhitespace() {
      guard step() else {
        isWellFormed = false
        flush(to: index)
        appendRemark()
        return output
      }
    }
    flush(to: bytes.count)
    return output
  }

  /// Appends a remark in place of the rest, which is not JSON.
  ///
  /// A remark of an earlier pass stays. Otherwise a cassette that is read would not have the body that was written.
  private mutating func appendRemark() {
    let rest = bytes[index...]
    let count = rest.dropFirst().prefix(while: \.isASCIIDigit)
    let isRemark =
      rest.first == UInt8(ascii: "<") && !count.isEmpty
      && rest[count.endIndex...].elementsEqual(JSONRedaction.remark.utf8)
    if isRemark { return output.append(contentsOf: rest) }
    // A space keeps it apart from a word before it, because the next pass would take both for one word.
    if let last = output.last, last.isASCIIAlphanumeric || last.isNumberByte { output.append(UInt8(ascii: " ")) }
    output.append(contentsOf: "<\(rest.count)\(JSONRedaction.remark)".utf8)
  }

  private static let remark = " bytes that are not JSON>"

  private mutating func step() -> Bool {
    let byte = bytes[index]
    switch expectation {
    case .elementOrEnd where byte == UInt8(ascii: "]"), .nameOrEnd where byte == UInt8(ascii: "}"): close()
    case .separator: return separate(byte)
    case .name, .nameOrEnd: return member(byte)
    case .value, .elementOrEnd: return value(byte)
    }
    return true
  }

  // MARK: Structure

  private mutating func close() {
    containers.removeLast()
    if !pointers.isEmpty {
      path.removeLast()
      positions.removeLast()
    }
    index += 1
    finishValue()
  }

  private mutating func open(isObject: Bool) {
    containers.append(isObject)
    if !pointers.isEmpty {
      path.append(isObject ? [] : [UInt8(ascii: "0")])
      positions.append(0)
    }
    expectation = isObject ? .nameOrEnd : .elementOrEnd
    index += 1
  }

  private mutating func finishValue() { expectation = containers.isEmpty ? .value : .separator }

  private mutating func separate(_ byte: UInt8) -> Bool {
    guard let isObject = containers.last else { return false }
    if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
      close()
      return true
    }
    guard byte == UInt8(ascii: ",") else { return false }
    index += 1
    expectation = isObject ? .name : .value
    if !pointers.isEmpty, !isObject { advancePosition() }
    return true
  }

  private mutating func advancePosition() {
    positions[positions.count - 1] += 1
    path[path.count - 1] = Array(String(positions[positions.count - 1]).utf8)
  }

  /// Reads a name and its colon, and the value if it is hidden.
  private mutating func member(_ byte: UInt8) -> Bool {
    guard byte == UInt8(ascii: "\"") else { return false }
    let start = index + 1
    let marks = skipString()
    let isWhole = index > start && bytes[index - 1] == UInt8(ascii: "\"")
    let raw = UnsafeBufferPointer(rebasing: bytes[start..<(isWhole ? index - 1 : index)])
    // A name may be a token, as in a table of tokens.
    if raw.count >= 20, raw[...].webTokenStart != nil { redactText(from: start - 1, isEscaped: marks.isEscaped) }
    // A name at the cut ends the text.
    guard skipWhitespace() else { return true }
    guard bytes[index] == UInt8(ascii: ":") else { return false }
    index += 1
    let isHidden = marks.isEscaped ? judge(JSONText.unescape(raw)) : judge(raw) || isOfSignIn(raw)
    expectation = .value
    if isHidden, skipWhitespace() { hideValue() }
    return true
  }

  private mutating func judge(_ name: [UInt8]) -> Bool { name.withUnsafeBufferPointer { judge($0) } }

  private mutating func judge(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    if !pointers.isEmpty { path[path.count - 1] = Array(name) }
    return rules.isSensitive(field: name) || (!pointers.isEmpty && isPointedAt())
  }

  private func isPointedAt() -> Bool {
    pointers.contains { pointer in
      pointer.count == path.count
        && zip(pointer, path).allSatisfy { token, actual in token == actual || token == [UInt8(ascii: "*")] }
    }
  }

  // MARK: Values

  private mutating func value(_ byte: UInt8) -> Bool {
    if !pointers.isEmpty, containers.last == false, isPointedAt() {
      hideValue()
      return true
    }
    switch byte {
    case UInt8(ascii: "{"): open(isObject: true)
    case UInt8(ascii: "["): open(isObject: false)
    case UInt8(ascii: "\""): string()
    default:
      guard skipScalar() else { return false }
      finishValue()
    }
    return true
  }

  private mutating func string() {
    // A string without a name may be a token.
    if containers.isEmpty { return hideValue() }
    let start = index
    let marks = skipString()
    let isSuspect =
      if marks.isSuspect {
        !isTime(from: start + 1)
      } else {
        (index - start >= 20 && bytes[start..<index].webTokenStart != nil)
          || (marks.hasSpaces && mayHoldSecret(UnsafeBufferPointer(rebasing: bytes[start..<index])))
      }
    if isSuspect { redactText(from: start, isEscaped: marks.isEscaped) }
    finishValue()
  }

  /// Whether the string that ended here is a date and time, such as `2024-01-01T00:00:00Z` (RFC 3339 §5.6).
  ///
  /// Its colons make it a suspect, although nothing in it can be the name of a secret.
  private func isTime(from start: Int) -> Bool {
    let content = bytes[start..<max(index - 1, start)]
    guard content.count >= 11, bytes[start + 4] == UInt8(ascii: "-"), bytes[start + 10] == UInt8(ascii: "T") else {
      return false
    }
    return content.allSatisfy { times.contains($0) }
  }

  /// Whether a string with spaces, and none of the other suspects, may hold a secret.
  private func mayHoldSecret(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    // With placeholders, JSON within the string is redacted like other JSON.
    placeholders != nil || TextRedaction.mayHoldCredential(text)
  }

  /// Redacts a string that may contain a URL or text with secrets.
  private mutating func redactText(from start: Int, isEscaped: Bool) {
    let isWhole = index > start + 1 && bytes[index - 1] == UInt8(ascii: "\"")
    let raw = UnsafeBufferPointer(rebasing: bytes[(start + 1)..<(isWhole ? index - 1 : index)])
    let text = isEscaped ? redacted(JSONText.unescape(raw), isWhole) : redacted(raw, isWhole)
    guard let shown = text else { return }
    flush(to: start)
    JSONText.appendQuoted(shown, to: &output)
    copied = index
  }

  private func redacted(_ content: [UInt8], _ isWhole: Bool) -> [UInt8]? {
    content.withUnsafeBufferPointer { redacted($0, isWhole) }
  }

  /// Returns the content in the form that may be shown; `nil` if nothing in it has to be hidden.
  private func redacted(_ content: UnsafeBufferPointer<UInt8>, _ isWhole: Bool) -> [UInt8]? {
    if let placeholders, let first = content.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      var nested = JSONRedaction(bytes: content, rules: rules, placeholders: placeholders, playable: playable)
      let shown = nested.run()
      if nested.isWellFormed { return shown }
    }
    var text = TextRedaction(bytes: content, rules: rules, playable: playable, isCutOff: !isWhole)
    return text.run()
  }

  private mutating func hideValue() {
    flush(to: index)
    let start = index
    switch bytes[index] {
    case UInt8(ascii: "\""): _ = skipString()
    case UInt8(ascii: "{"), UInt8(ascii: "["): skipContainer()
    default: while index < bytes.count, !bytes[index].endsScalar { index += 1 }
    }
    copied = index
    if let placeholders {
      placeholders.appendValue(like: UnsafeBufferPointer(rebasing: bytes[start..<index]), to: &output)
    } else {
      output.append(contentsOf: RedactionRules.quotedPlaceholder)
    }
    finishValue()
  }

  private mutating func skipContainer() {
    var depth = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        _ = skipString()
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      index += 1
      if depth == 0 { return }
    }
  }

  /// Moves behind a number, `true`, `false` or `null`; a word may be cut off by the end of the text.
  private mutating func skipScalar() -> Bool {
    var end = index
    while end < bytes.count, !bytes[end].endsScalar { end += 1 }
    let scalar = bytes[index..<end]
    guard let first = scalar.first else { return false }
    if first.isASCIIDigit || first == UInt8(ascii: "-") {
      guard scalar.allSatisfy(\.isNumberByte) else { return false }
    } else {
      guard scalar.isJSONLiteral(isCutOff: scalar.endIndex == bytes.count) else { return false }
    }
    index = end
    return true
  }

  /// Moves behind the string that begins here, or to the end of a text that is cut off.
  ///
  /// - Returns: The kinds of characters in the string, by which a secret could be recognized. Most strings have none.
  private mutating func skipString() -> (isEscaped: Bool, isSuspect: Bool, hasSpaces: Bool) {
    var (isEscaped, isSuspect, hasSpaces) = (false, false, false)
    var place = index + 1
    let end = bytes.count
    while place < end {
      // Of each kind only the first counts.
      let wanted = isSuspect ? ends : hasSpaces ? suspects : suspectsAndSpace
      while place < end, !wanted.contains(bytes[place]) { place += 1 }
      guard place < end else { break }
      switch bytes[place] {
      case UInt8(ascii: "\""):
        index = place + 1
        return (isEscaped, isSuspect, hasSpaces)
      case UInt8(ascii: " "): hasSpaces = true
      case UInt8(ascii: "\\"):
        (isEscaped, isSuspect) = (true, true)
        place += 1
      default: isSuspect = true
      }
      place += 1
    }
    index = end
    return (isEscaped, isSuspect, hasSpaces)
  }

  private mutating func skipWhitespace() -> Bool {
    while index < bytes.count, bytes[index] <= 0x20 {
      // A record separator precedes each text of a sequence (RFC 7464).
      guard bytes[index].isJSONWhitespace || bytes[index] == 0x1E else { break }
      index += 1
    }
    return index < bytes.count
  }

  private mutating func flush(to end: Int) {
    if copied < end { output.append(contentsOf: bytes[copied..<end]) }
    copied = max(copied, end)
  }
}

extension ASCIISet {
  /// The quote that ends a string, and the character that escapes it.
  fileprivate static let ends = ASCIISet("\"\\")
  /// These, and the characters by which a secret could be recognized wherever it is in a string.
  fileprivate static let suspects = ASCIISet("\"\\:=<")
  /// These, and the space, which a credential follows only after the name of an authentication scheme.
  fileprivate static let suspectsAndSpace = ASCIISet("\"\\:=< ")
  /// The characters of a date and time.
  fileprivate static let times = ASCIISet(digits + "-:.+TZ")
}
