/// Reads the elements of DER one after the other (X.690 §8.1, §10.1).
///
/// It never reads beyond the given bytes.
struct DERReader {
  /// An element: its tag, its content, and both with the length between them.
  struct Element {
    let tag: UInt8
    let content: ArraySlice<UInt8>
    let whole: ArraySlice<UInt8>
  }

  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let objectIdentifier: UInt8 = 0x06
  static let sequence: UInt8 = 0x30

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Whether all bytes were read.
  var isAtEnd: Bool { rest.isEmpty }

  /// Reads the next element; `nil` if there is no further element or it is incomplete.
  mutating func next() -> Element? {
    var cursor = rest
    // Tags of several bytes do not occur in certificates.
    guard let tag = cursor.popFirst(), tag & 0x1F != 0x1F, let first = cursor.popFirst() else { return nil }
    var length = Int(first)
    if first >= 0x80 {
      // No length is indefinite in DER, and no certificate needs more than four bytes for one.
      guard (0x81...0x84).contains(first) else { return nil }
      length = 0
      for _ in 0..<(first & 0x7F) {
        guard let byte = cursor.popFirst() else { return nil }
        length = length << 8 | Int(byte)
      }
    }
    // An `Int` of 32 bits may have become negative.
    guard (0...cursor.count).contains(length) else { return nil }
    let content = cursor.prefix(length)
    let whole = rest[rest.startIndex..<content.endIndex]
    rest = rest[content.endIndex...]
    return Element(tag: tag, content: content, whole: whole)
  }

  /// Reads the next element if it has the given tag.
  ///
  /// Otherwise returns `nil` and reads no byte.
  mutating func next(_ tag: UInt8) -> Element? {
    guard rest.first == tag else { return nil }
    return next()
  }
}
