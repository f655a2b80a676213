/// The list of vendor entries of a trace (W3C Trace Context §3.3), validated and within its limits.
struct TraceState: CustomStringConvertible {
  private static let maximumEntries = 32
  private static let maximumCharacters = 512

  private let entries: [Substring]

  /// Creates a list from the field's value.
  ///
  /// If the list exceeds 512 characters, whole entries are dropped: those longer than 128 characters first, then those
  /// at the end (§3.3.1.5).
  ///
  /// - Returns: `nil` if the list is malformed, has a vendor twice, or is empty; the whole field is then dropped.
  init?(_ value: String) {
    let members = value.split(separator: ",").map { TraceState.trim($0) }.filter { !$0.isEmpty }
    guard !members.isEmpty, members.count <= TraceState.maximumEntries, members.allSatisfy(TraceState.isEntry) else {
      return nil
    }
    let keys = members.map { $0.prefix { $0 != "=" } }
    guard Set(keys).count == keys.count else { return nil }
    entries = TraceState.shortened(members)
    guard !entries.isEmpty else { return nil }
  }

  var description: String { entries.joined(separator: ",") }

  private static func trim(_ member: Substring) -> Substring {
    let start = member.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { start[...$0] } ?? ""
  }

  private static func shortened(_ members: [Substring]) -> [Substring] {
    var kept = members
    func isTooLong() -> Bool { kept.reduce(-1) { $0 + $1.utf8.count + 1 } > maximumCharacters }
    while isTooLong(), let long = kept.lastIndex(where: { $0.utf8.count > 128 }) { kept.remove(at: long) }
    while isTooLong() { kept.removeLast() }
    return kept
  }

  /// Returns whether the text is a valid `key=value`.
  ///
  /// The key consists of lower-case letters, digits and `_-*/@`. The value is printable, without comma and `=`.
  private static func isEntry(_ member: Substring) -> Bool {
    guard let equals = member.firstIndex(of: "=") else { return false }
    let key = member[..<equals].utf8
    let value = member[member.index(after: equals)...].utf8
    return isKey(key) && !value.isEmpty && value.count <= 256
      && value.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "=") }
  }

  private static func isKey(_ key: Substring.UTF8View) -> Bool {
    guard let first = key.first, key.count <= 256, first.isASCIIDigit || first.isLowercase else { return false }
    return key.allSatisfy { $0.isASCIIDigit || $0.isLowercase || "_-*/@".utf8.contains($0) }
  }
}

extension UInt8 {
  fileprivate var isLowercase: Bool { self &- 0x61 < 26 }
}
