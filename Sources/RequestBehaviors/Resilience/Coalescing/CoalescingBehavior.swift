/// Sends identical requests that are under way at the same time once, and gives all who ask the same response.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.coalescing()])
/// async let first: User = client.send(.get("me"))
/// async let second: User = client.send(.get("me"))
/// let users = try await [first, second]  // one request
/// ```
///
/// GET and HEAD are shared, and QUERY with a body in memory. ``SharingKey`` says what must be the same: everything that
/// may make a difference to the response, and whose it is. A request that brings behaviors of its own further in joins
/// only under a name that the user gives it (``RequestOptions/coalescing``).
///
/// What is further in runs once, in a call of its own without a deadline (``Next/detached(isForCallers:)``), whoever came first. Each
/// who waits has a cancellation and a deadline of its own, and judges and decodes the response for itself. When the last
/// one has left, the request is cancelled. A failure is shared like a success. Not shared are streamed bodies, files, and
/// what nobody knows the owner of (``Next/knowsOwner(of:)``): all but the first then send for themselves.
///
/// When a request that may change something ends, such as a POST, nobody joins the requests for its URL that began
/// before.
public struct CoalescingBehavior: UniqueBehavior {
  /// Outside of everything that one send is enough for.
  public let order = BehaviorOrder.coalescing

  let coalescer: Coalescer

  /// Creates the behavior.
  ///
  /// - Parameter coalescer: The requests in flight; by default those of this behavior.
  public init(_ coalescer: Coalescer = Coalescer()) { self.coalescer = coalescer }

  /// Joins a request in flight, or sends one that others may join.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard request.method.isSafe else {
      defer { coalescer.forget(request.url) }
      return try await next(request)
    }
    guard let key = key(of: request, next) else { return try await next(request) }
    let waiter = Waiter<Coalescer.Outcome>()
    let (flight, number, isNew) = coalescer.join(key, waiter) { next.detached(isForCallers: true) }
    let call = request.call
    if isNew {
      coalescer.start(flight, request)
    } else {
      call.record("joined call \(flight.place.call.id) in flight", from: "CoalescingBehavior", kind: .coalescing)
    }
    let outcome: Coalescer.Outcome
    do {
      outcome = try await waiter.value()
    } catch {
      if flight.leave(number) { coalescer.remove(flight) }
      throw error
    }
    guard case .shared(let result) = outcome else {
      call.record("sends for itself: the response is for one only", from: "CoalescingBehavior", kind: .coalescing)
      return try await next(request)
    }
    return try result.bound(to: request, as: isNew ? nil : .coalesced)
  }

  /// Warns of credentials further in that have no scope.
  public func warnings(in pipeline: Pipeline) -> [String] {
    pipeline.warningsOfUnknownOwners(for: CoalescingBehavior.self, "what it is sent with is not shared")
  }

  /// Lets later requests start anew.
  public func reset() async { coalescer.reset() }

  /// Lets nobody join what is for a user who has gone.
  public func scopeEnded(_ scope: String) async { coalescer.forget(scope: scope) }

  private func key(of request: NetworkRequest, _ next: Next) -> SharingKey? {
    // A stream is read once.
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

/// Whether a request shares a response with others in flight.
public struct CoalescingRule: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case automatic
    case never
    case named(String)
  }

  let kind: Kind

  /// With identical requests.
  public static let automatic = CoalescingRule(kind: .automatic)
  /// With none.
  public static let never = CoalescingRule(kind: .never)
  /// With those of the same name, whatever else they differ in but client, scopes and credentials.
  public static func named(_ name: String) -> CoalescingRule { CoalescingRule(kind: .named(name)) }
}

private enum CoalescingOption: RequestOption {
  static let defaultValue = CoalescingRule.automatic
  static let affectsResponse = false
}

extension RequestOptions {
  /// Whether the request shares a response with others in flight; with identical ones by default.
  ///
  /// It is obeyed where a ``CoalescingBehavior`` is listed.
  public var coalescing: CoalescingRule {
    get { self[CoalescingOption.self] }
    set { self[CoalescingOption.self] = newValue }
  }
}

extension RequestBehavior where Self == CoalescingBehavior {
  /// Sends identical requests in flight once; see ``CoalescingBehavior``.
  ///
  /// - Parameter coalescer: The requests in flight; by default those of this behavior.
  /// - Returns: The behavior.
  public static func coalescing(_ coalescer: Coalescer = Coalescer()) -> CoalescingBehavior {
    CoalescingBehavior(coalescer)
  }
}
