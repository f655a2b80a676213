import RequestBehaviors

/// A key to which an authorization server binds tokens, and the nonces of the servers that ask for them (RFC 9449).
///
/// ```swift
/// let dpop = try DPoPKey(
///   SigningKey("ES256", publicKey: publicKey) { try key.sign($0) })
/// let endpoint = TokenEndpoint(
///   server, clientID: "shop-ios", dpop: dpop)
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.tokenAuth(session), .dpop(dpop)])
/// ```
///
/// Share one object between the endpoint and the behavior, so that they share nonces. Keep the key as long as its
/// tokens: a token that is bound to another key is of no use.
public final class DPoPKey: Sendable {
  /// The thumbprint of the public key (RFC 7638), which is no secret.
  public let thumbprint: String
  private let key: SigningKey
  private let publicKey: PublicKey
  private let nonces = Locked<[(origin: Origin, nonce: String)]>([])

  /// Creates a key without nonces.
  ///
  /// - Parameter key: The key; its algorithm must have a public key, and `publicKey` be that key.
  /// - Throws: `NetworkError` of code `oauth2SigningFailed` if it has no public key.
  public init(_ key: SigningKey) throws {
    guard let publicKey = key.publicKey, !key.algorithm.hasPrefix("HS") else {
      throw NetworkError(.oauth2SigningFailed, "a DPoP key needs a public key, which every proof carries")
    }
    self.key = key
    self.publicKey = publicKey
    thumbprint = publicKey.thumbprint
  }

  /// The newest nonce of a server; `nil` if it has sent none.
  func nonce(for origin: Origin?) -> String? {
    nonces.withLock { nonces in nonces.first { $0.origin == origin }?.nonce }
  }

  /// Remembers the nonce of a response, for at most 32 servers.
  ///
  /// - Returns: The nonce of this response; `nil` if it has none. A concurrent response may bring a newer one.
  @discardableResult
  func learn(_ response: NetworkResponse) -> String? {
    guard let origin = response.request.origin, let nonce = DPoPKey.nonce(in: response) else { return nil }
    nonces.withLock { nonces in
      nonces.removeAll { $0.origin == origin }
      nonces.insert((origin, nonce), at: 0)
      nonces.removeLast(max(0, nonces.count - 32))
    }
    return nonce
  }

  /// The nonce of a response; `nil` if it has none, or one that breaks RFC 9449 §8.1.
  private static func nonce(in response: NetworkResponse) -> String? {
    guard response.isVerified, let nonce = response.headers["DPoP-Nonce"], (1...1_024).contains(nonce.utf8.count),
      nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    else { return nil }
    return nonce
  }

  /// The nonce that an authorization server asks for (§8); `nil` if it asks for none, or for the one it was sent.
  static func nonce(askedForBy response: NetworkResponse) -> String? {
    guard [400, 401].contains(response.statusCode),
      JSONObject(response)?.text("error") == OAuth2Problem.Code.useDPoPNonce.rawValue, let asked = nonce(in: response)
    else { return nil }
    return asked != DPoPProof.nonce(of: response.request.headers["DPoP"] ?? "") ? asked : nil
  }

  /// Returns a proof for a request.
  ///
  /// - Throws: `NetworkError` of code `oauth2SigningFailed`.
  func proof(for request: NetworkRequest, token: String?, nonce: String?) async throws -> String {
    let proof = DPoPProof(
      jti: Nonce.make(), method: "\(request.method)", url: request.url, date: request.call.clock.date(), token: token,
      nonce: nonce)
    return try await key.token(of: try proof.signingInput(key.algorithm, publicKey))
  }
}
