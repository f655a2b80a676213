import Foundation

/// Percent-encoding of octets that may not be text, and of forms.
///
/// The generic functions are inlinable, because the other modules of the package would call them unspecialized: a
/// signature of OAuth 1.0a made 505 allocations then.
extension PercentEncoding {
  /// Appends octets; all except unreserved ones are escaped.
  @inlinable
  package static func append(escaping octets: some Collection<UInt8>, to result: inout [UInt8]) {
    let isDone: Void? = octets.withContiguousStorageIfAvailable { append(escaping: $0, to: &result) }
    if isDone == nil { Array(octets).withUnsafeBufferPointer { append(escaping: $0, to: &result) } }
  }

  @usableFromInline
  static func append(escaping octets: UnsafeBufferPointer<UInt8>, to result: inout [UInt8]) {
    // One append for all of them, because each checks the array once more.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: octets.count * 3) { buffer in
      let count = escape(octets, to: buffer)
      result.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Writes octets, with all except unreserved ones escaped, and returns their number.
  private static func escape(
    _ octets: UnsafeBufferPointer<UInt8>, to buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    let unreserved = ASCIISet.unreserved
    var end = 0
    for octet in octets {
      if unreserved.contains(octet) {
        buffer[end] = octet
        end += 1
      } else {
        buffer[end] = UInt8(ascii: "%")
        buffer[end + 1] = hexDigit(octet >> 4)
        buffer[end + 2] = hexDigit(octet & 15)
        end += 3
      }
    }
    return end
  }

  /// Escapes all octets except letters and digits of ASCII, `*`, `-`, `.` and `_`; a space is `%20`.
  ///
  /// These are the octets outside the `application/x-www-form-urlencoded` percent-encode set of the URL standard, by
  /// which RFC 9421 §2.2.8 escapes.
  static func escapedForm(_ text: String) -> String {
    escape(text).replacing(scalar: "~", with: "%7E").replacingOccurrences(of: "%2A", with: "*")
  }

  static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + (value - 10)
  }

  /// Returns a text without its percent-encoding; escapes that are malformed are kept, as lenient servers do.
  static func lenientlyDecoded(_ text: String) -> String {
    if !text.utf8.contains(UInt8(ascii: "%")) { return text }
    return text.removingPercentEncoding ?? decodedForm(text.replacing("+", with: "%2B"))
  }

  /// Decodes form-encoded octets; a `+` is a space.
  ///
  /// A percent sign without two hexadecimal digits is kept.
  @usableFromInline
  package static func decodedForm(_ octets: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(octets.count)
    var index = octets.startIndex
    while index < octets.endIndex {
      let octet = octets[index]
      index += 1
      if octet == UInt8(ascii: "+") {
        result.append(UInt8(ascii: " "))
      } else if octet == UInt8(ascii: "%"), index + 1 < octets.endIndex, let high = hexValue(octets[index]),
        let low = hexValue(octets[index + 1])
      {
        result.append(high << 4 | low)
        index += 2
      } else {
        result.append(octet)
      }
    }
    return result
  }

  /// Decodes form-encoded text; invalid UTF-8 becomes U+FFFD.
  @inlinable
  package static func decodedForm(_ text: some StringProtocol) -> String {
    String(decoding: decodedForm(Array(text.utf8)[...]), as: UTF8.self)
  }

  private static func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
