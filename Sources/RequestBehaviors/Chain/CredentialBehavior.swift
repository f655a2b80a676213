public import Foundation

/// A behavior that adds credentials to requests: a token, a password, a signature, a key.
///
/// It takes part in a request only if ``RequestOptions/authentication`` includes its credentials and the request goes
/// to one of their origins. Otherwise the list skips all its hooks. The call records credentials that were withheld
/// this way, and the error of a 401 or 403 from that origin names them. A request that explicitly requires credentials
/// fails with ``NetworkError/Code-swift.struct/credentialsWithheld`` if none are for its origin.
///
/// A user's own behavior conforms like this:
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
/// ``RequestBehavior/scope(for:)`` names the owner of the response. Caches and shared requests are further out and do
/// not see the ticket, so without this value they could not tell one owner's response from another's. A response to a
/// credential without a known owner is neither stored nor shared (``Next/knowsOwner(of:)``), and the list warns about
/// it (``Pipeline/warnings``). If the owner may change between the start of a call and a send, the behavior also calls
/// ``Call/noteSend(for:)`` with the owner of that send.
public protocol CredentialBehavior: RequestBehavior {
  /// The name for ``AuthenticationRequirement/only(_:)``.
  var credential: String { get }

  /// The origins that the credentials are for; by default the base URL's.
  var origins: OriginScope { get }

  /// The header field that carries the credentials; `nil`, the default, for several fields or another place.
  ///
  /// If two behaviors in a list set one field, the list warns about it (``Pipeline/warnings``).
  var credentialField: String? { get }

  /// Returns a digest of the secret, which tells responses apart in addition to ``RequestBehavior/scope(for:)``.
  ///
  /// It is part of the keys of caches and shared requests further out. With it, a wrong secret of the same owner, such
  /// as a wrong password, does not get the response to the correct one. By default there is no digest: the owner alone
  /// counts.
  ///
  /// - Parameter salt: The key of the digest, so that the secret cannot be guessed from it.
  /// - Returns: For example an HMAC of the secret under the salt; `nil` if the owner is enough.
  func credentialDigest(salt: Data) -> String?
}

/// A behavior that proves the possession of another behavior's credential.
///
/// Its secrets have no owner of their own: without the credential they are of no use, and the credential has an owner.
package protocol CredentialProof: RequestBehavior {}

extension CredentialBehavior {
  /// The base URL's origin, by default.
  public var origins: OriginScope { .baseURL }

  /// `nil` by default: no field is known.
  public var credentialField: String? { nil }

  /// Returns `nil` by default: the owner alone tells responses apart.
  public func credentialDigest(salt: Data) -> String? { nil }

  /// Returns whether a request includes the credentials and goes to one of their origins.
  public func applies(to request: NetworkRequest) -> Bool {
    guard request.options.authentication.includes(credential), let origin = request.origin else { return false }
    return origins.includes(origin, base: request.call.baseOrigin)
  }
}
