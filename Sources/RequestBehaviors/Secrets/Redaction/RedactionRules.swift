/// The lists of a ``Redactor`` in the form in which they are searched.
///
/// A reference, so that a scanner copies one pointer instead of every list.
final class RedactionRules: Sendable {
  let headers: FieldNames
  let queryNames: FieldNames
  let fields: FieldNames
  /// The reference tokens of each JSON pointer.
  let pointers: [[[UInt8]]]

  init(headers: Set<String>, queryNames: Set<String>, fields: Set<String>, pointers: Set<String>) {
    self.headers = FieldNames(headers, ignoringPunctuation: false)
    self.queryNames = FieldNames(queryNames, ignoringPunctuation: false)
    self.fields = FieldNames(fields, wholeNames: RedactionRules.wholeNames, ignoringPunctuation: true)
    self.pointers = pointers.map { pointer in
      pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
        Array(token.replacing("~1", with: "/").replacing("~0", with: "~").utf8)
      }
    }
  }

  static let placeholder = Array(Redactor.placeholder.utf8)
  static let quotedPlaceholder = Array("\"\(Redactor.placeholder)\"".utf8)

  /// The names that are hidden as whole names only: `max_tokens` is a count.
  private static let wholeNames: Set<String> = ["tokens", "access_tokens", "refresh_tokens", "api_tokens"]

  func isSensitive(field name: some Collection<UInt8>) -> Bool { fields.containsEnding(of: name) }
}
