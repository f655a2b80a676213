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

  /// Creates the rules of lists.
  ///
  /// - Parameters:
  ///   - lists: The lists.
  ///   - former: Rules of which the lists that are the same are taken over, because to make one takes long.
  init(_ lists: Lists, reusing former: RedactionRules? = nil) {
    self.lists = lists
    func kept<List: Equatable>(_ list: KeyPath<Lists, List>) -> RedactionRules? {
      former.flatMap { $0.lists[keyPath: list] == lists[keyPath: list] ? $0 : nil }
    }
    headers =
      kept(\.allowedHeaders)?.headers ?? FieldNames(lists.allowedHeaders, ignoringPunctuation: false)
    queryNames =
      kept(\.allowedQueryNames)?.queryNames ?? FieldNames(lists.allowedQueryNames, ignoringPunctuation: false)
    fields =
      kept(\.sensitiveFields)?.fields
      ?? FieldNames(lists.sensitiveFields, wholeNames: RedactionRules.wholeNames, ignoringPunctuation: true)
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
