/// One activity of the process for all calls under way; it begins with the first call and ends with the last.
///
/// An activity may hold a thread while it lasts, so that calls must not have one each.
@MainActor
package final class SharedActivity {
  /// Called when the time of an activity expires.
  package typealias Expiration = @MainActor @Sendable () -> Void

  /// Begins an activity of the process; returns a closure that ends it.
  package typealias Start = @MainActor (_ reason: String, _ expired: @escaping Expiration) -> @MainActor () -> Void

  /// The time from the first call to the last one, or to the expiration.
  @MainActor
  private final class Period {
    var expirations: [Int: Expiration] = [:]
    var finish: (@MainActor () -> Void)?
    var hasExpired = false
  }

  private let start: Start
  private var current: Period?
  private var periods: [Int: Period] = [:]
  private var lastID = 0

  /// Creates a shared activity that has not begun.
  nonisolated package init(start: @escaping Start) { self.start = start }

  /// Adds a call.
  ///
  /// - Parameters:
  ///   - reason: The name of the activity, if the call begins one.
  ///   - expiration: Called when the time expires, unless the call has ended.
  /// - Returns: The identifier for ``end(_:)``.
  package func begin(_ reason: String, expiration: @escaping Expiration) -> Int {
    lastID += 1
    if let current {
      current.expirations[lastID] = expiration
      periods[lastID] = current
    } else {
      begin(lastID, reason, expiration)
    }
    return lastID
  }

  private func begin(_ id: Int, _ reason: String, _ expiration: @escaping Expiration) {
    let period = Period()
    period.expirations[id] = expiration
    periods[id] = period
    current = period
    let finish = start(reason) { [weak self, weak period] in
      if let period { self?.expire(period) }
    }
    // The time may expire at once, before `finish` exists.
    if period.expirations.isEmpty { finish() } else { period.finish = finish }
  }

  /// Removes a call.
  package func end(_ id: Int) {
    guard let period = periods.removeValue(forKey: id) else { return }
    period.expirations[id] = nil
    guard period.expirations.isEmpty else { return }
    if current === period { current = nil }
    period.finish?()
    period.finish = nil
  }

  /// Notifies the calls of the period; later calls begin another activity.
  private func expire(_ period: Period) {
    guard !period.hasExpired else { return }
    period.hasExpired = true
    if current === period { current = nil }
    // In the order in which the calls began.
    for (_, expiration) in period.expirations.sorted(by: { $0.key < $1.key }) { expiration() }
  }
}
