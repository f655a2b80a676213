/// The part of a body that a `Range` field asks for (RFC 9110 §14.1.2, §14.2).
struct ByteRange: Sendable, Hashable {
  private let first: Int?
  private let last: Int?

  /// Reads a range of bytes; `nil` if the value has another unit, several ranges, or an invalid range.
  init?(_ value: String) {
    let prefix = "bytes="
    guard value.lowercased().hasPrefix(prefix) else { return nil }
    let parts = value.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }) else { return nil }
    first = Int(parts[0])
    last = Int(parts[1])
    guard first != nil || last != nil, parts.allSatisfy({ $0.isEmpty || Int($0) != nil }) else { return nil }
    if let first, let last, last < first { return nil }
  }

  /// The offsets of the part in a body; `nil` if the body has no such part.
  func offsets(inLength length: Int) -> Range<Int>? {
    guard let first else {
      let count = min(last ?? 0, length)
      return count > 0 ? length - count..<length : nil
    }
    guard first < length else { return nil }
    return first..<min((last ?? length - 1), length - 1) + 1
  }

  /// The value of `Content-Range` for a part (RFC 9110 §14.4).
  static func contentRange(_ offsets: Range<Int>, ofLength length: Int) -> String {
    "bytes \(offsets.lowerBound)-\(offsets.upperBound - 1)/\(length)"
  }
}
