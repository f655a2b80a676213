// Parts of a text with a beginning and an end: XML elements, PEM blocks, JSON Web Tokens.

extension TextRedaction {
  /// Hides the content of an XML element with a sensitive name, and the values of its attributes.
  ///
  /// An open tag hides the rest of the text, which may have been cut off.
  ///
  /// - Returns: Whether such an element begins here; the index is then behind it.
  mutating func hideElement() -> Bool {
    let name = bytes[(index + 1)...].prefix { words.contains($0) || $0 == UInt8(ascii: ":") }
    let localName = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    guard rules.isSensitive(field: Array(localName)) else { return false }
    guard let tagEnd = tagEnd(from: name.endIndex) else {
      hide(from: name.endIndex, to: bytes.count)
      return true
    }
    hideAttributes(in: name.endIndex..<tagEnd)
    index = tagEnd + 1
    guard bytes[tagEnd - 1] != UInt8(ascii: "/") else { return true }
    let content = index..<contentEnd(of: name, from: index)
    if content.isEmpty { return true }
    hide(from: content.lowerBound, to: content.upperBound)
    return true
  }

  /// Returns the index of the `>` that ends a tag; one within quotes or in a placeholder does not.
  private func tagEnd(from start: Int) -> Int? {
    // The value of an attribute may contain `>`.
    var quote: UInt8?
    var place = start
    while place < bytes.count {
      let byte = bytes[place]
      if bytes[place...].starts(with: RedactionRules.placeholder) {
        place += RedactionRules.placeholder.count
        continue
      }
      if byte == quote {
        quote = nil
      } else if quote == nil {
        if byte == UInt8(ascii: ">") { return place }
        if byte.isQuote { quote = byte }
      }
      place += 1
    }
    return nil
  }

  private mutating func hideAttributes(in tag: Range<Int>) {
    var place = tag.lowerBound
    while let open = bytes[place..<tag.upperBound].firstIndex(where: \.isQuote) {
      let close = bytes[(open + 1)..<tag.upperBound].firstIndex(of: bytes[open]) ?? tag.upperBound
      hide(from: open, to: close)
      place = min(close + 1, tag.upperBound)
    }
  }

  /// Returns the index of the tag that closes an element; the end of the text if it is not closed.
  private func contentEnd(of name: Slice<UnsafeBufferPointer<UInt8>>, from start: Int) -> Int {
    // An element may contain others of its name, and a CDATA section text that looks like a tag.
    var depth = 0
    var place = start
    while let open = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
      let rest = bytes[(open + 1)...]
      place = open + 1
      if rest.starts(with: TextRedaction.cdataStart) {
        place = TextRedaction.end(of: TextRedaction.cdataEnd, in: bytes, from: place) ?? bytes.count
      } else if rest.first == UInt8(ascii: "/"), isTag(rest.dropFirst(), of: name) {
        if depth == 0 { return open }
        depth -= 1
      } else if isTag(rest, of: name) {
        depth += 1
      }
    }
    return bytes.count
  }

  private func isTag(
    _ tag: Slice<UnsafeBufferPointer<UInt8>>, of name: Slice<UnsafeBufferPointer<UInt8>>
  ) -> Bool {
    guard tag.starts(with: name) else { return false }
    return tag.dropFirst(name.count).first.map { !words.contains($0) && $0 != UInt8(ascii: ":") } ?? true
  }

  /// Returns the index after the first occurrence of some bytes.
  static func end(of sought: [UInt8], in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var place = start
    while let found = UnsafeRawBufferPointer(bytes).index(of: sought[0], from: place) {
      if bytes[found...].starts(with: sought) { return found + sought.count }
      place = found + 1
    }
    return nil
  }

  private static let cdataStart = Array("![CDATA[".utf8)
  private static let cdataEnd = Array("]]>".utf8)

  // MARK: PEM

  /// Returns the content and the end of the block that begins with `-----BEGIN …-----` at an index (RFC 7468 §3).
  ///
  /// A block without an end continues to the end of the text.
  func pemBlock(at start: Int) -> (content: Range<Int>, end: Int)? {
    guard bytes[start...].starts(with: TextRedaction.pemBegin) else { return nil }
    let content =
      TextRedaction.end(of: TextRedaction.pemDashes, in: bytes, from: start + TextRedaction.pemBegin.count)
      ?? bytes.count
    guard let label = TextRedaction.end(of: TextRedaction.pemEnd, in: bytes, from: content) else {
      return (content..<bytes.count, bytes.count)
    }
    return (
      content..<(label - TextRedaction.pemEnd.count),
      TextRedaction.end(of: TextRedaction.pemDashes, in: bytes, from: label) ?? bytes.count
    )
  }

  static let pemDashes = Array("-----".utf8)
  private static let pemBegin = Array("-----BEGIN ".utf8)
  private static let pemEnd = Array("-----END ".utf8)
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  /// The index in a word at which a JSON Web Token begins: the base64 of `{"` and more (RFC 7519 §3).
  var webTokenStart: Int? {
    guard count >= 20 else { return nil }
    var place = startIndex
    while endIndex - place >= 20, let found = self[place...].firstIndex(of: UInt8(ascii: "e")) {
      let isFirst = found == startIndex || !self[found - 1].isASCIIAlphanumeric
      if isFirst, endIndex - found >= 20, self[found...].starts(with: "eyJ".utf8) { return found }
      place = found + 1
    }
    return nil
  }

  /// The index in a word at which a JSON Web Token begins that has its two dots (RFC 7519 §3).
  ///
  /// JSON in base64 without them may be a cursor, which a test must be able to send.
  var dottedWebTokenStart: Int? {
    webTokenStart.flatMap { start in self[start...].count(where: { $0 == UInt8(ascii: ".") }) >= 2 ? start : nil }
  }
}
