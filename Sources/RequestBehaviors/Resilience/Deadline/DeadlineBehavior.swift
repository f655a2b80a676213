/// Ends a call that takes too long in total, with its waits, retries and saves.
///
/// The first call of a ``TokenSession`` waits for its store before the list begins, at most for
/// ``TokenRefreshPolicy/timeout``; the deadline does not cover that wait.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.deadline(.seconds(30)), .retry()])
/// let report: Data = try await client.send(
///   .get("report").with(\.deadline, .seconds(120)))
/// ```
///
/// When the time is over, the behavior cancels the inner work and waits for it to end. The call fails with
/// ``NetworkError/Code-swift.struct/deadlineExceeded``, and the latest failure is its ``NetworkError/underlyingError``.
/// If a response still arrives, because a save had begun, it is returned. But a call does not wait for a shared request
/// that goes on for others (``CoalescingBehavior``). A prerequisite request, such as one for a token, has a deadline of
/// its own.
///
/// The time includes the body of a streamed response, whose reader gets the error. It does not include the body of an
/// event stream (``RequestOptions/timesEndAtHead``).
///
/// Inner behaviors read the deadline from ``Call/deadline`` and do not begin a wait that would outlast it.
/// ``RequestOptions/timeout`` is a separate limit for one attempt.
public struct DeadlineBehavior: UniqueBehavior {
  /// Outside all behaviors but those that observe.
  public let order = BehaviorOrder.deadline
  /// A prerequisite request has a deadline of its own: no permit or lock is held meanwhile.
  public let runsForPrerequisites = true
  /// How long a call may take; `nil` for no limit.
  public let limit: Duration?

  /// Creates the behavior.
  ///
  /// - Parameter limit: How long a call may take in total; `nil` for no limit. A request's ``RequestOptions/deadline``
  ///   overrides it.
  public init(_ limit: Duration?) { self.limit = limit }

  /// Runs the inner behaviors, and cancels them when the time is over.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let own = request.options.explicit(DeadlineOption.self) ?? limit else { return try await next(request) }
    let call = request.call
    let now = call.clock.now()
    // A deadline further out stays in force: the earlier one wins.
    let earlier = call.deadline.flatMap { $0 < now + own ? $0 : nil }
    let deadline = earlier ?? now + own
    // An earlier one may be this behavior's own, of a pass before.
    let limit = earlier.map { $0 - call.startedAt } ?? own
    call.deadline = deadline
    guard deadline > now else {
      var error = NetworkError.deadlineExceeded(limit, request, nil)
      error.progress = NetworkError.Progress(.notSent)
      throw error
    }
    do {
      let response = try await run(request, until: deadline, next)
      if !request.options.timesEndAtHead { end(response, at: deadline, limit, request) }
      return response
    } catch is CancellationError where call.isLate && !Task.isCancelled {
      // If the task is cancelled itself, its caller ended the call, not the deadline.
      call.record("the deadline of \(limit.inWords) has passed", from: "DeadlineBehavior", kind: .deadline)
      throw NetworkError.deadlineExceeded(limit, request, next.lastFailure)
    }
  }

  /// Ends a streamed body when the time is over.
  private func end(_ response: NetworkResponse, at deadline: Duration, _ limit: Duration, _ request: NetworkRequest) {
    guard case .stream(let stream) = response.body else { return }
    let (canceller, clock) = (stream.canceller, request.call.clock)
    let timer = clock.schedule(after: max(.zero, deadline - clock.now())) {
      canceller.cancel(throwing: NetworkError.deadlineExceeded(limit, request, nil))
    }
    stream.onCompletion { _ in timer.cancel() }
  }

  /// Runs the inner behaviors in a task, which is cancelled when the time is over.
  private func run(_ request: NetworkRequest, until deadline: Duration, _ next: Next) async throws -> NetworkResponse {
    let work = CancellableTask<NetworkResponse>()
    let call = request.call
    // On a test's clock a wait may take no time. Then the call is not late.
    let timer = call.clock.schedule(after: deadline - call.clock.now()) { if call.isLate { work.cancel() } }
    defer { timer.cancel() }
    return try await work.run { try await next(request) }
  }
}

private enum DeadlineOption: RequestOption {
  static let defaultValue: Duration? = nil
  static let isPortable = true
  static let affectsResponse = false

  static func warning(for value: Duration?, in pipeline: Pipeline) -> String? {
    value == nil ? nil : warning("deadline", isObeyedBy: DeadlineBehavior.self, in: pipeline)
  }
}

extension RequestOptions {
  /// How long the call may take in total, instead of the behavior's limit; `nil` for no limit.
  ///
  /// It takes effect if a ``DeadlineBehavior`` is listed.
  public var deadline: Duration? {
    get { self[DeadlineOption.self] }
    set { self[DeadlineOption.self] = newValue }
  }
}

extension Pipeline {
  /// How long a call may take in total: the request's ``RequestOptions/deadline``, or else the limit of the
  /// ``DeadlineBehavior``; `nil` if no such behavior is listed.
  public var deadline: Duration? {
    guard let behavior = behavior(DeadlineBehavior.self) else { return nil }
    return options.explicit(DeadlineOption.self) ?? behavior.limit
  }
}

extension NetworkError {
  static func deadlineExceeded(_ limit: Duration, _ request: NetworkRequest, _ cause: (any Error)?) -> NetworkError {
    NetworkError(
      .deadlineExceeded, "the call took longer than its deadline of \(limit.inWords)", request: request,
      response: (cause as? NetworkError)?.response, underlyingError: cause)
  }
}

extension RequestBehavior where Self == DeadlineBehavior {
  /// Ends calls that take too long in total; see ``DeadlineBehavior``.
  ///
  /// - Parameter limit: How long a call may take in total.
  /// - Returns: The behavior.
  public static func deadline(_ limit: Duration) -> DeadlineBehavior { DeadlineBehavior(limit) }
}
