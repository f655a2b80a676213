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
    directives = FieldList.members(of: value).compactMap(CacheControl.directive)
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
      FieldList.members(of: directive.argument ?? "").map { $0.lowercased() }
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
    if text.utf8.first == UInt8(ascii: "\"") { return FieldList.unquoted(text) }
    return !text.isEmpty && text.utf8.allSatisfy(HTTPSyntax.isTokenCharacter) ? String(text) : nil
  }
}
