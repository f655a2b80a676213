import Foundation

/// Values that no text may show, found in whatever encoding they were written there.
///
/// A value is found as it is, percent-encoded (all of it or some octets, in either case, a space also as `+`), with the
/// escapes of JSON, also of JSON in JSON, with the entities of XML, and within base64 of a longer text, such as that
/// of `user:password`.
struct KnownSecrets: Sendable {
  /// Shorter values are not looked for: they are found everywhere.
  static let minimumLength = 4

  private struct Pattern {
    let bytes: [UInt8]
    /// Whether it is more than a word: then no field's name contains it, and hiding a part of it may leave the rest.
    var isPhrase = false
    /// What stands around it, if this is what base64 makes of a value within a longer text.
    var edges: Base64Edges?
  }

  /// Whether the characters of base64 before and after a value hold bits of it too.
  private struct Base64Edges {
    let before: Bool
    let after: Bool
  }

  private(set) var values: Set<String> = []
  /// The longest first, so that of two that begin alike the longer is hidden whole.
  private var patterns: [Pattern] = []
  /// For each byte the patterns that begin with it.
  private var patternsByFirstByte: [UInt8: [Pattern]] = [:]

  var isEmpty: Bool { patterns.isEmpty }

  init(_ values: some Sequence<String> = []) { insert(values) }

  /// Adds values.
  mutating func insert(_ added: some Sequence<String>) {
    for value in added where value.utf8.count >= KnownSecrets.minimumLength {
      if values.insert(value).inserted { patterns += KnownSecrets.patterns(of: value) }
    }
    patterns.sort { $0.bytes.count > $1.bytes.count }
    patternsByFirstByte = Dictionary(grouping: patterns) { $0.bytes[0] }
  }

  /// What has to be looked for to find a value.
  private static func patterns(of value: String) -> [Pattern] {
    let bytes = Array(value.utf8)
    let isPhrase = !bytes.allSatisfy { $0.isASCIIAlphanumeric || $0 >= 0x80 || "-_.+".utf8.contains($0) }
    var patterns = [Pattern(bytes: bytes, isPhrase: isPhrase)]
    if isPhrase {
      // JSON in JSON: what remains when the outer escapes are read. Some writers escape the slash.
      var quoted: [UInt8] = []
      JSONText.appendQuoted(bytes, to: &quoted)
      let escaped = Array(quoted.dropFirst().dropLast())
      let slashed = escaped.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
      if escaped != bytes { patterns.append(Pattern(bytes: escaped, isPhrase: true)) }
      if slashed != escaped { patterns.append(Pattern(bytes: slashed, isPhrase: true)) }
    }
    for offset in 0..<3 { patterns += base64(of: bytes, after: offset) }
    return patterns
  }

  /// The characters of base64, in both alphabets, that are the same whatever stands around a value.
  ///
  /// - Parameters:
  ///   - bytes: The value.
  ///   - offset: How many octets precede it in its group of three.
  /// - Returns: Nothing if they are so few that they may be anything.
  private static func base64(of bytes: [UInt8], after offset: Int) -> [Pattern] {
    let text = Array(Data(repeatElement(0, count: offset) + bytes).base64EncodedString().utf8)
    let start = (offset * 8 + 5) / 6
    let end = (offset + bytes.count) * 8 / 6
    guard end - start >= 5 else { return [] }
    let edges = Base64Edges(before: offset > 0, after: (offset + bytes.count) % 3 > 0)
    let core = Array(text[start..<end])
    let replaced: [UInt8: UInt8] = [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
    let urlSafe = core.map { replaced[$0] ?? $0 }
    return (core == urlSafe ? [core] : [core, urlSafe]).map { Pattern(bytes: $0, edges: edges) }
  }
}

// MARK: - Hiding

extension KnownSecrets {
  /// Hides the values in a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - phrasesOnly: Whether values of a single word are left alone.
  ///   - isCutOff: Whether the text ends where a value may go on; then the beginning of a value there is hidden too.
  /// - Returns: The text with the placeholder for each; `nil` if none is in it.
  func hide(
    in text: UnsafeBufferPointer<UInt8>, phrasesOnly: Bool = false, isCutOff: Bool = false
  ) -> [UInt8]? {
    guard phrasesOnly ? patterns.contains(where: \.isPhrase) : !isEmpty else { return nil }
    // A table, because most bytes of a text begin nothing.
    var candidates: [[Pattern]] = Array(repeating: [], count: 256)
    for (byte, patterns) in patternsByFirstByte { candidates[Int(byte)] = patterns }
    for lead in Encoding.leads { candidates[Int(lead)] = patterns }
    var output: [UInt8] = []
    var copied = 0
    var index = 0
    while index < text.count {
      if text[index] == RedactionRules.placeholder[0], text[index...].starts(with: RedactionRules.placeholder) {
        index += RedactionRules.placeholder.count
      } else if let match = match(
        of: candidates[Int(text[index])], phrasesOnly, in: text, at: index, after: copied, isCutOff: isCutOff)
      {
        output += text[copied..<match.lowerBound]
        output += RedactionRules.placeholder
        copied = match.upperBound
        index = copied
      } else {
        index += 1
      }
    }
    guard copied > 0 else { return nil }
    return output + text[copied...]
  }

