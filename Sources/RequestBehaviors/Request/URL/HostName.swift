import Foundation

/// The one spelling of a host by which origins, pins and identities are compared.
///
/// A URL may escape any letter of a host (RFC 3986 §3.2.2), write a name of another script as it is or in its ASCII
/// form (RFC 5891), and an IPv6 address with or without its zeros. Transports connect to the same server each time, so
/// the host has the same credentials and pins each time.
enum HostName {
  /// Returns a host in lower case, without escapes, and in its ASCII form; an IPv6 address in that of RFC 5952.
  ///
  /// A host that is no name of letters, digits, `-`, `.`, `_` and `~` keeps its escapes, and so does a number, which
  /// ``URLResolution/isAmbiguousAddress(_:)`` refuses in this form.
  static func canonical(_ host: String) -> String {
    if host.utf8.contains(UInt8(ascii: ":")) { return address(host) ?? host.lowercased() }
    guard let ascii = ascii(host), !endsInNumber(ascii) else { return host.lowercased() }
    return ascii
  }

  /// Returns an IPv6 address as the system writes it; `nil` for another text, such as one with a zone.
  private static func address(_ host: String) -> String? {
    var address = in6_addr()
    guard inet_pton(AF_INET6, host, &address) == 1 else { return nil }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      inet_ntop(AF_INET6, &address, text.baseAddress, socklen_t(text.count)).map { String(cString: $0) }
    }
  }

  /// Returns the ASCII form of a host in lower case; `nil` if it has none, or no need of one.
  static func ascii(_ host: String) -> String? {
    // Nearly every host is plain.
    guard host.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }), let name = host.removingPercentEncoding,
      // Another character would end the host within the URL below.
      name.utf8.allSatisfy({ $0 >= 0x80 || PercentEncoding.isUnreserved($0) }),
      let url = URL(string: "http://\(name)/"), let ascii = URLComponents(string: url.absoluteString)?.encodedHost
    else { return nil }
    return ascii.utf8.allSatisfy(PercentEncoding.isUnreserved) ? ascii.lowercased() : nil
  }

  /// Whether the last label of a host is a number, as in every IPv4 address and in no name.
  static func endsInNumber(_ host: String) -> Bool {
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let given = labels.last == "" ? labels.dropLast() : labels[...]
    guard let last = given.last, let first = last.utf8.first, (0x30...0x39).contains(first) else { return false }
    let isHexadecimal = last.lowercased().hasPrefix("0x") && last.dropFirst(2).allSatisfy(\.isHexDigit)
    return isHexadecimal || last.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
