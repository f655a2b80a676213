/// A set of field names that are compared without regard to ASCII case.
struct FieldNames: Sendable {
  /// Whether only letters and digits count, so that `api_key`, `apiKey` and `API-Key` are one name.
  private let ignoresPunctuation: Bool
  private let names: Set<String>
  private let wholeNames: Set<String>

  /// Creates a set.
  ///
  /// - Parameters:
  ///   - names: The names that match whole or, in ``containsEnding(of:)``, as the last words of a longer name.
  ///   - wholeNames: The names that match whole only.
  ///   - ignoresPunctuation: Whether only letters and digits count, and digits not at the end.
  init(_ names: Set<String>, wholeNames: Set<String> = [], ignoringPunctuation ignoresPunctuation: Bool) {
    self.ignoresPunctuation = ignoresPunctuation
    func folded(_ names: Set<String>) -> Set<String> {
      Set(names.map { FieldNames.fold($0.utf8, ignoringPunctuation: ignoresPunctuation) }).subtracting([""])
    }
    self.names = folded(names)
    self.wholeNames = folded(wholeNames)
  }

  /// Whether the name is in the set.
  func contains(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    let folded = FieldNames.fold(name, ignoringPunctuation: ignoresPunctuation)
    return names.contains(folded) || wholeNames.contains(folded)
  }

  /// Whether the name is in the set.
  func contains(_ name: some StringProtocol) -> Bool { contains(Array(name.utf8)) }

  /// Whether the name, or the last of the words that it is made of, is in the set: `newPassword` ends in `password`.
  func containsEnding(of name: some BidirectionalCollection<UInt8>) -> Bool {
    let words = FieldNames.words(of: name)
    var ending = ""
    for word in words.reversed() {
      ending = word + ending
      if names.contains(ending) { return true }
    }
    return wholeNames.contains(ending)
  }

  private static func fold(_ name: some BidirectionalCollection<UInt8>, ignoringPunctuation: Bool) -> String {
    if ignoringPunctuation { return words(of: name).joined() }
    return String(decoding: name.map(\.lowercasedASCII), as: UTF8.self)
  }

  /// The words of a name in lower case: a word begins after punctuation, where upper case follows lower case, and with
  /// the last letter of upper case before lower case, as in `DBPass`.
  ///
  /// Digits and punctuation at the end are left out, so that `password2` is a password.
  private static func words(of name: some BidirectionalCollection<UInt8>) -> [String] {
    guard let end = name.lastIndex(where: { !$0.isASCIIDigit && !$0.isASCIIPunctuation }) else { return [] }
    let bytes = Array(name[...end])
    var words: [String] = []
    var word: [UInt8] = []
    func finishWord() {
      if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
      word.removeAll(keepingCapacity: true)
    }
    for (index, byte) in bytes.enumerated() {
      let followsUppercase = index > 0 && bytes[index - 1].isASCIIUppercase
      let precedesLowercase = index + 1 < bytes.count && bytes[index + 1].isASCIILowercase
      if byte.isASCIIPunctuation || (byte.isASCIIUppercase && (!followsUppercase || precedesLowercase)) { finishWord() }
      if !byte.isASCIIPunctuation { word.append(byte.lowercasedASCII) }
    }
    finishWord()
    return words
  }
}

extension UInt8 {
  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }
  var isASCIILowercase: Bool { self &- 0x61 < 26 }
  var isASCIIAlphanumeric: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 26 }
  /// Every ASCII character but letters and digits; bytes of other characters count as letters.
  var isASCIIPunctuation: Bool { self < 0x80 && !isASCIIAlphanumeric }
  var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}