  /// Returns the text with every value replaced by the placeholder.
  func hide(in text: String) -> String {
    guard !isEmpty else { return text }
    var text = text
    let hidden = text.withUTF8 { hide(in: $0) }
    return hidden.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  private func match(
    of patterns: [Pattern], _ phrasesOnly: Bool, in text: UnsafeBufferPointer<UInt8>, at start: Int, after copied: Int,
    isCutOff: Bool
  ) -> Range<Int>? {
    for pattern in patterns where pattern.isPhrase || !phrasesOnly {
      guard let end = end(of: pattern.bytes, in: text, at: start, isCutOff: isCutOff) else { continue }
      guard let edges = pattern.edges else { return start..<end }
      return base64Run(around: start..<end, edges, in: text, after: copied)
    }
    return nil
  }

  /// The place after a pattern that begins at a place, whatever encoding it is written in.
  private func end(of pattern: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int, isCutOff: Bool) -> Int? {
    var place = start
    while place < text.count, place - start < pattern.count, text[place] == pattern[place - start] { place += 1 }
    let matched = place - start
    if matched == pattern.count || (place == text.count && isCutOff && matched >= KnownSecrets.minimumLength) {
      return place
    }
    // An encoding differs from plain text only where one of its escapes stands.
    let seen = text[start..<min(place + 1, text.count)]
    for encoding in Encoding.allCases where seen.contains(where: encoding.isLead) {
      if let end = encoding.end(of: pattern, in: text, at: start, isCutOff: isCutOff) { return end }
    }
    return nil
  }

  /// The characters of base64 around a match.
  private func base64Run(
    around match: Range<Int>, _ edges: Base64Edges, in text: UnsafeBufferPointer<UInt8>, after copied: Int
  ) -> Range<Int> {
    var start = match.lowerBound
    var end = match.upperBound
    if edges.before, start > copied, text[start - 1].isBase64 { start -= 1 }
    if edges.after, end < text.count, text[end].isBase64 { end += 1 }
    // A slash may belong to a path that the text is in.
    while start > copied, text[start - 1].isBase64, text[start - 1] != UInt8(ascii: "/") { start -= 1 }
    while end < text.count, text[end].isBase64, text[end] != UInt8(ascii: "/") { end += 1 }
    return start..<end
  }
}

// MARK: - Encodings

/// A way in which text writes octets that differs from what they are.
private enum Encoding: CaseIterable {
  case percent, json, xml

  /// What begins an escape in any of them.
  static let leads = Array("%+\\&".utf8)

  /// Whether a byte begins an escape.
  func isLead(_ byte: UInt8) -> Bool {
    switch self {
    case .percent: byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")
    case .json: byte == UInt8(ascii: "\\")
    case .xml: byte == UInt8(ascii: "&")
    }
  }

  /// The place after a pattern that is written at a place; `nil` if it is not there.
  func end(of pattern: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int, isCutOff: Bool) -> Int? {
    var place = start
    var matched = 0
    while matched < pattern.count {
      guard place < text.count else { return isCutOff && matched >= KnownSecrets.minimumLength ? place : nil }
      let (octets, length) = unit(in: text, at: place, expecting: pattern[matched])
      guard pattern[matched...].starts(with: octets) else { return nil }
      matched += octets.count
      place += length
    }
    return place
  }

  /// The octets that stand at a place, and how long they are there.
  private func unit(
    in text: UnsafeBufferPointer<UInt8>, at place: Int, expecting expected: UInt8
  ) -> (octets: [UInt8], length: Int) {
    let byte = text[place]
    let rest = text[place...]
    switch self {
    // A space in a form; in a URL it stands for itself.
    case .percent where byte == UInt8(ascii: "+") && expected == UInt8(ascii: " "): return ([expected], 1)
    case .percent where byte == UInt8(ascii: "%"):
      let digits = rest.dropFirst().prefix(2)
      guard digits.count == 2, digits.allSatisfy(\.isASCIIAlphanumeric),
        let octet = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { break }
      return ([octet], 3)
    case .json where byte == UInt8(ascii: "\\"):
      // A pair of surrogates is twelve characters long; of others the first escape is taken.
      for length in [12, 6, 2] where rest.count >= length {
        let escape = UnsafeBufferPointer(rebasing: rest.prefix(length))
        guard length == 2 || escape[1] == UInt8(ascii: "u") else { continue }
        let octets = JSONText.unescape(escape)
        if String(decoding: octets, as: UTF8.self).unicodeScalars.count == 1 { return (octets, length) }
      }
      if rest.dropFirst().first == UInt8(ascii: "'") { return ([UInt8(ascii: "'")], 2) }
    case .xml where byte == UInt8(ascii: "&"):
      guard let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")) else { break }
      let name = String(decoding: text[(place + 1)..<end], as: UTF8.self)
      guard let scalar = Encoding.scalar(ofEntity: name) else { break }
      return (Array(String(scalar).utf8), end + 1 - place)
    default: break
    }
    return ([byte], 1)
  }

  /// The character of an entity that every XML document knows, or of a number (XML 1.0 §4.1, §4.6).
  private static func scalar(ofEntity name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard name.hasPrefix("#") else { return nil }
      let isHexadecimal = name.dropFirst().first == "x"
      let digits = name.dropFirst(isHexadecimal ? 2 : 1)
      return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }
  }
}

extension UInt8 {
  /// A character of either alphabet of base64, or its padding.
  fileprivate var isBase64: Bool { isASCIIAlphanumeric || "+/-_=".utf8.contains(self) }
}
