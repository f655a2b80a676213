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
