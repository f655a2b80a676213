import Foundation
import RequestBehaviorsCaching

/// RFC 9111's rules of freshness, written down from its formulas without a thought for speed or shape.
///
/// It works on facts, from which the test makes header fields; the cache works on these.
struct CacheReference {
  // What the response says, in seconds relative to its arrival where they are dates.
  var maxAge: Int?
  var expires: Int?
  var date: Int?
  var age: Int?
  var lastModified: Int?
  var responseNoCache = false
  var mustRevalidate = false
  var immutable = false
  var staleWhileRevalidate: Int?
  var staleIfError: Int?
  var status = 200
  var isPublic = false
  var hasETag = false
  // What the request says.
  var requestMaxAge: Int?
  var minFresh: Int?
  /// A negative number is a directive without argument.
  var maxStale: Int?
  var requestNoCache = false
  var onlyIfCached = false
  var requestStaleIfError: Int?
  // When.
  var responseDelay = 0.0
  /// Seconds from the arrival on.
  var now = 0.0

  /// §4.2.1 and §4.2.2.
  var freshnessLifetime: Double {
    if let maxAge { return Double(maxAge) }
    if let expires { return Double(max(0, expires - (date ?? 0))) }
    let heuristicStatuses = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
    guard let lastModified, heuristicStatuses.contains(status) || isPublic else { return 0 }
    return min(86_400, Double(max(0, (date ?? 0) - lastModified)) / 10)
  }

  /// §4.2.3.
  var currentAge: Double {
    let apparentAge = max(0, 0 - Double(date ?? 0))
    let correctedAgeValue = Double(age ?? 0) + responseDelay
    let correctedInitialAge = max(apparentAge, correctedAgeValue)
    let residentTime = now - 0
    return correctedInitialAge + residentTime
  }

  var responseIsFresh: Bool { freshnessLifetime > currentAge }

  var decision: String {
    let staleness = currentAge - freshnessLifetime
    var mayUse = responseIsFresh
    var isStaleUse = false
    // §5.2.1.1: an age of at most so much; 0 asks for a validation.
    var isYoungEnough = true
    if let requestMaxAge, requestMaxAge == 0 || currentAge > Double(requestMaxAge) { isYoungEnough = false }
    // §5.2.1.3.
    var staysFresh = true
    if let minFresh, minFresh > 0, freshnessLifetime - currentAge < Double(minFresh) { staysFresh = false }
    // §5.2.1.2.
    if !responseIsFresh, let maxStale, maxStale < 0 || staleness <= Double(maxStale) {
      mayUse = true
      isStaleUse = true
    }
    if !isYoungEnough || !staysFresh { mayUse = false }
    // RFC 5861 §3.
    var isWhileRevalidating = false
    if !responseIsFresh, !mayUse, requestMaxAge == nil, staysFresh, let staleWhileRevalidate,
      staleness <= Double(staleWhileRevalidate)
    {
      mayUse = true
      isWhileRevalidating = true
    }
    // §4.2.4: prohibited by a directive of the response.
    if !responseIsFresh, mustRevalidate { mayUse = false }
    // §5.2.2.4, §5.2.1.4.
    if responseNoCache || requestNoCache { mayUse = false }
    if mayUse { return isWhileRevalidating ? "whileRevalidating" : isStaleUse ? "stale" : "fresh" }
    if onlyIfCached { return "gatewayTimeout" }
    return hasETag || lastModified != nil ? "revalidate" : "forward"
  }

  /// RFC 5861 §4.
  var standsIn: Bool {
    if mustRevalidate || responseNoCache || requestNoCache { return false }
    let staleness = currentAge - freshnessLifetime
    if let staleIfError, staleness <= Double(staleIfError) { return true }
    if let requestStaleIfError, staleness <= Double(requestStaleIfError) { return true }
    return false
  }
}
