/// One concern of a request, written once: a header, a signature, a token, a retry, a check, a save.
///
/// A ``NetworkClient`` runs each request through an ordered list of behaviors. A type implements only the hooks that it
/// needs; each has a default that does nothing:
///
/// ```swift
/// struct TenantBehavior {
///   let tenant: String
/// }
///
/// extension TenantBehavior: RequestBehavior {
///   func headers(for request: NetworkRequest) -> HeaderFields {
///     ["X-Tenant": tenant]
///   }
/// }
/// ```
///
/// ## Should it be a behavior or a transport?
///
/// A behavior changes, observes, repeats or replaces; something further in still does the sending. What sends by other
/// means (a mock, another HTTP library) is a ``Transport``, which ends the list.
///
/// ## Which hook?
///
/// | to | implement |
/// |---|---|
/// | set header fields | ``headers(for:)`` |
/// | change anything else, or refuse the request | ``modify(_:)`` |
/// | note that a request leaves | ``beforeSend(_:)`` |
/// | do work that must be done before the caller gets the response, or refuse the response | ``afterSuccess(_:for:)`` |
/// | note a failure | ``afterFailure(_:for:)`` |
/// | answer without sending, send several times, replace the response | ``intercept(_:next:)`` |
///
/// The hooks see verdicts: a status that the request does not accept is a failure to them. `intercept` sees values:
/// every status is a response, and only what prevented a response is thrown.
///
/// ## In what order?
///
/// The list is sorted by `order`; the order of listing decides among equals. The first is outermost: a request
/// goes down the list, and the response comes back up in reverse. For one behavior, `intercept` is around its other
/// hooks and everything further in. A behavior that calls `next` again runs everything further in again.
///
/// For one behavior each `beforeSend` is followed by exactly one of `afterSuccess` and `afterFailure`, on every path,
/// cancellation included. When an `afterSuccess` throws, the behaviors further out get `afterFailure`.
///
/// ## What to keep in mind
///
/// Behaviors are shared by all requests of a client and called concurrently; state is protected by a lock. Nothing
/// blocks: a hook that waits does so with `await`. Waits and dates come from `request.call.clock`. A hook that
/// neither waits nor throws may leave out `async` and `throws`.
///
/// A method whose signature nearly matches a hook is never called. Declare the conformance in an extension: there the
/// compiler warns about most of them. In tests, `implementedHooks(of:)` of `RequestBehaviorsTesting` returns the hooks
/// that a behavior implements.
public protocol RequestBehavior: Sendable {
  /// The place in the list, one for all hooks; by default ``BehaviorOrder/middle``.
  var order: BehaviorOrder { get }

  /// Returns header fields to set, every time the request passes.
  ///
  /// They replace fields of the same name, but not those that the user set on the ``Request``. A field that must win
  /// over the user's is set in ``modify(_:)``.
  ///
  /// - Parameter request: The request as it is so far.
  /// - Returns: The fields to set.
  /// - Throws: What shall fail the request.
  func headers(for request: NetworkRequest) async throws -> HeaderFields

  /// Changes the request, after the fields of ``headers(for:)`` were set.
  ///
  /// - Parameter request: The request to change.
  /// - Throws: What shall fail the request.
  func modify(_ request: inout NetworkRequest) async throws

  /// Observes the request as it leaves this behavior.
  func beforeSend(_ request: NetworkRequest) async

  /// Does what must be finished before the caller gets the response.
  ///
  /// - Parameters:
  ///   - response: A response with an acceptable status. Inside of a cache that may be a 304 without a body, which says
  ///     that the stored response is still good.
  ///   - request: The request that ``beforeSend(_:)`` got; `response.request` may be another one (redirected, cached).
  /// - Throws: What shall fail the request.
  func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws

  /// Observes that everything further in failed.
  ///
  /// - Parameters:
  ///   - error: What was thrown, or a ``NetworkError`` of code `unacceptableStatus` with the response.
  ///   - request: The request that ``beforeSend(_:)`` got.
  func afterFailure(_ error: any Error, for request: NetworkRequest) async

  /// Surrounds the other hooks and everything further in.
  ///
  /// - Parameters:
  ///   - request: The request as it reached this behavior.
  ///   - next: Runs this behavior's other hooks and everything further in; call it once, several times or not at all,
  ///     but not after this method has returned.
  /// - Returns: The response for those further out, with any status.
  /// - Throws: What prevents a response.
  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse

  /// Whether ``intercept(_:next:)`` also runs for the prerequisites of a request that is within it; `false` by default.
  ///
  /// A prerequisite is a request that another one needs first, such as one for a token. A behavior that holds something
  /// while it waits for `next`, such as the only permit of a limiter, would make the prerequisite wait for the request
  /// that waits for it. One that holds nothing returns `true`. The other hooks run for prerequisites in any case.
  var runsForPrerequisites: Bool { get }

