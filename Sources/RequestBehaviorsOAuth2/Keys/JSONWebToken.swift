import Foundation
import RequestBehaviors

/// The header and the payload of a token, as JSON.
enum JSONWebToken {
  /// Returns the text that is signed (RFC 7515 §5.1); the members are sorted by name.
  static func signingInput(_ header: some Encodable, _ payload: some Encodable) throws -> String {
    let encoder = Foundation.JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Base64URL.encode(try encoder.encode(header)) + "." + Base64URL.encode(try encoder.encode(payload))
  }
}

extension Date {
  /// The whole seconds since 1970 (RFC 7519 §2, NumericDate); 0 for a date whose seconds are no integer of 53 bits.
  var numericDate: Int {
    let seconds = timeIntervalSince1970.rounded(.down)
    return abs(seconds) < 9_007_199_254_740_992 ? Int(seconds) : 0
  }
}
