/// Which responses refuse a request without having acted on it.
///
/// A refused request is safe to repeat, whatever its method, as soon as the server wants it.
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
/// | 429 | yes | there were too many requests to look at this one (RFC 6585 §4) |
/// | 403 | where you say so | some servers use it for limits, and tell when to come back |
/// | 503 | where you say so | some gateways send it after the server behind them has acted |
public struct RefusalPolicy: Sendable, Hashable {
  /// The statuses that refuse a request; 421 and 429 by default.
  public var statuses: StatusCodes

  /// The statuses that refuse a request if the response also says when to come back (``ServerHints/delay``); none by
  /// default.
  public var statusesWithDelay: StatusCodes

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - statuses: The statuses that refuse a request.
  ///   - statusesWithDelay: The statuses that refuse a request if the response also says when to come back.
  public init(statuses: StatusCodes = [421, 429], statusesWithDelay: StatusCodes = []) {
    self.statuses = statuses
    self.statusesWithDelay = statusesWithDelay
  }

  /// 421 and 429.
  public static let standard = RefusalPolicy()

  /// Returns whether a response refuses its request.
  ///
  /// - Parameter response: The response. One that is not known to come from the server refuses nothing.
  /// - Returns: Whether the server did not act on the request.
  public func isRefusal(_ response: NetworkResponse) -> Bool {
    response.isVerified && isRefusal(response.statusCode, ServerHints(response))
  }

  /// Whether a verified response of a status refuses its request.
  func isRefusal(_ status: Int, _ hints: ServerHints?) -> Bool {
    statuses.contains(status) || isDelay(status, hints)
  }

  /// Whether a response of a status refuses its request because it says when to come back.
  func isDelay(_ status: Int, _ hints: ServerHints?) -> Bool {
    guard let delay = hints?.delay else { return false }
    return delay > .zero && statusesWithDelay.contains(status)
  }
}
