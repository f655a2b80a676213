// The callback of a sign-in in text, and the pairs of a callback without its URL.

extension TextRedaction {
  /// A part of the text without white space and quotes, which can be a URL or pairs, and what was found out about it.
  ///
  /// It is kept for the words in it, so that a long part is read once and not for each of its words.
  struct Run {
    let range: Range<Int>
    /// The indices of the first and the last `?` or `#`.
    let marks: (first: Int, last: Int)?
    /// Whether the pairs after the first mark hold a secret of a callback.
    var isCallback: Bool?
    /// Whether the pairs are those of a sign-in.
    var isSignIn: Bool?
  }

  /// Returns the end of a callback whose private scheme begins here; `nil` if the text here is not a callback.
  ///
  /// Such a callback has no authority (RFC 8252 §7.1): `com.example.app:/done?code=…`.
  mutating func signInCallback(from start: Int) -> Int? {
    guard !bytes[start].isASCIIDigit, bytes[start..<index].allSatisfy(\.isSchemeByte) else { return nil }
    var run = run(around: start)
    guard let marks = run.marks, marks.last > index else { return nil }
    if run.isCallback == nil {
      let names = names(in: bytes[(marks.first + 1)..<run.range.upperBound])
      let isSecret = names.contains { SignInNames.ambiguous($0) == .code || rules.isSensitive(field: $0) }
      run.isCallback = isSecret || SignInNames.areOfSignIn(names)
      knownRun = run
    }
    return run.isCallback == true ? run.range.upperBound : nil
  }

  /// Whether a word is the name of a code or a state among the pairs of a sign-in: `code=…&state=…`.
  mutating func isOfSignIn(_ word: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "="), SignInNames.ambiguous(word) != nil else {
      return false
    }
    var run = run(around: start)
    // The other names of a sign-in may be behind the end of an excerpt.
    if isCutOff, run.range.upperBound == bytes.count { return true }
    if run.isSignIn == nil {
      run.isSignIn = SignInNames.areOfSignIn(names(in: bytes[run.range]))
      knownRun = run
    }
    return run.isSignIn == true
  }

  /// Returns the text around an index up to white space or a quote on both sides.
  private mutating func run(around start: Int) -> Run {
    if let run = knownRun, run.range.contains(start) { return run }
    let first = bytes[..<start].lastIndex { $0.endsRun }.map { $0 + 1 } ?? bytes.startIndex
    let end = bytes[start...].firstIndex { $0.endsRun } ?? bytes.count
    let run = Run(range: first..<end, marks: bytes[first..<end].marks)
    knownRun = run
    return run
  }

  /// Returns the names of pairs.
  private func names(in pairs: Slice<UnsafeBufferPointer<UInt8>>) -> [[UInt8]] {
    pairs.split { $0.separatesPairs }.map { Array($0.prefix { $0 != UInt8(ascii: "=") }) }
  }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  /// The indices of the first and the last `?` or `#`.
  fileprivate var marks: (first: Int, last: Int)? {
    func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
    guard let first = firstIndex(where: isMark), let last = lastIndex(where: isMark) else { return nil }
    return (first, last)
  }
}

extension UInt8 {
  /// Whether the byte can be in no URL and no pair.
  fileprivate var endsRun: Bool {
    self <= 0x20 || isQuote || self == UInt8(ascii: "<") || self == UInt8(ascii: ">") || self == UInt8(ascii: ")")
  }
  /// Whether the byte can separate two pairs, or precede the first one.
  fileprivate var separatesPairs: Bool { "&;?#(".utf8.contains(self) }
}
