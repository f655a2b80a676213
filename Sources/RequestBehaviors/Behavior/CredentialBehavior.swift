public import Foundation

/// A behavior that adds credentials to requests: a token, a password, a signature, a key.
///
/// It takes part in a request only where ``RequestOptions/authentication`` wants its credentials, and only in requests
/// to their origins; else the list passes it by with all its hooks. What is kept from an origin this way is recorded on
/// the call, and a 401 or 403 of that origin says so. A request that explicitly requires credentials, of which none are
/// for its origin, fails with ``NetworkError/Code-swift.struct/credentialsWithheld``.
///
/// A user's own behavior obeys by conforming:
///
/// ```swift
/// struct TicketBehavior {
///   let holder: String
///   let ticket: String
/// }
///
/// extension TicketBehavior: CredentialBehavior {
///   var order: BehaviorOrder { .authentication }
///   var credential: String { "ticket" }
///
///   func scope(for request: NetworkRequest) -> String? {
///     applies(to: request) ? "ticket:\(holder)" : nil
///   }
///
///   func headers(for request: NetworkRequest) -> HeaderFields {
///     HeaderFields([.init("X-Ticket", ticket, sensitive: origins)])
///   }
/// }
/// ```
///
/// ``RequestBehavior/scope(for:)`` says whose the responses are. A cache and shared requests stand further out and do not
/// see the ticket, so without a scope they could not tell one holder's response from another's. What was sent with a
/// credential for which they know no owner is neither stored nor shared (``Next/knowsOwner(of:)``), and the list warns of
/// it (``Pipeline/warnings``). A behavior whose holder may change between the beginning of a call and a send also calls
/// ``Call/noteSend(for:)`` with the scope that it sends for.
public protocol CredentialBehavior: RequestBehavior {
  /// The name by which ``AuthenticationRequirement/only(_:)`` asks for the credentials.
  var credential: String { get }

  /// The origins that the credentials are for; by default the base URL's.
  var origins: OriginScope { get }

  /// Returns a digest of the secret, which tells responses apart beside ``RequestBehavior/scope(for:)``.
  ///
  /// It is part of the keys of caches and shared requests further out, so that a wrong secret of the same scope, such as
  /// a wrong password, does not get what a right one got. By default there is none: the scope alone counts.
  ///
  /// - Parameter salt: The key of the digest, so that nobody can try which secret gives it.
  /// - Returns: An HMAC of the secret under the salt, for example; `nil` if the scope tells everything.
  func credentialDigest(salt: Data) -> String?
}

/// Digests of credentials for the keys of stored and shared responses.
enum CredentialDigest {
  /// Returns the HMAC-SHA256 (RFC 2104) of a text in hexadecimal digits.
  static func make(of text: String, salt: Data) -> String {
    let code = Array(text.utf8).withUnsafeBytes { MessageAuthenticator(.sha256, key: Array(salt)).code(for: $0) }
    return code.hexadecimal
  }
}

extension CredentialBehavior {
  /// By default the credentials are for the base URL's origin.
  public var origins: OriginScope { .baseURL }

  /// By default the scope alone tells responses apart.
  public func credentialDigest(salt: Data) -> String? { nil }

  /// Whether a request wants the credentials, and goes to an origin that they are for.
  public func applies(to request: NetworkRequest) -> Bool {
    guard request.options.authentication.includes(credential), let origin = request.origin else { return false }
    return origins.includes(origin, base: request.call.baseOrigin)
  }
}
