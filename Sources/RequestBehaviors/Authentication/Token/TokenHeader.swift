/// The header field that carries a token.
///
/// ```swift
/// // Authorization: Bearer 2YotnF…
/// let bearer = TokenAuthBehavior(session)
/// // Authorization: Token 2YotnF…
/// let named = TokenAuthBehavior(session, header: .authorization("Token"))
/// // X-Xapp-Token: 2YotnF…
/// let own = TokenAuthBehavior(session, header: .field("X-Xapp-Token"))
/// ```
public struct TokenHeader: Sendable, Hashable {
  /// The field's name.
  public let name: String
  private let scheme: Scheme

  private enum Scheme: Sendable, Hashable {
    case none
    case fixed(String)
    case type
  }

  /// The field `Authorization` with the token's own type as the scheme (RFC 6750 §2.1), `Bearer` most of the time.
  public static let authorization = TokenHeader(name: "Authorization", scheme: .type)

  /// The field `Authorization` with a scheme.
  public static func authorization(_ scheme: String) -> TokenHeader {
    TokenHeader(name: "Authorization", scheme: .fixed(scheme))
  }

  /// A field that holds the token and nothing else.
  public static func field(_ name: String) -> TokenHeader { TokenHeader(name: name, scheme: .none) }

  /// The authentication scheme under which a token is sent; `nil` in a field that holds nothing else.
  func scheme(of issued: IssuedToken) -> String? {
    switch scheme {
    case .none: nil
    case .fixed(let scheme): scheme
    case .type: issued.token.type
    }
  }

  /// The field's value for a token.
  func value(of issued: IssuedToken) -> String {
    switch scheme {
    case .none: issued.token.value
    case .fixed(let scheme): scheme + " " + issued.token.value
    case .type: issued.authorization
    }
  }
}
