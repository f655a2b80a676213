import Foundation
public import RequestBehaviors

/// Gets tokens for an assertion that a key signs, as servers do for a user or a service account (RFC 7523 §2.1).
///
/// ```swift
/// let session = TokenSession(
///   source: .jwtBearer(
///     endpoint, key: key, issuer: "robot@shop.example",
///     scopes: ["stock.read"]))
/// ```
public struct JWTBearerGrant: TokenSource {
  private let endpoint: TokenEndpoint
  private let key: SigningKey
  private let issuer: String
  private let subject: String
  private let audience: String?
  private let scopes: [String]

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - endpoint: The token endpoint, made with a server.
  ///   - key: The key that signs the assertions.
  ///   - issuer: The party that signs, such as the id of a service account (`iss`).
  ///   - subject: The user for whom the token is (`sub`); by default the issuer.
  ///   - audience: The audience (`aud`); by default the server's issuer, or its token endpoint if the issuer is not
  ///     known.
  ///   - scopes: The scopes to ask for; by default the server chooses.
  public init(
    _ endpoint: TokenEndpoint, key: SigningKey, issuer: String, subject: String? = nil, audience: String? = nil,
    scopes: [String] = []
  ) {
    self.endpoint = endpoint
    self.key = key
    self.issuer = issuer
    self.subject = subject ?? issuer
    self.audience = audience
    self.scopes = scopes
  }

  /// The issuer, the subject and the endpoint.
  public var account: String? { "\(issuer) for \(subject), as \(endpoint.account)" }

  /// Returns a token for an assertion that is valid for 60 seconds.
  ///
  /// A refusal, even with the error `invalid_grant`, does not end the session.
  public func fetch(using client: NetworkClient) async throws -> AccessToken {
    do {
      // Each send has an assertion of its own: a server may take each once (RFC 7523 §3, point 7).
      let clock = client.configuration.clock
      return try await endpoint.exchange(using: client) { try await fields(at: clock.date()) }.token
    } catch var error as NetworkError where error.oauth2?.code == .invalidGrant && error.underlyingError == nil {
      // Here it is about the assertion (§3.1), such as about its time or a key that is not known yet.
      error.underlyingError = RefusedAssertion()
      throw error
    }
  }

  private func fields(at date: Date) async throws -> Query {
    let server = try endpoint.server
    let claims = AssertionClaims(
      issuer: issuer, subject: subject, audience: audience ?? server.issuer ?? server.token.absoluteString,
      id: Nonce.make(), date: date)
    return [
      "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
      "assertion": try await key.token(of: try claims.signingInput(for: key)),
      "scope": scopes.isEmpty ? nil : scopes.joined(separator: " "),
    ]
  }
}

extension JWTBearerGrant: KeyCheckingTokenSource {
  /// Returns an error of code `notSignedIn` for a token of another key.
  package func problem(of token: AccessToken) -> NetworkError? { endpoint.problem(of: token) }
}

extension JWTBearerGrant: RightsAskingTokenSource {
  /// The audience and the scopes.
  package var rights: String? {
    let parts = (audience.map { ["for \($0)"] } ?? []) + scopes
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}

extension TokenSource where Self == JWTBearerGrant {
  /// Gets tokens for an assertion that a key signs; see ``JWTBearerGrant``.
  ///
  /// - Parameters:
  ///   - endpoint: The token endpoint, made with a server.
  ///   - key: The key that signs the assertions.
  ///   - issuer: The party that signs.
  ///   - subject: The user for whom the token is; by default the issuer.
  ///   - audience: The audience; by default the server's issuer.
  ///   - scopes: The scopes to ask for; by default the server chooses.
  /// - Returns: The source.
  public static func jwtBearer(
    _ endpoint: TokenEndpoint, key: SigningKey, issuer: String, subject: String? = nil, audience: String? = nil,
    scopes: [String] = []
  ) -> JWTBearerGrant {
    JWTBearerGrant(endpoint, key: key, issuer: issuer, subject: subject, audience: audience, scopes: scopes)
  }
}
