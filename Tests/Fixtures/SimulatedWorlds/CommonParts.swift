import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

extension SimulatedWorld {
  /// A random list of the shipped behaviors that concern every request.
  func commonBehaviors() -> [any RequestBehavior] {
    var behaviors: [any RequestBehavior] = []
    if includes("retry", chance: 0.7) { behaviors.append(.retry()) }
    if includes("deadline") { behaviors.append(.deadline(.seconds(number(in: 5..<40, "deadline")))) }
    if includes("breaker", chance: 0.3) { behaviors.append(.circuitBreaker()) }
    if includes("concurrency limit", chance: 0.3) { behaviors.append(.concurrencyLimit(number(in: 1..<4, "limit"))) }
    if includes("rate limit", chance: 0.2) { behaviors.append(.rateLimit(5, burst: 5)) }
    if includes("hedging", chance: 0.3) { behaviors.append(.hedging(after: .milliseconds(150))) }
    if includes("coalescing", chance: 0.3) { behaviors.append(.coalescing()) }
    if includes("logging", chance: 0.3) { behaviors.append(.logging(Silent())) }
    if includes("timing", chance: 0.2) { behaviors.append(.timing(LatencyStatistics())) }
    if includes("gate", chance: 0.2) {
      let gate = Gate()
      behaviors.append(.gate(gate))
      action("the gate closes") { gate.close() }
      action("the gate opens", at: .after(span)) { gate.open() }
      lastly("the gate is open") { gate.open() }
    }
    return behaviors
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

  /// Checks at the end that no more sends were under way at a time than a limit allows.
  func limitProbe(_ limit: Int) -> any RequestBehavior {
    let counter = SendCounter()
    check("no more than \(limit) sends at a time") { counter.most <= limit }
    return ClosureBehavior("SendCounter", order: .last) { request, next in
      counter.begin()
      defer { counter.end() }
      return try await next(request)
    }
  }
}

private struct Silent: LogSink {
  func log(_ record: LogRecord) {}
}

/// Counts the sends that are under way.
///
/// All of it is used on the simulation's thread.
private final class SendCounter: @unchecked Sendable {
  private var count = 0
  private(set) var most = 0
  func begin() {
    count += 1
    most = max(most, count)
  }
  func end() { count -= 1 }
}
