import Foundation
import RequestBehaviors

/// How a client authenticates to an authorization server (RFC 6749 §2.3).
///
/// ```swift
/// let endpoint = TokenEndpoint(
///   server, clientID: "shop-server",
///   authentication: .privateKeyJWT(key))
/// ```
///
/// It is never guessed: a wrong try may burn a code.
public struct ClientAuthentication: Sendable {
  private enum Kind: Sendable {
    case none
    case basic(String)
    case post(String)
    case mutualTLS
    case assertion(@Sendable () throws -> SigningKey, audience: String?)
  }

  private let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  /// No secret, as for apps and command-line tools; the id is sent in the body.
  public static let none = ClientAuthentication(.none)

  /// A certificate of the transport (RFC 8705); the id is sent in the body.
  ///
  /// The server's endpoints for such clients are used, if its metadata have them.
  public static let mutualTLS = ClientAuthentication(.mutualTLS)

  /// Id and secret in the `Authorization` field (`client_secret_basic`).
  public static func basic(_ secret: String) -> ClientAuthentication { ClientAuthentication(.basic(secret)) }

  /// Id and secret in the body (`client_secret_post`).
  public static func post(_ secret: String) -> ClientAuthentication { ClientAuthentication(.post(secret)) }

  /// A token that the client signs with its private key (`private_key_jwt`, RFC 7523 §2.2).
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - audience: The audience of the token; by default the server's issuer, or its token endpoint if the issuer is
  ///     not known.
  /// - Returns: The authentication.
  public static func privateKeyJWT(_ key: SigningKey, audience: String? = nil) -> ClientAuthentication {
    ClientAuthentication(.assertion({ key }, audience: audience))
  }

  /// A token that is signed with the client's secret by HMAC-SHA256 (`client_secret_jwt`).
  ///
  /// - Parameters:
  ///   - secret: The secret, at least 32 octets; requests with a shorter one fail with `oauth2SigningFailed`.
  ///   - audience: The audience of the token; by default as for ``privateKeyJWT(_:audience:)``.
  /// - Returns: The authentication.
  public static func clientSecretJWT(_ secret: String, audience: String? = nil) -> ClientAuthentication {
    ClientAuthentication(.assertion({ try .hs256(Array(secret.utf8)) }, audience: audience))
  }

  /// Whether the client authenticates by a certificate.
  var usesMutualTLS: Bool { if case .mutualTLS = kind { true } else { false } }

  /// Adds the authentication to the fields of a form or to the headers.
  func add(
    for clientID: String, of server: OAuth2Server, to fields: inout Query, _ headers: inout HeaderFields,
    _ origins: OriginScope, at date: Date
  ) async throws {
    if case .basic(let secret) = kind {
      headers.set("Authorization", TokenEndpoint.basic(clientID, secret), sensitive: origins)
      return
    }
    if !fields.items.contains(where: { $0.name == "client_id" }) { fields.append("client_id", clientID) }
    switch kind {
    case .none, .mutualTLS, .basic: break
    case .post(let secret): fields.append("client_secret", secret)
    case .assertion(let key, let audience):
      let key = try key()
      let claims = AssertionClaims(
        issuer: clientID, subject: clientID, audience: audience ?? server.issuer ?? server.token.absoluteString,
        id: Nonce.make(), date: date)
      fields.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      fields.append("client_assertion", try await key.token(of: try claims.signingInput(for: key)))
    }
  }
}

extension ClientAuthentication: CustomStringConvertible, CustomReflectable {
  /// The registered name of the method, without secrets.
  public var description: String {
    switch kind {
    case .none: "none"
    case .basic: "client_secret_basic"
    case .post: "client_secret_post"
    case .mutualTLS: "tls_client_auth"
    case .assertion: "private_key_jwt or client_secret_jwt"
    }
  }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
