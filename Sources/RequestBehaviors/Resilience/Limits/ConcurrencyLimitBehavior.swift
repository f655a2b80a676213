/// Limits the number of requests to each origin that are under way at a time.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.concurrencyLimit(4)])
/// ```
///
/// Further requests wait. Urgent requests go first (``RequestOptions/priority``), then earlier ones. Each send takes a
/// permit and gives it back when its response has arrived or it has failed. A call holds no permit between two
/// attempts. A streamed response holds its permit until its body has ended. Any number may wait, for as long as the
/// call's deadline lets them. With a `queueLimit`, a request for which there is no place fails at once with
/// ``NetworkError/Code-swift.struct/concurrencyLimited``.
public struct ConcurrencyLimitBehavior: UniqueBehavior {
  /// Further in than the rate limit, so that a request that waits for the rate holds no permit.
  public let order = BehaviorOrder.inside(.rateLimit)

  /// The name that tells two limits of one list apart; empty by default.
  public let name: String

  let limiter: ConcurrencyLimiter

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - limiter: The limit and the state.
  ///   - name: The name that tells two limits of one list apart.
  public init(_ limiter: ConcurrencyLimiter, name: String = "") {
    self.limiter = limiter
    self.name = name
  }

  /// Sends the request once there is a permit.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard !request.options.bypassesLimits, let key = limiter.key(request) else { return try await next(request) }
    let permit =
      switch limiter.enter(key, request.options.priority) {
      case .go(let permit): permit
      case .wait(let turn): try await wait(for: turn, of: key, request)
      case .refused: throw refusal(key, request)
      }
    do {
      let response = try await next(request)
      // A streamed body still uses the connection after the head, so the permit goes back when the body has ended.
      if case .stream = response.body {
        response.onCompletion { [limiter] _ in limiter.release(permit) }
      } else {
        limiter.release(permit)
      }
      return response
    } catch {
      limiter.release(permit)
      throw error
    }
  }

  /// Resets the count of running requests, and admits waiting requests up to the limit.
  public func reset() async { limiter.reset() }

  private func wait(
    for turn: ConcurrencyLimiter.Turn, of key: LimitKey, _ request: NetworkRequest
  ) async throws -> ConcurrencyLimiter.Permit {
    let source = "ConcurrencyLimitBehavior"
    let message = "waits for one of \(limiter.limit) permits of \(key)"
    let waiting = request.call.begin(message, from: source, kind: .limit)
    defer { request.call.end(waiting) }
    do {
      return try await request.call.wait { try await turn.waiter.value() }
    } catch {
      limiter.leave(turn)
      throw error
    }
  }

  private func refusal(_ key: LimitKey, _ request: NetworkRequest) -> NetworkError {
    request.call.record("no permit of \(key): the queue is full", from: "ConcurrencyLimitBehavior", kind: .limit)
    return NetworkError(
      .concurrencyLimited,
      "\(limiter.limit) requests to \(key) are under way and \(limiter.queueLimit) wait; send fewer, or allow more",
      request: request)
  }
}

extension RequestBehavior where Self == ConcurrencyLimitBehavior {
  /// Limits the number of requests to each origin that are under way at a time; see ``ConcurrencyLimitBehavior``.
  ///
  /// - Parameters:
  ///   - limit: The number of requests that may be under way.
  ///   - queueLimit: The number of requests that may wait for each key; by default any number.
  ///   - name: The name that tells two limits of one list apart; empty by default.
  ///   - key: Returns the key of the requests that are counted together; by default the origin.
  ///     ``LimitKey/forAllRequests`` counts all of them together.
  /// - Returns: The behavior.
  public static func concurrencyLimit(
    _ limit: Int, queueLimit: Int = .max, name: String = "",
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) -> ConcurrencyLimitBehavior {
    ConcurrencyLimitBehavior(ConcurrencyLimiter(limit, queueLimit: queueLimit, key: key), name: name)
  }

  /// Limits the number of requests under way at a time by a limiter; see ``ConcurrencyLimitBehavior``.
  ///
  /// - Parameters:
  ///   - limiter: The limit and the state.
  ///   - name: The name that tells two limits of one list apart; empty by default.
  /// - Returns: The behavior.
  public static func concurrencyLimit(_ limiter: ConcurrencyLimiter, name: String = "") -> ConcurrencyLimitBehavior {
    ConcurrencyLimitBehavior(limiter, name: name)
  }
}
