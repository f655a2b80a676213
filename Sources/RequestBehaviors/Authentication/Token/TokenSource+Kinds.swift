/// A source that knows whether it has the key to which a token is bound (RFC 9449).
package protocol KeyCheckingTokenSource: TokenSource {
  /// Returns the reason why a token is of no use; `nil` if it is of use.
  func problem(of token: AccessToken) -> NetworkError?
}

extension TokenEndpoint {
  /// Returns an error of code `notSignedIn` for a token of another key.
  package func problem(of token: AccessToken) -> NetworkError? {
    // The server would refuse it with every proof of another key.
    guard let thumbprint = token.keyThumbprint, thumbprint != parts?.keyThumbprint else { return nil }
    return .tokenOfAnotherKey()
  }
}

extension RefreshTokenGrant: KeyCheckingTokenSource {
  /// Returns an error of code `notSignedIn` for a token of another key.
  package func problem(of token: AccessToken) -> NetworkError? { endpoint.problem(of: token) }
}

extension ClientCredentialsGrant: KeyCheckingTokenSource {
  /// Returns an error of code `notSignedIn` for a token of another key.
  package func problem(of token: AccessToken) -> NetworkError? { endpoint.problem(of: token) }
}

/// A source that asks for particular rights of its account.
package protocol RightsAskingTokenSource: TokenSource {
  /// The rights, which are no secret; `nil` if the server chooses them.
  var rights: String? { get }
}

/// The cause of the error for a token that is bound to another key.
///
/// Such an error does not end the session: another process with the same store may have the key.
struct TokenOfAnotherKey: Error {}

/// The cause of an error about a token that its source has nothing to refresh with.
struct UnrefreshableToken: Error {}

/// The cause of the error for an assertion that a token endpoint refused.
///
/// Such an error does not end the session: no user can sign in again, and the next assertion may be accepted.
package struct RefusedAssertion: Error, CustomStringConvertible {
  /// A text for messages.
  package var description: String { "the assertion was refused" }

  /// Creates the cause.
  package init() {}
}
