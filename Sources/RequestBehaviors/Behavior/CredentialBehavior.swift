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
///   let ticket: String
/// }
///
/// extension TicketBehavior: CredentialBehavior {
///   var order: BehaviorOrder { .authentication }
///   var credential: String { "ticket" }
///
///   func headers(for request: NetworkRequest) -> HeaderFields {
///     HeaderFields([.init("X-Ticket", ticket, sensitive: origins)])
///   }
/// }
/// ```
public protocol CredentialBehavior: RequestBehavior {
  /// The name by which ``AuthenticationRequirement/only(_:)`` asks for the credentials.
  var credential: String { get }

  /// The origins that the credentials are for; by default the base URL's.
  var origins: OriginScope { get }
}

extension CredentialBehavior {
  /// By default the credentials are for the base URL's origin.
  public var origins: OriginScope { .baseURL }

  /// Whether a request wants the credentials, and goes to an origin that they are for.
  public func applies(to request: NetworkRequest) -> Bool {
    guard request.options.authentication.includes(credential), let origin = request.origin else { return false }
    return origins.includes(origin, base: request.call.baseOrigin)
  }
}
