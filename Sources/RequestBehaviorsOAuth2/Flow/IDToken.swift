public import Foundation
import RequestBehaviors

/// The claims of an ID token about the user and the sign-in (OpenID Connect Core §2).
///
/// It came from the token endpoint over TLS, so its signature need not be checked (§3.1.3.7, point 6); the flow can
/// check it with a closure. A backend must not believe an ID token that an app hands to it without the signature.
public struct IDToken: Sendable {
  /// The id of the user at this server, 1 to 255 ASCII characters (`sub`).
  public let subject: String
  /// The server (`iss`).
  public let issuer: String
  /// The clients for which the token was made (`aud`).
  public let audiences: [String]
  /// The time after which it must not be accepted (`exp`).
  public let expiresAt: Date
  /// The time at which it was made (`iat`).
  public let issuedAt: Date
  /// The token as it came, a secret.
  public let text: String
  let header: JSONObject
  private let claims: JSONObject

  /// The text of a claim, such as `email`; `nil` if there is no such claim, or if it is a list or an object.
  public subscript(_ name: String) -> String? { claims.shown(name) }

  /// The values that the claims must have.
  struct Expectation: Sendable {
    let issuer: String
    let clientID: String
    let nonce: String?
    let accessToken: String
    let now: Date
  }

  /// A rule that a token breaks.
  struct Problem: Error {
    let rule: String
  }

  /// Reads and checks a token.
  ///
  /// - Throws: ``Problem``, without any value of the token.
  init(_ text: String, _ expected: Expectation) throws(Problem) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ JSONObject(Data($0)) }),
      let claims = Base64URL.decode(parts[1]).flatMap({ JSONObject(Data($0)) }), Base64URL.decode(parts[2]) != nil
    else { throw Problem(rule: "it is not a JSON Web Token of three parts (RFC 7515 §3.1)") }
    guard !header.has("crit") else { throw Problem(rule: "its header has crit, which is not understood") }
    guard let algorithm = header.text("alg"), !algorithm.isEmpty, algorithm.lowercased() != "none" else {
      throw Problem(rule: "it has no signature: alg is missing or none")
    }
    guard claims.text("iss") == expected.issuer else { throw Problem(rule: "its iss is not the server's issuer") }
    audiences = claims.texts("aud") ?? claims.text("aud").map { [$0] } ?? []
    guard audiences.contains(expected.clientID) else { throw Problem(rule: "its aud is not this client") }
    guard audiences.count == 1 || claims.has("azp") else {
      throw Problem(rule: "it has several audiences and no azp")
    }
    guard !claims.has("azp") || claims.text("azp") == expected.clientID else {
      throw Problem(rule: "its azp is not this client")
    }
    (issuedAt, expiresAt) = try IDToken.times(claims, expected.now)
    guard claims.text("nonce") == expected.nonce || expected.nonce == nil else {
      throw Problem(rule: "its nonce is not that of the sign-in")
    }
    guard let subject = claims.text("sub"), (1...255).contains(subject.utf8.count),
      subject.utf8.allSatisfy({ $0 < 0x80 })
    else { throw Problem(rule: "its sub is not 1 to 255 ASCII characters") }
    if let problem = IDToken.hashProblem(claims, algorithm, expected.accessToken) { throw problem }
    self.subject = subject
    self.issuer = expected.issuer
    self.text = text
    self.header = header
    self.claims = claims
  }

  /// The times of issue and expiry, with a minute for clocks that differ.
  private static func times(_ claims: JSONObject, _ now: Date) throws(Problem) -> (issued: Date, expires: Date) {
    guard let expires = claims.number("exp"), expires > now.timeIntervalSince1970 - 60 else {
      throw Problem(rule: "its exp is missing or has passed")
    }
    guard let issued = claims.number("iat"), issued > now.timeIntervalSince1970 - 86_400,
      issued < now.timeIntervalSince1970 + 60
    else { throw Problem(rule: "its iat is missing, in the future, or more than a day ago") }
    return (Date(timeIntervalSince1970: issued), Date(timeIntervalSince1970: expires))
  }

  /// Compares the hash of the access token for the algorithms with SHA-256 (§3.1.3.6).
  private static func hashProblem(_ claims: JSONObject, _ algorithm: String, _ accessToken: String) -> Problem? {
    guard claims.has("at_hash"), algorithm.hasSuffix("256") else { return nil }
    let hash = Base64URL.encode(Digest.sha256(of: accessToken).bytes.prefix(16))
    return claims.text("at_hash") == hash ? nil : Problem(rule: "its at_hash is not that of the access token")
  }
}

extension IDToken: CustomStringConvertible, CustomReflectable {
  /// The issuer; claims may be personal.
  public var description: String { "ID token of \(issuer)" }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
