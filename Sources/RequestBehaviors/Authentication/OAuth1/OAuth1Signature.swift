public import Foundation

/// The signature of one request, with every step that led to it (RFC 5849 §3.4).
///
/// It is a pure function of its input: it reads no clock and draws no random numbers. ``OAuth1Behavior`` makes one for
/// each request that it signs; make one yourself to see why a service refuses yours:
///
/// ```swift
/// let key = OAuth1SigningKey(method: .hmacSHA1, consumerSecret: consumerSecret, tokenSecret: tokenSecret)
/// let signature = try OAuth1Signature(
///   method: .get, url: url,
///   parameters: OAuth1Parameters(consumerKey: consumerKey, token: token, nonce: nonce, timestamp: timestamp),
///   key: key)
/// print(signature.explanation())
/// ```
///
/// It works on octets throughout. The query and the form body are taken as they are, whatever their encoding, and what
/// is no UTF-8 survives.
public struct OAuth1Signature: Sendable {
  /// The method of the request.
  public let requestMethod: HTTPMethod

  /// The protocol parameters in the order in which they are sent, the signature last and without `realm` (RFC 5849 §3.1).
  public let protocolParameters: [(name: String, value: String)]

  /// The octets that are signed, all of them ASCII: method, base string URI and parameter string, each escaped, with `&`
  /// between them (RFC 5849 §3.4.1.1).
  public let baseString: String

  /// The value of `oauth_signature`, not yet percent-encoded (RFC 5849 §3.4.2, §3.4.3, §3.4.4).
  public let signature: String

  let key: OAuth1SigningKey
  let options: OAuth1Options
  let url: OAuth1RequestURL
  let formBody: Data?

  /// Signs a request.
  ///
  /// The URL is signed as it is written: remove its dot segments first, as they are not sent
  /// (``removingDotSegments(from:)``). `Host` and `Content-Type` are the only fields that matter.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - url: The request's absolute URL; its fragment and user information are not signed.
  ///   - headers: The request's fields.
  ///   - body: The request's body; it is signed if `Content-Type` says that it is a form (RFC 5849 §3.4.1.3.1).
  ///   - parameters: The protocol parameters.
  ///   - key: The signature method and the secrets.
  ///   - options: Where the service differs from others.
  /// - Throws: ``NetworkError`` where the signature would be wrong or give a secret away, and of code
  ///   ``NetworkError/Code-swift.struct/oauth1SigningFailed`` with what an RSA method's closure threw.
  public init(
    method: HTTPMethod, url: URL, headers: HTTPHeaders = [:], body: Data? = nil,
    parameters: OAuth1Parameters, key: OAuth1SigningKey, options: OAuth1Options = OAuth1Options()
  ) throws {
    try self.init(
      method: method, url: url, headers: headers, body: body, parameters: parameters, key: key, options: options,
      sentSignature: nil)
  }

  /// Signs a request, or takes the signature that was sent.
  init(
    method: HTTPMethod, url: URL, headers: HTTPHeaders, body: Data?, parameters: OAuth1Parameters,
    key: OAuth1SigningKey, options: OAuth1Options, sentSignature: String?
  ) throws {
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
    var base = OctetBuffer(capacity: 1024)
    try OAuth1Signature.writeBaseString(method: method, url: self.url, formBody: formBody, parameters: sent, to: &base)
    baseString = base.string()
    if let sentSignature { signature = sentSignature } else { signature = try OAuth1Signature.sign(base, with: key) }
    sent.append((name: "oauth_signature", value: signature))
    protocolParameters = sent
  }

  private static func writeBaseString(
    method: HTTPMethod, url: OAuth1RequestURL, formBody: Data?, parameters: [(name: String, value: String)],
    to base: inout OctetBuffer
  ) throws {
    var list = collectOwn(url: url, formBody: formBody)
    if let name = list.firstName(alsoIn: parameters) {
      throw NetworkError.invalidRequest(
        "\(name) is in the query or the form body already; each protocol parameter is sent once (RFC 5849 §3.1)")
    }
    for parameter in parameters { list.append(parameter.name, parameter.value) }
    list.sort()
    var parameterString = OctetBuffer(capacity: 512)
    list.writeParameterString(to: &parameterString)

    base.append(escaping: method.rawValue.uppercased())
    base.append(UInt8(ascii: "&"))
    url.baseStringURI.withUnsafeBufferPointer { base.append(escaping: $0) }
    base.append(UInt8(ascii: "&"))
    parameterString.withOctets { base.append(escaping: $0) }
  }

  /// RFC 5849 §3.4.1.3.1: the parameters of the query and the form body, then the protocol's.
  static func collect(
    url: OAuth1RequestURL, formBody: Data?, parameters: [(name: String, value: String)]
  ) -> OAuth1ParameterList {
    var list = collectOwn(url: url, formBody: formBody)
    for parameter in parameters { list.append(parameter.name, parameter.value) }
    return list
  }

  private static func collectOwn(url: OAuth1RequestURL, formBody: Data?) -> OAuth1ParameterList {
    var list = OAuth1ParameterList(capacity: 512 + (formBody?.count ?? 0))
    url.withQuery { list.append(form: $0) }
    formBody?.withUnsafeBytes { raw in
      raw.withMemoryRebound(to: UInt8.self) { list.append(form: $0) }
    }
    return list
  }

  private static func sign(_ base: borrowing OctetBuffer, with key: OAuth1SigningKey) throws -> String {
    let signature: [UInt8]
    switch key.method.kind {
    case .plaintext:
      return key.text
    case .hmac:
      signature = base.withOctets { key.authenticator?.code(for: UnsafeRawBufferPointer($0)) ?? [] }
    case .rsa(let sign):
      do {
        signature = [UInt8](try sign(Data(base.array())))
      } catch {
        throw NetworkError(
          .oauth1SigningFailed, "the closure of \(key.method.name) threw; see the underlying error",
          underlyingError: error)
      }
    }
    var text = OctetBuffer(capacity: signature.count * 2)
    text.append(base64: signature)
    return text.string()
  }
}
