/// The decision after a failed attempt.
public enum RetryDecision: Sendable, Hashable {
  /// The current outcome is the outcome of the request.
  case stop
  /// Send the request again after this wait.
  case retry(after: Duration)
}

/// A failed attempt, as a ``RetryDecider`` gets it.
public struct FailedAttempt: Sendable {
  /// The request as it reached the retry behavior.
  public let request: NetworkRequest
  /// The response, with its body in memory; `nil` if there was no response.
  public let response: NetworkResponse?
  /// The error that prevented a response; `nil` if there was one.
  public let error: (any Error)?
  /// The number of the attempt, from 1.
  public let number: Int
  /// The hints of the server about a repeat; `nil` if there was no response.
  public let hints: ServerHints?
  /// The policy's own decision.
  public let suggestion: RetryDecision
}

/// Decides whether a failed attempt is followed by another one.
///
/// ```swift
/// let decider: RetryDecider = { attempt in
///   // This API answers 409 while the document is locked.
///   guard attempt.response?.statusCode == 409 else {
///     return attempt.suggestion
///   }
///   return .retry(after: .seconds(1))
/// }
/// ```
///
/// The retry behavior asks it after every failed attempt, but not after an acceptable response, a cancellation, or an
/// error after which nothing may be sent. It overrules the policy's statuses, errors, methods and waits. It does not
/// overrule the number of retries, the budget or the deadline, and it cannot repeat a one-shot body.
public typealias RetryDecider = @Sendable (FailedAttempt) async -> RetryDecision
