import Foundation
import RequestBehaviors

/// The time, as the device or a service gave it at an instant, continued by a monotonic clock.
///
/// The device's own date is not used once the service's is known: the user may set it at any time, and the difference
/// would then be wrong.
struct OAuth1Clock: Sendable, Hashable {
  /// The source of the date.
  enum Source: Sendable, Hashable {
    case device
    case service
  }

  let source: Source
  /// The date as it was given.
  let date: Date
  /// The time at which it was given, on the monotonic clock.
  let readAt: Duration

  /// The date at an instant of the monotonic clock.
  func date(at now: Duration) -> Date { date.addingTimeInterval((now - readAt) / .seconds(1)) }

  /// The timestamp at an instant of the monotonic clock: whole seconds since 1970, at least 1 (RFC 5849 §3.3).
  func timestamp(at now: Duration) -> Int {
    Int(exactly: date(at: now).timeIntervalSince1970.rounded(.down)).map { max(1, $0) } ?? 1
  }
}

/// The clocks that a session learned from services.
struct OAuth1Clocks: Sendable {
  private var learned: [Origin: OAuth1Clock] = [:]

  /// The clock that was learned from an origin; `nil` if no clock was.
  subscript(origin: Origin) -> OAuth1Clock? { learned[origin] }

  /// Stores the clock by which a request succeeded.
  mutating func keep(_ clock: OAuth1Clock, of origin: Origin) {
    learned[origin] = clock.source == .service ? clock : nil
  }

  /// Forgets a clock that was refused, unless another one has been learned since.
  mutating func forget(_ clock: OAuth1Clock, of origin: Origin) {
    if learned[origin] == clock { learned[origin] = nil }
  }
}

/// The clock that a call tries after a refusal: one for each session and origin, once.
struct OAuth1ClockTrials: CallKey {
  struct Place: Hashable, Sendable {
    let session: ObjectIdentifier
    let origin: Origin
  }

  struct Trial: Sendable {
    /// The clock; `nil` if the trial failed.
    var clock: OAuth1Clock?
  }

  static let defaultValue: [Place: Trial] = [:]
}
