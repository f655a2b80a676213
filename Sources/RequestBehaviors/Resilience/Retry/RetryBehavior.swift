import Foundation

/// Sends a request again when it failed for a reason that may pass.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry()])
/// ```
///
/// ``RetryPolicy`` lists the outcomes that are repeated, and why. Between two attempts the call waits for a random time
/// that grows with every retry (``Backoff``), but at least as long as the server asks for (``ServerHints``). A wait
/// that would outlast the call's deadline, or that the server wants longer than ``RetryPolicy/longestServerDelay``, is
/// not begun. The current outcome is then the outcome of the call, and ``NetworkError/availableAt`` tells when a repeat
/// makes sense. ``RetryBudget`` limits the retries to an origin to a share of its calls.
///
/// An idempotent request may be lost because the server closed a kept-alive connection at that moment. The first time,
/// the behavior sends it again at once.
///
/// The outcome of the call is that of the last attempt, and ``NetworkError/attempts`` lists all attempts. If the client
/// refuses a further attempt, for example because a circuit breaker is open, the outcome is that of the attempt before.
/// Each attempt runs all inner behaviors again: it is authenticated, limited, signed and verified separately.
/// Cancelling the task ends a wait at once, with a `CancellationError`.
public struct RetryBehavior: UniqueBehavior {
  /// Outside all behaviors that belong to one attempt.
  public let order = BehaviorOrder.retry
  /// A prerequisite request is retried separately: no permit or lock is held meanwhile.
  public var runsForPrerequisites: Bool { true }

  let policy: RetryPolicy
  let budget: RetryBudget
  private let decider: RetryDecider?
  private let random: @Sendable () -> Double
  private let makeKey: @Sendable () -> String

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - policy: Which outcomes are repeated, how often, and after which wait. A request's
  ///     ``RequestOptions/retryPolicy`` overrides it.
  ///   - budget: The share of retries among the calls; by default a budget of the behavior's own.
  ///   - random: Makes numbers from 0 to 1 for the waits; by default the system's.
  ///   - makeKey: Makes idempotency keys; by default random UUIDs.
  ///   - decider: Overrules the policy; `nil` by default.
  public init(
    _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(), random: (@Sendable () -> Double)? = nil,
    makeKey: (@Sendable () -> String)? = nil, decider: RetryDecider? = nil
  ) {
    self.policy = policy
    self.budget = budget
    self.decider = decider
    self.random = random ?? RandomSource.fraction
    self.makeKey = makeKey ?? RandomSource.uuid
  }

  /// Sends the request until it succeeds or no further attempt is due.
  public func intercept(_ original: NetworkRequest, next: Next) async throws -> NetworkResponse {
    var request = original
    request.setIdempotencyKey(making: makeKey)
    // A behavior further out may have made sends of the same call before, which are no part of this try.
    let earlier = request.method.isIdempotent ? 0 : request.call.attemptCount
    let outcome = await AttemptOutcome(of: request, next)
    // An unverified response may not come from the server, so it does not count for the budget.
    if outcome.response?.isVerified != false {
      let succeeded = CircuitVerdict(outcome, of: request.call) == .success
      budget.noteCall(to: request.origin, at: request.call.clock.now(), succeeded: succeeded)
    }
    if case .success(let response) = outcome, response.isAcceptable { return response }
    return try await sendAgain(request, after: consume outcome, earlier, next)
  }

