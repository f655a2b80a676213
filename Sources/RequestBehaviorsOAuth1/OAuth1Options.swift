public import RequestBehaviors

/// The differences between services of OAuth 1.0a, apart from the signature method.
public struct OAuth1Options: Sendable, Hashable {
  /// The place of the protocol parameters; by default the `Authorization` field.
  public var location: OAuth1ParameterLocation = .authorizationHeader

  /// The `realm` of the `Authorization` field, which is not signed (RFC 5849 §3.5.1); by default none.
  public var realm: String?

  /// Whether `oauth_version=1.0` is sent; by default it is.
  public var includesVersion = true

  /// Whether requests without a form body carry `oauth_body_hash`, an extension that few services want; by default no.
  ///
  /// The hash is the one of the signature method, SHA-1 or SHA-256; `PLAINTEXT` has none.
  public var includesBodyHash = false

  /// Whether the method `PLAINTEXT` may go over http, which shows both secrets to all on the way; by default no.
  public var allowsPlaintextOverHTTP = false

  /// Creates the default options.
  public init() {}
}

private enum OAuth1RequestParameters: RequestOption {
  static let defaultValue: [String: String] = [:]
}

extension RequestOptions {
  /// More protocol parameters of a request, by name; by default none.
  ///
  /// They are signed and sent with those of every request. ``OAuth1Behavior`` refuses the names that it sets itself.
  ///
  /// ```swift
  /// try await client.send(
  ///   .post("access_token")
  ///     .with(\.oauth1Parameters, ["oauth_session_handle": handle]))
  /// ```
  public var oauth1Parameters: [String: String] {
    get { self[OAuth1RequestParameters.self] }
    set { self[OAuth1RequestParameters.self] = newValue }
  }
}
