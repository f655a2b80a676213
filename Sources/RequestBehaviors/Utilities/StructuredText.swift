/// Strings of structured fields (RFC 9651 §3.3.3).
enum StructuredText {
  /// Returns a text in quotation marks; its own ones, and its backslashes, are escaped.
  static func quoted(_ text: String) -> String {
    "\"" + text.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"") + "\""
  }
}
