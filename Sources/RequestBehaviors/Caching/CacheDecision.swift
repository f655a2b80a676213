package import Foundation

/// What a cache does with a request (RFC 9111 §4): the request, what is stored for it and the time in, a decision out.
package enum CacheDecision: Sendable, Hashable {
  /// The stored response is used.
  case use(Use)
  /// The stored response is used if the server confirms it.
  case revalidate
  /// The request is sent as it is.
  case forward
  /// Nothing may be sent, and nothing stored may be used: the response is a 504.
  case gatewayTimeout

  /// On what terms a stored response is used.
  package enum Use: Sendable, Hashable {
    /// It is fresh.
    case fresh
    /// It is stale, and the request allows that.
    case stale
    /// It is stale, and allows being used while it is validated (RFC 5861 §3).
    case whileRevalidating
  }

  /// Decides what to do.
  ///
  /// - Parameters:
  ///   - demand: What the request asks for.
  ///   - terms: The terms of the stored response that the request matches; `nil` if there is none.
  ///   - hasValidator: Whether the stored response has something to be validated with.
  ///   - now: The current date.
  /// - Returns: The decision.
  package static func decide(
    _ demand: CacheDemand, stored terms: ReuseTerms?, hasValidator: @autoclosure () -> Bool, now: Date
  ) -> CacheDecision {
    if let terms, let use = use(of: terms, for: demand, now: now) { return .use(use) }
    if demand.isOnlyIfCached { return .gatewayTimeout }
    return terms != nil && !demand.isReload && hasValidator() ? .revalidate : .forward
  }

  /// Tells on what terms a stored response may be used without asking the server; `nil` if it may not.
  private static func use(of terms: ReuseTerms, for demand: CacheDemand, now: Date) -> Use? {
    guard !demand.isReload, !terms.requiresValidation else { return nil }
    let left = terms.freshnessLeft(at: now)
    if demand.requiresValidation { return demand.trustsImmutable && terms.isImmutable && left > 0 ? .fresh : nil }

    // Whether it is young enough. Nothing is younger than 0, which is how one asks for a validation.
    let isYoung = demand.maxAge.map { $0 > 0 && terms.age(at: now) <= $0 } ?? true
    if isYoung, left > 0, left >= demand.minFresh { return .fresh }

    // RFC 9111 §4.2.4: a stale response needs a permission, and no directive of its own that forbids it.
    guard left > 0 || terms.allowsStale else { return nil }
    if demand.prefersStale { return left > 0 ? .fresh : .stale }
    guard isYoung, demand.minFresh == 0, left <= 0 else { return nil }
    if let maxStale = demand.maxStale, -left <= maxStale { return .stale }
    // What asks for a certain age does not want an older one now and a newer one later.
    if let window = terms.staleWhileRevalidate, demand.maxAge == nil, -left <= window { return .whileRevalidating }
    return nil
  }

  /// Whether a stored response may stand in for one that the server fails to give (RFC 5861 §4, RFC 9111 §4.2.4).
  static func standsIn(_ terms: ReuseTerms, for demand: CacheDemand, now: Date) -> Bool {
    guard !demand.isReload, !demand.requiresValidation, terms.allowsStale else { return false }
    let staleness = -terms.freshnessLeft(at: now)
    return [demand.staleIfError, terms.staleIfError].contains { window in window.map { staleness <= $0 } ?? false }
  }
}
