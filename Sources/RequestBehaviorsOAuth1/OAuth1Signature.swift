public import Foundation
public import RequestBehaviors

/// The signature of one request, with every step that led to it (RFC 5849 §3.4).
///
/// It is a pure function of its input: it reads no clock and draws no random numbers. ``OAuth1Behavior`` makes one for
/// each request that it signs. Make one yourself to see why a service refuses yours:
///
/// ```swift
/// let key = OAuth1SigningKey(
///   method: .hmacSHA1, consumerSecret: consumerSecret,
///   tokenSecret: tokenSecret)
/// let signature = try OAuth1Signature(
///   method: .get, url: url,
///   parameters: OAuth1ProtocolParameters(
///     consumerKey: consumerKey, token: token,
///     nonce: nonce, timestamp: timestamp),
///   key: key)
/// print(signature.explanation())
/// ```
///
/// It works on octets throughout: the query and the form body keep their encoding, even if they are not valid UTF-8.
public struct OAuth1Signature: Sendable {
  /// The method of the request.
  public let requestMethod: RequestMethod

  /// The protocol parameters in the order in which they are sent, the signature last and without `realm`
  /// (RFC 5849 §3.1).
  public let protocolParameters: [(name: String, value: String)]

  /// The octets that are signed, all of them ASCII: method, base string URI and parameter string, each escaped, with
  /// `&` between them (RFC 5849 §3.4.1.1).
  public let baseString: String

  /// The value of `oauth_signature`, not yet percent-encoded (RFC 5849 §3.4.2, §3.4.3, §3.4.4).
  public let signature: String

  let key: OAuth1SigningKey
  let options: OAuth1Options
  let url: OAuth1RequestURL
  let formBody: Data?

  /// Signs a request.
  ///
  /// The URL is signed as it is written. Remove its dot segments first, because they are not sent
  /// (``removingDotSegments(from:)``). Of the fields only `Host` and `Content-Type` matter.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - url: The request's absolute URL; its fragment and user information are not signed.
  ///   - headers: The request's fields.
  ///   - body: The request's body; it is signed if `Content-Type` says that it is a form (RFC 5849 §3.4.1.3.1).
  ///   - parameters: The protocol parameters.
  ///   - key: The signature method and the secrets.
  ///   - options: The differences of the service from others.
  /// - Throws: `NetworkError` if the signature would be wrong or give a secret away. Its code is
  ///   `NetworkError.Code.oauth1SigningFailed`, with the underlying error, if an RSA method's closure
  ///   threw.
  public init(
    method: RequestMethod, url: URL, headers: HeaderFields = [:], body: Data? = nil,
    parameters: OAuth1ProtocolParameters, key: OAuth1SigningKey, options: OAuth1Options = OAuth1Options()
  ) throws {
    try self.init(
      method: method, url: url, headers: headers, body: body, parameters: parameters, key: key, options: options,
      sentSignature: nil)
  }

  /// Signs a request, or takes the signature that was sent.
  init(
    method: RequestMethod, url: URL, headers: HeaderFields, body: Data?, parameters: OAuth1ProtocolParameters,
    key: OAuth1SigningKey, options: OAuth1Options, sentSignature: String?
  ) throws {
    // The checks come before the signature, because `PLAINTEXT` over http would give the secrets away.
    self.requestMethod = method
    self.key = key
    self.options = options
    self.url = try OAuth1RequestURL(url, hostField: headers["Host"])
    formBody = try OAuth1Signature.formBody(body, headers: headers, options: options)
    try OAuth1Signature.check(parameters, key: key, isSecure: self.url.isSecure, options: options)

    var sent = OAuth1Signature.unsignedParameters(parameters, method: key.method, options: options)
    if let hash = OAuth1Signature.sentBodyHash(parameters, body, formBody, method: key.method, options: options) {
      sent.append((name: "oauth_body_hash", value: hash))
    }
    baseString = try OAuth1Signature.baseString(
      method: method, url: self.url, formBody: formBody, parameters: sent)
    if let sentSignature {
      signature = sentSignature
    } else {
      signature = try OAuth1Signature.sign(baseString, with: key)
    }
    sent.append((name: "oauth_signature", value: signature))
    protocolParameters = sent
  }
}
