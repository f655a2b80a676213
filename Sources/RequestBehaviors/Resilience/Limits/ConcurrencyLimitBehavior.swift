/// Lets a number of requests to each origin be under way at a time.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.concurrencyLimit(4)])
/// ```
///
/// The others wait: the urgent first (``RequestOptions/priority``), then in the order in which they came. Each send takes
/// a permit and gives it back when its response is there or it failed; between two attempts none is held. A streamed
/// response holds its permit until its body has ended. Where too many wait already, a request is refused at once with
/// ``NetworkError/Code-swift.struct/concurrencyLimited``.
public struct ConcurrencyLimitBehavior: UniqueBehavior {
  /// Further in than the rate limit, so that no permit is held while a request waits there.
  public let order = BehaviorOrder.inside(.rateLimit)

  let limiter: ConcurrencyLimiter

  /// Creates the behavior.
  ///
  /// - Parameter limiter: The limit and the state.
  public init(_ limiter: ConcurrencyLimiter) { self.limiter = limiter }

  /// Sends the request when there is a permit.
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
      response.onCompletion { [limiter] _ in limiter.release(permit) }
      return response
    } catch {
      limiter.release(permit)
      throw error
    }
  }

  /// Begins anew: what is under way counts no more.
  public func reset() async { limiter.reset() }

  private func wait(
    for turn: ConcurrencyLimiter.Turn, of key: LimitKey, _ request: NetworkRequest
  ) async throws -> ConcurrencyLimiter.Permit {
    let source = "ConcurrencyLimitBehavior"
    request.call.record("waits for one of \(limiter.limit) permits of \(key)", from: source, kind: .limit)
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
  /// Lets a number of requests to each origin be under way at a time; see ``ConcurrencyLimitBehavior``.
  ///
  /// - Parameter limit: How many may be under way.
  /// - Returns: The behavior.
  public static func concurrencyLimit(_ limit: Int) -> ConcurrencyLimitBehavior {
    ConcurrencyLimitBehavior(ConcurrencyLimiter(limit))
  }

  /// Lets as many requests be under way at a time as a limiter says; see ``ConcurrencyLimitBehavior``.
  ///
  /// - Parameter limiter: The limit and the state.
  /// - Returns: The behavior.
  public static func concurrencyLimit(_ limiter: ConcurrencyLimiter) -> ConcurrencyLimitBehavior {
    ConcurrencyLimitBehavior(limiter)
  }
}
