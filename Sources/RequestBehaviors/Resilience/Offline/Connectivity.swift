import Foundation

#if canImport(Network)
  import Network
#endif

/// Whether the device seems to have a network, as a sequence says.
///
/// ```swift
/// let connectivity = Connectivity(reachability)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.offline(connectivity)])
/// ```
///
/// The sequence is read from the beginning to the end of the object. Before its first value the device counts as online,
/// and after its end it stays what it was.
public final class Connectivity: Sendable {
  let gate: Gate
  private let reading: Task<Void, Never>

  /// Reads a sequence.
  ///
  /// - Parameters:
  ///   - updates: Whether the device is online, whenever that changes.
  ///   - longestWait: How long a request waits for a network at most; `nil`, for ever, by default.
  ///   - queueLimit: How many requests may wait; 1,000 by default.
  public init<Updates: AsyncSequence & Sendable>(
    _ updates: Updates, longestWait: Duration? = nil, queueLimit: Int = 1_000
  ) where Updates.Element == Bool {
    let gate = Gate(longestWait: longestWait, queueLimit: queueLimit)
    self.gate = gate
    reading = Task {
      do {
        for try await isOnline in updates { if isOnline { gate.open() } else { gate.close() } }
      } catch {
        // Nobody knows any more, so requests are tried.
        gate.open()
      }
    }
  }

  deinit { reading.cancel() }

  /// Whether the device seems to be online.
  public var isOnline: Bool { gate.isOpen }
}

extension Connectivity {
  /// What the system says: `NWPathMonitor` on Apple's platforms, elsewhere a look at the routes every few seconds.
  ///
  /// - Parameters:
  ///   - interval: How often to look where the system does not tell by itself; 5 seconds by default.
  ///   - clock: The clock of the looks.
  ///   - longestWait: How long a request waits for a network at most; `nil`, for ever, by default.
  /// - Returns: The connectivity.
  public static func system(
    every interval: Duration = .seconds(5), clock: RequestClock = .system, longestWait: Duration? = nil
  ) -> Connectivity {
    Connectivity(updates(every: interval, clock), longestWait: longestWait)
  }

  #if canImport(Network)
    private static func updates(every interval: Duration, _ clock: RequestClock) -> AsyncStream<Bool> {
      let (stream, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
      let monitor = NWPathMonitor()
      monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
      continuation.onTermination = { _ in monitor.cancel() }
      monitor.start(queue: DispatchQueue(label: "RequestBehaviors.Connectivity"))
      return stream
    }
  #else
    private static func updates(every interval: Duration, _ clock: RequestClock) -> AsyncStream<Bool> {
      let (stream, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
      let looking = Task {
        repeat { continuation.yield(RouteTable.current.hasRoute) } while (try? await clock.sleep(for: interval)) != nil
        continuation.finish()
      }
      continuation.onTermination = { _ in looking.cancel() }
      return stream
    }
  #endif
}

/// The routes of a Linux system, as `/proc/net/route` and `/proc/net/ipv6_route` list them.
struct RouteTable {
  let ipv4: String
  let ipv6: String

  static var current: RouteTable {
    RouteTable(ipv4: read("/proc/net/route"), ipv6: read("/proc/net/ipv6_route"))
  }

  /// Whether a route leads out of the machine; true where the tables cannot be read, so that requests are tried.
  var hasRoute: Bool {
    if ipv4.isEmpty, ipv6.isEmpty { return true }
    let names = ipv4.split(separator: "\n").dropFirst().compactMap { line -> Substring? in
      let columns = line.split(whereSeparator: \.isWhitespace)
      // The fourth column has the flags, of which 1 says that the route is up.
      guard columns.count > 3, let flags = Int(columns[3], radix: 16), flags & 1 == 1 else { return nil }
      return columns[0]
    }
    let names6 = ipv6.split(separator: "\n").compactMap { line -> Substring? in
      let columns = line.split(whereSeparator: \.isWhitespace)
      // Addresses of one link lead nowhere else.
      guard columns.count > 9, !columns[0].hasPrefix("fe80"), !columns[0].hasPrefix("ff"),
        let flags = Int(columns[8], radix: 16), flags & 1 == 1
      else { return nil }
      return columns[9]
    }
    return (names + names6).contains { $0 != "lo" }
  }

  private static func read(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
