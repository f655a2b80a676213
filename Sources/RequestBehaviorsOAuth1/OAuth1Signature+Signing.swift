import Foundation
import RequestBehaviors

extension OAuth1Signature {
  /// Returns the value of `oauth_signature` (RFC 5849 §3.4.2, §3.4.3, §3.4.4).
  static func sign(_ baseString: String, with key: OAuth1SigningKey) throws -> String {
    switch key.method.kind {
    case .plaintext:
      return key.text
    case .hmac:
      let code = key.authenticator?.code(for: Array(baseString.utf8)) ?? []
      return Data(code).base64EncodedString()
    case .rsa(let sign):
      do {
        return try sign(Data(baseString.utf8)).base64EncodedString()
      } catch {
        throw NetworkError(
          .oauth1SigningFailed, "the closure of \(key.method.name) threw; see the underlying error",
          underlyingError: error)
      }
    }
  }
}
