/// One concern of a request, implemented once: a header, a signature, a token, a retry, a check, a save.
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
/// A behavior changes, observes, repeats or replaces; a step further in still sends. A type that sends by other means
/// (a mock, another HTTP library) is a ``Transport``, which ends the list.
///
/// ## Which hook?
///
/// | to | implement |
/// |---|---|
/// | set header fields | ``headers(for:)`` |
/// | change anything else, or refuse the request | ``modify(_:)`` |
/// | observe that a request leaves | ``beforeSend(_:)`` |
/// | do work that must be done before the caller gets the response, or refuse the response | ``afterSuccess(_:for:)`` |
/// | observe a failure | ``afterFailure(_:for:)`` |
/// | respond without sending, send several times, replace the response | ``intercept(_:next:)`` |
///
/// The hooks see verdicts: a status that the request does not accept is a failure. `intercept` sees values: every
/// status is a response, and only an error that prevented a response is thrown.
///
/// ## In what order?
///
/// The list is sorted by `order`; behaviors of equal order stay in the order of listing. The first is outermost: a
/// request goes down the list, and the response comes back up in reverse. For one behavior, `intercept` surrounds its
/// other hooks and everything further in. A behavior that calls `next` again runs everything further in again.
///
/// For one behavior each `beforeSend` is followed by exactly one of `afterSuccess` and `afterFailure`, on every path,
/// cancellation included. When an `afterSuccess` throws, the behaviors further out get `afterFailure`.
///
/// ## What to keep in mind
///
/// All requests of a client share its behaviors and call them concurrently, so protect state with a lock. A hook must
/// not block: it waits with `await`. Take waits and dates from `request.call.clock`. A hook that neither waits nor
/// throws may leave out `async` and `throws`.
///
/// A method whose signature nearly matches a hook is never called. Declare the conformance in an extension: the
/// compiler then warns about most of them. In tests, `implementedHooks(of:)` of `RequestBehaviorsTesting` returns the
/// hooks that a behavior implements.
public protocol RequestBehavior: Sendable {
  /// The place in the list, the same for all hooks; by default ``BehaviorOrder/middle``.
  var order: BehaviorOrder { get }

  /// Returns header fields to set, each time the request passes.
  ///
  /// They replace fields of the same name, but not those that the user set on the ``Request``. Use ``modify(_:)`` for a
  /// field that must override the user's.
  ///
  /// - Parameter request: The request as changed by the behaviors further out.
  /// - Returns: The fields to set.
  /// - Throws: An error that fails the request.
  func headers(for request: NetworkRequest) async throws -> HeaderFields

  /// Changes the request, after the fields of ``headers(for:)`` have been set.
  ///
  /// - Parameter request: The request to change.
  /// - Throws: An error that fails the request.
  func modify(_ request: inout NetworkRequest) async throws

  /// Observes the request as it leaves this behavior.
  func beforeSend(_ request: NetworkRequest) async

  /// Does work that must be finished before the caller gets the response.
  ///
  /// - Parameters:
  ///   - response: A response with an acceptable status. Inside of a cache it may be a 304 without a body, which means
  ///     that the stored response is still valid.
  ///   - request: The request that ``beforeSend(_:)`` received; `response.request` may differ (redirected, cached).
  /// - Throws: An error that fails the request.
  func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws

  /// Observes a failure of everything further in.
  ///
  /// - Parameters:
  ///   - error: The error that was thrown, or a ``NetworkError`` of code `unacceptableStatus` with the response.
  ///   - request: The request that ``beforeSend(_:)`` received.
  func afterFailure(_ error: any Error, for request: NetworkRequest) async

  /// Surrounds the other hooks and everything further in.
  ///
  /// - Parameters:
  ///   - request: The request as it reached this behavior.
  ///   - next: Runs this behavior's other hooks and everything further in; call it once, several times or not at all,
  ///     but not after this method has returned.
  /// - Returns: The response for the behaviors further out, with any status.
  /// - Throws: The error that prevented a response.
  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse

  /// Whether ``intercept(_:next:)`` also runs for the prerequisites of a request inside it; `false` by default.
  ///
  /// A prerequisite is a request that another request needs first, such as one for a token. A behavior may hold
  /// something while it waits for `next`, such as the only permit of a limiter. Then the prerequisite would wait for
  /// the very request that waits for it. A behavior that holds nothing returns `true`. The other hooks run for
  /// prerequisites in any case.
  var runsForPrerequisites: Bool { get }

