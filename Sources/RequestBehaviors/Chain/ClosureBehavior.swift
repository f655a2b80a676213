/// A behavior made of closures, for short uses that need no type of their own.
///
/// ```swift
/// let audit = ClosureBehavior(
///   "audit",
///   afterSuccess: { response, _ in
///     await log.append(response.statusCode)
///   })
/// let english = ClosureBehavior(
///   "english", headers: { _ in ["Accept-Language": "en"] })
/// ```
public struct ClosureBehavior: RequestBehavior {
  /// Returns header fields to set.
  public typealias Headers = @Sendable (NetworkRequest) async throws -> HeaderFields
  /// Changes the request.
  public typealias Modify = @Sendable (inout NetworkRequest) async throws -> Void
  /// Observes the request.
  public typealias BeforeSend = @Sendable (NetworkRequest) async -> Void
  /// Does work that must be finished before the caller gets the response.
  public typealias AfterSuccess = @Sendable (NetworkResponse, NetworkRequest) async throws -> Void
  /// Observes a failure.
  public typealias AfterFailure = @Sendable (any Error, NetworkRequest) async -> Void
  /// Returns the owner of the response.
  public typealias Scope = @Sendable (NetworkRequest) async -> String?
  /// Surrounds everything further in.
  public typealias Intercept = @Sendable (NetworkRequest, Next) async throws -> NetworkResponse

  /// The name, for ``NetworkClient/pipeline(for:)`` and errors.
  public let name: String
  /// The place in the list.
  public let order: BehaviorOrder
  private let headers: Headers?
  private let modify: Modify?
  private let beforeSend: BeforeSend?
  private let afterSuccess: AfterSuccess?
  private let afterFailure: AfterFailure?
  private let intercept: Intercept?
  private let scope: Scope?

  /// Creates a behavior with the given hooks; see ``RequestBehavior`` for their rules.
  ///
  /// A behavior that adds a credential also needs a `scope`, so that caches and shared requests can tell owners apart:
  ///
  /// ```swift
  /// let ticket = ClosureBehavior(
  ///   "ticket", order: .authentication,
  ///   headers: { _ in
  ///     HeaderFields([.init("X-Ticket", user.ticket, sensitive: .baseURL)])
  ///   },
  ///   scope: { _ in "ticket:\(user.id)" })
  /// ```
  public init(
    _ name: String = "ClosureBehavior", order: BehaviorOrder = .middle, headers: Headers? = nil,
    modify: Modify? = nil, beforeSend: BeforeSend? = nil, afterSuccess: AfterSuccess? = nil,
    afterFailure: AfterFailure? = nil, intercept: Intercept? = nil, scope: Scope? = nil
  ) {
    self.name = name
    self.order = order
    self.headers = headers
    self.modify = modify
    self.beforeSend = beforeSend
    self.afterSuccess = afterSuccess
    self.afterFailure = afterFailure
    self.intercept = intercept
    self.scope = scope
  }

  /// Creates a behavior that surrounds everything further in.
  ///
  /// ```swift
  /// let again = ClosureBehavior("again", order: .retry) { request, next in
  ///   let response = try await next(request)
  ///   guard response.statusCode == 503 else { return response }
  ///   return try await next(request)
  /// }
  /// ```
  public init(_ name: String = "ClosureBehavior", order: BehaviorOrder = .middle, _ intercept: @escaping Intercept) {
    self.init(name, order: order, intercept: intercept)
  }

  /// Returns the result of the closure; no fields if there is no closure.
  public func headers(for request: NetworkRequest) async throws -> HeaderFields {
    try await headers?(request) ?? HeaderFields()
  }

  /// Calls the closure.
  public func modify(_ request: inout NetworkRequest) async throws { try await modify?(&request) }

  /// Calls the closure.
  public func beforeSend(_ request: NetworkRequest) async { await beforeSend?(request) }

  /// Calls the closure.
  public func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
    try await afterSuccess?(response, request)
  }

  /// Calls the closure.
  public func afterFailure(_ error: any Error, for request: NetworkRequest) async {
    await afterFailure?(error, request)
  }

  /// Returns the result of the closure; `nil` if there is no closure.
  public func scope(for request: NetworkRequest) async -> String? {
    guard let scope else {
      HookProbe.current?.note(.scope, of: Self.self)
      return nil
    }
    return await scope(request)
  }

  /// Calls the closure; calls `next` if there is no closure.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let intercept else { return try await next(request) }
    return try await intercept(request, next)
  }
}
