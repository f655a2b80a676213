/// The lists of a ``Redactor`` in the form in which they are searched.
///
/// A reference, so that a scanner or a copy of the redactor copies one pointer instead of every list.
final class RedactionRules: Sendable {
  /// The lists as they were set.
  struct Lists {
    var allowedHeaders: Set<String>
    var allowedQueryNames: Set<String>
    var sensitiveFields: Set<String>
    var sensitivePointers: Set<String>
  }

  let lists: Lists
  let headers: FieldNames
  let queryNames: FieldNames
  let fields: FieldNames
  /// The reference tokens of each JSON pointer.
  let pointers: [[[UInt8]]]

  init(_ lists: Lists) {
    self.lists = lists
    headers = FieldNames(lists.allowedHeaders, ignoringPunctuation: false)
    queryNames = FieldNames(lists.allowedQueryNames, ignoringPunctuation: false)
    fields = FieldNames(lists.sensitiveFields, wholeNames: RedactionRules.wholeNames, ignoringPunctuation: true)
    pointers = lists.sensitivePointers.map { pointer in
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
