import Foundation
import RequestBehaviors

/// The claims by which a client authenticates, or asks for a token of a user or a service account (RFC 7523 §3).
struct AssertionClaims: Encodable, Sendable {
  // The audience is one text, and not a list (CVE-2025-27370, CVE-2025-27371).
  let iss: String
  let sub: String
  let aud: String
  let jti: String
  let iat: Int
  let exp: Int

  /// Creates the claims, which are valid for 60 seconds.
  init(issuer: String, subject: String, audience: String, id: String, date: Date) {
    (iss, sub, aud, jti) = (issuer, subject, audience, id)
    iat = date.numericDate
    exp = iat + 60
  }

  private struct Header: Encodable {
    let typ = "JWT"
    let alg: String
    let kid: String?
  }

  /// Returns the text to sign.
  func signingInput(for key: SigningKey) throws -> String {
    try JSONWebToken.signingInput(Header(alg: key.algorithm, kid: key.keyID), self)
  }
}
