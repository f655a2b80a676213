import Foundation

// Warnings about lists in which these behaviors contradict each other. Only values that the user set are compared:
// defaults never cause a warning.

extension DeadlineBehavior {
  /// Warns of a deadline that comes before the timeout of an attempt.
  public func warnings(in pipeline: Pipeline) -> [String] {
    guard let deadline = pipeline.deadline else { return [] }
    guard deadline > .zero else {
      return ["DeadlineBehavior's \(deadline.inWords) end every call before it is sent; give it more time, or nil"]
    }
    let timeouts = [("timeout", pipeline.options.timeout), ("idleTimeout", pipeline.options.explicitIdleTimeout)]
    let late = timeouts.compactMap { name, timeout -> String? in
      guard let timeout, timeout >= deadline else { return nil }
      return "DeadlineBehavior ends a call after \(deadline.inWords), so no attempt lasts until its \(name) of "
        + "\(timeout.inWords) and is repeated then; make the \(name) shorter or the deadline longer"
    }
    return late
  }
}

extension RetryBehavior {
  /// Warns of waits for which the deadline leaves no time, of more attempts than a call may make, and of an empty
  /// budget.
  public func warnings(in pipeline: Pipeline) -> [String] {
    let policy = pipeline.options.retryPolicy ?? policy
    let retries = policy.maximumRetries
    guard retries > 0 else { return [] }
    var warnings: [String] = []
    // Retries beyond the attempts that a call may make never happen, so their waits do not count.
    let waits = (1...min(retries, Call.maximumAttempts)).map { policy.backoff.delay(beforeRetry: $0, random: 1) }
    let longest = Duration(clamping: waits.reduce(0) { $0 + $1.inSeconds })
    if let deadline = pipeline.deadline, longest >= deadline {
      warnings.append(
        "RetryBehavior's waits before \(retries) retries may take \(longest.inWords), but DeadlineBehavior ends a call "
          + "after \(deadline.inWords); allow fewer retries, a shorter backoff or a longer deadline")
    }
    let isHedged = pipeline.behavior(HedgingBehavior.self) != nil
    let attempts = min(retries, Call.maximumAttempts) + 1
    if attempts * (isHedged ? 2 : 1) > Call.maximumAttempts {
      warnings.append(
        "RetryBehavior's \(retries) retries\(isHedged ? ", each sent twice by HedgingBehavior," : "") are more than "
          + "the \(Call.maximumAttempts) attempts that a call may make; allow fewer retries")
    }
    if budget.isEmpty {
      warnings.append("RetryBehavior's budget allows no retry, as its ratio and reserve are 0; raise one of them")
    }
    return warnings
  }
}

extension CircuitBreakerBehavior {
  /// Warns of a window that is too short for two attempts.
  public func warnings(in pipeline: Pipeline) -> [String] {
    let window = breaker.policy.window
    guard let timeout = pipeline.options.timeout, window - timeout < timeout else { return [] }
    return [
      "CircuitBreakerBehavior counts the failures of \(window.inWords), in which not even two attempts with a "
        + "timeout of \(timeout.inWords) fail; make the window twice as long as the timeout, or longer"
    ]
  }
}

extension HedgingBehavior {
  /// Warns of a second send for which there is no time, no permit or no budget, and of a percentile out of range.
  public func warnings(in pipeline: Pipeline) -> [String] {
    guard let policy = pipeline.options.explicit(HedgingOption.self) ?? policy else { return [] }
    var warnings: [String] = []
    // A learned delay is not known before the first requests, so only a fixed one is compared.
    let limits = [("the timeout of an attempt", pipeline.options.timeout), ("the deadline", pipeline.deadline)]
    if case .fixed(let delay) = policy.delay {
      for case (let name, let limit?) in limits where limit > .zero && delay >= limit {
        warnings.append(
          "HedgingBehavior sends a second time after \(delay.inWords), when \(name) of \(limit.inWords) has passed; "
            + "make its delay shorter")
      }
    }
    // NaN is not within the range either.
    if case .percentile(let share) = policy.delay, !(0...1).contains(share) {
      warnings.append(
        "HedgingBehavior's percentile is \(share), but it must be from 0 to 1; write 0.95 for 95 of 100 requests")
    }
    let permits = pipeline.entries.compactMap { ($0.behavior as? ConcurrencyLimitBehavior)?.limiter.limit }
    if let lowest = permits.min(), lowest < 2 {
      warnings.append(
        "HedgingBehavior's second send waits for the first to give the only permit of ConcurrencyLimitBehavior back; "
          + "allow at least 2 requests at a time")
    }
    let budget = pipeline.behavior(RetryBehavior.self)?.budget ?? budget
    if budget.ratio <= 0, budget.reserve < .max {
      warnings.append("HedgingBehavior's budget allows no second send; raise its ratio")
    }
    return warnings
  }
}

