/// Texts in one text, a line each, as a file keeps the scopes of an owner.
///
/// Users choose their names: a name with a line break must not be read as two. A text with a line break stays one line:
/// the break is written as an escape character and "n". Lines are divided at scalars, because "\r\n" is one character.
struct EscapedLines {
  /// The lines of an outbox.
  static let outbox = EscapedLines(escape: "\u{1B}")
  /// The lines of a cache.
  static let cache = EscapedLines(escape: "\\")

  private let escape: Unicode.Scalar

  /// Returns the texts in one, a line each.
  func join(_ texts: some Sequence<String>) -> String { texts.map(escaped).joined(separator: "\n") }

  /// Returns the texts that ``join(_:)`` joined; the empty text has one, which is empty.
  func split(_ text: String) -> [String] {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(unescaped)
  }

  private func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0 == "\n" || $0 == escape }) else { return text }
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": line.append(contentsOf: [escape, "n"])
      case escape: line.append(contentsOf: [escape, escape])
      default: line.append(scalar)
      }
    }
    return String(line)
  }

  private func unescaped(_ line: Substring.UnicodeScalarView) -> String {
    guard line.contains(escape) else { return String(line) }
    var (text, isEscaped) = (String.UnicodeScalarView(), false)
    for scalar in line {
      if isEscaped {
        text.append(scalar == "n" ? "\n" : scalar)
        isEscaped = false
      } else if scalar == escape {
        isEscaped = true
      } else {
        text.append(scalar)
      }
    }
    return String(text)
  }
}
