/// One activity of the process for all calls under way: it begins with the first and ends with the last of them.
///
/// An activity may hold a thread for as long as it lasts, so that each call must not have its own.
@MainActor
package final class SharedActivity {
  /// Called when the time of an activity is over.
  package typealias Expiration = @MainActor @Sendable () -> Void

  /// Begins an activity of the process; returns what ends it.
  package typealias Start = @MainActor (_ reason: String, _ expired: @escaping Expiration) -> @MainActor () -> Void

  /// From the first call to the last one, or until the time is over.
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

  /// Creates one that has not begun.
  nonisolated package init(start: @escaping Start) { self.start = start }

  /// Adds a call.
  ///
  /// - Parameters:
  ///   - reason: What an activity that begins with it is called.
  ///   - expiration: Called when the time is over, unless the call has ended.
  /// - Returns: What to end it by.
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
    // The time may be over at once, before there is anything to end.
    if period.expirations.isEmpty { finish() } else { period.finish = finish }
  }

  /// Takes a call away.
  package func end(_ id: Int) {
    guard let period = periods.removeValue(forKey: id) else { return }
    period.expirations[id] = nil
    guard period.expirations.isEmpty else { return }
    if current === period { current = nil }
    period.finish?()
    period.finish = nil
  }

  /// Tells the calls; those that come later begin another activity.
  private func expire(_ period: Period) {
    guard !period.hasExpired else { return }
    period.hasExpired = true
    if current === period { current = nil }
    // In the order in which the calls began.
    for (_, expiration) in period.expirations.sorted(by: { $0.key < $1.key }) { expiration() }
  }
}