  /// Returns whose response this will be, for the keys of coalescing and caching.
  ///
  /// A behavior that adds a credential further in than these stand gives a scope: without one they cannot tell whose a
  /// response is, so they neither keep nor share it (``Next/knowsOwner(of:)``).
  ///
  /// A behavior that must first read who is signed in waits for that here, so that the first call after a launch has the
  /// same scope as those before it.
  ///
  /// - Parameter request: The request before the first behavior has seen it.
  /// - Returns: An identifier, never the secret itself; `nil`, the default, if the response is the same for everybody.
  func scope(for request: NetworkRequest) async -> String?

  /// Forgets what belongs to a scope that has ended, because its user signed out for example.
  ///
  /// What ended it calls ``ScopeEndings/end(_:)``. It is called for every behavior of the clients that it served.
  ///
  /// - Parameter scope: What ``scope(for:)`` of some behavior returned.
  func scopeEnded(_ scope: String) async

  /// Returns whether the behavior checks that a response comes from the server; `false` by default.
  ///
  /// A response that was stored without such a check is none for a request that would have been checked. A behavior that
  /// returns `true` sets ``NetworkResponse/verification`` of the responses to such requests.
  func verifies(_ request: NetworkRequest) -> Bool

  /// Returns what contradicts this behavior among the others and the settings of a list; nothing by default.
  ///
  /// ``Pipeline/warnings`` has those of all behaviors. A wait that is longer than the deadline is such a contradiction:
  /// each is right by itself, and together one of them never comes about.
  ///
  /// - Parameter pipeline: The list that the behavior is in, of a certain request.
  /// - Returns: A sentence for each contradiction, with the names of the behaviors, the values and the remedy.
  func warnings(in pipeline: Pipeline) -> [String]

  /// Forgets state, when ``NetworkClient/reset()`` is called.
  func reset() async
}

// Each default tells the probe of the task that it ran; once that is known, requests do not call it any more.
extension RequestBehavior {
  /// By default a behavior stands in the middle.
  public var order: BehaviorOrder {
    HookProbe.current?.note(.order, of: Self.self)
    return .middle
  }

  /// By default no fields are set.
  public func headers(for request: NetworkRequest) async throws -> HeaderFields {
    HookProbe.current?.note(.headers, of: Self.self)
    return HeaderFields()
  }

  /// By default nothing is changed.
  public func modify(_ request: inout NetworkRequest) async throws {
    HookProbe.current?.note(.modify, of: Self.self)
  }

  /// By default nothing is done.
  public func beforeSend(_ request: NetworkRequest) async {
    HookProbe.current?.note(.beforeSend, of: Self.self)
  }

  /// By default nothing is done.
  public func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
    HookProbe.current?.note(.afterSuccess, of: Self.self)
  }

  /// By default nothing is done.
  public func afterFailure(_ error: any Error, for request: NetworkRequest) async {
    HookProbe.current?.note(.afterFailure, of: Self.self)
  }

  /// By default `next` is called once.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    HookProbe.current?.note(.intercept, of: Self.self)
    return try await next(request)
  }

  /// By default `intercept` does not run for the prerequisites of a request that is within it.
  public var runsForPrerequisites: Bool {
    HookProbe.current?.note(.runsForPrerequisites, of: Self.self)
    return false
  }

  /// By default the response is the same for everybody.
  public func scope(for request: NetworkRequest) async -> String? {
    HookProbe.current?.note(.scope, of: Self.self)
    return nil
  }

  /// By default nothing belongs to a scope.
  public func scopeEnded(_ scope: String) async { HookProbe.current?.note(.scopeEnded, of: Self.self) }

  /// By default nothing is checked.
  public func verifies(_ request: NetworkRequest) -> Bool {
    HookProbe.current?.note(.verifies, of: Self.self)
    return false
  }

  /// By default nothing is contradicted.
  public func warnings(in pipeline: Pipeline) -> [String] {
    HookProbe.current?.note(.warnings, of: Self.self)
    return []
  }

  /// By default there is no state.
  public func reset() async { HookProbe.current?.note(.reset, of: Self.self) }
}

/// A behavior of which a list holds one: by its type, and by its name where several sessions stand side by side.
///
/// The request's replaces the configuration's, and that the built-in. The same one twice in one list is an error.
public protocol UniqueBehavior: RequestBehavior {
  /// What tells two behaviors of the type apart; empty by default.
  var name: String { get }
}

extension UniqueBehavior {
  /// By default there is one behavior of the type.
  public var name: String { "" }
}
