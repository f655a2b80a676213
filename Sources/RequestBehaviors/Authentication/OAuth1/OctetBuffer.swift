/// Octets under construction, with the encodings that OAuth 1.0a needs.
///
/// It grows like an array, but checks its room once per string instead of once per octet.
package struct OctetBuffer: ~Copyable {
  package private(set) var count = 0
  private var capacity: Int
  private var base: UnsafeMutablePointer<UInt8>

  package init(capacity: Int) {
    self.capacity = max(capacity, 16)
    base = .allocate(capacity: self.capacity)
  }

  deinit { base.deallocate() }

  /// Calls a closure with the octets, which are valid until it returns.
  package borrowing func withOctets<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try body(UnsafeBufferPointer(start: base, count: count))
  }

  /// The octets as text; what is not UTF-8 becomes U+FFFD.
  package borrowing func string() -> String { withOctets { String(decoding: $0, as: UTF8.self) } }

  /// The octets as an array.
  package borrowing func array() -> [UInt8] { withOctets { Array($0) } }

  private mutating func makeRoom(for more: Int) {
    guard count + more > capacity else { return }
    capacity = max(capacity * 2, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
  }

  package mutating func append(_ octet: UInt8) {
    makeRoom(for: 1)
    base[count] = octet
    count += 1
  }

  package mutating func append(_ octets: UnsafeBufferPointer<UInt8>) {
    guard let source = octets.baseAddress else { return }
    makeRoom(for: octets.count)
    (base + count).update(from: source, count: octets.count)
    count += octets.count
  }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  package mutating func append(lowercasing octets: UnsafeBufferPointer<UInt8>) {
    makeRoom(for: octets.count)
    for octet in octets {
      base[count] = OctetBuffer.lowercased(octet)
      count += 1
    }
  }

  /// Appends octets percent-encoded: all but letters, digits, `-`, `.`, `_` and `~` (RFC 5849 §3.6).
  package mutating func append(escaping octets: UnsafeBufferPointer<UInt8>) {
    makeRoom(for: octets.count * 3)
    let start = base + count
    var end = start
    for octet in octets { end = OctetBuffer.write(octet, at: end) }
    count += end - start
  }

  package mutating func append(escaping text: String) {
    var text = text
    text.withUTF8 { append(escaping: $0) }
  }

  /// Appends form-encoded octets decoded and percent-encoded anew (RFC 5849 §3.4.1.3.1, §3.6).
  ///
  /// A `+` is a space; a percent sign without two hexadecimal digits stands for itself.
  package mutating func append(escapingForm octets: UnsafeBufferPointer<UInt8>) {
    makeRoom(for: octets.count * 3)
    let start = base + count
    var end = start
    var index = 0
    while index < octets.count {
      end = OctetBuffer.write(OctetBuffer.decodeForm(octets, &index), at: end)
    }
    count += end - start
  }

  /// Appends octets in Base64 with padding (RFC 4648 §4).
  package mutating func append(base64 octets: [UInt8]) {
    makeRoom(for: (octets.count + 2) / 3 * 4)
    for start in stride(from: 0, to: octets.count, by: 3) {
      let present = min(3, octets.count - start)
      var group: UInt32 = 0
      for offset in 0..<3 { group = group << 8 | (offset < present ? UInt32(octets[start + offset]) : 0) }
      for digit in 0..<4 {
        let value = UInt8(group &>> UInt32(18 - 6 * digit) & 63)
        base[count] = digit <= present ? OctetBuffer.base64Digit(value) : UInt8(ascii: "=")
        count += 1
      }
    }
  }

  /// Writes an octet percent-encoded, one or three octets long, and returns the place behind it.
  @inline(__always)
  private static func write(_ octet: UInt8, at end: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    if isUnreserved(octet) {
      end.pointee = octet
      return end + 1
    }
    end[0] = UInt8(ascii: "%")
    end[1] = hexDigit(octet >> 4)
    end[2] = hexDigit(octet & 15)
    return end + 3
  }
}

extension OctetBuffer {
  /// A text percent-encoded (RFC 5849 §3.6).
  static func escaped(_ text: String) -> String {
    var buffer = OctetBuffer(capacity: text.utf8.count * 3)
    buffer.append(escaping: text)
    return buffer.string()
  }

  @inline(__always)
  static func lowercased(_ octet: UInt8) -> UInt8 { octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet }

  /// Whether an octet stays as it is: ALPHA, DIGIT, `-`, `.`, `_`, `~` (RFC 5849 §3.6).
  @inline(__always)
  static func isUnreserved(_ octet: UInt8) -> Bool { unreserved.utf8Start[Int(octet)] == UInt8(ascii: "1") }

  /// A digit for each of the 256 octets, 1 for those that stay: a table in memory that needs no initialisation.
  private static let unreserved: StaticString = """
    0000000000000000000000000000000000000000000001101111111111000000\
    0111111111111111111111111110000101111111111111111111111111100010\
    0000000000000000000000000000000000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000
    """

  @inline(__always)
  static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x37 &+ value }

  static func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }

  /// Octets with their percent-encodings decoded, and each `+` a space.
  static func decodedForm(_ octets: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(octets.count)
    var index = 0
    while index < octets.count { result.append(decodeForm(octets, &index)) }
    return result
  }

  /// Decodes the form-encoded octet at an index and moves the index behind it.
  @inline(__always)
  static func decodeForm(_ octets: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt8 {
    let octet = octets[index]
    index += 1
    if octet == UInt8(ascii: "+") { return UInt8(ascii: " ") }
    guard octet == UInt8(ascii: "%"), index + 1 < octets.count,
      let high = hexValue(octets[index]), let low = hexValue(octets[index + 1])
    else { return octet }
    index += 2
    return high << 4 | low
  }

  private static func base64Digit(_ value: UInt8) -> UInt8 {
    switch value {
    case 0..<26: value + 0x41
    case 26..<52: value + 0x47
    case 52..<62: value - 4
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }
}
