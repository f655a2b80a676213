package import Foundation

/// What a server says about when to come back: values in, value out.
///
/// ```swift
/// let hints = ServerHints(response)
/// if let delay = hints.delay { print("busy for \(delay)") }
/// ```
///
/// | field | says | source |
/// |---|---|---|
/// | `Retry-After` | when to come back: seconds, or a date, measured against the response's `Date` | RFC 9110 §10.2.3 |
/// | `retry-after-ms` | the same in milliseconds; it wins, being finer | Azure, OpenAI |
/// | `x-should-retry`, `Stripe-Should-Retry` | whether to repeat the request at all | OpenAI, Stripe |
/// | `RateLimit`, `RateLimit-Policy` | what is left of which limit, and when it is full again | draft-ietf-httpapi-ratelimit-headers-11 |
/// | `RateLimit-Limit`, `-Remaining`, `-Reset`, with or without `X-` | the same in three fields | earlier drafts, GitHub |
///
/// A date counts from the response's own `Date`, so that a clock that is wrong on this side does not matter. Values that
/// cannot be read are passed over.
public struct ServerHints: Sendable, Hashable {
  /// How long to wait, as `Retry-After` or `retry-after-ms` says; zero if that time has passed.
  public var retryAfter: Duration?

  /// Whether the server wants the request repeated; `nil` if it does not say.
  public var shouldRetry: Bool?

  /// The limits that the server tells of.
  public var limits: [Limit]

  /// One limit on requests, and what is left of it.
  public struct Limit: Sendable, Hashable {
    /// The name of the limit; empty in the older fields, which have one limit.
    public var name: String
    /// How much may be used within the ``window``.
    public var quota: Int?
    /// How much is left.
    public var remaining: Int?
    /// When more will be left, counted from the response.
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

  /// The status, which tells whether a limit without ``Limit/remaining`` is used up.
  private var statusCode: Int

  /// Reads the fields of a response.
  ///
  /// - Parameter response: The response. One that is not known to come from the server says nothing.
  public init(_ response: NetworkResponse) {
    let headers = response.isVerified ? response.headers : HeaderFields()
    self.init(headers, statusCode: response.statusCode, now: response.request.call.clock.date)
  }

  /// Reads header fields.
  ///
  /// - Parameters:
  ///   - headers: The fields of a response.
  ///   - statusCode: Its status.
  ///   - now: The current date, for dates in a response that does not tell its own.
  package init(_ headers: HeaderFields, statusCode: Int, now: @autoclosure () -> Date) {
    self.init(headers, statusCode: statusCode, now: now)
  }

  private init(_ headers: HeaderFields, statusCode: Int, now: () -> Date) {
    self.statusCode = statusCode
    limits = []
    // Of most responses none has to be looked at closely, which one pass over the names tells.
    guard headers.contains(where: { Self.isHint($0.name) }) else { return }
    let received = now()
    let sent = headers["Date"].flatMap { HTTPDate.date(from: $0, now: received) } ?? received
    let milliseconds = headers["retry-after-ms"].flatMap(Self.number).map { Duration(clamping: $0 / 1_000) }
    retryAfter = milliseconds ?? headers["Retry-After"].flatMap { Self.delay($0, since: sent) }
    shouldRetry = ["x-should-retry", "Stripe-Should-Retry"].lazy.compactMap { headers[$0].flatMap(Self.flag) }.first
    limits = RateLimitFields.limits(in: headers) { Self.delay($0, since: sent) }
  }

  /// How long to wait before the next request: ``retryAfter``, else until the last of the used-up limits is reset.
  ///
  /// A limit is used up if nothing remains of it. One of which the server does not say what remains is used up if the
  /// status is 413, 429 or 503.
  public var delay: Duration? {
    if let retryAfter { return retryAfter }
    let isRefusal = [413, 429, 503].contains(statusCode)
    return limits.filter { $0.remaining.map { $0 <= 0 } ?? isRefusal }.compactMap(\.resetsAfter).max()
  }

  /// The date from which on the server wants to be asked again.
  func availableAt(after response: NetworkResponse) -> Date? {
    guard let delay else { return nil }
    let clock = response.request.call.clock
    return clock.date().addingTimeInterval((delay - (clock.now() - response.timings.latest)).seconds)
  }

  private static func isHint(_ name: String) -> Bool {
    guard let first = name.utf8.first, "rRxXsS".utf8.contains(first) else { return false }
    let name = name.lowercased()
    return name.hasPrefix("retry-after") || name.hasSuffix("should-retry") || name.hasPrefix("ratelimit")
      || name.hasPrefix("x-ratelimit-") || name.hasPrefix("x-rate-limit-")
  }

  /// Reads a delay: seconds, seconds since 1970 (above 10⁹), or a date.
  private static func delay(_ text: String, since sent: Date) -> Duration? {
    if let number = number(text) {
      return Duration(clamping: number > 1e9 ? max(0, number - sent.timeIntervalSince1970) : number)
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
