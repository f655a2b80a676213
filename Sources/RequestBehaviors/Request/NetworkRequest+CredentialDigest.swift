public import Foundation

extension NetworkRequest {
  /// Returns a digest of the credentials in the request's fields: equal for equal credentials, and no secret.
  ///
  /// It is the HMAC-SHA256 (RFC 2104) of the fields that are marked sensitive or mean a credential.
  ///
  /// - Parameter salt: The key of the digest, so that the credentials cannot be found by trying.
  /// - Returns: The digest in hexadecimal digits; `nil` without such fields.
  public func credentialDigest(salt: Data) -> String? {
    let secrets = headers.filter(\.isSecret)
    guard !secrets.isEmpty else { return nil }
    let text = secrets.map { "\($0.name.lowercased()):\($0.value)\n" }.sorted().joined()
    return CredentialDigest.make(of: text, salt: salt)
  }
}
