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

/// The status codes that matter to the cache.
enum CacheableStatus {
  /// Whether a response of this status may be stored without explicit freshness (RFC 9110 §15.1).
  static func isHeuristicallyCacheable(_ statusCode: Int) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(statusCode)
  }

  /// Whether the cache knows what the status means for caching, as `must-understand` asks (RFC 9111 §5.2.2.3).
  ///
  /// These are the final statuses of RFC 9110 §15, except 206 and 304, which are not stored as they are.
  static func isUnderstood(_ statusCode: Int) -> Bool {
    switch statusCode {
    case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}

/// The decisions that the server and the user leave to the cache.
///
/// ```swift
/// var policy = CachePolicy()
/// policy.staleIfError = .seconds(86_400)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.caching(store, policy: policy)])
/// ```
public struct CachePolicy: Sendable, Hashable {
  /// The lifetime of a response without explicit freshness, as a fraction of the time since the content last changed.
  ///
  /// RFC 9111 §4.2.2 suggests a tenth, which is the default. With 0 such a response is always validated.
  public var heuristicFraction: Double

  /// The longest lifetime that is guessed; one day by default.
  public var heuristicLimit: Duration

  /// How long after it became stale a response may replace one that the server fails to give.
  ///
  /// `nil`, the default, leaves it to the `stale-if-error` of the response and the request. A response that must not be
  /// used stale is never used for that.
  public var staleIfError: Duration?

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - heuristicFraction: The part of the time without a change; a tenth by default.
  ///   - heuristicLimit: The longest lifetime that is guessed; one day by default.
  ///   - staleIfError: How long a stale response may replace a failure; by default only as directives allow.
  public init(
    heuristicFraction: Double = 0.1, heuristicLimit: Duration = .seconds(86_400), staleIfError: Duration? = nil
  ) {
    self.heuristicFraction = heuristicFraction
    self.heuristicLimit = heuristicLimit
    self.staleIfError = staleIfError
  }
}
