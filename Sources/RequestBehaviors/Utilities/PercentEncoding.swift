/// Percent-encoding of octets (RFC 3986 §2.1): only unreserved characters are kept.
@usableFromInline
package enum PercentEncoding {
  /// Returns whether an octet is an unreserved character: ALPHA, DIGIT, `-`, `.`, `_`, `~` (RFC 3986 §2.3).
  @inlinable
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Returns whether an octet is allowed in a path without an escape: `pchar` and `/` (RFC 3986 §3.3).
  package static func isPathCharacter(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || "!$&'()*+,;=:@/".utf8.contains(byte)
  }

  /// Returns whether an octet is allowed in a query without an escape (RFC 3986 §3.4).
  package static func isQueryCharacter(_ byte: UInt8) -> Bool {
    isPathCharacter(byte) || byte == UInt8(ascii: "?")
  }

  /// Escapes all octets except unreserved ones, for a path segment, or a query name or value.
  package static func escape(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy(isUnreserved) { return String(text) }
    var result: [UInt8] = []
    append(escaping: text.utf8, to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  /// Escapes the illegal octets of a text; existing escapes are kept.
  package static func repair(_ text: some StringProtocol, allowing isAllowed: (UInt8) -> Bool) -> String {
    if text.utf8.allSatisfy(isAllowed) { return String(text) }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      if isAllowed(byte) || isEscape(bytes, at: index) {
        result.append(byte)
      } else {
        append(byte, to: &result)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func append(_ byte: UInt8, to result: inout [UInt8]) {
    result.append(UInt8(ascii: "%"))
    result.append(hexDigit(byte >> 4))
    result.append(hexDigit(byte & 15))
  }

  /// Returns whether a percent sign with two hexadecimal digits is at an index.
  package static func isEscape(_ bytes: [UInt8], at index: Int) -> Bool {
    index + 2 < bytes.count && bytes[index] == UInt8(ascii: "%") && isHexDigit(bytes[index + 1])
      && isHexDigit(bytes[index + 2])
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
