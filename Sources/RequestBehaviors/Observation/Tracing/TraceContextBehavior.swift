/// Sends the trace that a call belongs to (W3C Trace Context): `traceparent`, and `tracestate` if there is one.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.traceContext()])
/// try await TraceContext.$current.withValue(incoming) {
///   // A child of `incoming`.
///   try await client.send(.get("users/1"))
/// }
/// ```
///
/// Every send of a call, retries and redirects among them, is a child of its own: the same trace, another parent id.
/// The requests that a call needs first, such as one for a token, belong to its trace; ``Call/trace`` and log records
/// tell it. A `traceparent` that the request sets itself is sent as it is.
public struct TraceContextBehavior: UniqueBehavior {
  /// Where the context of the moment comes from.
  public typealias Source = @Sendable () -> TraceContext?

  /// Once per send, and after everything that signs a request.
  public let order = BehaviorOrder.verification
  /// Nothing is held while a request is within `intercept`, so prerequisites pass too.
  public let runsForPrerequisites = true
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
  ///   - context: Returns the context of the moment when a call starts; by default ``TraceContext/current``.
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
  public func headers(for request: NetworkRequest) async throws -> HeaderFields {
    guard let origin = request.origin, origins.includes(origin, base: request.call.baseOrigin) else { return [:] }
    guard let trace = request.call.trace else { return [:] }
    let span = trace.child(random: random)
    let replaces = request.call.update(SentTraceparents.self) { sent in
      // A request made of one that was sent has the fields of that one. Others are the user's, and stay alone: a
      // tracestate belongs to its traceparent.
      guard request.headers["traceparent"].map(sent.contains) ?? true else { return false }
      sent.append(span.traceparent)
      return true
    }
    guard replaces else { return [:] }
    var headers: HeaderFields = ["traceparent": span.traceparent]
    headers["tracestate"] = span.tracestate
    return headers
  }
}

extension TraceContextBehavior: CallObserver {
  /// Decides which trace the call belongs to: that of the call that needs it, the request's own, that of the moment, or
  /// a new one.
  public func callStarted(_ request: NetworkRequest) {
    guard request.call.trace == nil else { return }
    let own = request.headers["traceparent"].flatMap {
      TraceContext(traceparent: $0, tracestate: request.headers["tracestate"])
    }
    guard let trace = own ?? context() ?? (startsTraces ? TraceContext.root(random: random) : nil) else { return }
    request.call[CallTrace.self] = trace
  }
}

extension TraceContext {
  /// The trace that the current task belongs to; `nil` if it belongs to none.
  @TaskLocal public static var current: TraceContext?
}

/// The trace of a call, which its prerequisites belong to as well.
private enum CallTrace: CallKey {
  static let defaultValue: TraceContext? = nil
  static let isInherited = true
}

/// The values of `traceparent` that the attempts of a call had.
private enum SentTraceparents: CallKey {
  static let defaultValue: [String] = []
}

extension Call {
  /// The trace that the call belongs to; `nil` unless a ``TraceContextBehavior`` is listed.
  public var trace: TraceContext? { self[CallTrace.self] }
}

extension RequestBehavior where Self == TraceContextBehavior {
  /// Sends the trace that a call belongs to; see ``TraceContextBehavior``.
  public static func traceContext(origins: OriginScope = .baseURL, startsTraces: Bool = true) -> TraceContextBehavior {
    TraceContextBehavior(origins: origins, startsTraces: startsTraces)
  }
}
