public import Foundation
import RequestBehaviors

extension OAuth1Signature {
  /// The decoded parameters that are signed, in the order query, form body, protocol parameters (RFC 5849 §3.4.1.3.1).
  ///
  /// Duplicates stay; `realm` and every `oauth_signature` are left out. The value is computed at each use, like the
  /// other steps that only people read.
  public var collectedParameters: [OAuth1EncodedPair] {
    let sent = protocolParameters.filter { $0.name != "oauth_signature" }
    return OAuth1Signature.ownParameters(url: url, formBody: formBody)
      + sent.map { OAuth1EncodedPair($0.name, $0.value) }
  }

  /// The collected parameters escaped, sorted by name and value, and joined (RFC 5849 §3.4.1.3.2).
  public var parameterString: String {
    String(
      decoding: OAuth1Signature.parameterString(collectedParameters.map { OAuth1EncodedParameter($0) }), as: UTF8.self)
  }

  var sortedParameters: [OAuth1EncodedPair] {
    collectedParameters.map { (parameter: $0, encoded: OAuth1EncodedParameter($0)) }
      .sorted { $0.encoded < $1.encoded }.map(\.parameter)
  }

  /// The scheme and host in lower case, the port unless it is the default, and the path (RFC 5849 §3.4.1.2).
  public var baseStringURI: String { String(decoding: url.baseStringURI, as: UTF8.self) }

  /// The secret key of the HMAC methods: both secrets escaped, with `&` between them (RFC 5849 §3.4.2).
  public var signingKey: String { key.text }

  /// The value of the `Authorization` field (RFC 5849 §3.5.1).
  ///
  /// The `realm` comes first, as some servers want, and the parameters are separated by a comma and a space.
  public var authorizationHeader: String {
    var field = Array("OAuth ".utf8)
    field.reserveCapacity(1_024)
    if let realm = options.realm {
      // A quoted-string (RFC 9110 §5.6.4).
      field += "realm=\"".utf8
      for octet in realm.utf8 {
        if octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { field.append(UInt8(ascii: "\\")) }
        field.append(octet)
      }
      field += "\", ".utf8
    }
    for (index, parameter) in protocolParameters.enumerated() {
      if index > 0 { field += ", ".utf8 }
      PercentEncoding.append(escaping: parameter.name.utf8, to: &field)
      field += "=\"".utf8
      PercentEncoding.append(escaping: parameter.value.utf8, to: &field)
      field.append(UInt8(ascii: "\""))
    }
    return String(decoding: field, as: UTF8.self)
  }

  /// The request's URL with the protocol parameters at the end of its query (RFC 5849 §3.5.3).
  public var signedURL: URL? { url.appending(query: encodedProtocolParameters) }

  /// The request's form with the protocol parameters at its end (RFC 5849 §3.5.2).
  public var signedFormBody: Data {
    var body = formBody ?? Data()
    if let last = body.last, last != UInt8(ascii: "&") { body.append(UInt8(ascii: "&")) }
    body.append(contentsOf: encodedProtocolParameters.utf8)
    return body
  }

  private var encodedProtocolParameters: String {
    protocolParameters.map { PercentEncoding.escape($0.name) + "=" + PercentEncoding.escape($0.value) }
      .joined(separator: "&")
  }
}
