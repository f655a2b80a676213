import Foundation

/// Keeps requests to a rate, and obeys what a server says about its own.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.rateLimit(10, burst: 20)])
/// try await client.send(.get("feed").with(\.priority, .high))
/// ```
///
/// A request waits until there is a permit: the urgent first (``RequestOptions/priority``), then in the order in which
/// they came. Every send takes one: retries and redirects too. When the server says that a limit is used up, no request
/// of the key goes until it is reset (``ServerHints``). The same holds for a refusal that says when to come back
/// (``RefusalPolicy``), and for a 503 that does (RFC 9110 §10.2.3).
///
/// A wait that would outlast the call's deadline is refused at once with
/// ``NetworkError/Code-swift.struct/rateLimited``, and so is one where too many wait already;
/// ``NetworkError/availableAt`` tells when there would be a permit. Whoever is cancelled takes none.
public struct RateLimitBehavior: UniqueBehavior {
  /// Outside of the concurrency limit and the circuit breaker, of which nothing is held while a request waits here.
  public let order = BehaviorOrder.rateLimit
  /// A prerequisite request takes a permit for itself: nothing is held meanwhile.
  public let runsForPrerequisites = true

  let limiter: RateLimiter

  /// Creates the behavior.
  ///
  /// - Parameter limiter: The rate and the state.
  public init(_ limiter: RateLimiter) { self.limiter = limiter }

  /// Sends the request when there is a permit.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard !request.options.bypassesLimits, let key = limiter.key(request) else { return try await next(request) }
    let now = request.call.clock.now()
    let lane = limiter.lane(of: key, at: now)
    if !limiter.take(from: lane, at: now) { try await waitForPermit(from: lane, of: key, request) }
    let response = try await next(request)
    pause(lane, of: key, after: response)
    return response
  }

  /// Forgets what was taken and asked for.
  public func reset() async { limiter.reset() }

  /// Waits until it is the request's turn and there is a permit.
  private func waitForPermit(
    from lane: Locked<RateLimiter.Lane>, of key: LimitKey, _ request: NetworkRequest
  ) async throws {
    let call = request.call
    var place: RateLimiter.Place?
    while true {
      let now = call.clock.now()
      let (delay, own, turn): (Duration, RateLimiter.Place, Waiter<Void>?)
      switch limiter.ask(lane, request.options.priority, place, at: now) {
      case .go: return
      case .refused(let delay):
        throw refusal(key, delay, request, "\(limiter.queueLimit) requests wait for a permit already")
      case .sleep(let time, let mine): (delay, own, turn) = (time, mine, nil)
      case .queue(let time, let mine, let waiter): (delay, own, turn) = (time, mine, waiter)
      }
      if let deadline = call.deadline, now + delay >= deadline {
        limiter.leave(lane, own)
        throw refusal(key, delay, request, "the deadline will have passed when there is one")
      }
      if place == nil {
        call.record("waits \(delay.inWords) for the rate of \(key)", from: "RateLimitBehavior", kind: .limit)
      }
      place = own
      do {
        if let turn {
          try await call.wait { try await turn.value() }
        } else {
          try await call.clock.sleep(for: delay)
        }
      } catch {
        limiter.leave(lane, own)
        throw error
      }
    }
  }

  private func refusal(
    _ key: LimitKey, _ delay: Duration, _ request: NetworkRequest, _ reason: String
  ) -> NetworkError {
    request.call.record("no permit of \(key): \(reason)", from: "RateLimitBehavior", kind: .limit)
    var error = NetworkError(
      .rateLimited, "the rate limit of \(key) has no permit for the next \(delay.inWords), and \(reason)",
      request: request)
    error.availableAt = request.call.clock.date().addingTimeInterval(delay.seconds)
    return error
  }

  /// Obeys the server, if it is the server.
  private func pause(_ lane: Locked<RateLimiter.Lane>, of key: LimitKey, after response: NetworkResponse) {
    let hints = ServerHints(response)
    let status = response.statusCode
    let isRefusal = limiter.refusals.isRefusal(status, hints) || status == 503
    let isUsedUp = hints.limits.contains { ($0.remaining ?? 1) <= 0 }
    guard isRefusal || isUsedUp, let delay = hints.delay, delay > .zero else { return }
    let call = response.request.call
    limiter.pause(lane, for: delay, at: call.clock.now())
    call.record("\(key) pauses for \(delay.inWords), as the server asks", from: "RateLimitBehavior", kind: .limit)
  }
}

extension RequestBehavior where Self == RateLimitBehavior {
  /// Keeps requests to each origin to a rate; see ``RateLimitBehavior``.
  ///
  /// - Parameters:
  ///   - rate: How many may go in a second; at least one in a day, and any number if it is infinite.
  ///   - burst: How many may go at once after a pause; at least one.
  ///   - refusals: Which responses refuse a request; one with a delay pauses all requests to its origin.
  /// - Returns: The behavior.
  public static func rateLimit(
    _ rate: Double, burst: Int, refusals: RefusalPolicy = .standard
  ) -> RateLimitBehavior {
    RateLimitBehavior(RateLimiter(rate: rate, burst: burst, refusals: refusals))
  }

  /// Keeps requests to the rate of a limiter; see ``RateLimitBehavior``.
  ///
  /// - Parameter limiter: The rate and the state.
  /// - Returns: The behavior.
  public static func rateLimit(_ limiter: RateLimiter) -> RateLimitBehavior { RateLimitBehavior(limiter) }
}
