/// Sends the trace that a request belongs to (W3C Trace Context): `traceparent`, and `tracestate` if there is one.
///
/// ```swift
/// let client = NetworkClient(baseURL: baseURL, behaviors: [.traceContext()])
/// try await TraceContext.$current.withValue(incoming) {
///   try await client.send(.get("users/1", as: User.self))     // a child of `incoming`
/// }
/// ```
///
/// Every call is a child of its own, which its retries and redirects share. A field that the request sets itself stays.
public struct TraceContextBehavior: UniqueBehavior, ReentrantBehavior {
  /// Where the context of the moment comes from.
  public typealias Source = @Sendable () -> TraceContext?

  /// Once per call, seen by coalescing and caching.
  public let order = BehaviorOrder.request
  private let origins: OriginScope
  private let startsTraces: Bool
  private let random: @Sendable () -> UInt64
  private let context: Source

  /// Creates a behavior that sends the trace.
  ///
  /// - Parameters:
  ///   - origins: The servers that are told; by default the base URL's origin.
  ///   - startsTraces: Whether a call without a context begins a trace of its own; by default it does.
  ///   - random: The source of ids.
  ///   - context: Returns the context of the moment; by default ``TraceContext/current``.
  public init(
    origins: OriginScope = .baseURL, startsTraces: Bool = true,
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    context: @escaping Source = { TraceContext.current }
  ) {
    self.origins = origins
    self.startsTraces = startsTraces
    self.random = random
    self.context = context
  }

  /// Returns the fields of the trace.
  public func headers(for request: NetworkRequest) async throws -> HTTPHeaders {
    guard let origin = request.origin, origins.includes(origin, base: request.call.baseOrigin) else { return [:] }
    // A tracestate belongs to its traceparent: neither is mixed with one that the user set.
    guard !request.headers.contains("traceparent") else { return [:] }
    let parent = context()
    guard let own = parent?.child(random: random) ?? (startsTraces ? TraceContext.root(random: random) : nil) else {
      return [:]
    }
    var headers: HTTPHeaders = ["traceparent": own.traceparent]
    headers["tracestate"] = own.tracestate
    return headers
  }
}

extension TraceContext {
  /// The trace that the current task belongs to; `nil` if it belongs to none.
  @TaskLocal public static var current: TraceContext?
}

extension RequestBehavior where Self == TraceContextBehavior {
  /// Sends the trace that a request belongs to; see ``TraceContextBehavior``.
  ///
  /// - Parameters:
  ///   - origins: The servers that are told; by default the base URL's origin.
  ///   - startsTraces: Whether a call without a context begins a trace of its own; by default it does.
  /// - Returns: The behavior.
  public static func traceContext(origins: OriginScope = .baseURL, startsTraces: Bool = true) -> TraceContextBehavior {
    TraceContextBehavior(origins: origins, startsTraces: startsTraces)
  }
}
