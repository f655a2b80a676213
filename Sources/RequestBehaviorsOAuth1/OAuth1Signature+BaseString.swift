import Foundation
import RequestBehaviors

/// The octets that are signed (RFC 5849 §3.4.1).
extension OAuth1Signature {
  static func baseString(
    method: RequestMethod, url: OAuth1RequestURL, formBody: Data?, parameters: [(name: String, value: String)]
  ) throws -> String {
    let own = ownParameters(url: url, formBody: formBody)
    // A protocol parameter among the request's own would be sent twice, and the service may read either.
    if let name = parameters.first(where: { sent in own.contains { $0.isNamed(sent.name) } })?.name,
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
}
