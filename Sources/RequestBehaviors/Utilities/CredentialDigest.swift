package import Foundation

/// Digests of credentials for the keys of stored and shared responses.
package enum CredentialDigest {
  /// Returns the HMAC-SHA256 (RFC 2104) of a text in hexadecimal digits.
  package static func make(of text: String, salt: Data) -> String {
    let code = Array(text.utf8).withUnsafeBytes { MessageAuthenticator(.sha256, key: Array(salt)).code(for: $0) }
    return code.hexadecimal
  }
}
