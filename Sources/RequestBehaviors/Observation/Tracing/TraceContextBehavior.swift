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
  ///   - random: The source of ids; by default the system's.
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
    guard let trace = request.call.trace else { return [:] }
    let own = request.headers["traceparent"]
    let added = request.call.update(CallSpans.self) { spans -> String? in
      // A request derived from a sent one has the fields of that one, which are replaced. Any other `traceparent` is
      // the user's and stays, without a new `tracestate`, which would belong to another `traceparent`.
      guard own.map(spans.contains) ?? true else { return nil }
      let traceparent = trace.child(parent: number()).traceparent
      spans.add(traceparent)
      return traceparent
    }
    guard let traceparent = added else { return [:] }
    guard let tracestate = trace.tracestate else { return ["traceparent": traceparent] }
    return ["traceparent": traceparent, "tracestate": tracestate]
  }
}

extension TraceContextBehavior: CallObserver {
  /// `false`: only the start of a call counts.
  public var observesAttempts: Bool { false }

  /// Sets the trace of the call.
  ///
  /// It is that of the call that needs this one, else the request's own, else the current one, else a new one.
  public func callStarted(_ request: NetworkRequest) {
    guard request.call.trace == nil else { return }
    let own = request.headers["traceparent"].flatMap {
      TraceContext(traceparent: $0, tracestate: request.headers["tracestate"])
    }
    if let trace = own ?? context() {
      request.call[CallTrace.self] = trace
    } else if startsTraces {
      let trace = (number(), number())
      request.call[CallTrace.self] = TraceContext(trace: trace, parent: number(), isSampled: true)
    }
  }

  private func number() -> UInt64 { random?() ?? TraceNumbers.next() }
}

extension TraceContext {
  /// The trace of the current task; `nil` if there is no trace.
  @TaskLocal public static var current: TraceContext?
}

/// The trace of a call, which its prerequisites inherit.
private enum CallTrace: CallKey {
  static let defaultValue: TraceContext? = nil
  static let isInherited = true
}

/// The spans of a call's sends.
private struct CallSpans: CallKey {
  static let defaultValue = CallSpans()

  // Most calls send once, and then need no array.
  private var first: String?
  private var others: [String] = []

  /// Returns whether a send of the call had a `traceparent`.
  func contains(_ traceparent: String) -> Bool { first == traceparent || others.contains(traceparent) }

  /// Adds the `traceparent` of a send.
  mutating func add(_ traceparent: String) {
    if first == nil { first = traceparent } else { others.append(traceparent) }
  }
}

extension Call {
  /// The trace of the call; `nil` unless a ``TraceContextBehavior`` is listed.
  public var trace: TraceContext? { self[CallTrace.self] }
}

extension RequestBehavior where Self == TraceContextBehavior {
  /// Sends the trace of a call; see ``TraceContextBehavior``.
  public static func traceContext(origins: OriginScope = .baseURL, startsTraces: Bool = true) -> TraceContextBehavior {
    TraceContextBehavior(origins: origins, startsTraces: startsTraces)
  }
}
