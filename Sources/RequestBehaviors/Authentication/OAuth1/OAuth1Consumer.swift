/// What a service gave to your app: its key and secret, the client credentials of RFC 5849 §1.1.
///
/// Descriptions show the key and never the secret.
public struct OAuth1Consumer: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
  /// The consumer key, sent as `oauth_consumer_key`.
  public let key: String
  /// The consumer secret, never sent except by the method `PLAINTEXT`.
  public let secret: String

  /// Creates client credentials.
  ///
  /// - Parameters:
  ///   - key: The consumer key, also called API key or client identifier.
  ///   - secret: The consumer secret; unused, and by default empty, with the RSA methods.
  public init(key: String, secret: String = "") {
    self.key = key
    self.secret = secret
  }

  /// The key, without the secret.
  public var description: String { "OAuth1Consumer(key: \(key))" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
