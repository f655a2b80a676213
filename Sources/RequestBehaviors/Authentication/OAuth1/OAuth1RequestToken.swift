/// The temporary credentials of a sign-in that is under way (RFC 5849 §2.1).
///
/// They are `Codable`: an app that may be ended while the user is in the browser stores them, and finishes the sign-in
/// with ``OAuth1Flow/finish(_:callback:)`` when the callback starts it again. They hold a secret, which descriptions do
/// not show, and work once.
public struct OAuth1RequestToken: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
  /// The token, which the authorize URL and the callback show.
  public let token: String
  /// The secret, with which the request for the access token is signed.
  public let secret: String

  /// Creates temporary credentials.
  public init(token: String, secret: String) {
    self.token = token
    self.secret = secret
  }

  /// The name of the type, without token and secret.
  public var description: String { "OAuth1RequestToken" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
