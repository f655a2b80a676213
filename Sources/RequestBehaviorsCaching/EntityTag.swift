/// The comparison of entity tags (RFC 9110 §8.8.3.2).
enum EntityTag {
  /// Whether a tag says that the content is equivalent only, not the same in every byte.
  static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }

  /// Whether two tags are equal if the mark of a weak tag is ignored.
  static func areWeaklyEqual(_ tag: String, _ other: String) -> Bool { strong(tag) == strong(other) }

  private static func strong(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }
}
