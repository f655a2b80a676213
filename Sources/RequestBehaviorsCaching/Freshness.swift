import Foundation
import RequestBehaviors

/// The freshness lifetime of a response (RFC 9111 §4.2.1, §4.2.2).
///
/// The cache is private, so it ignores `s-maxage` and `proxy-revalidate`.
struct Freshness {
  let control: CacheControl
  let headers: HeaderFields
  /// The value of `Date`; `nil` if it is missing or not valid.
  let date: Date?
  let responseTime: Date

  /// The lifetime that the server sets, in seconds; `nil` if it sets none.
  ///
  /// An invalid value, or two values that differ, makes the response stale.
  var explicitLifetime: TimeInterval? {
    switch control.seconds("max-age") {
    case .value(let seconds): return TimeInterval(seconds)
    case .invalid: return 0
    case nil: break
    }
    guard let text = headers[.expires] else { return nil }
    guard let expires = HTTPDate.strictDate(from: text, now: responseTime) else { return 0 }
    // A missing `Date` is the time of arrival in whole seconds, as a sender would have written it.
    let start = date?.timeIntervalSince1970 ?? responseTime.timeIntervalSince1970.rounded(.down)
    return max(0, expires.timeIntervalSince1970 - start)
  }

  /// A lifetime that is guessed from the time since the last change, in seconds; 0 where guessing is not allowed.
  func heuristicLifetime(statusCode: Int, policy: CachePolicy) -> TimeInterval {
    guard CacheableStatus.isHeuristicallyCacheable(statusCode) || control.contains("public"),
      let modified = headers[.lastModified].flatMap({ HTTPDate.strictDate(from: $0, now: responseTime) })
    else { return 0 }
    let unchanged = (date ?? responseTime).timeIntervalSince(modified)
    return min(max(0, unchanged * policy.heuristicFraction), policy.heuristicLimit.inSeconds)
  }
}
