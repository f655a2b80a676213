/// Sends the trace of a call (W3C Trace Context): `traceparent`, and its `tracestate` if it has one.
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
/// Every send of a call, including retries and redirects, is a child of its own: the same trace with another parent id.
/// The prerequisites of a call, such as a request for a token, belong to its trace. ``Call/trace`` and log records
/// contain it. A `traceparent` that the request sets itself is sent unchanged.
public struct TraceContextBehavior: UniqueBehavior {
  /// Returns the current context.
  public typealias Source = @Sendable () -> TraceContext?

  /// Once per send, and after all behaviors that sign a request.
  public let order = BehaviorOrder.verification
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true
  private let origins: OriginScope
  private let startsTraces: Bool
  private let random: (@Sendable () -> UInt64)?
  private let context: Source

  /// Creates a behavior that sends the trace.
  ///
  /// - Parameters:
  ///   - origins: The servers that receive the trace; by default the base URL's origin.
  ///   - startsTraces: Whether a call without a context begins a new trace; by default it does.
  ///   - random: The source of ids, which must not use a call; by default the system's.
  ///   - context: Returns the current context when a call starts; by default ``TraceContext/current``.
  public init(
    origins: OriginScope = .baseURL, startsTraces: Bool = true,
    random: (@Sendable () -> UInt64)? = nil,
    context: @escaping Source = { TraceContext.current }
  ) {
    self.origins = origins
    self.startsTraces = startsTraces
    self.random = random
    self.context = context
  }

  /// Returns the fields of the trace; none for other origins or if the request has its own.
  public func headers(for request: NetworkRequest) async throws -> HeaderFields {
    guard let origin = request.origin, origins.includes(origin, base: request.call.baseOrigin) else { return [:] }
    let own = request.headers["traceparent"]
    return request.call.update(CallTrace.self) { trace in
      // A request derived from a sent one has the fields of that one, which are replaced. Any other `traceparent` is
      // the user's and stays, without a new `tracestate`, which would belong to another `traceparent`.
      guard let context = trace.context, own.map(trace.sends.contains) ?? true else { return [:] }
      let traceparent = context.child(parent: number()).traceparent
      trace.sends.append(traceparent)
      var fields = HeaderFields([.init("traceparent", traceparent)])
      if let tracestate = context.tracestate { fields.append("tracestate", tracestate) }
      return fields
    }
  }
}

extension TraceContextBehavior: CallObserver {
  /// `false`: only the start of a call counts.
  public var observesAttempts: Bool { false }

  /// Sets the trace of the call.
  ///
  /// It is that of the call that needs this one, else the request's own, else the current one, else a new one.
  public func callStarted(_ request: NetworkRequest) {
    // Only a call that another one needs begins with a trace.
    if request.call.parent != nil, request.call.trace != nil { return }
    let own = request.headers["traceparent"].flatMap {
      TraceContext(traceparent: $0, tracestate: request.headers["tracestate"])
    }
    if let trace = own ?? context() {
      request.call.update(CallTrace.self) { $0.context = trace }
    } else if startsTraces {
      let (high, low, parent) = random.map { ($0(), $0(), $0()) } ?? TraceNumbers.nextTrace()
      let trace = TraceContext(trace: (high, low), parent: parent, isSampled: true)
      request.call.update(CallTrace.self) { $0.context = trace }
    }
  }

  private func number() -> UInt64 { random?() ?? TraceNumbers.next() }
}

extension TraceContext {
  /// The trace of the current task; `nil` if there is no trace.
  @TaskLocal public static var current: TraceContext?
}

/// The trace of a call, which its prerequisites inherit, and the `traceparent` of each of its sends.
private struct CallTrace: CallKey {
  static let defaultValue = CallTrace()
  static let isInherited = true

  var context: TraceContext?
  var sends: ShortList<String> = []
}

extension Call {
  /// The trace of the call; `nil` unless a ``TraceContextBehavior`` is listed.
  public var trace: TraceContext? { self[CallTrace.self].context }
}

extension RequestBehavior where Self == TraceContextBehavior {
  /// Sends the trace of a call; see ``TraceContextBehavior``.
  public static func traceContext(origins: OriginScope = .baseURL, startsTraces: Bool = true) -> TraceContextBehavior {
    TraceContextBehavior(origins: origins, startsTraces: startsTraces)
  }
}
