import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

extension SimulatedWorld {
  /// A random list of the shipped behaviors that concern every request.
  ///
  /// - Parameters:
  ///   - hasDeadline: Whether a deadline may be among them; true by default.
  ///   - isNeverReset: Whether the world has no reset, after which a limit counts anew; true by default.
  /// - Returns: The behaviors, and probes of what they promise.
  func commonBehaviors(hasDeadline: Bool = true, isNeverReset: Bool = true) -> [any RequestBehavior] {
    var behaviors: [any RequestBehavior] = []
    if includes("retry", chance: 0.7) { behaviors.append(.retry()) }
    if hasDeadline, includes("deadline") {
      let limit = Duration.seconds(number(in: 5..<40, "deadline"))
      behaviors += [.deadline(limit), deadlineProbe(limit)]
    }
    if includes("breaker", chance: 0.3) { behaviors.append(.circuitBreaker()) }
    if includes("concurrency limit", chance: 0.3) {
      let limit = number(in: 1..<4, "limit")
      behaviors.append(.concurrencyLimit(limit))
      if isNeverReset { behaviors.append(limitProbe(limit)) }
    }
    if includes("rate limit", chance: 0.2) { behaviors.append(.rateLimit(5, burst: 5)) }
    if includes("hedging", chance: 0.3) {
      // The standard budget leaves few hedges to so few calls.
      let budget = includes("unlimited hedging") ? RetryBudget.unlimited : RetryBudget()
      let delay = includes("late hedging") ? number(in: 150..<3_000, "hedging") : 150
      behaviors.append(.hedging(after: .milliseconds(delay), budget: budget))
    }
    if includes("coalescing", chance: 0.3) { behaviors.append(.coalescing()) }
    if includes("logging", chance: 0.3) { behaviors.append(.logging(Silent())) }
    if includes("timing", chance: 0.2) { behaviors.append(.timing(LatencyStatistics())) }
    if includes("gate", chance: 0.2) {
      let gate = Gate()
      let closing = Closing()
      behaviors += [.gate(gate), gateProbe(closing)]
      let (clock, end) = (clock, span)
      action("the gate closes") {
        guard clock.now() < end else { return }
        closing.time = clock.now()
        gate.close()
      }
      // The requests that it releases must look again.
      action("the gate opens for no time") {
        guard clock.now() < end, !gate.isOpen else { return }
        gate.open()
        gate.close()
      }
      let open: @Sendable () -> Void = {
        closing.time = nil
        gate.open()
      }
      action("the gate opens", at: .after(end)) { open() }
      lastly("the gate is open") { open() }
    }
    checkCancellations()
    return behaviors
  }

  /// Checks that cancellations concern the calls that were cancelled, and all of them.
  private func checkCancellations() {
    check("CancellationError is for calls that are cancelled") { [unowned self] in
      for call in calls where call.cancelledAt == nil && call.error is CancellationError {
        throw BrokenRule("\(call.name) was not cancelled, and threw CancellationError")
      }
      return true
    }
    check("a call whose send is cancelled with it throws CancellationError") { [unowned self] in
      for call in calls {
        guard let time = call.cancelledAt, let error = call.error, hidesCancellation(at: time, error) else { continue }
        throw BrokenRule("\(call.name) threw \(error)")
      }
      return true
    }
  }

  /// Whether an error of a cancelled call tells of something else, although a send ended by the cancellation.
  func hidesCancellation(at time: Duration, _ error: any Error) -> Bool {
    // A deadline and a shutdown cancel sends themselves, and may do so at the very moment of the call's cancellation.
    let causes: Set<NetworkError.Code> = [.deadlineExceeded, .clientShutDown]
    guard let error = error as? NetworkError, !causes.contains(error.code) else { return false }
    return error.attempts.contains { attempt in
      if case .cancelled = attempt.outcome { attempt.endedAt == time } else { false }
    }
  }

