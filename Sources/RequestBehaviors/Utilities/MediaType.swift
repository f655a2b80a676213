/// A media type without its parameters (RFC 9110 §8.3.1), for comparison.
package struct MediaType: Hashable, Sendable {
  package let type: String
  package let subtype: String

  /// Parses a `Content-Type` value; `nil` if it has no `/`.
  package init?(_ value: String) {
    let essence = value.prefix { $0 != ";" }.lowercased()
    let parts = essence.split(separator: "/", maxSplits: 1).map { String(HTTPSyntax.withoutOuterSpace($0)) }
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    (type, subtype) = (parts[0], parts[1])
  }

  /// Whether the type is JSON by its name or suffix (RFC 6839 §3.1).
  package var isJSON: Bool { subtype == "json" || subtype.hasSuffix("+json") }

  /// Whether the type is that of form fields.
  package var isForm: Bool { type == "application" && subtype == "x-www-form-urlencoded" }

  /// Whether a body of the type may have no end: events, and parts that replace each other.
  package var isEndless: Bool {
    type == "text" && subtype == "event-stream" || type == "multipart" && subtype == "x-mixed-replace"
  }

  /// Returns whether the type matches a pattern such as `text/*` or `*/*+json`.
  package func matches(_ pattern: String) -> Bool {
    guard let pattern = MediaType(pattern) else { return false }
    guard pattern.type == "*" || pattern.type == type else { return false }
    if pattern.subtype == "*" || pattern.subtype == subtype { return true }
    return pattern.subtype.hasPrefix("*+") && subtype.hasSuffix(pattern.subtype.dropFirst())
  }
}
