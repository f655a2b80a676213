extension RequestBehavior where Self == BehaviorGroup {
  /// Returns the behaviors that most clients need against a bad network: a deadline, retries, a circuit breaker and
  /// shared requests.
  ///
  /// | member | by default |
  /// |---|---|
  /// | ``DeadlineBehavior`` | 60 seconds for a call |
  /// | ``CoalescingBehavior`` | identical GET and HEAD requests in flight are sent once |
  /// | ``RetryBehavior`` | 3 retries, for a fifth of the calls at most |
  /// | ``CircuitBreakerBehavior`` | refuses requests to an origin where half of ten failed |
  /// | ``HedgingBehavior``, ``RateLimitBehavior``, ``ConcurrencyLimitBehavior`` | not listed |
  ///
  /// Each can be replaced, or left out with `nil`. Each keeps its own place in the order.
  ///
  /// - Parameters:
  ///   - deadline: Ends calls that take too long in total.
  ///   - retry: Sends failed requests again.
  ///   - circuitBreaker: Refuses requests to servers that fail.
  ///   - coalescing: Sends identical requests once.
  ///   - hedging: Sends slow requests a second time.
  ///   - rateLimit: Keeps requests to a rate.
  ///   - concurrencyLimit: Limits the number of requests under way at a time.
  /// - Returns: The group.
  public static func resilience(
    deadline: DeadlineBehavior? = DeadlineBehavior(.seconds(60)), retry: RetryBehavior? = RetryBehavior(),
    circuitBreaker: CircuitBreakerBehavior? = CircuitBreakerBehavior(),
    coalescing: CoalescingBehavior? = CoalescingBehavior(), hedging: HedgingBehavior? = nil,
    rateLimit: RateLimitBehavior? = nil, concurrencyLimit: ConcurrencyLimitBehavior? = nil
  ) -> BehaviorGroup {
    let members: [(any RequestBehavior)?] = [
      deadline, coalescing, retry, hedging, rateLimit, concurrencyLimit, circuitBreaker,
    ]
    return BehaviorGroup(members.compactMap { $0 }, name: ".resilience()")
  }
}
