import Foundation
import RequestBehaviors

/// The claims of a proof that a request comes from the owner of a key (RFC 9449 §4.2).
struct DPoPProof: Encodable, Sendable {
  let jti: String
  let htm: String
  let htu: String
  let iat: Int
  let ath: String?
  let nonce: String?

  /// Creates the claims for a request.
  ///
  /// - Parameters:
  ///   - jti: A random text.
  ///   - method: The method.
  ///   - url: The URL as it is sent.
  ///   - date: The time.
  ///   - token: The token that the request carries; `nil` at endpoints of the authorization server.
  ///   - nonce: The nonce of the server; `nil` if it has sent none.
  init(jti: String, method: String, url: URL, date: Date, token: String?, nonce: String?) {
    self.jti = jti
    htm = method
    htu = DPoPProof.target(url)
    iat = date.numericDate
    ath = token.map { Base64URL.encode(Digest.sha256(of: $0).bytes) }
    self.nonce = nonce
  }

  /// The nonce of a proof that was sent; `nil` if it has none.
  static func nonce(of proof: String) -> String? {
    let parts = proof.split(separator: ".")
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
    return JSONObject(Data(payload))?.text("nonce")
  }

  private struct Header: Encodable {
    let typ = "dpop+jwt"
    let alg: String
    let jwk: PublicKey
  }

  /// Returns the text to sign.
  func signingInput(_ algorithm: String, _ key: PublicKey) throws -> String {
    try JSONWebToken.signingInput(Header(alg: algorithm, jwk: key), self)
  }

  /// Returns a URL without query and fragment, normalized by scheme (RFC 9449 §4.2, RFC 3986 §6.2.3).
  static func target(_ url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
    parts.query = nil
    parts.fragment = nil
    parts.percentEncodedUser = nil
    parts.percentEncodedPassword = nil
    parts.scheme = parts.scheme?.lowercased()
    parts.percentEncodedHost = parts.percentEncodedHost?.lowercased()
    if parts.port == (parts.scheme == "https" ? 443 : 80) { parts.port = nil }
    if parts.percentEncodedPath.isEmpty { parts.percentEncodedPath = "/" }
    return parts.string ?? url.absoluteString
  }
}
