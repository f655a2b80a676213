import Foundation

#if canImport(Network)
  import Network
#endif

/// Whether the device seems to have a network, as reported by a sequence.
///
/// ```swift
/// let connectivity = Connectivity(reachability)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.offline(connectivity)])
/// ```
///
/// The object reads the sequence for as long as it lives. The device counts as online before the first value. After the
/// last value the state does not change. If the sequence throws, the device counts as online from then on.
public final class Connectivity: Sendable {
  let gate: Gate
  private let reading: Task<Void, Never>
  private let listeners: Locked<Listeners>

  private struct Listeners {
    var actions: [UInt64: @Sendable () -> Void] = [:]
    var last: UInt64 = 0
  }

  /// Reads a sequence.
  ///
  /// - Parameters:
  ///   - updates: A value whenever the device goes online (true) or offline (false).
  ///   - longestWait: How long a request waits for a network at most; by default `nil`, which means without limit.
  ///   - queueLimit: How many requests may wait; 1,000 by default.
  public init<Updates: AsyncSequence & Sendable>(
    _ updates: Updates, longestWait: Duration? = nil, queueLimit: Int = 1_000
  ) where Updates.Element == Bool {
    let gate = Gate(longestWait: longestWait, queueLimit: queueLimit)
    let listeners = Locked(Listeners())
    (self.gate, self.listeners) = (gate, listeners)
    reading = Task {
      @Sendable func open() {
        gate.open()
        // Also from one network to another: what failed on the first may succeed on the second.
        let actions = listeners.withLock { $0.actions.sorted { $0.key < $1.key }.map(\.value) }
        for action in actions { action() }
      }
      do {
        for try await isOnline in updates { if isOnline { open() } else { gate.close() } }
      } catch {
        // The state is unknown from now on, so requests are sent.
        open()
      }
    }
  }

  deinit { reading.cancel() }

  /// Whether the device seems to be online.
  public var isOnline: Bool { gate.isOpen }

  /// Adds a closure to call each time the device is reported to be online; returns its number.
  package func addListener(_ action: @escaping @Sendable () -> Void) -> UInt64 {
    listeners.withLock { listeners in
      listeners.last += 1
      listeners.actions[listeners.last] = action
      return listeners.last
    }
  }

  /// Removes a closure that ``addListener(_:)`` added.
  package func removeListener(_ id: UInt64) { listeners.withLock { _ = $0.actions.removeValue(forKey: id) } }
}

extension Connectivity {
  /// Returns the connectivity that the system reports: by `NWPathMonitor` on Apple's platforms, elsewhere by a look at
  /// the routing tables every few seconds.
  ///
  /// In the routing tables, a network of virtual machines or containers on this machine counts too.
  ///
  /// - Parameters:
  ///   - interval: How often to look where the system sends no updates; 5 seconds by default.
  ///   - clock: The clock that times the looks.
  ///   - longestWait: How long a request waits for a network at most; by default `nil`, which means without limit.
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
        var last: Bool?
        repeat {
          let hasRoute = RouteTable.current.hasRoute
          if hasRoute != last { continuation.yield(hasRoute) }
          last = hasRoute
        } while (try? await clock.sleep(for: interval)) != nil
        continuation.finish()
      }
      continuation.onTermination = { _ in looking.cancel() }
      return stream
    }
  #endif
}
