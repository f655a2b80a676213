/// Why a request could not be signed, or why a user could not be signed in.
///
/// The message names the value and the rule, and says what to do. It never holds a secret.
public struct OAuth1Error: Error, Sendable, CustomStringConvertible {
  /// The kind of failure, for `catch` and `switch`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's name.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// What is wrong, by which rule, and what to do.
  public let message: String
  /// The error that caused this one, such as the one of a key store.
  public let underlying: (any Error)?

  /// Creates an error.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// The code and the message.
  public var description: String { "OAuth 1.0a, \(code.rawValue): \(message)" }
}

extension OAuth1Error.Code {
  /// The URL or the `Host` field cannot be signed.
  public static let invalidURL = Self(rawValue: "invalidURL")
  /// The body cannot be signed, or cannot carry the protocol parameters.
  public static let invalidBody = Self(rawValue: "invalidBody")
  /// A protocol parameter is missing, malformed, or there twice.
  public static let invalidParameter = Self(rawValue: "invalidParameter")
  /// The method `PLAINTEXT` would send the secrets over http.
  public static let insecurePlaintext = Self(rawValue: "insecurePlaintext")
  /// The closure of an RSA method threw.
  public static let signingFailed = Self(rawValue: "signingFailed")
  /// The session has no token credentials: the user is not signed in.
  public static let missingCredentials = Self(rawValue: "missingCredentials")
  /// The service's answer to the request for a token is not what RFC 5849 §2.1 and §2.3 say.
  public static let invalidAnswer = Self(rawValue: "invalidAnswer")
  /// The service did not confirm the callback, as OAuth 1.0 without the "a" did not (RFC 5849 §2.1).
  public static let callbackNotConfirmed = Self(rawValue: "callbackNotConfirmed")
  /// The callback is for another request token, or is none at all.
  public static let unexpectedCallback = Self(rawValue: "unexpectedCallback")
  /// The user refused.
  public static let denied = Self(rawValue: "denied")
}