extension RateLimitBehavior {
  /// Warns of a rate and a burst that are raised to the lowest ones, and of a rate at which the next permit comes only
  /// after the deadline.
  public func warnings(in pipeline: Pipeline) -> [String] {
    var warnings: [String] = []
    // The comparison is false for NaN, too.
    if !(limiter.rate >= TokenBucket.lowestRate) {
      warnings.append(
        "RateLimitBehavior's rate of \(limiter.rate) counts as one request per day; raise it, or hold requests by "
          + "a gate")
    }
    if limiter.burst < 1 {
      warnings.append(
        "RateLimitBehavior's burst of \(limiter.burst) counts as 1; raise it, or hold requests by a gate")
    }
    var bucket = TokenBucket(rate: limiter.rate, burst: 1)
    let interval = bucket.take(at: .zero) ? bucket.delay(for: 1, at: .zero) : .zero
    guard let deadline = pipeline.deadline, deadline > .zero, interval >= deadline else { return warnings }
    return warnings + [
      "RateLimitBehavior has a permit every \(interval.inWords), so a request that waits for one is refused at the "
        + "deadline of \(deadline.inWords); raise the rate or the deadline"
    ]
  }
}

extension ConcurrencyLimitBehavior {
  /// Warns of a limit over all hosts that is further out than one for each host.
  public func warnings(in pipeline: Pipeline) -> [String] {
    guard !pipeline.options.bypassesLimits else { return [] }
    let limits = pipeline.entries.filter { $0.behavior is ConcurrencyLimitBehavior }
    guard let place = limits.firstIndex(where: { ($0.behavior as? Self)?.limiter === limiter }),
      limiter.countsHosts == .together
    else { return [] }
    let inner = limits[(place + 1)...].filter { ($0.behavior as? Self)?.limiter.countsHosts == .separately }
    return inner.map { inner in
      "\(limits[place].name) counts the requests to all hosts, and is further out than \(inner.name), which counts "
        + "those to each host: requests that wait for one host hold the permits of all; list \(inner.name) first"
    }
  }
}

extension ConcurrencyLimiter {
  fileprivate enum Hosts { case together, separately }

  /// Whether requests to two hosts are counted together; `nil` if they are not both counted.
  fileprivate var countsHosts: Hosts? {
    let keys = ["https://one.invalid", "https://two.invalid"].compactMap { text in
      URL(string: text).flatMap { key(NetworkRequest(url: $0)) }
    }
    guard keys.count == 2 else { return nil }
    return keys[0] == keys[1] ? .together : .separately
  }
}

extension GateBehavior {
  /// Warns of a longest wait that the deadline cuts short.
  public func warnings(in pipeline: Pipeline) -> [String] { gate.warnings(in: pipeline, of: "GateBehavior") }
}

extension OfflineBehavior {
  /// Warns of a longest wait that the deadline cuts short.
  public func warnings(in pipeline: Pipeline) -> [String] {
    connectivity.gate.warnings(in: pipeline, of: "OfflineBehavior")
  }
}

extension BatchBehavior {
  /// Warns of a window that is longer than the deadline, and of inner credentials without an owner.
  public func warnings(in pipeline: Pipeline) -> [String] {
    let unknown = pipeline.warningsOfUnknownOwners(for: BatchBehavior.self, "what it is sent with is not merged")
    guard let deadline = pipeline.deadline, deadline > .zero, collector.window >= deadline else { return unknown }
    return unknown + [
      "BatchBehavior collects requests for \(collector.window.inWords), but DeadlineBehavior ends a call after "
        + "\(deadline.inWords); make the window shorter"
    ]
  }
}

extension Gate {
  fileprivate func warnings(in pipeline: Pipeline, of name: String) -> [String] {
    guard let longestWait, let deadline = pipeline.deadline, deadline > .zero, longestWait >= deadline else {
      return []
    }
    return [
      "\(name) holds a request for up to \(longestWait.inWords), but DeadlineBehavior ends the call after "
        + "\(deadline.inWords); make the longestWait shorter or the deadline longer"
    ]
  }
}

extension RetryBudget {
  fileprivate var isEmpty: Bool { ratio <= 0 && reserve <= 0 }
}
