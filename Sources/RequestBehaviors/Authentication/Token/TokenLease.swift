/// A token as it was handed to a request.
struct TokenLease: Sendable {
  let token: AccessToken
  /// Which token of the session it is: grows with every token.
  let version: Int
  /// Whose it is: grows when somebody signs in or out.
  let generation: Int
  /// Whether it was got while the request waited.
  var isFresh = false
}
