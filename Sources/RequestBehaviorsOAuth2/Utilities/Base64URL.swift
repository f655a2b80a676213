import Foundation

/// Base64 with the URL alphabet and without padding (RFC 4648 §5, RFC 7515 §2).
enum Base64URL {
  /// Returns the text for octets.
  static func encode(_ octets: some Collection<UInt8>) -> String {
    Data(octets).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Returns the octets of a text; `nil` if the text is not exactly the one that ``encode(_:)`` makes.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var base = String(text).replacing("-", with: "+").replacing("_", with: "/")
    base += String(repeating: "=", count: (4 - base.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: base), encode(data) == text else { return nil }
    return Array(data)
  }
}