  /// Sends the request again until it succeeds or no further attempt is due.
  ///
  /// It takes the first outcome over, so that a body of it is released with the next attempt. The sends of the call
  /// before this behavior are no part of its own.
  private func sendAgain(
    _ request: NetworkRequest, after first: consuming AttemptOutcome, _ earlier: Int, _ next: Next
  ) async throws -> NetworkResponse {
    let call = request.call
    var outcome = first
    // Bodies are read before the wait, so that no connection is held during it.
    let isDownload = next.pipeline.entries.contains { $0.behavior is any ResumingBehavior }
    var retries = Retries(policy: request.options.retryPolicy ?? policy, isDownload: isDownload, decided: earlier)
    while let delay = try await retries.delay(after: &outcome, request, self) {
      outcome = await outcome.settled()
      try await retries.pause(for: delay, call)
      let latest = await AttemptOutcome(of: request, next)
      // A refusal by the client says nothing about the server, so the outcome before it is returned.
      if let refusal = latest.error as? NetworkError, refusal.isRefusedLocally {
        try Task.checkCancellation()
        call.record("no further retry: \(refusal.code)", from: "RetryBehavior", kind: .retryStopped)
        return try outcome.get(availableAt: refusal.availableAt)
      }
      if !retries.resumes(latest) { note(latest, of: request) }
      if case .success(let response) = latest, response.isAcceptable { return response }
      outcome = latest
    }
    return try outcome.get()
  }

  /// Clears the counts of the budget.
  public func reset() async { budget.reset() }

  /// Tells the budget how a retry ended, if the outcome says something about the server.
  private func note(_ outcome: AttemptOutcome, of request: NetworkRequest) {
    let verdict = CircuitVerdict(outcome, of: request.call)
    guard verdict != .none else { return }
    budget.noteRetry(to: request.origin, at: request.call.clock.now(), succeeded: verdict == .success)
  }

  /// The state that is kept between the attempts of one request.
  private struct Retries {
    let policy: RetryPolicy
    let isDownload: Bool
    var made = 0
    /// The number of sends that earlier decisions were about, or that were made before.
    private var decided: Int
    var wasMisdirected = false
    var wasStale = false
    private var waiting: Call.EventWait?

    init(policy: RetryPolicy, isDownload: Bool, decided: Int) {
      self.policy = policy
      self.isDownload = isDownload
      self.decided = decided
    }

    /// Waits before the next attempt.
    func pause(for delay: Duration, _ call: Call) async throws {
      defer { if let waiting { call.end(waiting) } }
      try await call.clock.sleep(for: delay)
    }

    /// Returns how long to wait before another attempt; `nil` if there is to be no other.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    mutating func delay(
      after outcome: inout AttemptOutcome, _ request: NetworkRequest, _ behavior: RetryBehavior
    ) async throws -> Duration? {
      if let error = outcome.error, error is CancellationError { throw error }
      // A cancelled call ends as cancelled, whatever its last attempt came to.
      if Task.isCancelled {
        outcome.response?.body.cancel()
        throw CancellationError()
      }
      if let error = outcome.error as? NetworkError, error.code.kinds.contains(.final) { return nil }
      let sends = sends(of: request)
      if request.options.isSentOnce,
        outcome.mayHaveArrived || policy.mayHaveTakenEffect(outcome.earlierSends(of: sends))
      {
        return stop("it may have arrived, and what it carries can be used once", request)
      }
      // The policy decides first, so that a decider gets its decision as a suggestion.
      let hints = outcome.response.map { ServerHints($0) }
      let situation = RetryPolicy.Situation(
        request: request, retries: made, sends: sends, hasIdempotencyKey: request.hasIdempotencyKey,
        wasMisdirected: wasMisdirected, wasStale: wasStale)
      var verdict = policy.verdict(on: outcome, hints, in: situation, random: behavior.random)
      if let decider = behavior.decider {
        verdict = await overruled(verdict, by: decider, &outcome, request, hints)
      }
      guard case .retry(let delay) = verdict.decision else { return stop(verdict.reason, request) }
      return begin(verdict, after: delay, &outcome, request, behavior.budget)
    }

    /// Returns the sends of the latest attempt; none for an idempotent method, whose sends do not matter.
    private func sends(of request: NetworkRequest) -> ArraySlice<Attempt> {
      request.method.isIdempotent ? [] : request.call.attempts.dropFirst(decided)
    }

