/// The responses that refuse a request without acting on it.
///
/// A refused request is safe to repeat, whatever its method, at the time that the server allows.
///
/// ```swift
/// // GitHub refuses with 403, and says when to come back.
/// let refusals = RefusalPolicy(statusesWithDelay: [403])
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [
///     .retry(RetryPolicy(refusals: refusals)),
///     .rateLimit(10, burst: 20, refusals: refusals),
///   ])
/// ```
///
/// | status | refusal | because |
/// |---|---|---|
/// | 421 | yes | the server does not produce responses for this origin (RFC 9110 §15.5.20) |
/// | 429 | yes | the server got too many requests to act on this one (RFC 6585 §4) |
/// | 403 | optional | some servers use it for limits, and send the time for a repeat |
/// | 503 | optional | some gateways send it after the server behind them has acted |
public struct RefusalPolicy: Sendable, Hashable {
  /// The statuses that refuse a request; 421 and 429 by default.
  public var statuses: StatusCodes

  /// The statuses that refuse a request if the response also has a ``ServerHints/delay`` above zero; none by
  /// default.
  public var statusesWithDelay: StatusCodes

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - statuses: The statuses that refuse a request.
  ///   - statusesWithDelay: The statuses that refuse a request if the response also has a delay above
  ///     zero.
  public init(statuses: StatusCodes = .refusals, statusesWithDelay: StatusCodes = []) {
    self.statuses = statuses
    self.statusesWithDelay = statusesWithDelay
  }

  /// 421 and 429.
  public static let standard = RefusalPolicy()

  /// Returns whether a response refuses its request.
  ///
  /// - Parameter response: The response. A response that is not verified refuses nothing.
  /// - Returns: Whether the server did not act on the request.
  public func isRefusal(_ response: NetworkResponse) -> Bool {
    response.isVerified && isRefusal(response.statusCode, ServerHints(response))
  }

  /// Returns whether a verified response with a status refuses its request.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - hints: The hints of the response about a repeat.
  /// - Returns: Whether the server did not act on the request.
  public func isRefusal(_ status: Int, _ hints: ServerHints?) -> Bool {
    statuses.contains(status) || isDelay(status, hints)
  }

  /// Returns whether a response with a status refuses its request because it has a delay.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - hints: The hints of the response about a repeat.
  /// - Returns: Whether the status is one of ``statusesWithDelay`` and a delay above zero comes with it.
  public func isDelay(_ status: Int, _ hints: ServerHints?) -> Bool {
    guard let delay = hints?.delay else { return false }
    return delay > .zero && statusesWithDelay.contains(status)
  }
}
