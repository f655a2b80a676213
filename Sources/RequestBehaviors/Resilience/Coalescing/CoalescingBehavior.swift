/// Sends identical concurrent requests once, and gives all callers the same response.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.coalescing()])
/// async let first: User = client.send(.get("me"))
/// async let second: User = client.send(.get("me"))
/// let users = try await [first, second]  // one request
/// ```
///
/// GET and HEAD are shared, and QUERY with a body in memory. ``SharingKey`` defines the equality: everything that may
/// affect the response, such as fields, timeouts and the retry policy, and the response's owner. So a request that
/// bypasses a gate never waits there with another one. A request that has inner behaviors of its own is shared only
/// under a name that the user gives it (``RequestOptions/coalescing``).
///
/// The inner behaviors run once, in a call of its own (``Next/detached(isForCallers:)``). Each caller keeps its own
/// cancellation and deadline, and judges and decodes the response separately. When the last caller has left, the
/// request is cancelled. A failure is shared like a success. The first caller runs the inner behaviors until they first
/// wait; if they compute for long, it cannot leave before.
///
/// The deadline of the shared call is the latest of those who wait for it. A caller whose deadline passes before that
/// leaves at once, even if a save has begun or a stale response could be used; its error has the sends so far and the
/// latest failure. When the deadlines of all have passed, the shared call ends as a late call does
/// (``DeadlineBehavior``): they get the response that is being saved, or the stale one.
///
/// A request that a behavior further in sends is sent by itself if the request in flight that it would join waits for
/// it, directly or through others: neither could end.
///
/// Streamed bodies, files, and responses of an unknown owner (``Next/knowsOwner(of:)``) are not shared: every caller
/// but the first then sends its own request.
///
/// When a request that may change something ends, such as a POST, no later request joins an earlier one for its URL, or
/// for a URL that it was redirected to. This includes requests that share under a name.
public struct CoalescingBehavior: UniqueBehavior, SharedStateBehavior {
  /// Outside all behaviors for which one send is enough.
  public let order = BehaviorOrder.coalescing

  let coalescer: Coalescer

  /// The requests in flight.
  public var sharedState: AnyObject { coalescer }

  /// Creates the behavior.
  ///
  /// - Parameter coalescer: The requests in flight; by default those of this behavior only.
  public init(_ coalescer: Coalescer = Coalescer()) { self.coalescer = coalescer }

  /// Joins a request in flight, or sends one that other callers may join.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    // An unsafe request may change what its URL returns, so later requests must not join earlier ones.
    guard request.method.isSafe else {
      defer { coalescer.forget(request.url) }
      return try await next(request)
    }
    guard let key = key(of: request, next) else { return try await next(request) }
    try Task.checkCancellation()
    // The flight is a call of its own. This call only waits for it, even if it started it.
    let waiter = Waiter<Coalescer.Outcome>()
    let call = request.call
    guard let joined = coalescer.join(key, request, waiter, { next.detached(isForCallers: true) }) else {
      call.record("sends for itself: the call in flight waits for it", from: "CoalescingBehavior", kind: .coalescing)
      return try await next(request)
    }
    let (flight, number, isNew) = (joined.flight, joined.number, joined.isNew)
    var waiting: Call.EventWait?
    if !isNew {
      let message = "joined call \(flight.place.call.id) in flight"
      waiting = call.begin(message, from: "CoalescingBehavior", kind: .coalescing)
    }
    defer { if let waiting { call.end(waiting) } }
    do {
      defer { joined.wait.end() }
      let outcome = try await withTaskCancellationHandler {
        // The behaviors further in may compute before the flight first waits, and this caller may leave meanwhile.
        if isNew { coalescer.start(flight, request) }
        return try await waiter.settlement()
      } onCancel: {
        coalescer.leave(flight, number)
      }
      if case .shared(let result) = outcome { return try result.bound(to: request, as: isNew ? nil : .coalesced) }
    } catch {
      // A caller that leaves, or is late, also knows what was sent for it and how that went.
      call.adoptHistory(of: flight.place.call)
      if isNew || flight.place.knowsOwner { next.adoptFailure(of: flight.place, for: request) }
      throw error
    }
    // The response may be readable only once, or its owner is unknown, so this call sends its own request.
    if let waiting { call.end(waiting) }
    call.record("sends for itself: the response is for one only", from: "CoalescingBehavior", kind: .coalescing)
    return try await next(request)
  }

  /// Warns of inner credentials without an owner.
  public func warnings(in pipeline: Pipeline) -> [String] {
    pipeline.warningsOfUnknownOwners(for: CoalescingBehavior.self, "what it is sent with is not shared")
  }

  /// Makes later requests start new sends.
  public func reset() async { coalescer.reset() }

  /// Prevents later requests from joining one for a user who has signed out.
  public func scopeEnded(_ scope: String) async { coalescer.forget(scope: scope) }

  private func key(of request: NetworkRequest, _ next: Next) -> SharingKey? {
    // A stream can be read only once.
    guard request.options.delivery == .buffered else { return nil }
    switch request.options.coalescing.kind {
    case .never: return nil
    case .named(let name): return next.sharingKey(for: request, named: name)
    case .automatic:
      guard [.get, .head].contains(request.method) || (request.method == .query && request.body != nil) else {
        return nil
      }
      return next.sharingKey(for: request)
    }
  }
}

private enum CoalescingOption: RequestOption {
  static let defaultValue = CoalescingRule.automatic
  static let affectsResponse = false
}

extension RequestOptions {
  /// Whether the request shares a response with others in flight; by default with identical requests.
  ///
  /// It takes effect if a ``CoalescingBehavior`` is listed.
  public var coalescing: CoalescingRule {
    get { self[CoalescingOption.self] }
    set { self[CoalescingOption.self] = newValue }
  }
}

extension RequestBehavior where Self == CoalescingBehavior {
  /// Sends identical requests in flight once; see ``CoalescingBehavior``.
  ///
  /// - Parameter coalescer: The requests in flight; by default those of this behavior only.
  /// - Returns: The behavior.
  public static func coalescing(_ coalescer: Coalescer = Coalescer()) -> CoalescingBehavior {
    CoalescingBehavior(coalescer)
  }
}
