/// Writes the parts of a text one after another into memory that is large enough for all of them.
///
/// A string that grows with each part checks each time whether it has room, and moves when it has none.
struct OctetWriter {
  private let memory: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  fileprivate init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

  /// Appends an octet.
  mutating func append(_ octet: UInt8) {
    room(for: 1).initializeElement(at: 0, to: octet)
    count += 1
  }

  /// Appends a text as it is.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { octets in count += room(for: octets.count).update(fromContentsOf: octets) }
  }

  /// Appends a text; all octets except unreserved ones are escaped (RFC 3986 §2.3), so that it may grow to three times
  /// its length.
  mutating func append(escaping text: String) {
    var text = text
    text.withUTF8 { octets in count += PercentEncoding.escape(octets, to: room(for: octets.count * 3)) }
  }

  /// Takes the last octet back.
  mutating func removeLast() { count -= 1 }

  private func room(for length: Int) -> UnsafeMutableBufferPointer<UInt8> {
    precondition(length <= memory.count - count, "the parts of a text are longer than was said")
    return UnsafeMutableBufferPointer(rebasing: memory[count...])
  }
}

extension String {
  /// Creates a text of parts.
  ///
  /// - Parameters:
  ///   - limit: The most octets that the parts have together.
  ///   - write: Writes the parts.
  init(ofAtMost limit: Int, _ write: (inout OctetWriter) -> Void) {
    self = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit) { memory in
      var writer = OctetWriter(memory)
      write(&writer)
      return String(decoding: UnsafeBufferPointer(rebasing: memory[..<writer.count]), as: UTF8.self)
    }
  }
}
