/// The place of a request's protocol parameters (RFC 5849 §3.5).
public enum OAuth1ParameterLocation: Sendable, Hashable {
  /// In the `Authorization` field, which services prefer (RFC 5849 §3.5.1).
  case authorizationHeader
  /// In a form body, after its own parameters (RFC 5849 §3.5.2).
  ///
  /// Where a redirect makes a `POST` a `GET`, which has no body, they are in the `Authorization` field.
  case formBody
  /// In the URL's query, after its own parameters (RFC 5849 §3.5.3).
  case query
}
