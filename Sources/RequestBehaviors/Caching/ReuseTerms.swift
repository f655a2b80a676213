package import Foundation

/// The terms on which a stored response may be used again: how old it was, how long it is fresh, and what its
/// directives ask for (RFC 9111 §4.2, §5.2.2).
///
/// They are worked out once, when the response arrives; a store keeps them beside the response. Times are in seconds.
package struct ReuseTerms: Sendable, Hashable {
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

  /// Creates terms; a store does so from what it kept.
  package init(responseTime: Date, initialAge: TimeInterval, lifetime: TimeInterval) {
    self.responseTime = responseTime
    self.initialAge = initialAge
    self.lifetime = lifetime
  }

  /// How old the response is (`current_age` in RFC 9111 §4.2.3).
  package func age(at now: Date) -> TimeInterval {
    initialAge + max(0, now.timeIntervalSince(responseTime))
  }

  /// How long the response will be fresh; negative is how long it has been stale.
  ///
  /// A response from the future has been stale for ever: the clock was set back, and nobody knows how old it is.
  package func freshnessLeft(at now: Date) -> TimeInterval {
    now < responseTime ? -.infinity : lifetime - age(at: now)
  }

  /// Whether the response is fresh (RFC 9111 §4.2).
  package func isFresh(at now: Date) -> Bool { freshnessLeft(at: now) > 0 }

  /// Whether the response may be used though it is stale, if somebody allows it (RFC 9111 §4.2.4).
  package var allowsStale: Bool { !requiresValidation && !forbidsStale }
}

extension ReuseTerms {
  /// Works out the terms of a response.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the response.
  ///   - statusCode: The status, which says whether a lifetime may be guessed.
  ///   - requestTime: When the request was sent.
  ///   - responseTime: When the response was received.
  ///   - policy: How to guess a lifetime.
  init(_ headers: HeaderFields, statusCode: Int, requestTime: Date, responseTime: Date, policy: CachePolicy) {
    let control = CacheControl(headers)
    // A response without a valid date is as old as its arrival (RFC 9110 §6.6.1).
    let date = headers["Date"].flatMap { HTTPDate.strictDate(from: $0, now: responseTime) }
    let freshness = Freshness(control: control, headers: headers, date: date, responseTime: responseTime)
    self.init(
      responseTime: responseTime,
      initialAge: ReuseTerms.initialAge(headers, date: date, requestTime: requestTime, responseTime: responseTime),
      lifetime: freshness.explicitLifetime ?? freshness.heuristicLifetime(statusCode: statusCode, policy: policy))
    requiresValidation = control.isUnqualified("no-cache")
    forbidsStale = control.contains("must-revalidate")
    isImmutable = control.contains("immutable")
    staleWhileRevalidate = ReuseTerms.window("stale-while-revalidate", of: control)
    staleIfError = ReuseTerms.window("stale-if-error", of: control)
  }

  /// The age at the arrival (RFC 9111 §4.2.3).
  ///
  /// Dates count whole seconds, so the time of the arrival does too where it is compared with one: else a response of
  /// this very second would be up to a second old.
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
    guard let first = headers["Age"].flatMap({ QuotedList.members(of: $0).first }),
      case .value(let seconds) = CacheControl.seconds(in: String(first))
    else { return 0 }
    return seconds
  }

  private static func window(_ name: String, of control: CacheControl) -> TimeInterval? {
    guard case .value(let seconds)? = control.seconds(name) else { return nil }
    return TimeInterval(seconds)
  }
}
