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

extension OAuth1Clock {
  /// The least difference, in seconds, that counts as the reason of a 401 without one; services allow 300 s and more.
  static let tolerance: TimeInterval = 60

  /// The least difference, in seconds, by which a timestamp that was refused by name is corrected.
  static let precision: TimeInterval = 2

  /// Returns the clock by which a request is signed again.
  ///
  /// The device's clock is replaced by the date of the service. A clock that was learned from the service is replaced
  /// by the device's, unless the service gives a date now that matches neither.
  ///
  /// - Parameters:
  ///   - used: The clock by which the request was signed.
  ///   - verdict: The meaning of the response for the timestamp.
  ///   - serviceDate: The date of the response; `nil` if it has no date.
  ///   - device: The device's clock.
  ///   - now: The time at which the response came, on the monotonic clock.
  /// - Returns: The clock; `nil` if the timestamp is not the reason, or if there is no other clock.
  static func alternative(
    to used: OAuth1Clock, verdict: OAuth1Refusal.TimestampVerdict, serviceDate: Date?, device: OAuth1Clock,
    now: Duration
  ) -> OAuth1Clock? {
    let least = verdict == .refused ? precision : tolerance
    let differ = { (one: Date, other: Date) in abs(one.timeIntervalSince(other)) >= least }
    let (believed, deviceDate) = (used.date(at: now), device.date(at: now))
    let isConfirmed = serviceDate.map { !differ($0, believed) } ?? false

    if used.source == .device {
      guard let serviceDate, !isConfirmed else { return nil }
      return OAuth1Clock(source: .service, date: serviceDate, readAt: now)
    }
    // The service still gives the date that was learned, so a 401 without a reason has another cause.
    if isConfirmed, verdict == .suspected { return nil }
    if let serviceDate, !isConfirmed, differ(serviceDate, deviceDate) {
      return OAuth1Clock(source: .service, date: serviceDate, readAt: now)
    }
    return differ(deviceDate, believed) ? device : nil
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