    /// Asks the user's decider.
    ///
    /// It cannot exceed the maximum number of retries or repeat a one-shot body.
    private func overruled(
      _ verdict: RetryPolicy.Verdict, by decider: RetryDecider, _ outcome: inout AttemptOutcome,
      _ request: NetworkRequest, _ hints: ServerHints?
    ) async -> RetryPolicy.Verdict {
      outcome = await outcome.settled()
      let decision = await decider(
        FailedAttempt(
          request: request, response: outcome.response, error: outcome.error, number: made + 1, hints: hints,
          suggestion: verdict.decision))
      guard decision != verdict.decision else { return verdict }
      if decision == .stop { return .stop("the decider wants none") }
      guard made < policy.maximumRetries, request.body?.isReplayable != false else { return verdict }
      return RetryPolicy.Verdict(decision: decision, reason: outcome.reason)
    }

    /// Begins a retry if deadline and budget allow it.
    private mutating func begin(
      _ verdict: RetryPolicy.Verdict, after delay: Duration, _ outcome: inout AttemptOutcome,
      _ request: NetworkRequest, _ budget: RetryBudget
    ) -> Duration? {
      let call = request.call
      let now = call.clock.now()
      if call.isTooLong(delay, from: now) {
        outcome.note(availableAt: call.clock.date().addingTimeInterval(delay.inSeconds))
        return hinder("in \(delay.inWords) the deadline will have passed", request)
      }
      // A closed kept-alive connection is no sign of trouble, and a resumed download asks for the rest only. Neither
      // needs the budget.
      guard verdict.isResend || resumes(outcome) || budget.takeRetry(to: request.origin, at: now) else {
        return hinder("the retry budget of \(request.origin?.description ?? "the origin") is used up", request)
      }
      if verdict.isResend { wasStale = true } else { made += 1 }
      if outcome.response?.statusCode == 421 { wasMisdirected = true }
      decided = call.attemptCount
      let what = verdict.isResend ? "sent again at once" : "retry \(made) in \(delay.inWords)"
      waiting = call.begin("\(what), because of \(verdict.reason)", from: "RetryBehavior", kind: .retry)
      return delay
    }

    /// Whether the next attempt continues a download where it broke off.
    func resumes(_ outcome: AttemptOutcome) -> Bool {
      guard isDownload, let error = outcome.error as? NetworkError else { return false }
      return error.code == .truncatedBody || error.progress?.stage == .headReceived
    }

    /// Stops, although another attempt might succeed; the error of the call says why.
    private func hinder(_ reason: String, _ request: NetworkRequest) -> Duration? {
      request.call[RetryHindranceNote.self] = reason
      return stop(reason, request)
    }

    private func stop(_ reason: String, _ request: NetworkRequest) -> Duration? {
      request.call.record("no retry: \(reason)", from: "RetryBehavior", kind: .retryStopped)
      return nil
    }
  }
}

extension Result where Success == NetworkResponse, Failure == any Error {
  /// Records in an error when a repeat may succeed.
  ///
  /// A response tells that by its fields.
  fileprivate mutating func note(availableAt date: Date?) {
    guard let date, var error = error as? NetworkError else { return }
    error.availableAt = max(date, error.availableAt ?? date)
    self = .failure(error)
  }

  fileprivate func get(availableAt date: Date?) throws -> NetworkResponse {
    var outcome = self
    outcome.note(availableAt: date)
    return try outcome.get()
  }
}

extension RequestBehavior where Self == RetryBehavior {
  /// Sends failed requests again; see ``RetryBehavior``.
  ///
  /// - Parameters:
  ///   - policy: Which outcomes are repeated, how often, and after which wait; ``RetryPolicy/standard`` by default. A
  ///     request's ``RequestOptions/retryPolicy`` overrides it.
  ///   - budget: The share of retries among the calls; by default a budget of the behavior's own.
  ///   - decider: Overrules the policy; `nil` by default.
  /// - Returns: The behavior.
  public static func retry(
    _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(), decider: RetryDecider? = nil
  ) -> RetryBehavior {
    RetryBehavior(policy, budget: budget, decider: decider)
  }
}
