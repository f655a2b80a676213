/// A check of the user's own that a token must pass before it is sent.
///
/// ```swift
/// let behavior = TokenAuthBehavior(
///   session,
///   validation: TokenValidation { $0.scopes.contains("write") })
/// ```
///
/// A token that fails is refreshed first, once for a request. The newer token is sent whether it passes or not.
public struct TokenValidation: Sendable {
  let accepts: @Sendable (AccessToken) -> Bool

  /// Creates a check.
  ///
  /// - Parameter accepts: Returns whether the token may be sent; called for every request.
  public init(_ accepts: @escaping @Sendable (AccessToken) -> Bool) { self.accepts = accepts }
}
