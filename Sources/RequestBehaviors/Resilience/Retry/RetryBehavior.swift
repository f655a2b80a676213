import Foundation

/// Sends a request again when it failed for a reason that may pass.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry()])
/// ```
///
/// ``RetryPolicy`` has the tables of what is repeated, and why. Between two attempts the call waits: a time left to
/// chance that grows with every retry (``Backoff``), but at least as long as the server asks for (``ServerHints``). A
/// wait that would outlast the call's deadline, or be longer than ``RetryPolicy/longestServerDelay``, is not begun: the
/// outcome at hand is the outcome, and ``NetworkError/availableAt`` tells when a repeat makes sense. Of all retries to
/// an origin, ``RetryBudget`` allows a share of the calls only.
///
/// When an idempotent request is lost because the server closed a kept-alive connection at that moment, it is sent again
/// at once, the first time.
///
/// Whatever ends the retries, the outcome is that of the last attempt, and ``NetworkError/attempts`` has them all. If
/// this side refuses a further attempt, by an open circuit breaker for example, it is that of the last attempt before.
/// Each attempt runs everything further in again: it is authenticated, limited, signed and verified for itself.
/// Cancelling the task ends a wait at once, with a `CancellationError`.
public struct RetryBehavior: UniqueBehavior {
  /// Around everything that belongs to one attempt.
  public let order = BehaviorOrder.retry
  /// A prerequisite request is retried for itself: nothing is held meanwhile.
  public var runsForPrerequisites: Bool { true }

  let policy: RetryPolicy
  let budget: RetryBudget
  private let decider: RetryDecider?
  private let random: @Sendable () -> Double
  private let makeKey: @Sendable () -> String

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - policy: What is repeated, how often, after which wait; a request's ``RequestOptions/retryPolicy`` wins.
  ///   - budget: The share of retries among the calls; by default one of the behavior's own.
  ///   - random: Makes numbers from 0 to 1 for the waits; by default the system's.
  ///   - makeKey: Makes idempotency keys; by default random UUIDs.
  ///   - decider: Decides instead of the policy; none by default.
  public init(
    _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(), random: (@Sendable () -> Double)? = nil,
    makeKey: (@Sendable () -> String)? = nil, decider: RetryDecider? = nil
  ) {
    self.policy = policy
    self.budget = budget
    self.decider = decider
    self.random = random ?? { Double.random(in: 0...1) }
    self.makeKey = makeKey ?? { UUID().uuidString.lowercased() }
  }

  /// Sends the request until it succeeds or nothing speaks for another attempt.
  public func intercept(_ original: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let call = original.call
    var request = original
    request.setIdempotencyKey(making: makeKey)
    var outcome = await AttemptOutcome(of: request, next)
    // It is not known whose an unverified response is: it gives no credit.
    if outcome.response?.isVerified != false {
      let succeeded = CircuitVerdict(outcome, of: call) == .success
      budget.noteCall(to: request.origin, at: call.clock.now(), succeeded: succeeded)
    }
    if case .response(let response) = outcome, response.isAcceptable { return response }

    let isDownload = next.pipeline.behavior(DownloadBehavior.self) != nil
    var retries = Retries(policy: request.options.retryPolicy ?? policy, isDownload: isDownload)
    while let delay = try await retries.delay(after: &outcome, request, self) {
      outcome = await outcome.settled()
      try await call.clock.sleep(for: delay)
      let latest = await AttemptOutcome(of: request, next)
      // What this side refuses says nothing: the server's last response does.
      if let refusal = latest.error as? NetworkError, refusal.isRefusedLocally {
        try Task.checkCancellation()
        call.record("no further retry: \(refusal.code)", from: "RetryBehavior", kind: .retryStopped)
        return try outcome.get(availableAt: refusal.availableAt)
      }
      if !retries.resumes(latest) { note(latest, of: request) }
      if case .response(let response) = latest, response.isAcceptable { return response }
      outcome = latest
    }
    return try outcome.get()
  }

  /// Forgets what the budget counted.
  public func reset() async { budget.reset() }

  /// Tells the budget how a retry ended, if that says something of the server.
  private func note(_ outcome: AttemptOutcome, of request: NetworkRequest) {
    let verdict = CircuitVerdict(outcome, of: request.call)
    guard verdict != .none else { return }
    budget.noteRetry(to: request.origin, at: request.call.clock.now(), succeeded: verdict == .success)
  }

  /// What is remembered between the attempts of one request.
  private struct Retries {
    let policy: RetryPolicy
    let isDownload: Bool
    var made = 0
    var wasMisdirected = false
    var wasStale = false

    /// Decides about another attempt: how long to wait before it, `nil` for none.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    mutating func delay(
      after outcome: inout AttemptOutcome, _ request: NetworkRequest, _ behavior: RetryBehavior
    ) async throws -> Duration? {
      if let error = outcome.error, error is CancellationError { throw error }
      if Task.isCancelled {
        outcome.response?.body.cancel()
        throw CancellationError()
      }
      if let error = outcome.error as? NetworkError, RetryPolicy.finalErrors.contains(error.code) { return nil }
      let hints = outcome.response.map { ServerHints($0) }
      let situation = RetryPolicy.Situation(
        request: request, retries: made, hasIdempotencyKey: request.hasIdempotencyKey, wasMisdirected: wasMisdirected,
        wasStale: wasStale)
      var verdict = policy.verdict(on: outcome, hints, in: situation, random: behavior.random)
      if let decider = behavior.decider {
        verdict = await overruled(verdict, by: decider, &outcome, request, hints)
      }
      guard case .retry(let delay) = verdict.decision else { return stop(verdict.reason, request) }
      return begin(verdict, after: delay, &outcome, request, behavior.budget)
    }

    /// Asks the user's decider, which has no say over how often and whether a body can be sent.
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
      if let deadline = call.deadline, now + delay >= deadline {
        outcome.note(availableAt: call.clock.date().addingTimeInterval(delay.seconds))
        return stop("in \(delay.inWords) the deadline will have passed", request)
      }
      // A connection that the server closed is no sign of trouble, and costs nothing there. A download asks for its rest.
      guard verdict.isResend || resumes(outcome) || budget.takeRetry(to: request.origin, at: now) else {
        return stop("the retry budget of \(request.origin?.description ?? "the origin") is used up", request)
      }
      if verdict.isResend { wasStale = true } else { made += 1 }
      if outcome.response?.statusCode == 421 { wasMisdirected = true }
      let what = verdict.isResend ? "sent again at once" : "retry \(made) in \(delay.inWords)"
      call.record("\(what), because of \(verdict.reason)", from: "RetryBehavior", kind: .retry)
      return delay
    }

    /// Whether the next attempt goes on where a download broke off.
    func resumes(_ outcome: AttemptOutcome) -> Bool {
      guard isDownload, let error = outcome.error as? NetworkError else { return false }
      return error.code == .truncatedBody || error.progress?.stage == .headReceived
    }

    private func stop(_ reason: String, _ request: NetworkRequest) -> Duration? {
      request.call.record("no retry: \(reason)", from: "RetryBehavior", kind: .retryStopped)
      return nil
    }
  }
}

extension AttemptOutcome {
  /// Notes in an error from when on a repeat may succeed; a response tells that by its fields.
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
  public static func retry(
    _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(), decider: RetryDecider? = nil
  ) -> RetryBehavior {
    RetryBehavior(policy, budget: budget, decider: decider)
  }
}
