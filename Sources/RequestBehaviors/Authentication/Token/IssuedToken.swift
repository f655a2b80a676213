/// A token as it is handed to requests.
final class IssuedToken: Sendable {
  let token: AccessToken
  /// Which token of the session it is: grows with every token.
  let version: Int
  /// Whose it is: grows when somebody signs in or out.
  let generation: Int
  /// Whether it was got while the request waited.
  let isFresh: Bool
  /// The value of an `Authorization` field with the token's own type as the scheme, made once for all requests.
  let authorization: String

  init(token: AccessToken, version: Int, generation: Int, isFresh: Bool = false) {
    self.token = token
    self.version = version
    self.generation = generation
    self.isFresh = isFresh
    // Servers answer `bearer` and want `Bearer` (RFC 6749 §5.1 compares without case, implementations do not).
    self.authorization = (token.type.lowercased() == "bearer" ? "Bearer" : token.type) + " " + token.value
  }

  /// The same token as one that was waited for.
  var fresh: IssuedToken { IssuedToken(token: token, version: version, generation: generation, isFresh: true) }
}
