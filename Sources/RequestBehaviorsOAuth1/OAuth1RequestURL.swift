import Foundation
import RequestBehaviors

/// The parts of a request's URL that are signed, found in its octets.
struct OAuth1RequestURL: Sendable {
  let isSecure: Bool
  /// The scheme, authority and path of RFC 5849 §3.4.1.2.
  let baseStringURI: [UInt8]
  private let octets: [UInt8]
  private let queryRange: Range<Int>

  /// - Throws: `NetworkError` of code `invalidURL` if the URL is not http or https, or has no host or an impossible
  ///   port.
  init(_ url: URL, hostField: String?) throws {
    let octets = Array(url.absoluteString.utf8)
    guard let colon = octets.firstIndex(of: UInt8(ascii: ":")),
      let isSecure = OAuth1RequestURL.isSecure(scheme: octets[..<colon])
    else {
      throw NetworkError(
        .invalidURL, "the URL \(Redactor.standard.redact(url)) is not http or https; only those are signed")
    }
    let start = colon + 3
    guard octets.dropFirst(colon + 1).starts(with: "//".utf8) else {
      throw NetworkError(.invalidURL, "the URL \(Redactor.standard.redact(url)) has no host; write it in full")
    }
    let fragment = octets[start...].firstIndex(of: UInt8(ascii: "#")) ?? octets.count
    let mark = octets[start..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
    let path = octets[start..<mark].firstIndex(of: UInt8(ascii: "/")) ?? mark

    var authority = octets[start..<path]
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    if let hostField { authority = ArraySlice(hostField.utf8) }

    var uri = Array(isSecure ? "https://".utf8 : "http://".utf8)
    uri += try OAuth1RequestURL.normalized(authority, isSecure: isSecure)
    if path == mark { uri.append(UInt8(ascii: "/")) }
    uri += octets[path..<mark]

    self.isSecure = isSecure
    self.baseStringURI = uri
    self.octets = octets
    self.queryRange = min(mark + 1, fragment)..<fragment
  }

  /// The octets of the query, without its question mark.
  var query: ArraySlice<UInt8> { octets[queryRange] }

  /// Returns the URL with text appended to its query, before the fragment.
  func appending(query addition: String) -> URL? {
    var result = Array(octets[..<queryRange.upperBound])
    let hasMark = queryRange.lowerBound > 0 && octets[queryRange.lowerBound - 1] == UInt8(ascii: "?")
    if !hasMark {
      result.append(UInt8(ascii: "?"))
    } else if !queryRange.isEmpty, result.last != UInt8(ascii: "&") {
      result.append(UInt8(ascii: "&"))
    }
    result += addition.utf8
    result += octets[queryRange.upperBound...]
    return URL(string: String(decoding: result, as: UTF8.self))
  }

  private static func isSecure(scheme: ArraySlice<UInt8>) -> Bool? {
    let lower = scheme.map { $0 | 0x20 }
    if lower.elementsEqual("https".utf8) { return true }
    return lower.elementsEqual("http".utf8) ? false : nil
  }

  /// Returns the host in lower case, with the port only if it is not the scheme's default (RFC 5849 §3.4.1.2).
  private static func normalized(_ authority: ArraySlice<UInt8>, isSecure: Bool) throws -> [UInt8] {
    let isBracketed = authority.first == UInt8(ascii: "[")
    let close = isBracketed ? authority.firstIndex(of: UInt8(ascii: "]")) : nil
    let colon = authority[(close ?? authority.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
    let host = authority[..<(colon ?? authority.endIndex)]
    // The authority may come from a `Host` field, which may hold any text.
    let hasImpossible = host.contains { $0 <= 0x20 || impossibleInHost.contains($0) }
    guard !host.isEmpty, !hasImpossible, isBracketed == (host.last == UInt8(ascii: "]")) else {
      throw NetworkError(.invalidURL, "\"\(text(authority))\" is not a host; it must be a name or an address")
    }
    let lower = host.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }

    guard let colon, colon + 1 < authority.endIndex else { return lower }
    let digits = authority[(colon + 1)...]
    guard digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let port = Int(text(digits)), 1...65535 ~= port else {
      throw NetworkError(.invalidURL, "the port in \"\(text(authority))\" is not a number from 1 to 65535")
    }
    return port == (isSecure ? 443 : 80) ? lower : lower + Array(":\(port)".utf8)
  }

  private static let impossibleInHost = Array("\"#,/?@\\".utf8)

  private static func text(_ octets: ArraySlice<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }
}
