/// What services of OAuth 1.0a differ in, apart from the signature method.
public struct OAuth1Options: Sendable, Hashable {
  /// Where the protocol parameters are sent; by default in the `Authorization` field.
  public var location: OAuth1ParameterLocation = .authorizationHeader

  /// The `realm` of the `Authorization` field, which is not signed (RFC 5849 §3.5.1); by default none.
  public var realm: String?

  /// Whether `oauth_version=1.0` is sent; by default it is.
  public var includesVersion = true

  /// Whether requests without a form body carry `oauth_body_hash`, an extension that few services want; by default no.
  ///
  /// The hash is the one of the signature method, SHA-1 or SHA-256; `PLAINTEXT` has none.
  public var includesBodyHash = false

  /// Whether the method `PLAINTEXT` may go over http, where everybody on the way reads both secrets; by default no.
  public var allowsPlaintextOverHTTP = false

  /// Creates the default options.
  public init() {}
}
