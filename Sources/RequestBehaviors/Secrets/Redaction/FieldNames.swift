import Foundation

/// A set of field names that are compared without regard to ASCII case.
struct FieldNames: Sendable {
  /// Whether only letters and digits count, so that `api_key`, `apiKey` and `API-Key` are one name.
  private let ignoresPunctuation: Bool
  private var tree = NameTree()
  /// The lengths of the shortest and the longest name, without what does not count.
  private var (shortest, longest) = (Int.max, 0)
  /// The first and last bytes of the names, if punctuation counts: a word of prose mostly has others.
  private var edges = (first: ASCIISet(""), last: ASCIISet(""))

  /// Creates a set.
  ///
  /// - Parameters:
  ///   - names: The names that match whole or, in ``containsEnding(of:)``, as the last words of a longer name.
  ///   - wholeNames: The names that match whole only.
  ///   - ignoresPunctuation: Whether only letters and digits count, and no digits at the end.
  init(_ names: Set<String>, wholeNames: Set<String> = [], ignoringPunctuation ignoresPunctuation: Bool) {
    self.ignoresPunctuation = ignoresPunctuation
    func add(_ names: Set<String>, as mark: NameTree.Mark) {
      for name in names.flatMap(FieldNames.forms) {
        let folded = FieldNames.fold(name, ignoringPunctuation: ignoresPunctuation)
        guard !folded.isEmpty else { continue }
        tree.insert(folded, as: mark)
        shortest = min(shortest, folded.count)
        longest = max(longest, folded.count)
      }
    }
    add(wholeNames, as: .whole)
    add(names, as: .ending)
    guard !ignoresPunctuation else { return }
    let all = names.union(wholeNames).flatMap(FieldNames.forms).filter { !$0.isEmpty }
    func set(_ bytes: [UInt8]) -> ASCIISet {
      let text = String(decoding: bytes, as: UTF8.self)
      return ASCIISet(text.lowercased() + text.uppercased())
    }
    edges = (set(all.map { $0[0] }), set(all.map { $0[$0.count - 1] }))
  }

  /// Whether the name is in the set.
  func contains(_ name: some Collection<UInt8>) -> Bool {
    FieldNames.withBytes(of: name) { name in
      guard ignoresPunctuation || mayContain(name) else { return false }
      return tree.mark(of: node(of: name, ignoringPunctuation: ignoresPunctuation) { _, _ in false }) != nil
    }
  }

  /// Whether the name is in the set.
  func contains(_ name: some StringProtocol) -> Bool { contains(name.utf8) }

  /// The last bytes of the names, if punctuation counts.
  var lastBytes: ASCIISet { edges.last }

  /// Whether a name may be in the set if punctuation counts; false is certain.
  private func mayContain(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.count >= shortest, name.count <= longest else { return false }
    guard let first = name.first, let last = name.last else { return false }
    return (edges.first.contains(first) || first >= 0x80) && (edges.last.contains(last) || last >= 0x80)
  }

  /// Whether the name, or the last of its words, is in the set: `newPassword` ends in `password`.
  func containsEnding(of name: some Collection<UInt8>) -> Bool {
    FieldNames.withBytes(of: name) { name in
      // Many names of members are short, such as `id`.
      guard name.count >= shortest else { return false }
      let node = node(of: name, ignoringPunctuation: true) { node, index in
        tree.mark(of: node) == .ending && FieldNames.startsWord(name, at: index)
      }
      return tree.mark(of: node) != nil
    }
  }

  /// Returns the node that a name leads to from its end, or its last words if those are enough; the root without one.
  private func node(
    of name: UnsafeBufferPointer<UInt8>, ignoringPunctuation: Bool, isEnough: (_ node: Int, _ index: Int) -> Bool
  ) -> Int {
    var index = FieldNames.end(of: name, ignoringPunctuation: ignoringPunctuation)
    var node = NameTree.root
    while index > 0 {
      index -= 1
      if ignoringPunctuation, name[index].isASCIIPunctuation { continue }
      node = tree.child(of: node, name[index].lowercasedASCII)
      if node == NameTree.root || isEnough(node, index) { return node }
    }
    return node
  }

  /// Returns the forms of a name that mean the same text: a letter and its accent may be one character or two.
  private static func forms(of name: String) -> Set<[UInt8]> {
    let forms = [name, name.precomposedStringWithCanonicalMapping, name.decomposedStringWithCanonicalMapping]
    return Set(forms.map { Array($0.utf8) })
  }

  private static func fold(_ name: [UInt8], ignoringPunctuation: Bool) -> [UInt8] {
    let length = name.withUnsafeBufferPointer { end(of: $0, ignoringPunctuation: ignoringPunctuation) }
    return name[..<length].filter { !ignoringPunctuation || !$0.isASCIIPunctuation }.map(\.lowercasedASCII)
  }

  /// Returns the index behind the last letter, so that `password2` is a password; the end if punctuation counts.
  private static func end(of name: UnsafeBufferPointer<UInt8>, ignoringPunctuation: Bool) -> Int {
    guard ignoringPunctuation else { return name.count }
    var end = name.count
    while end > 0, name[end - 1].isASCIIDigit || name[end - 1].isASCIIPunctuation { end -= 1 }
    return end
  }

  /// Whether a word begins here: after punctuation, at upper case after lower case, and at the last capital before
  /// lower case, as in `DBPass`.
  private static func startsWord(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
    guard index > 0, !name[index - 1].isASCIIPunctuation else { return true }
    let precedesLowercase = index + 1 < name.count && name[index + 1].isASCIILowercase
    return name[index].isASCIIUppercase && (!name[index - 1].isASCIIUppercase || precedesLowercase)
  }

  private static func withBytes(
    of name: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    if let result = name.withContiguousStorageIfAvailable(body) { return result }
    return Array(name).withUnsafeBufferPointer(body)
  }
}
