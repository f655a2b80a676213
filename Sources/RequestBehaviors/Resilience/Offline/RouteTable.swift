import Foundation

#if canImport(Network)
  import Network
#endif

/// The routes of a Linux system, as `/proc/net/route` and `/proc/net/ipv6_route` list them.
struct RouteTable {
  let ipv4: String
  let ipv6: String

  static var current: RouteTable {
    RouteTable(ipv4: read("/proc/net/route"), ipv6: read("/proc/net/ipv6_route"))
  }

  /// Whether a route leads out of the machine.
  ///
  /// It is true if the tables cannot be read, so that requests are sent.
  var hasRoute: Bool {
    if ipv4.isEmpty, ipv6.isEmpty { return true }
    let names = ipv4.split(separator: "\n").dropFirst().compactMap { line -> Substring? in
      let columns = line.split(whereSeparator: \.isWhitespace)
      // The second column holds the network, its first byte last; link-local addresses (169.254.0.0) lead to no other
      // one. The fourth column holds the flags. Bit 1 says that the route is up.
      guard columns.count > 3, !columns[1].hasSuffix("FEA9"), let flags = Int(columns[3], radix: 16), flags & 1 == 1
      else { return nil }
      return columns[0]
    }
    let names6 = ipv6.split(separator: "\n").compactMap { line -> Substring? in
      let columns = line.split(whereSeparator: \.isWhitespace)
      // Link-local and multicast addresses lead to no other network.
      guard columns.count > 9, !columns[0].hasPrefix("fe80"), !columns[0].hasPrefix("ff"),
        let flags = Int(columns[8], radix: 16), flags & 1 == 1
      else { return nil }
      return columns[9]
    }
    return (names + names6).contains { $0 != "lo" }
  }

  private static func read(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
