import Foundation
import RequestBehaviors

/// The parameters that are signed (RFC 5849 §3.4.1.3).
extension OAuth1Signature {
  /// Returns the parameter string (RFC 5849 §3.4.1.3.2).
  static func parameterString(_ parameters: [OAuth1EncodedParameter]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(512)
    for parameter in parameters.sorted() {
      if !result.isEmpty { result.append(UInt8(ascii: "&")) }
      result += parameter.octets
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

extension OAuth1EncodedParameter: Comparable {
  /// The order in which parameters are signed: by name, then by value, both by octets (RFC 5849 §3.4.1.3.2).
  static func < (left: OAuth1EncodedParameter, right: OAuth1EncodedParameter) -> Bool {
    left.name == right.name
      ? left.value.lexicographicallyPrecedes(right.value) : left.name.lexicographicallyPrecedes(right.name)
  }
}
