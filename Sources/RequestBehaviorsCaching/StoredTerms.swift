package import Foundation
import RequestBehaviors

/// The terms on which a stored response may be used again: its age at arrival, its lifetime and its directives (RFC
/// 9111 §4.2, §5.2.2).
///
/// They are computed once, when the response arrives; a store keeps them beside the response. Times are in seconds.
package struct StoredTerms: Sendable, Hashable {
  /// When the response was received.
  package var responseTime: Date
  /// How old the response was when it was received (`corrected_initial_age` in RFC 9111 §4.2.3).
  package var initialAge: TimeInterval
  /// How long the response is fresh after it was generated (`freshness_lifetime` in RFC 9111 §4.2.1).
  package var lifetime: TimeInterval
  /// Whether every use needs a successful validation (`no-cache`, RFC 9111 §5.2.2.4).
  package var requiresValidation = false
  /// Whether a stale response must not be used (`must-revalidate`, RFC 9111 §5.2.2.2).
  package var forbidsStale = false
  /// Whether the content does not change while the response is fresh (`immutable`, RFC 8246).
  package var isImmutable = false
  /// How long after it became stale the response may be used while it is validated (RFC 5861 §3).
  package var staleWhileRevalidate: TimeInterval?
  /// How long after it became stale the response may be used when the server fails (RFC 5861 §4).
  package var staleIfError: TimeInterval?

  /// Creates terms, for a store that reads them back.
  package init(responseTime: Date, initialAge: TimeInterval, lifetime: TimeInterval) {
    self.responseTime = responseTime
    self.initialAge = initialAge
    self.lifetime = lifetime
  }

  /// How old the response is (`current_age` in RFC 9111 §4.2.3).
  package func age(at now: Date) -> TimeInterval {
    // A damaged file may hold any number.
    max(0, initialAge) + max(0, now.timeIntervalSince(responseTime))
  }

  /// Returns how long the response will stay fresh; if it is stale, the negative time since it became so.
  ///
  /// A response dated in the future is stale: the clock was set back, so its age is unknown.
  package func freshnessLeft(at now: Date) -> TimeInterval {
    now < responseTime ? -.infinity : lifetime - age(at: now)
  }

  /// Whether the response is fresh (RFC 9111 §4.2).
  package func isFresh(at now: Date) -> Bool { freshnessLeft(at: now) > 0 }

  /// Whether the response may be used though it is stale, if the request or a directive allows it (RFC 9111 §4.2.4).
  package var allowsStale: Bool { !requiresValidation && !forbidsStale }
}

extension StoredTerms {
  /// Computes the terms of a response.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the response.
  ///   - statusCode: The status, which decides whether a lifetime may be guessed.
  ///   - requestTime: When the request was sent.
  ///   - responseTime: When the response was received.
  ///   - policy: The policy, which has the limits of a guessed lifetime.
  init(_ headers: HeaderFields, statusCode: Int, requestTime: Date, responseTime: Date, policy: CachePolicy) {
    let control = CacheControl(headers)
    // A response without a valid date was generated when it arrived (RFC 9110 §6.6.1).
    let date = headers[.date].flatMap { HTTPDate.strictDate(from: $0, now: responseTime) }
    let freshness = Freshness(control: control, headers: headers, date: date, responseTime: responseTime)
    self.init(
      responseTime: responseTime,
      initialAge: StoredTerms.initialAge(headers, date: date, requestTime: requestTime, responseTime: responseTime),
      lifetime: freshness.explicitLifetime ?? freshness.heuristicLifetime(statusCode: statusCode, policy: policy))
    requiresValidation = control.isUnqualified("no-cache")
    forbidsStale = control.contains("must-revalidate")
    isImmutable = control.contains("immutable")
    staleWhileRevalidate = StoredTerms.window("stale-while-revalidate", of: control)
    staleIfError = StoredTerms.window("stale-if-error", of: control)
  }

  /// The age at the arrival (RFC 9111 §4.2.3).
  ///
  /// Dates have whole seconds, so the time of arrival is rounded down where it is compared with one. Otherwise a
  /// response of this very second would be up to a second old.
  private static func initialAge(
    _ headers: HeaderFields, date: Date?, requestTime: Date, responseTime: Date
  ) -> TimeInterval {
    let arrival = responseTime.timeIntervalSince1970.rounded(.down)
    let apparentAge = max(0, arrival - (date?.timeIntervalSince1970 ?? arrival))
    let responseDelay = max(0, responseTime.timeIntervalSince(requestTime))
    return max(apparentAge, TimeInterval(age(in: headers)) + responseDelay)
  }

  /// The first member of the `Age` field; 0 if it is missing or not valid (RFC 9111 §5.1).
  static func age(in headers: HeaderFields) -> Int {
    guard let first = headers[.age].flatMap({ FieldList.members(of: $0).first }),
      case .value(let seconds) = CacheControl.seconds(in: String(first))
    else { return 0 }
    return seconds
  }

  private static func window(_ name: String, of control: CacheControl) -> TimeInterval? {
    guard case .value(let seconds)? = control.seconds(name) else { return nil }
    return TimeInterval(seconds)
  }
}
