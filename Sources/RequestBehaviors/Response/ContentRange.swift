/// The value of `Content-Range` (RFC 9110 §14.4).
struct ContentRange: Hashable {
  /// The range of the file that the body has; `nil` for an unsatisfied range.
  let bytes: Range<Int64>?
  /// The length of the file; `nil` if it is not known.
  let total: Int64?

  /// Parses a value such as `bytes 500-999/8000`, `bytes 500-999/*` or `bytes */8000`; `nil` for any other.
  init?(_ value: String?) {
    guard let value, value.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    total = ContentRange.number(parts[1])
    guard total != nil || parts[1] == "*" else { return nil }
    if parts[0] == "*" {
      bytes = nil
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(ContentRange.number)
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < .max else { return nil }
    bytes = first..<(last + 1)
    if let total, last >= total { return nil }
  }

  private static func number(_ text: Substring) -> Int64? {
    text.isEmpty || !text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? nil : Int64(text)
  }
}

extension Range<Int64> {
  /// The number of bytes in it, which may be more than an `Int` of a watch can have.
  var length: Int64 { upperBound - lowerBound }
}
