// The callback of a sign-in in text, and the pairs of a callback without its URL.

extension TextRedaction {
  /// Returns the end of a callback whose private scheme begins here; `nil` if the text here is not a callback.
  ///
  /// Such a callback has no authority (RFC 8252 §7.1): `com.example.app:/done?code=…`.
  func signInCallback(from start: Int) -> Int? {
    guard !bytes[start].isASCIIDigit, bytes[start..<index].allSatisfy(\.isSchemeByte) else { return nil }
    let url = run(from: index + 1)
    guard let mark = url.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return nil }
    let pairs = bytes[(mark + 1)..<url.endIndex].split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "#") }
    let names = pairs.map { Array($0.prefix { $0 != UInt8(ascii: "=") }) }
    let isSecret = names.contains { SignInNames.ambiguous($0) == .code || rules.isSensitive(field: $0) }
    return isSecret || SignInNames.areOfSignIn(names) ? url.endIndex : nil
  }

  /// Whether a word is the name of a code or a state among the pairs of a sign-in: `code=…&state=…`.
  func isOfSignIn(_ word: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "="), SignInNames.ambiguous(word) != nil else {
      return false
    }
    let first = bytes[..<start].lastIndex { $0.endsPairs }.map { $0 + 1 } ?? bytes.startIndex
    let end = run(from: start).endIndex
    // The other names of a sign-in may be behind the end of an excerpt.
    return isCutOff && end == bytes.count || SignInNames.isSignIn(pairs: bytes[first..<end])
  }

  /// Returns the text from here to white space or a quote.
  private func run(from start: Int) -> Slice<UnsafeBufferPointer<UInt8>> {
    bytes[start..<(bytes[start...].firstIndex { $0.endsRun } ?? bytes.count)]
  }
}

extension UInt8 {
  /// Whether the byte can be in no URL and no pair.
  fileprivate var endsRun: Bool {
    self <= 0x20 || isQuote || self == UInt8(ascii: "<") || self == UInt8(ascii: ">") || self == UInt8(ascii: ")")
  }
  /// Whether the byte can precede the first pair.
  fileprivate var endsPairs: Bool { endsRun || self == UInt8(ascii: "?") || self == UInt8(ascii: "(") }
}
