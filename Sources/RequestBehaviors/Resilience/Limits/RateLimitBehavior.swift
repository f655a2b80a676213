import Foundation

/// Limits the rate of requests, and obeys the limits that a server announces.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.rateLimit(10, burst: 20)])
/// try await client.send(.get("feed").with(\.priority, .high))
/// ```
///
/// A request waits until there is a permit. Urgent requests go first (``RequestOptions/priority``), then earlier ones.
/// Every send takes a permit, also a retry or a redirect. When the server says that a limit is used up, no request of
/// the key is sent until the limit is reset (``ServerHints``). The same applies to a refusal that says when to come
/// back (``RefusalPolicy``), and to a 503 that does (RFC 9110 §10.2.3). Such a pause lasts at most
/// ``RateLimiter/longestPause``: a longer one is cut short, and requests are sent again after it.
///
/// A request fails at once with ``NetworkError/Code-swift.struct/rateLimited`` if its wait would outlast the call's
/// deadline, or if too many requests wait already. ``NetworkError/availableAt`` tells when there would be a permit. A
/// cancelled request takes no permit.
public struct RateLimitBehavior: UniqueBehavior {
  /// Outside the concurrency limit and the circuit breaker, so that a request that waits here holds no permit or probe.
  public let order = BehaviorOrder.rateLimit
  /// A prerequisite request takes a permit of its own: no permit or lock is held meanwhile.
  public let runsForPrerequisites = true

  /// The name that tells two limits of one list apart; empty by default.
  public let name: String

  let limiter: RateLimiter

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - limiter: The rate and the state.
  ///   - name: The name that tells two limits of one list apart.
  public init(_ limiter: RateLimiter, name: String = "") {
    self.limiter = limiter
    self.name = name
  }

  /// Sends the request once there is a permit.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard !request.options.bypassesLimits, let key = limiter.key(request) else { return try await next(request) }
    let now = request.call.clock.now()
    let lane = limiter.lane(of: key, at: now)
    try Task.checkCancellation()
    if !limiter.take(from: lane, at: now) { try await waitForPermit(from: lane, of: key, request) }
    let response = try await next(request)
    pause(lane, of: key, after: response)
    return response
  }

  /// Refills all buckets and forgets the pauses that servers asked for.
  public func reset() async { limiter.reset() }

  /// Waits until the request is the first in the queue and there is a permit.
  private func waitForPermit(
    from lane: Locked<RateLimiter.Lane>, of key: LimitKey, _ request: NetworkRequest
  ) async throws {
    let call = request.call
    var place: WaitingPlace?
    var waiting: Call.EventWait?
    defer { if let waiting { call.end(waiting) } }
    while true {
      let now = call.clock.now()
      // A server may pause the key and more urgent requests may arrive at any time, so each wait ends with another
      // look.
      let wait: RateLimiter.Wait
      switch limiter.ask(lane, request.options.priority, place, at: now) {
      case .go: return
      case .refused(let delay):
        throw refusal(key, delay, request, "\(limiter.queueLimit) requests wait for a permit already")
      case .wait(let turn): wait = turn
      }
      // A wait that cannot succeed is refused now, not at the deadline.
      if call.isTooLong(wait.delay, from: now) {
        limiter.leave(lane, wait.place)
        throw refusal(key, wait.delay, request, "the deadline will have passed when there is one")
      }
      if place == nil {
        let message = "waits \(wait.delay.inWords) for the rate of \(key)"
        waiting = call.begin(message, from: "RateLimitBehavior", kind: .limit)
      }
      place = wait.place
      let timer = wait.isFirst ? call.clock.schedule(after: wait.delay) { wait.waiter.settle(.success(())) } : nil
      defer { timer?.cancel() }
      do {
        try await call.wait { try await wait.waiter.value() }
        // The permit may have come at the moment of the cancellation.
        try Task.checkCancellation()
      } catch {
        limiter.leave(lane, wait.place)
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
    error.availableAt = request.call.clock.date().addingTimeInterval(delay.inSeconds)
    return error
  }

  /// Pauses the requests of a key if the response asks for it.
  private func pause(_ lane: Locked<RateLimiter.Lane>, of key: LimitKey, after response: NetworkResponse) {
    let hints = ServerHints(response)
    let status = response.statusCode
    let isRefusal = limiter.refusals.isRefusal(status, hints) || status == 503
    let isUsedUp = hints.limits.contains { ($0.remaining ?? 1) <= 0 }
    guard isRefusal || isUsedUp, let delay = hints.delay, delay > .zero else { return }
    let call = response.request.call
    let pause = limiter.pause(lane, for: delay, at: call.clock.now())
    let reason =
      pause == delay ? "as the server asks" : "the longest pause, although the server asks for \(delay.inWords)"
    call.record("\(key) pauses for \(pause.inWords), \(reason)", from: "RateLimitBehavior", kind: .limit)
  }
}

extension RequestBehavior where Self == RateLimitBehavior {
  /// Limits the rate of requests to each origin; see ``RateLimitBehavior``.
  ///
  /// - Parameters:
  ///   - rate: The number of requests per second; one per day if it is lower, which ``Pipeline/warnings`` names. An
  ///     infinite rate is no limit.
  ///   - burst: The number of requests that may go at once after a pause; at least one, which is the default.
  ///   - queueLimit: The number of requests that may wait for each key; by default any number.
  ///   - refusals: The responses that refuse a request. A refusal with a delay pauses all requests to its origin.
  ///   - name: The name that tells two limits of one list apart; empty by default.
  ///   - key: Returns the key of the requests that are counted together; by default the origin.
  /// - Returns: The behavior.
  public static func rateLimit(
    _ rate: Double, burst: Int = 1, queueLimit: Int = .max, refusals: RefusalPolicy = .standard, name: String = "",
    key: @escaping @Sendable (NetworkRequest) -> LimitKey? = LimitKey.byOrigin
  ) -> RateLimitBehavior {
    RateLimitBehavior(
      RateLimiter(rate: rate, burst: burst, queueLimit: queueLimit, refusals: refusals, key: key), name: name)
  }

  /// Limits the rate of requests by a limiter; see ``RateLimitBehavior``.
  ///
  /// - Parameters:
  ///   - limiter: The rate and the state.
  ///   - name: The name that tells two limits of one list apart; empty by default.
  /// - Returns: The behavior.
  public static func rateLimit(_ limiter: RateLimiter, name: String = "") -> RateLimitBehavior {
    RateLimitBehavior(limiter, name: name)
  }

  /// Obeys the limits that a server announces, and sets none of its own.
  ///
  /// ```swift
  /// let client = NetworkClient(
  ///   baseURL: baseURL, behaviors: [.serverRateLimits(), .retry()])
  /// ```
  ///
  /// Requests go without delay until the server says that a limit is used up, or refuses a request and says when to
  /// come back. All requests to its origin then wait until that time, but at most for `longestPause`; see
  /// ``RateLimitBehavior``. `.rateLimit(…)` obeys the server too, so list only one of the two.
  ///
  /// - Parameters:
  ///   - longestPause: The longest pause; 120 seconds by default. A longer one that the server asks for is cut short,
  ///     and requests are sent again after it.
  ///   - refusals: The responses that refuse a request. A refusal with a delay pauses all requests to its origin.
  /// - Returns: The behavior.
  public static func serverRateLimits(
    longestPause: Duration = .seconds(120), refusals: RefusalPolicy = .standard
  ) -> RateLimitBehavior {
    RateLimitBehavior(RateLimiter(rate: .infinity, burst: 1, longestPause: longestPause, refusals: refusals))
  }
}
