import Foundation

/// A set of field names that are compared without regard to ASCII case.
struct FieldNames: Sendable {
  /// Whether only letters and digits count, so that `api_key`, `apiKey` and `API-Key` are one name.
  private let ignoresPunctuation: Bool
  private let names: Set<String>
  private let wholeNames: Set<String>
  /// The endings of the names: the last word decides about most other names.
  private let endings: Set<String>

  /// Creates a set.
  ///
  /// - Parameters:
  ///   - names: The names that match whole or, in ``containsEnding(of:)``, as the last words of a longer name.
  ///   - wholeNames: The names that match whole only.
  ///   - ignoresPunctuation: Whether only letters and digits count, and no digits at the end.
  init(_ names: Set<String>, wholeNames: Set<String> = [], ignoringPunctuation ignoresPunctuation: Bool) {
    self.ignoresPunctuation = ignoresPunctuation
    func folded(_ names: Set<String>) -> Set<String> {
      Set(names.map { FieldNames.fold($0.utf8, ignoringPunctuation: ignoresPunctuation) }).subtracting([""])
    }
    self.names = folded(names)
    self.wholeNames = folded(wholeNames)
    endings = Set(self.names.union(self.wholeNames).flatMap { name in name.indices.map { String(name[$0...]) } })
  }

  /// Whether the name is in the set.
  func contains(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    let folded = FieldNames.fold(name, ignoringPunctuation: ignoresPunctuation)
    return names.contains(folded) || wholeNames.contains(folded)
  }

  /// Whether the name is in the set.
  func contains(_ name: some StringProtocol) -> Bool { contains(Array(name.utf8)) }

  /// Whether the name, or the last of its words, is in the set: `newPassword` ends in `password`.
  func containsEnding(of name: some BidirectionalCollection<UInt8>) -> Bool {
    let name = FieldNames.withoutNumber(name)
    var isLastWord = true
    for index in name.indices.reversed() where FieldNames.startsWord(name, at: index) {
      let ending = FieldNames.lettersAndDigits(of: name[index...])
      if names.contains(ending) { return true }
      if isLastWord, !endings.contains(ending) { return false }
      isLastWord = false
    }
    return wholeNames.contains(FieldNames.lettersAndDigits(of: name))
  }

  private static func fold(_ name: some BidirectionalCollection<UInt8>, ignoringPunctuation: Bool) -> String {
    if ignoringPunctuation { return lettersAndDigits(of: withoutNumber(name)) }
    return String(decoding: name.map(\.lowercasedASCII), as: UTF8.self)
  }

  private static func lettersAndDigits(of name: ArraySlice<UInt8>) -> String {
    String(decoding: name.filter { !$0.isASCIIPunctuation }.map(\.lowercasedASCII), as: UTF8.self)
  }

  /// Returns the name without digits and punctuation at its end, so that `password2` is a password.
  private static func withoutNumber(_ name: some BidirectionalCollection<UInt8>) -> ArraySlice<UInt8> {
    let end = name.lastIndex { !$0.isASCIIDigit && !$0.isASCIIPunctuation }
    return end.map { Array(name[...$0])[...] } ?? []
  }

  /// Whether a word begins here: after punctuation, at upper case after lower case, and at the last capital before
  /// lower case, as in `DBPass`.
  private static func startsWord(_ name: ArraySlice<UInt8>, at index: Int) -> Bool {
    guard !name[index].isASCIIPunctuation else { return false }
    guard index > name.startIndex, !name[index - 1].isASCIIPunctuation else { return true }
    let precedesLowercase = index + 1 < name.endIndex && name[index + 1].isASCIILowercase
    return name[index].isASCIIUppercase && (!name[index - 1].isASCIIUppercase || precedesLowercase)
  }
}
