import Foundation

/// Texts and data as expressions of Swift.
enum SwiftSource {
  /// The longest line of a literal, without its indentation.
  private static let width = 90

  /// Returns a string literal; a long text takes several lines.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - indentation: The spaces before each line but the first.
  /// - Returns: The literal.
  static func literal(_ text: some StringProtocol, indentation: Int) -> String {
    let pieces = text.unicodeScalars.map(escaped)
    guard pieces.reduce(0, { $0 + $1.count }) > width else { return "\"\(pieces.joined())\"" }
    let margin = String(repeating: " ", count: indentation)
    var lines: [String] = []
    var line = ""
    for piece in pieces {
      // The compiler takes a space at the start of a line for a part of the text, and so it is.
      if line.count + piece.count > width {
        lines.append(margin + line + "\\")
        line = ""
      }
      line += piece
    }
    lines.append(margin + line)
    return "\"\"\"\n\(lines.joined(separator: "\n"))\n\(margin)\"\"\""
  }

  /// Returns an expression for data: its text if it is UTF-8, otherwise base64.
  static func expression(_ data: Data, indentation: Int) -> String {
    if let text = String(data: data, encoding: .utf8) { return "Data(\(literal(text, indentation: indentation)).utf8)" }
    return "Data(base64Encoded: \(literal(data.base64EncodedString(), indentation: indentation))) ?? Data()"
  }

  /// Returns a text for a comment of one line.
  static func comment(_ text: some StringProtocol) -> String {
    text.unicodeScalars.map { isPlain($0) ? String($0) : " " }.joined()
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": "\\\\"
    case "\"": "\\\""
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: isPlain(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
    }
  }

  /// Whether a character is shown as itself: no control character, and none that changes the direction of the text.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    default: true
    }
  }
}
