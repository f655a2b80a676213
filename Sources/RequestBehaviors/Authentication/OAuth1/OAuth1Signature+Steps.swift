public import Foundation

extension OAuth1Signature {
  /// The decoded parameters that are signed, in the order query, form body, protocol parameters (RFC 5849 §3.4.1.3.1).
  ///
  /// Duplicates stay, `realm` is not among them, and neither is any `oauth_signature`. Computed anew at each use, like the
  /// other steps that only people read.
  public var collectedParameters: [OAuth1Parameter] {
    OAuth1Signature.collect(url: url, formBody: formBody, parameters: protocolParameters).parameters()
  }

  /// The collected parameters escaped, sorted by name and value, and joined (RFC 5849 §3.4.1.3.2).
  public var parameterString: String {
    sortedParameters.map(\.encoded).joined(separator: "&")
  }

  var sortedParameters: [OAuth1Parameter] {
    var list = OAuth1Signature.collect(url: url, formBody: formBody, parameters: protocolParameters)
    list.sort()
    return list.parameters()
  }

  /// The scheme and host in lower case, the port unless it is the default, and the path (RFC 5849 §3.4.1.2).
  public var baseStringURI: String { String(decoding: url.baseStringURI, as: UTF8.self) }

  /// The key of the HMAC methods, which is a secret: both secrets escaped, with `&` between them (RFC 5849 §3.4.2).
  public var signingKey: String { key.text }

  /// The value of the `Authorization` field (RFC 5849 §3.5.1).
  ///
  /// The `realm` comes first, as some servers want, and the parameters are separated by a comma and a space.
  public var authorizationHeader: String {
    var field = OctetBuffer(capacity: 512)
    field.append("OAuth ")
    if let realm = options.realm {
      field.append("realm=\"")
      // RFC 9110 §5.6.4: a quoted-string.
      for octet in realm.utf8 {
        if octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { field.append(UInt8(ascii: "\\")) }
        field.append(octet)
      }
      field.append("\", ")
    }
    for (index, parameter) in protocolParameters.enumerated() {
      if index > 0 { field.append(", ") }
      field.append(escaping: parameter.name)
      field.append("=\"")
      field.append(escaping: parameter.value)
      field.append("\"")
    }
    return field.string()
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
    var form = OctetBuffer(capacity: 512)
    for (index, parameter) in protocolParameters.enumerated() {
      if index > 0 { form.append(UInt8(ascii: "&")) }
      form.append(escaping: parameter.name)
      form.append(UInt8(ascii: "="))
      form.append(escaping: parameter.value)
    }
    return form.string()
  }
}
