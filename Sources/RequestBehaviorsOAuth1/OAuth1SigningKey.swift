import RequestBehaviors

/// A signature method with its secrets, set up once and used for many signatures.
///
/// Descriptions never show the secrets.
public struct OAuth1SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The method that the key is for.
  public let method: OAuth1SignatureMethod

  /// The escaped consumer secret, `&`, and the escaped token secret (RFC 5849 §3.4.2).
  ///
  /// It is the key of the HMAC methods and the signature of `PLAINTEXT`, and a secret. The `&` is there even if the
  /// secrets are empty.
  public let text: String

  let authenticator: MessageAuthenticator?

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - method: The signature method.
  ///   - consumerSecret: The consumer's secret.
  ///   - tokenSecret: The token's secret, empty if there is no token yet.
  public init(method: OAuth1SignatureMethod, consumerSecret: String, tokenSecret: String = "") {
    self.method = method
    text = PercentEncoding.escape(consumerSecret) + "&" + PercentEncoding.escape(tokenSecret)
    authenticator =
      if case .hmac = method.kind { MessageAuthenticator(method.hashFunction, key: Array(text.utf8)) } else { nil }
  }

  /// Creates the key of an app and, if there is one, its user.
  ///
  /// - Parameters:
  ///   - method: The signature method.
  ///   - consumer: The app's credentials.
  ///   - credentials: The user's credentials.
  public init(method: OAuth1SignatureMethod, consumer: OAuth1Consumer, credentials: OAuth1Credentials = .none) {
    self.init(method: method, consumerSecret: consumer.secret, tokenSecret: credentials.secret)
  }

  /// The secrets, not escaped.
  var secrets: (consumer: String, token: String) {
    let parts = text.split(separator: "&", omittingEmptySubsequences: false).map { PercentEncoding.decodedForm($0) }
    return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
  }

  /// The lengths of the secrets, which often suffice to notice a wrong one.
  var lengths: String {
    let count = { (secret: String) in "\(secret.count) character\(secret.count == 1 ? "" : "s")" }
    return "a consumer secret of \(count(secrets.consumer)) and a token secret of \(count(secrets.token))"
  }

  /// The method, without the secrets.
  public var description: String { "OAuth1SigningKey(\(method.name))" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
