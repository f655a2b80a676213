/// Ends a call that takes too long in all: waits, retries and saves included.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.deadline(.seconds(30)), .retry()])
/// let report: Data = try await client.send(
///   .get("report").with(\.deadline, .seconds(120)))
/// ```
///
/// When the time is over, what is further in is cancelled and waited for, and the call fails with
/// ``NetworkError/Code-swift.struct/deadlineExceeded``; the latest failure is its ``NetworkError/underlyingError``. A
/// response that is there all the same, because a save had begun, is returned. A prerequisite request, such as one for
/// a token, has a deadline of its own.
///
/// The time covers the body of a streamed response, whose reader gets the error, but for events
/// (``RequestOptions/timesEndAtHead``).
///
/// Whatever waits further in knows the deadline as ``Call/deadline`` and does not begin a wait that would outlast it. It
/// is beside ``RequestOptions/timeout``, which is for one attempt.
public struct DeadlineBehavior: UniqueBehavior {
  /// Around everything but what observes.
  public let order = BehaviorOrder.deadline
  /// A prerequisite request has a deadline of its own: nothing is held meanwhile.
  public let runsForPrerequisites = true
  /// How long a call may take; `nil` for ever.
  public let limit: Duration?

  /// Creates the behavior.
  ///
  /// - Parameter limit: How long a call may take in all; `nil` for ever. A request's ``RequestOptions/deadline`` wins.
  public init(_ limit: Duration?) { self.limit = limit }

  /// Runs everything further in, and cancels it when the time is over.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let own = request.options.explicit(DeadlineOption.self) ?? limit else { return try await next(request) }
    let call = request.call
    let now = call.clock.now()
    let deadline = min(now + own, call.deadline ?? .seconds(Int64.max))
    let limit = deadline - now
    call.deadline = deadline
    guard limit > .zero else { throw NetworkError.deadlineExceeded(limit, request, nil) }
    do {
      let response = try await run(request, until: deadline, next)
      if !request.options.timesEndAtHead { end(response, at: deadline, limit, request) }
      return response
    } catch is CancellationError where call.isLate && !Task.isCancelled {
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

  /// Runs everything further in as a task, which is cancelled when the time is over.
  private func run(_ request: NetworkRequest, until deadline: Duration, _ next: Next) async throws -> NetworkResponse {
    let work = Task { try await next(request) }
    let call = request.call
    // A clock of a test's on which no wait takes any time does not make the call late.
    let timer = call.clock.schedule(after: deadline - call.clock.now()) { if call.isLate { work.cancel() } }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
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
  /// How long the call may take in all, instead of the behavior's time; `nil` for ever.
  ///
  /// It is obeyed where a ``DeadlineBehavior`` is listed.
  public var deadline: Duration? {
    get { self[DeadlineOption.self] }
    set { self[DeadlineOption.self] = newValue }
  }
}

extension Pipeline {
  /// How long a call may take in all: the request's ``RequestOptions/deadline``, else the limit of the
  /// ``DeadlineBehavior``; `nil` if none is listed.
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
  /// Ends calls that take too long in all; see ``DeadlineBehavior``.
  ///
  /// - Parameter limit: How long a call may take in all.
  /// - Returns: The behavior.
  public static func deadline(_ limit: Duration) -> DeadlineBehavior { DeadlineBehavior(limit) }
}
