/// The rules of retries: which failures get another attempt, how many attempts, and after which wait.
///
/// ```swift
/// var policy = RetryPolicy.standard
/// policy.maximumRetries = 5
/// policy.backoff.cap = .seconds(60)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry(policy)])
/// ```
///
/// ## Which requests
///
/// A request that may have reached the server is repeated only if that is harmless:
///
/// | method | repeated | because |
/// |---|---|---|
/// | GET, HEAD, OPTIONS, TRACE, QUERY | yes | they change nothing (RFC 9110 §9.2.1, RFC 10008) |
/// | PUT, DELETE | yes | twice has the effect of once (RFC 9110 §9.2.2) |
/// | POST, PATCH and others | with an idempotency key | the server recognises the repeat; see ``IdempotencyKey`` |
///
/// A request that cannot have reached the server (``NetworkError/mayHaveArrived``) is repeated whatever its method. So
/// is a request that the server refused without acting on it (``refusals``). A one-shot body that was sent is never
/// sent again.
///
/// One try has several sends if it is redirected. Then each of them counts, not only the last one: a POST that got a
/// 303 may have taken effect, also if the GET after it is refused. A POST that a redirect sent on without its key
/// counts as one without a key.
///
/// ## Which outcomes
///
/// An acceptable response is never repeated. Of the other outcomes, the first row that fits decides:
///
/// | outcome | repeated | because |
/// |---|---|---|
/// | 408, 425, 500, 502, 503, 504 | yes | the server may do better in a moment (RFC 9110 §15, RFC 8470 §5.2) |
/// | 421 | once, whatever the method | another connection may lead to the right server (RFC 9110 §15.5.20) |
/// | 429 | yes, whatever the method | the server did not process the request (RFC 6585 §4) |
/// | those of ``RefusalPolicy/statusesWithDelay`` | if they have a delay above zero | the policy names them |
/// | any with `x-should-retry: false` | no | the server knows best |
/// | any with `x-should-retry: true` | if the method or a key makes it harmless | the server knows best |
/// | other statuses | no | the server would refuse it again |
/// | `cannotConnect`, `dnsFailed`, `connectionLost`, `truncatedBody` | yes | network failures often pass |
/// | `timedOut`, `transportFailed` | yes | network failures often pass |
/// | `circuitOpen`, `rateLimited`, `concurrencyLimited` | no | the client refused it, and would again |
/// | `gateClosed`, `offline` | no | the client refused it, and would again |
/// | `tlsFailed`, `badResponse`, `redirectFailed` | no | the next attempt would end the same |
/// | `bodyTooLarge`, `intercepted` | no | the next attempt would end the same |
/// | `tooManyAttempts`, `invalidBehavior`, `bodyConsumed`, `deadlineExceeded` | no | nothing more may be sent |
/// | cancellation | no | the caller no longer waits |
/// | an error that your own behavior throws | no | its meaning is unknown here; see ``RetryDecider`` |
public struct RetryPolicy: Sendable, Hashable {
  /// The maximum number of retries of one request; 3 by default, which makes 4 tries.
  public var maximumRetries: Int

  /// How long to wait before each retry.
  public var backoff: Backoff

  /// The statuses worth a retry; ``StatusCodes/transient`` by default.
  public var statuses: StatusCodes

  /// Which responses refuse a request without having acted on it; 421 and 429 by default.
  public var refusals: RefusalPolicy

  /// The errors worth a retry; ``defaultErrors`` by default.
  public var errors: Set<NetworkError.Code>

  /// The longest wait that a server may ask for; 120 seconds by default.
  ///
  /// If a server asks for more, the request is not repeated: the current response is the outcome.
  public var longestServerDelay: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - maximumRetries: The maximum number of retries of one request; 0 for no retries.
  ///   - backoff: How long to wait before each retry.
  ///   - statuses: The statuses worth a retry.
  ///   - errors: The errors worth a retry.
  ///   - longestServerDelay: The longest wait that a server may ask for.
  ///   - refusals: Which responses refuse a request without having acted on it.
  public init(
    maximumRetries: Int = 3, backoff: Backoff = Backoff(), statuses: StatusCodes = .transient,
    errors: Set<NetworkError.Code> = Self.defaultErrors, longestServerDelay: Duration = .seconds(120),
    refusals: RefusalPolicy = .standard
  ) {
    self.maximumRetries = maximumRetries
    self.backoff = backoff
    self.statuses = statuses
    self.errors = errors
    self.longestServerDelay = longestServerDelay
    self.refusals = refusals
  }

  /// The policy that the tables above describe, with 3 retries.
  public static let standard = RetryPolicy()

  /// No retries.
  public static let none = RetryPolicy(maximumRetries: 0)

  /// The errors that are worth a retry by default: failures of a connection and timeouts.
  public static let defaultErrors = NetworkError.networkFailures
}

private enum RetryPolicyOption: RequestOption {
  static let defaultValue: RetryPolicy? = nil
  static let isPortable = true

  static func warning(for value: RetryPolicy?, in pipeline: Pipeline) -> String? {
    guard let value, value.maximumRetries > 0 else { return nil }
    return warning("retryPolicy", isObeyedBy: RetryBehavior.self, in: pipeline)
  }
}

extension RequestOptions {
  /// The retry policy of one request; `nil`, the default, for the behavior's policy.
  ///
  /// ```swift
  /// try await client.send(
  ///   .put("draft", body: .json(draft))
  ///     .with(\.retryPolicy, RetryPolicy.none))
  /// ```
  ///
  /// It takes effect if a ``RetryBehavior`` is listed.
  public var retryPolicy: RetryPolicy? {
    get { self[RetryPolicyOption.self] }
    set { self[RetryPolicyOption.self] = newValue }
  }
}
