import Foundation
import RequestBehaviors

/// Decides whether the parameters of a body are signed (RFC 5849 §3.4.1.3.1).
extension OAuth1Signature {
  /// Returns whether a media type is that of form bodies, ignoring case and parameters (RFC 9110 §8.3.1).
  public static func isForm(contentType: String?) -> Bool {
    let form = "application/x-www-form-urlencoded"
    if contentType == form { return true }
    let isSpace = { (octet: UInt8) in octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
    let type = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }.drop(while: isSpace)
    guard let end = type.lastIndex(where: { !isSpace($0) }) else { return false }
    return HeaderFields.areEqual(String(Substring(type[...end])), form)
  }

  static func formBody(_ body: Data?, headers: HeaderFields, options: OAuth1Options) throws -> Data? {
    if isForm(contentType: headers[.contentType]) { return body ?? Data() }
    guard options.location == .formBody else { return nil }
    if let contentType = headers[.contentType] {
      throw NetworkError(
        .invalidRequest,
        "the OAuth 1.0a options send the protocol parameters in a form body, but Content-Type is \"\(contentType)\"; "
          + "remove it, or send the parameters in the Authorization header")
    }
    guard body?.isEmpty ?? true else {
      throw NetworkError(
        .invalidRequest,
        "the OAuth 1.0a options send the protocol parameters in a form body, but this body is not a form; send them in the "
          + "Authorization header")
    }
    return Data()
  }
}
