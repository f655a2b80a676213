import Foundation

/// Values that no text may show, found in any encoding.
///
/// A value is found unchanged, or percent-encoded (all octets or some, in either case, a space also as `+`). It is
/// found with the escapes of JSON, also of JSON in JSON, and with the entities of XML. It is also found within the
/// base64 of a longer text, such as that of `user:password`.
struct KnownSecrets: Sendable {
  /// The length of the shortest value that is searched for; shorter ones would be found everywhere.
  static let minimumLength = 4

  /// The most values among which the same one is looked for before it is added.
  private static let comparedLimit = 32

  // A list, because most requests have few secrets. Of many, a value may be there twice.
  private(set) var values: [String] = []
  /// The length of the shortest value.
  private var shortest = Int.max
  /// The forms of the values, made when they are needed: most texts are too short for a secret or lack its bytes.
  private var made = Locked(Made())

  var isEmpty: Bool { values.isEmpty }

  init(_ values: some Sequence<String> = []) { insert(values) }

  /// Adds values.
  mutating func insert(_ added: some Sequence<String>) {
    let count = values.count
    for value in added {
      let length = value.utf8.count
      guard length >= KnownSecrets.minimumLength else { continue }
      if values.count < KnownSecrets.comparedLimit, values.contains(where: { $0.hasBytes(of: value) }) { continue }
      values.append(value)
      shortest = min(shortest, length)
    }
    if values.count > count { made = Locked(Made()) }
  }

  private struct Made: Sendable {
    var search: Search?
    var beginnings: SecretBeginnings?
  }

  /// The forms of all values.
  private struct Search: Sendable {
    let all: SecretIndex
    /// Those that are more than a word.
    let phrases: SecretIndex

    init(_ values: [String]) {
      // By their bytes: equal texts may have different ones.
      var seen: Set<[UInt8]> = []
      let distinct = values.filter { seen.insert(Array($0.utf8)).inserted }
      let patterns = distinct.flatMap(SecretPattern.patterns)
      all = SecretIndex(patterns)
      phrases = SecretIndex(patterns.filter(\.isPhrase))
    }
  }

  private func makeSearch() -> Search {
    made.withLock { made in
      if let search = made.search { return search }
      let search = Search(values)
      made.search = search
      return search
    }
  }

  private func makeBeginnings() -> SecretBeginnings {
    made.withLock { made in
      if let beginnings = made.beginnings { return beginnings }
      let beginnings = SecretBeginnings(of: values)
      made.beginnings = beginnings
      return beginnings
    }
  }

  /// Whether a text may contain one of the values in any encoding; a quick check that makes no patterns.
  func isPossible(in text: UnsafeBufferPointer<UInt8>) -> Bool {
    // No encoding of a value is shorter than the value.
    guard text.count >= shortest else { return false }
    let shape = TextShape(text)
    // A recording knows the secrets of hundreds of calls.
    if values.count > KnownSecrets.comparedLimit { return shape.mayHold(oneOf: makeBeginnings(), in: text) }
    return values.contains { value in
      var value = value
      return value.withUTF8 { shape.mayHold($0, in: text) }
    }
  }
}

// MARK: - Hiding

extension KnownSecrets {
  /// Hides the values in a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - phrasesOnly: Whether values of a single word are skipped.
  ///   - isCutOff: Whether the text ends where a value may go on; the beginning of a value there is then hidden too.
  ///   - placeholders: Makes the placeholders; by default they have no numbers.
  /// - Returns: The text with the placeholder for each; `nil` if it contains no value.
  func hide(
    in text: UnsafeBufferPointer<UInt8>, phrasesOnly: Bool = false, isCutOff: Bool = false,
    _ placeholders: RedactionPlaceholders? = nil
  ) -> [UInt8]? {
    guard !isEmpty, isCutOff || isPossible(in: text) else { return nil }
    let search = makeSearch()
    let forms = phrasesOnly ? search.phrases : search.all
    if forms.isEmpty { return nil }
    var output: [UInt8] = []
    var copied = 0
    var index = 0
    while index < text.count {
      // A placeholder of an earlier redaction stays, or a secret that is part of the word would break it up.
      if text[index] == RedactionRules.placeholder[0], text[index...].starts(with: RedactionRules.placeholder) {
        index += RedactionRules.placeholder.count
      } else if let match = forms.match(in: text, at: index, isCutOff: isCutOff) {
        let pattern = match.pattern
        let range =
          pattern.edges.map { base64Run(around: index..<match.end, $0, in: text, after: copied) }
          ?? index..<match.end
        output += text[copied..<range.lowerBound]
        output += placeholders.map { Array($0.placeholder(for: pattern.value).utf8) } ?? RedactionRules.placeholder
        copied = range.upperBound
        index = copied
      } else {
        index += 1
      }
    }
    guard copied > 0 else { return nil }
    return output + text[copied...]
  }

  /// Returns the text with every value replaced by the placeholder.
  func hide(in text: String, _ placeholders: RedactionPlaceholders? = nil) -> String {
    guard !isEmpty else { return text }
    var text = text
    let hidden = text.withUTF8 { hide(in: $0, placeholders) }
    return hidden.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// Returns the whole run of base64 characters around a match.
  private func base64Run(
    around match: Range<Int>, _ edges: SecretPattern.Base64Edges, in text: UnsafeBufferPointer<UInt8>, after copied: Int
  ) -> Range<Int> {
    var start = match.lowerBound
    var end = match.upperBound
    if edges.before, start > copied, text[start - 1].isBase64 { start -= 1 }
    if edges.after, end < text.count, text[end].isBase64 { end += 1 }
    // A slash may belong to a path that contains the text.
    while start > copied, text[start - 1].isBase64, text[start - 1] != UInt8(ascii: "/") { start -= 1 }
    while end < text.count, text[end].isBase64, text[end] != UInt8(ascii: "/") { end += 1 }
    return start..<end
  }
}

extension String {
  /// Whether two texts have the same bytes; equal texts may have different ones.
  func hasBytes(of other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }
}
