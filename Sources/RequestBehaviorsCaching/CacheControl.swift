import RequestBehaviors

/// The directives of a `Cache-Control` field (RFC 9111 §5.2).
///
/// All lines of the field count as one list. Names are compared without regard to case. An argument is a token or a
/// quoted string. Unknown directives are ignored. A member that breaks the grammar keeps its name and gets an invalid
/// argument, so that a mistake makes a response stale rather than fresh.
struct CacheControl: Sendable, Hashable {
  /// One member of the list.
  struct Directive: Sendable, Hashable {
    /// The name in lower case.
    let name: String
    /// The argument without its quotes; `nil` if there is no argument.
    var argument: String?
    /// Whether the member breaks the grammar after its name.
    var isMalformed = false
  }

  /// The value of a directive whose argument is a number of seconds.
  enum Seconds: Sendable, Hashable {
    /// A number, at most 2^31 (RFC 9111 §1.2.2).
    case value(Int)
    /// The argument is no number of seconds, or the directive has several values (RFC 9111 §4.2.1).
    case invalid
  }

  /// The members in their order.
  private(set) var directives: [Directive] = []

  /// Reads the field of a message; a message without one has no directives.
  init(_ headers: HeaderFields) {
    // Each line is read by itself, so that a mistake in one line does not hide the others.
    directives = headers.values(for: "Cache-Control").flatMap { CacheControl($0).directives }
  }

  /// Reads a value.
  init(_ value: String) {
    directives = QuotedList.members(of: value).compactMap(CacheControl.directive)
  }

  /// Whether the field has a directive, with or without an argument.
  func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

  /// Whether the field has a directive without an argument, the form that applies to the whole response.
  ///
  /// A malformed member counts as one without an argument.
  func isUnqualified(_ name: String) -> Bool {
    directives.contains { $0.name == name && ($0.argument == nil || $0.isMalformed) }
  }

  /// The number of seconds of a directive; `nil` if the field does not have the directive.
  func seconds(_ name: String) -> Seconds? {
    var found: Seconds?
    for directive in directives where directive.name == name {
      let next = directive.isMalformed ? .invalid : CacheControl.seconds(in: directive.argument)
      if let found, found != next { return .invalid }
      found = next
    }
    return found
  }

  /// The header fields that a directive such as `no-cache="set-cookie"` lists, in lower case.
  func fieldNames(_ name: String) -> [String] {
    directives.filter { $0.name == name && !$0.isMalformed }.flatMap { directive in
      QuotedList.members(of: directive.argument ?? "").map { $0.lowercased() }
    }
  }

  /// Parses a number of seconds, which consists of digits only (RFC 9111 §1.2.2).
  ///
  /// - Parameter text: The text; `nil` is invalid.
  /// - Returns: The number, or 2^31 if it is greater.
  static func seconds(in text: String?) -> Seconds {
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return .invalid }
    return .value(min(Int(text) ?? maximumSeconds, maximumSeconds))
  }

  private static let maximumSeconds = 1 << 31

  private static func directive(_ member: Substring) -> Directive? {
    let name = member.utf8.prefix(while: HTTPSyntax.isTokenCharacter)
    guard !name.isEmpty else { return nil }
    let rest = member[name.endIndex...]
    var directive = Directive(name: String(member[..<name.endIndex]).lowercased())
    if rest.isEmpty { return directive }
    if rest.utf8.first == UInt8(ascii: "=") { directive.argument = argument(rest.dropFirst()) }
    directive.isMalformed = directive.argument == nil
    return directive
  }

  private static func argument(_ text: Substring) -> String? {
    if text.utf8.first == UInt8(ascii: "\"") { return QuotedList.unquoted(text) }
    return !text.isEmpty && text.utf8.allSatisfy(HTTPSyntax.isTokenCharacter) ? String(text) : nil
  }
}

/// Lists of members that may hold quoted strings (RFC 9110 §5.6.1, §5.6.4).
enum QuotedList {
  /// The members without the white space around them; empty ones are left out.
  ///
  /// Where a quoted string has no end, its quotes are ignored, so that a mistake hides no directive.
  static func members(of value: String) -> [Substring] {
    members(of: value, obeysQuotes: true) ?? members(of: value, obeysQuotes: false) ?? []
  }

  /// The members; `nil` if a quoted string has no end.
  private static func members(of value: String, obeysQuotes: Bool) -> [Substring]? {
    var members: [Substring] = []
    var start = value.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in value.utf8.indices {
      let byte = value.utf8[index]
      // A comma within a quoted string separates nothing, and an escaped quote does not end the string.
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if obeysQuotes, byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted, byte == UInt8(ascii: ",") {
        members.append(trimmed(value[start..<index]))
        start = value.utf8.index(after: index)
      }
    }
    if isQuoted { return nil }
    members.append(trimmed(value[start...]))
    return members.filter { !$0.isEmpty }
  }

  /// The text within the quotes of a quoted string; `nil` if the text is not exactly one.
  static func unquoted(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8.dropFirst()
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

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.utf8.first, isSpace(first) { text = text[text.utf8.index(after: text.startIndex)...] }
    while let last = text.utf8.last, isSpace(last) { text = text[..<text.utf8.index(before: text.endIndex)] }
    return text
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
