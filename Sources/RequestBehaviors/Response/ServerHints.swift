package import Foundation

/// A server's hints about when to repeat a request.
///
/// ```swift
/// let hints = ServerHints(response)
/// if let delay = hints.delay { print("busy for \(delay)") }
/// ```
///
/// | field | says | source |
/// |---|---|---|
/// | `Retry-After` | when to come back: seconds, or a date, measured against the response's `Date` | RFC 9110 §10.2.3 |
/// | `retry-after-ms` | the same in milliseconds; it takes precedence | Azure, OpenAI |
/// | `x-should-retry`, `Stripe-Should-Retry` | whether to repeat the request at all | OpenAI, Stripe |
/// | `RateLimit`, `RateLimit-Policy` | remaining quota and time of reset | draft-ietf-httpapi-ratelimit-headers-11 |
/// | `RateLimit-Limit`, `-Remaining`, `-Reset`, also with `X-` | the same in three fields | earlier drafts, GitHub |
///
/// A number above 10⁹ is a date in seconds since 1970, and one from 10¹² on in milliseconds. A date is compared with
/// the response's own `Date`, so that a wrong local clock does not matter. Unreadable values are ignored.
public struct ServerHints: Sendable, Hashable {
  /// The wait that `Retry-After` or `retry-after-ms` asks for; zero if that time has passed.
  public var retryAfter: Duration?

  /// Whether the server wants the request repeated; `nil` if there is no such hint.
  public var shouldRetry: Bool?

  /// The limits that the server reports.
  public var limits: [Limit]

  /// A limit on requests, and its remaining quota.
  public struct Limit: Sendable, Hashable {
    /// The name of the limit; empty in the older fields, which have one limit.
    public var name: String
    /// The quota within the ``window``.
    public var quota: Int?
    /// The remaining quota.
    public var remaining: Int?
    /// The time until the limit resets, counted from the response.
    public var resetsAfter: Duration?
    /// The time over which the quota counts.
    public var window: Duration?

    /// Creates a limit.
    public init(
      name: String = "", quota: Int? = nil, remaining: Int? = nil, resetsAfter: Duration? = nil,
      window: Duration? = nil
    ) {
      self.name = name
      self.quota = quota
      self.remaining = remaining
      self.resetsAfter = resetsAfter
      self.window = window
    }
  }

  /// The status, which decides whether a limit without ``Limit/remaining`` is exhausted.
  private var statusCode: Int

  /// Reads the fields of a response.
  ///
  /// - Parameter response: The response. A response that is not verified has no hints.
  public init(_ response: NetworkResponse) {
    let headers = response.isVerified ? response.headers : HeaderFields()
    self.init(headers, statusCode: response.statusCode, now: response.request.call.clock.date)
  }

  /// Reads header fields.
  ///
  /// - Parameters:
  ///   - headers: The fields of a response.
  ///   - statusCode: Its status.
  ///   - now: The current date, used if the response has no `Date`.
  package init(_ headers: HeaderFields, statusCode: Int, now: @autoclosure () -> Date) {
    self.init(headers, statusCode: statusCode, now: now)
  }

  private init(_ headers: HeaderFields, statusCode: Int, now: () -> Date) {
    self.statusCode = statusCode
    limits = []
    // Most responses have no such field; one pass over the names finds out.
    guard headers.contains(where: { Self.isHint($0.name) }) else { return }
    let received = now()
    let sent = headers[.date].flatMap { HTTPDate.date(from: $0, now: received) } ?? received
    let milliseconds = headers["retry-after-ms"].flatMap(Self.number).map { Duration(clamping: $0 / 1_000) }
    retryAfter = milliseconds ?? headers[.retryAfter].flatMap { Self.delay($0, since: sent) }
    shouldRetry = ["x-should-retry", "Stripe-Should-Retry"].lazy.compactMap { headers[$0].flatMap(Self.flag) }.first
    limits = RateLimitFields.limits(in: headers) { Self.delay($0, since: sent) }
  }

  /// The wait before the next request: ``retryAfter``, else the time until the last exhausted limit resets.
  ///
  /// A limit is exhausted if ``Limit/remaining`` is zero. A limit without it is exhausted if the status is 413, 429 or
  /// 503.
  public var delay: Duration? {
    if let retryAfter { return retryAfter }
    let isRefusal = StatusCodes.exhaustedLimit.contains(statusCode)
    return limits.filter { $0.remaining.map { $0 <= 0 } ?? isRefusal }.compactMap(\.resetsAfter).max()
  }

  /// Returns the date from which the server wants further requests.
  func availableAt(after response: NetworkResponse) -> Date? {
    guard let delay else { return nil }
    let clock = response.request.call.clock
    return clock.date().addingTimeInterval((delay - (clock.now() - response.timings.latest)).inSeconds)
  }

  private static func isHint(_ name: String) -> Bool {
    guard let first = name.utf8.first, "rRxXsS".utf8.contains(first) else { return false }
    let name = name.lowercased()
    return name.hasPrefix("retry-after") || name.hasSuffix("should-retry") || name.hasPrefix("ratelimit")
      || name.hasPrefix("x-ratelimit-") || name.hasPrefix("x-rate-limit-")
  }

  /// Returns a delay from seconds, from seconds (above 10⁹) or milliseconds (from 10¹² on) since 1970, or from a date.
  private static func delay(_ text: String, since sent: Date) -> Duration? {
    if let number = number(text) {
      guard number > 1e9 else { return Duration(clamping: number) }
      return Duration(clamping: max(0, EpochTime.seconds(number) - sent.timeIntervalSince1970))
    }
    guard let date = HTTPDate.date(from: text, now: sent) else { return nil }
    return Duration(clamping: max(0, date.timeIntervalSince(sent)))
  }

  private static func number(_ text: String) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }) else { return nil }
    return Double(text)
  }

  private static func flag(_ text: String) -> Bool? { ["true": true, "false": false][text.lowercased()] }
}
