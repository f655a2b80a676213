import Foundation
public import RequestBehaviors

extension NetworkError.Code {
  /// The session has no token credentials: the user is not signed in.
  public static let oauth1MissingCredentials = Self(rawValue: "oauth1MissingCredentials")
  /// The method `PLAINTEXT` would have sent the secrets over http.
  public static let oauth1InsecurePlaintext = Self(rawValue: "oauth1InsecurePlaintext")
  /// The closure of an RSA method threw the underlying error.
  public static let oauth1SigningFailed = Self(rawValue: "oauth1SigningFailed")
  /// The service refused a step of the sign-in; the message has its `oauth_problem` if it gave one.
  public static let oauth1Refused = Self(rawValue: "oauth1Refused")
  /// The service's response to the request for a token is not the one of RFC 5849 §2.1 and §2.3.
  public static let oauth1InvalidResponse = Self(rawValue: "oauth1InvalidResponse")
  /// The service did not confirm the callback, as OAuth 1.0 without the "a" did not (RFC 5849 §2.1).
  public static let oauth1CallbackNotConfirmed = Self(rawValue: "oauth1CallbackNotConfirmed")
  /// The callback is not the one of this sign-in, or it lacks the verifier.
  public static let oauth1UnexpectedCallback = Self(rawValue: "oauth1UnexpectedCallback")
  /// The user refused.
  public static let oauth1Denied = Self(rawValue: "oauth1Denied")
}
