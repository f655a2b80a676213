import Testing

// The tables are the system's: what is read of them cannot be seen on a machine that has only one of them.
@testable import RequestBehaviors

/// The routing tables of a Linux system as a sign of its network.
@Suite(.limited) struct RouteTableTests {
  private static let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
  private static let route = "eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
  private static let downRoute = "eth0\t00000000\t0102A8C0\t0002\t0\t0\t100\t00000000\t0\t0\t0\n"
  private static let linkLocal = "eth0\t0000FEA9\t00000000\t0001\t0\t0\t1000\t0000FFFF\t0\t0\t0\n"
  private static let loopback = "lo\t0000007F\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n"

  /// A line of the table of IPv6.
  private static func line(_ destination: String, flags: String = "00000003", name: String = "eth0") -> String {
    let zeros = String(repeating: "0", count: 32)
    return "\(destination) 40 \(zeros) 00 \(zeros) 00000400 00000001 00000000 \(flags) \(name)\n"
  }

  private static let global = "20010db8" + String(repeating: "0", count: 24)
  private static let ownLink = "fe80" + String(repeating: "0", count: 28)
  private static let multicast = "ff00" + String(repeating: "0", count: 28)

  private static let tables: [(ipv4: String, ipv6: String, hasRoute: Bool)] = [
    (head + route, "", true),
    (head + loopback + route, "", true),
    (head, "", false),
    (head + loopback, "", false),
    (head + downRoute, "", false),
    (head + linkLocal, "", false),
    (head + linkLocal + route, "", true),
    (head, line(global), true),
    ("", line(global), true),
    (head, line(global, name: "lo"), false),
    (head, line(global, flags: "00000002"), false),
    (head, line(ownLink) + line(multicast), false),
    (head, line(ownLink) + line(global), true),
    // A table that cannot be read lets requests be tried.
    ("", "", true),
    // The flags, or the name, are cut off.
    (head + "eth0\t00000000\t0102A8C0", "", false),
    (head + "eth0\t00000000\t0102A8C0\tx", "", false),
    (head, String(line(global).prefix(140)), false),
    // The first line of IPv4 is a title, that of IPv6 is a route.
    (route, "", false),
  ]

  @Test(arguments: tables)
  func `a route leads out of the machine if it is up and not the machine's own`(
    ipv4: String, ipv6: String, hasRoute: Bool
  ) {
    #expect(RouteTable(ipv4: ipv4, ipv6: ipv6).hasRoute == hasRoute)
  }
}