  /// Returns the owner of the future response, for the keys of coalescing and caching.
  ///
  /// A behavior that adds a credential further in than these behaviors must name an owner. Without it they cannot tell
  /// whose response it is, so they neither store nor share it (``Next/knowsOwner(of:)``).
  ///
  /// A behavior that must first read which user is signed in waits for that here, so that the first call after a launch
  /// has the same owner as the calls before it.
  ///
  /// - Parameter request: The request before any behavior has changed it.
  /// - Returns: An identifier, never the secret itself; `nil`, the default, if the response is the same for all users.
  func scope(for request: NetworkRequest) async -> String?

  /// Drops the data of an owner that has ended, for example because the user signed out.
  ///
  /// ``ScopeEndings/end(_:)`` calls it, for every behavior of the clients that it served. If several variants of a
  /// client list the same object, or copies of a ``SharedStateBehavior``, it is called once for each end.
  ///
  /// - Parameter scope: The owner, as ``scope(for:)`` of a behavior returned it.
  func scopeEnded(_ scope: String) async

  /// Returns whether the behavior checks that a response comes from the server; `false` by default.
  ///
  /// A request that requires verification never uses a stored response that was not verified. A behavior that returns
  /// `true` sets ``NetworkResponse/verification`` of the responses to such requests.
  func verifies(_ request: NetworkRequest) -> Bool

  /// Returns the contradictions between this behavior and the others or the settings; an empty list by default.
  ///
  /// ``Pipeline/warnings`` has those of all behaviors. A wait that is longer than the deadline is such a contradiction:
  /// each value is valid by itself, but together one of them never takes effect.
  ///
  /// - Parameter pipeline: The list of a certain request that contains the behavior.
  /// - Returns: A sentence for each contradiction, with the names of the behaviors, the values and the remedy.
  func warnings(in pipeline: Pipeline) -> [String]

  /// Drops all state; ``NetworkClient/reset()`` calls it.
  func reset() async
}

// Each default notes itself in the probe of the task. Once it is known as a default, requests no longer call it.
extension RequestBehavior {
  /// Returns no fields by default.
  public func headers(for request: NetworkRequest) async throws -> HeaderFields {
    HookProbe.current?.note(.headers, of: Self.self)
    return HeaderFields()
  }

  /// Changes nothing by default.
  public func modify(_ request: inout NetworkRequest) async throws {
    HookProbe.current?.note(.modify, of: Self.self)
  }

  /// Does nothing by default.
  public func beforeSend(_ request: NetworkRequest) async {
    HookProbe.current?.note(.beforeSend, of: Self.self)
  }

  /// Does nothing by default.
  public func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
    HookProbe.current?.note(.afterSuccess, of: Self.self)
  }

  /// Does nothing by default.
  public func afterFailure(_ error: any Error, for request: NetworkRequest) async {
    HookProbe.current?.note(.afterFailure, of: Self.self)
  }

  /// Calls `next` once by default.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    HookProbe.current?.note(.intercept, of: Self.self)
    return try await next(request)
  }

  /// `false` by default: `intercept` does not run for prerequisites.
  public var runsForPrerequisites: Bool {
    HookProbe.current?.note(.runsForPrerequisites, of: Self.self)
    return false
  }

  /// Returns `nil` by default: the response is the same for all users.
  public func scope(for request: NetworkRequest) async -> String? {
    HookProbe.current?.note(.scope, of: Self.self)
    return nil
  }

  /// Does nothing by default, because the behavior keeps no data of an owner.
  public func scopeEnded(_ scope: String) async { HookProbe.current?.note(.scopeEnded, of: Self.self) }

  /// Returns `false` by default: the behavior verifies nothing.
  public func verifies(_ request: NetworkRequest) -> Bool {
    HookProbe.current?.note(.verifies, of: Self.self)
    return false
  }

  /// Returns no contradictions by default.
  public func warnings(in pipeline: Pipeline) -> [String] {
    HookProbe.current?.note(.warnings, of: Self.self)
    return []
  }

  /// Does nothing by default, because there is no state.
  public func reset() async { HookProbe.current?.note(.reset, of: Self.self) }
}

/// A behavior that is unique in a list by its type and name; names allow several sessions side by side.
///
/// The request's replaces the configuration's, and the configuration's replaces the built-in one. Two equal ones in one
/// list are an error.
public protocol UniqueBehavior: RequestBehavior {
  /// The name that tells two behaviors of the type apart; empty by default.
  var name: String { get }
}

extension UniqueBehavior {
  /// Empty by default: a list holds one behavior of the type.
  public var name: String { "" }
}
