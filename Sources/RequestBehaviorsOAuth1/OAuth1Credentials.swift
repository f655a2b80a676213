import RequestBehaviors

/// The credentials that a service gave to your app: key and secret, the client credentials of RFC 5849 §1.1.
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

/// The credentials that a user's consent gave to your app: a token and its secret (RFC 5849 §1.1).
///
/// Keep them where secrets are kept; they are `Codable` for that. Descriptions show neither token nor secret.
///
/// ```swift
/// let session = OAuth1Session(
///   consumer: consumer,
///   credentials: OAuth1Credentials(token: token, secret: secret))
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
  public var description: String { "OAuth1Credentials(token: \(token == nil ? "none" : "REDACTED"))" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The temporary credentials of a sign-in that is under way (RFC 5849 §2.1).
///
/// They are `Codable`, for an app that may be ended while the user is in the browser. Such an app stores them, and
/// finishes the sign-in with ``OAuth1Flow/finish(_:callback:naming:)`` when the callback starts it again. They work
/// once. They hold a secret, which descriptions do not show.
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

/// The result of a sign-in: the user's credentials and the other fields of the response (RFC 5849 §2.3).
///
/// ```swift
/// let access = try await flow.signIn { url in
///   // Shows the page and returns the URL of the callback.
///   try await browser.open(url)
/// }
/// try store(access.credentials)
/// let name = access["screen_name"]  // sent along by the service
/// ```
public struct OAuth1AccessToken: Sendable, CustomStringConvertible, CustomReflectable {
  /// The user's token and secret.
  public let credentials: OAuth1Credentials
  /// The other fields of the response, decoded and in their order, such as `screen_name`.
  public let fields: [(name: String, value: String)]

  /// The first value of a field; `nil` if the response does not have it.
  public subscript(name: String) -> String? {
    fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The names of the fields, without values.
  public var description: String { "OAuth1AccessToken(fields: \(fields.map(\.name)))" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
