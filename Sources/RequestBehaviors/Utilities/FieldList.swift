/// Lists in the values of fields, whose members may hold quoted strings (RFC 9110 §5.6.1, §5.6.4).
package enum FieldList {
  /// Returns the members without the white space around them; empty ones are left out.
  ///
  /// - Parameters:
  ///   - value: The value of a field, or a member of it with parts of its own.
  ///   - separator: The byte between the members; by default a comma.
  ///   - endsOpenQuotes: Whether a quoted string without an end ends with the value. By default its quotes are ignored,
  ///     so that a mistake hides no member.
  /// - Returns: The members, in order.
  package static func members(
    of value: some StringProtocol, separatedBy separator: UInt8 = UInt8(ascii: ","), endsOpenQuotes: Bool = false
  ) -> [Substring] {
    let value = Substring(value)
    let (found, isOpen) = split(value, separator, obeysQuotes: true)
    return isOpen && !endsOpenQuotes ? split(value, separator, obeysQuotes: false).members : found
  }

  private static func split(
    _ value: Substring, _ separator: UInt8, obeysQuotes: Bool
  ) -> (members: [Substring], isOpen: Bool) {
    var members: [Substring] = []
    var start = value.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in value.utf8.indices {
      let byte = value.utf8[index]
      // A separator within a quoted string separates nothing, and an escaped quote does not end the string.
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if obeysQuotes, byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted, byte == separator {
        members.append(HTTPSyntax.withoutOuterSpace(value[start..<index]))
        start = value.utf8.index(after: index)
      }
    }
    members.append(HTTPSyntax.withoutOuterSpace(value[start...]))
    return (members.filter { !$0.isEmpty }, isQuoted)
  }

  /// Returns the text within the quotes of a quoted string; `nil` if the text is not exactly one.
  package static func unquoted(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return rest.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { return nil }
        bytes.append(escaped)
      default: bytes.append(byte)
      }
    }
    return nil
  }
}
