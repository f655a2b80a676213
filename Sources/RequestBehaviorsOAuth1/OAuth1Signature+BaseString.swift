import Foundation
import RequestBehaviors

/// The octets that are signed (RFC 5849 §3.4.1).
extension OAuth1Signature {
  static func baseString(
    method: RequestMethod, url: OAuth1RequestURL, formBody: Data?, parameters: [(name: String, value: String)]
  ) throws -> String {
    let own = ownParameters(url: url, formBody: formBody)
    // A protocol parameter among the request's own would be sent twice, and the service may read either.
    if let name = parameters.first(where: { sent in own.contains { $0.name.elementsEqual(sent.name.utf8) } })?.name,
      name.hasPrefix("oauth_")
    {
      throw NetworkError(
        .invalidRequest,
        "\(name) is in the query or the form body already; each protocol parameter is sent once (RFC 5849 §3.1)")
    }
    let all = own.map { OAuth1EncodedParameter($0) } + parameters.map { OAuth1EncodedParameter($0) }
    var base: [UInt8] = []
    base.reserveCapacity(1_024)
    PercentEncoding.append(escaping: method.rawValue.uppercased().utf8, to: &base)
    base.append(UInt8(ascii: "&"))
    PercentEncoding.append(escaping: url.baseStringURI, to: &base)
    base.append(UInt8(ascii: "&"))
    PercentEncoding.append(escaping: parameterString(all), to: &base)
    return String(decoding: base, as: UTF8.self)
  }

  /// Returns the parameter string (RFC 5849 §3.4.1.3.2).
  static func parameterString(_ parameters: [OAuth1EncodedParameter]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(512)
    for parameter in parameters.sorted() {
      if !result.isEmpty { result.append(UInt8(ascii: "&")) }
      parameter.append(to: &result)
    }
    return result
  }

  /// Returns the parameters of the query and the form body, without any `oauth_signature` (RFC 5849 §3.4.1.3.1).
  static func ownParameters(url: OAuth1RequestURL, formBody: Data?) -> [OAuth1EncodedPair] {
    let form = formBody.map { OAuth1EncodedPair.list(form: Array($0)[...]) } ?? []
    let signature = Array("oauth_signature".utf8)
    return (OAuth1EncodedPair.list(form: url.query) + form).filter { $0.name != signature }
  }
}
