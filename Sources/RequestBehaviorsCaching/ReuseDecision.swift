package import Foundation
import RequestBehaviors

/// The decision of a cache on a request (RFC 9111 §4), made from the request, the stored response and the time.
package enum ReuseDecision: Sendable, Hashable {
  /// The stored response is used.
  case use(Use)
  /// The server is asked, and the stored response is used if the server confirms it.
  case revalidate
  /// The request is sent as it is.
  case forward
  /// Nothing may be sent, and no stored response may be used: the response is a 504.
  case gatewayTimeout

  /// The terms on which a stored response is used.
  package enum Use: Sendable, Hashable {
    /// It is fresh.
    case fresh
    /// It is stale, and the request allows that.
    case stale
    /// It is stale, and may be used while it is validated (RFC 5861 §3).
    case whileRevalidating
  }

  /// Decides what to do.
  ///
  /// - Parameters:
  ///   - demand: The demand of the request.
  ///   - terms: The terms of the stored response that the request matches; `nil` if no stored response matches.
  ///   - hasValidator: Whether the stored response can be validated.
  ///   - now: The current date.
  /// - Returns: The decision.
  package static func decide(
    _ demand: CacheDemand, stored terms: StoredTerms?, hasValidator: @autoclosure () -> Bool, now: Date
  ) -> ReuseDecision {
    if let terms, let use = use(of: terms, for: demand, now: now) { return .use(use) }
    if demand.isOnlyIfCached { return .gatewayTimeout }
    return terms != nil && !demand.isReload && hasValidator() ? .revalidate : .forward
  }

  /// Returns the terms on which a stored response may be used without asking the server; `nil` if it may not.
  private static func use(of terms: StoredTerms, for demand: CacheDemand, now: Date) -> Use? {
    guard !demand.isReload, !terms.requiresValidation else { return nil }
    let left = terms.freshnessLeft(at: now)
    if demand.requiresValidation { return demand.trustsImmutable && terms.isImmutable && left > 0 ? .fresh : nil }

    // A maximum age of 0 asks for a validation, so no response is young enough for it.
    let isYoung = demand.maxAge.map { $0 > 0 && terms.age(at: now) <= $0 } ?? true
    if isYoung, left > 0, left >= demand.minFresh { return .fresh }

    // RFC 9111 §4.2.4: a stale response may be used if the request or the response allows it and none of its own
    // directives forbids it.
    guard left > 0 || terms.allowsStale else { return nil }
    if demand.prefersStale { return left > 0 ? .fresh : .stale }
    guard isYoung, demand.minFresh == 0, left <= 0 else { return nil }
    if let maxStale = demand.maxStale, -left <= maxStale { return .stale }
    // A request that names a maximum age does not want an older response now and a newer one later.
    if let window = terms.staleWhileRevalidate, demand.maxAge == nil, -left <= window { return .whileRevalidating }
    return nil
  }

  /// Whether a stored response may replace the one that the server fails to give (RFC 5861 §4, RFC 9111 §4.2.4).
  static func standsIn(_ terms: StoredTerms, for demand: CacheDemand, now: Date) -> Bool {
    guard !demand.isReload, !demand.requiresValidation, terms.allowsStale else { return false }
    let staleness = -terms.freshnessLeft(at: now)
    return [demand.staleIfError, terms.staleIfError].contains { window in window.map { staleness <= $0 } ?? false }
  }
}
