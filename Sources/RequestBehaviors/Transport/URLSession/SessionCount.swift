import Foundation

/// The number of sessions that stay until their connections are too old.
///
/// Each of them has three descriptors. A process that has none left would be ended by the platform.
package final class SessionCount: Sendable {
  /// The sessions of all transports, because the descriptors are the process's.
  package static let ofProcess = SessionCount()

  private let limit: Int?
  private let count = Locked(0)

  /// Creates a count.
  ///
  /// - Parameter limit: The number from which on there should be no further sessions; by default a fifth of the
  ///   descriptors that the process may have.
  package init(limit: Int? = nil) { self.limit = limit }

  /// Whether there should be no further sessions.
  package var isFull: Bool { count.withLock(\.self) >= limit ?? SessionCount.fifthOfDescriptors }

  func add(_ number: Int) { count.withLock { $0 += number } }

  /// A process may raise its limit at any time, so it is asked for each time.
  private static var fifthOfDescriptors: Int {
    let descriptors = sysconf(Int32(_SC_OPEN_MAX))
    return descriptors < 0 ? .max : descriptors / 5
  }
}
