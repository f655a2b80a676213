import Foundation

/// The character rules of HTTP (RFC 9110 §5).
package enum HTTPSyntax {
  /// Returns whether the text is a token (§5.6.2).
  package static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { isTokenCharacter($0) }
  }

  /// Returns whether the text is a valid field value (§5.5): no control character except tab, no space at either end.
  package static func isFieldValue(_ text: String) -> Bool {
    guard !hasOuterSpace(text) else { return false }
    var text = text
    return text.withUTF8 { bytes in
      // The loop has no exit, so that the compiler looks at many bytes at a time.
      bytes.reduce(0 as UInt8) { $0 | (($1 < 0x20 && $1 != 0x09) || $1 == 0x7F ? 1 : 0) } == 0
    }
  }

  package static func hasOuterSpace(_ text: String) -> Bool {
    // The bytes at the ends of a buffer are cheaper to read than those of a string.
    text.utf8.withContiguousStorageIfAvailable { hasOuterSpace($0) } ?? hasOuterSpace(text.utf8)
  }

  private static func hasOuterSpace(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    guard let first = bytes.first, let last = bytes.last else { return false }
    return isSpace(first) || isSpace(last)
  }

  /// Returns the text without spaces and tabs at either end.
  package static func withoutOuterSpace(_ text: String) -> String {
    hasOuterSpace(text) ? String(withoutOuterSpace(text[...])) : text
  }

  /// Returns the text without spaces and tabs at either end.
  package static func withoutOuterSpace(_ text: Substring) -> Substring {
    let bytes = text.utf8.drop(while: isSpace)
    guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return "" }
    return text[bytes.startIndex...last]
  }

  package static func isFraming(_ name: String) -> Bool {
    let count = name.utf8.count
    guard count == 4 || count == 14 || count == 17 else { return false }
    return ["host", "content-length", "transfer-encoding"].contains(name.lowercased())
  }

  /// Returns whether a byte is white space around or within a field value (§5.6.3): a space or a tab.
  package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Returns whether a token may contain the octet (§5.6.2).
  // Inlinable, because another module asks it for each octet of a head.
  @inlinable
  package static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

extension URL {
  /// The text of the URL without its fragment, which is never sent (RFC 9110 §7.1).
  package var textWithoutFragment: String {
    let text = absoluteString
    guard let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return text }
    return String(text[..<end])
  }

  /// The text that is equal for two URLs which are the same for every server (RFC 3986 §6.2.2.1, §6.2.3; RFC 9110
  /// §4.2.3).
  ///
  /// It has no fragment. Scheme and host are in lower case, the default port is dropped, and an empty path is `/`.
  package var normalizedText: String {
    var text = absoluteString
    // The URL of nearly every request is in this form already.
    if text.utf8.withContiguousStorageIfAvailable(URL.isNormal) == true { return text }
    text = textWithoutFragment
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return text
    }
    let start = bytes.index(colon, offsetBy: 3)
    let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
    let scheme = text[..<colon].lowercased()
    var authority = text[start..<end].lowercased()
    // User information is case-sensitive.
    if let at = text[start..<end].lastIndex(of: "@") {
      authority = String(text[start...at]) + text[text.index(after: at)..<end].lowercased()
    }
    for port in [":", scheme == "https" ? ":443" : scheme == "http" ? ":80" : ":"] where authority.hasSuffix(port) {
      authority.removeLast(port.count)
    }
    let slash = bytes[end...].first == UInt8(ascii: "/") ? "" : "/"
    return scheme + "://" + authority + slash + text[end...]
  }

  /// Whether a URL is its normal form: scheme and authority in lower case, no empty or default port, a path, and no
  /// fragment.
  private static func isNormal(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
      let end = bytes[(colon + 3)...].firstIndex(of: UInt8(ascii: "/")), !bytes.contains(UInt8(ascii: "#"))
    else { return false }
    let authority = bytes[(colon + 3)..<end]
    let isLower = bytes[..<end].allSatisfy { $0 < 0x80 && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    guard isLower, !authority.isEmpty, !authority.contains(UInt8(ascii: "?")) else { return false }
    guard let portColon = authority.lastIndex(of: UInt8(ascii: ":")) else { return true }
    let port = authority[(portColon + 1)...]
    return !port.isEmpty && !port.elementsEqual("443".utf8) && !port.elementsEqual("80".utf8)
  }
}
