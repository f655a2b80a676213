/// What a user's consent gave to your app: a token and its secret, the token credentials of RFC 5849 §1.1.
///
/// Keep them where secrets are kept; they are `Codable` for that. Descriptions show neither token nor secret.
///
/// ```swift
/// let session = OAuth1Session(consumer: consumer, credentials: OAuth1Credentials(token: token, secret: secret))
/// ```
public struct OAuth1Credentials: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
  /// The token, sent as `oauth_token`; `nil` leaves the parameter out, an empty one is sent empty.
  public let token: String?
  /// The token secret, never sent except by the method `PLAINTEXT`.
  public let secret: String

  /// Creates token credentials.
  ///
  /// - Parameters:
  ///   - token: The token; see ``none`` for requests without one.
  ///   - secret: The token secret; unused, and by default empty, with the RSA methods.
  public init(token: String?, secret: String = "") {
    self.token = token
    self.secret = secret
  }

  /// No token and an empty secret: requests that the app makes for itself, signed with the consumer secret alone.
  public static let none = OAuth1Credentials(token: nil)

  /// The name of the type, without token and secret.
  public var description: String { "OAuth1Credentials(token: \(token == nil ? "none" : "<redacted>"))" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
