/// The key of requests that share a circuit breaker or a limit: by default the origin that they go to.
///
/// ```swift
/// let limiter = RateLimiter(rate: 2, burst: 4) { request in
///   request.url.path().contains("/search") ? "search" : nil
/// }
/// ```
public enum LimitKey: Hashable, Sendable {
  /// Requests to an origin.
  case origin(Origin)
  /// Requests to which the user gives the same name.
  case named(String)

  /// Returns the default key of a request: its origin.
  public static let byOrigin: @Sendable (NetworkRequest) -> LimitKey? = { $0.origin.map { .origin($0) } }

  /// Returns one key for all requests, whatever host they go to.
  public static let forAllRequests: @Sendable (NetworkRequest) -> LimitKey? = { _ in "all requests" }
}

extension LimitKey: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Creates a key from a name.
  public init(stringLiteral value: String) { self = .named(value) }

  /// The origin or the name.
  public var description: String {
    switch self {
    case .origin(let origin): origin.description
    case .named(let name): name
    }
  }
}

private enum Priority: RequestOption {
  static let defaultValue = RequestPriority.normal
  static let isPortable = true
}

private enum BypassesLimits: RequestOption {
  static let defaultValue = false
  static let isPortable = true
}

extension RequestOptions {
  /// The urgency of the request if others wait too; ``RequestPriority/normal`` by default.
  public var priority: RequestPriority {
    get { self[Priority.self] }
    set { self[Priority.self] = newValue }
  }

  /// Whether the request ignores rate limits and concurrency limits; false by default.
  public var bypassesLimits: Bool {
    get { self[BypassesLimits.self] }
    set { self[BypassesLimits.self] = newValue }
  }
}