  /// Behaviors of a user, with random subsets of the hooks at random places.
  func userBehaviors() -> [any RequestBehavior] {
    let places: [BehaviorOrder] = [
      .first, .observation, .request, .persistence, .gate, .middle, .redirects, .rateLimit, .signing, .last,
    ]
    return (0..<2).compactMap { index -> (any RequestBehavior)? in
      guard includes("user's behavior \(index)", chance: 0.4) else { return nil }
      let hooks = number(in: 0..<64, "hooks of user's behavior \(index)")
      let clock = clock
      let pause = Duration.milliseconds(number(in: 0..<400, "pause of user's behavior \(index)"))
      let fails = includes("user's behavior \(index) fails", chance: 0.2)
      let headers: ClosureBehavior.Headers = { _ in ["X-User-\(index)": "1"] }
      let modify: ClosureBehavior.Modify = { _ in try await clock.sleep(for: pause) }
      let beforeSend: ClosureBehavior.BeforeSend = { _ in try? await clock.sleep(for: pause) }
      let afterSuccess: ClosureBehavior.AfterSuccess = { response, _ in
        if fails, response.statusCode >= 500 { throw BrokenRule("the user's behavior refuses the response") }
      }
      let afterFailure: ClosureBehavior.AfterFailure = { _, _ in try? await clock.sleep(for: pause) }
      let intercept: ClosureBehavior.Intercept = { request, next in
        let response = try await next(request)
        try await clock.sleep(for: pause)
        return response
      }
      return ClosureBehavior(
        "UserBehavior\(index)", order: places[number(in: 0..<places.count, "place of user's behavior \(index)")],
        headers: hooks & 1 == 0 ? nil : headers, modify: hooks & 2 == 0 ? nil : modify,
        beforeSend: hooks & 4 == 0 ? nil : beforeSend, afterSuccess: hooks & 8 == 0 ? nil : afterSuccess,
        afterFailure: hooks & 16 == 0 ? nil : afterFailure, intercept: hooks & 32 == 0 ? nil : intercept)
    }
  }

  /// Makes an empty folder, whose name is the same in every run of the seed: errors name it.
  func makeFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "SimulatedWorlds-\(seed)")
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Checks at the end that no more sends to a host were under way at a time than a limit allows.
  func limitProbe(_ limit: Int) -> any RequestBehavior {
    let counter = SendCounter()
    check("no more than \(limit) sends at a time") { counter.most <= limit }
    return ClosureBehavior("SendCounter", order: .last) { request, next in
      let host = request.url.host() ?? ""
      counter.begin(host)
      defer { counter.end(host) }
      return try await next(request)
    }
  }

  /// Checks at the end that no call went on for long after its deadline.
  private func deadlineProbe(_ limit: Duration) -> any RequestBehavior {
    let longest = Longest()
    let clock = clock
    check("a call ends at its deadline") {
      guard longest.duration <= limit + .seconds(5) else {
        throw BrokenRule("a call took \(longest.duration), and its deadline was \(limit)")
      }
      return true
    }
    return ClosureBehavior("DeadlineProbe", order: .outside(.deadline)) { request, next in
      let start = clock.now()
      defer {
        if request.options.deadline == nil { longest.duration = max(longest.duration, clock.now() - start) }
      }
      return try await next(request)
    }
  }

  /// Checks that a request comes through a gate only while it is open.
  private func gateProbe(_ closing: Closing) -> any RequestBehavior {
    let clock = clock
    check("no request passes a closed gate") { !closing.hasLetPass }
    return ClosureBehavior("GateProbe", order: .gate) { request, next in
      // Some jobs may run between the gate and this.
      if let time = closing.time, clock.now() - time > .seconds(1) { closing.hasLetPass = true }
      return try await next(request)
    }
  }
}

private struct Silent: LogSink {
  func log(_ record: LogRecord) {}
}

/// Counts the sends to each host that are under way.
///
/// All of it is used on the simulation's thread.
private final class SendCounter: @unchecked Sendable {
  private var counts: [String: Int] = [:]
  private(set) var most = 0
  func begin(_ host: String) {
    counts[host, default: 0] += 1
    most = max(most, counts[host] ?? 0)
  }
  func end(_ host: String) { counts[host, default: 0] -= 1 }
}

/// All of it is used on the simulation's thread.
private final class Longest: @unchecked Sendable { var duration = Duration.zero }

/// When a gate was closed, and whether a request has passed it since.
///
/// All of it is used on the simulation's thread.
private final class Closing: @unchecked Sendable {
  var time: Duration?
  var hasLetPass = false
}
