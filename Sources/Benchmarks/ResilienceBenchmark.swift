import Foundation
import RequestBehaviors

extension Benchmark {
  /// A benchmark of the cost of the behaviors against a bad network when the network is good.
  static let resilience = Benchmark(
    name: "resilience",
    summary: "behaviors against a bad network when nothing goes wrong, beside a no-op behavior and a child task"
  ) { effort in
    try await members(effort) + shared(effort) + limits(effort)
  }

  /// Behaviors that only observe are measured beside a no-op behavior and one that passes everything on.
  ///
  /// Behaviors that start a task are measured beside one that does only that.
  private static func members(_ effort: Effort) async throws -> [Row] {
    let looking: [(String, any RequestBehavior)] = [
      ("retry", .retry()), ("circuit breaker", .circuitBreaker()), ("rate limit", .rateLimit(1e9, burst: 1_000_000)),
      ("concurrency limit", .concurrencyLimit(64)), ("gate", .gate(Gate())),
      ("offline", .offline(Connectivity(AsyncStream<Bool> { $0.finish() }))),
    ]
    let starting: [(String, any RequestBehavior)] = [
      ("deadline", .deadline(.seconds(60))), ("hedging", .hedging(after: .seconds(60))),
      ("hedging by percentile", .hedging()), ("coalescing", .coalescing()),
    ]
    let count = 2_000
    let lists: [[any RequestBehavior]] =
      [[], (0..<10).map { _ in EmptyBehavior() }, [PassingBehavior()], [ChildTaskBehavior()]]
      + (looking + starting).map { [$0.1] } + [[.resilience()]]
    let works = lists.map { behaviors -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: NullTransport())
      return { for _ in 0..<count { try await client.send(.get("x")) } }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    let noOp = costs[1].excess(over: costs[0]) / 10
    let passing = costs[2].excess(over: costs[0])
    let task = costs[3].excess(over: costs[0])
    let rows = (looking + starting).enumerated().flatMap { index, member in
      let isLooking = index < looking.count
      let added = costs[index + 4].excess(over: costs[0])
      let ratio = added / (isLooking ? noOp : task)
      guard isLooking else {
        let limit = index < looking.count + 2 ? 1.5 : 2.5
        var row = row(member.0, costs[index + 4], over: costs[0], ratio, target: limit)
        if limit > 1.5 { row.former = .atMost(1.5, ratio) }
        return [row]
      }
      var row = row(member.0, costs[index + 4], over: costs[0], ratio, target: nil)
      row.former = .atMost(4, ratio)
      let beside = Row(
        label: "  beside one that passes everything on", figure: "", ratio: added / passing,
        target: .atMost(2, added / passing))
      return [row, beside]
    }
    return [
      Row(label: "no behavior", figure: costs[0].typical.cpuDescription),
      Row(label: "a no-op behavior adds", figure: "\(noOp.formatted(0)) ns"),
      Row(label: "a behavior that passes everything on adds", figure: "\(passing.formatted(0)) ns"),
      Row(label: "a behavior that starts a child task adds", figure: "\(task.formatted(0)) ns"),
    ] + rows + [whole(costs[costs.count - 1], costs[0], passing)]
  }

  private static func whole(_ costs: [Cost], _ base: [Cost], _ passing: Double) -> Row {
    let ratio = costs.excess(over: base) / passing
    var row = row("the whole .resilience()", costs, over: base, ratio, target: 10)
    row.label += ", beside one that passes everything on"
    return row
  }

  private static func row(
    _ name: String, _ costs: [Cost], over base: [Cost], _ ratio: Double?, target: Double?
  ) -> Row {
    let allocations = costs.typical.allocations - base.typical.allocations
    let added = Cost(nanoseconds: 0, cpuNanoseconds: costs.excess(over: base), allocations: allocations)
    return Row(
      label: "\(name) adds", figure: added.cpuDescription, ratio: ratio,
      target: target.flatMap { limit in ratio.map { .atMost(limit, $0) } })
  }

  /// Measures callers that ask for the same resource at the same time.
  private static func shared(_ effort: Effort) async throws -> [Row] {
    let count = effort.scaled(10_000)
    let (alone, together) = (CountingTransport(), CountingTransport())
    let clients = [
      NetworkClient(baseURL: baseURL, transport: alone),
      NetworkClient(baseURL: baseURL, behaviors: [.coalescing()], transport: together),
    ]
    let costs = try await Measure.sideBySide(
      rounds: effort.rounds, count: count,
      clients.map { client in { try await concurrently(count) { try await client.send(.get("x")) } } })
    let sends = Double(together.count) / Double(effort.rounds + 1)
    return [
      Row(label: "\(count) callers at once, each sends", figure: costs[0].typical.cpuDescription),
      Row(
        label: "  coalesced", figure: costs[1].typical.cpuDescription, ratio: costs[1].ratio(to: costs[0])),
      Row(label: "  sends of the \(count)", figure: sends.formatted(1), target: .atMost(1, sends, "send")),
    ]
  }

  /// Measures how many requests limiters let through when 64 tasks send as fast as they can.
  private static func limits(_ effort: Effort) async throws -> [Row] {
    let (tasks, each) = (64, effort.scaled(500))
    let lists: [(String, [any RequestBehavior])] = [
      ("64 tasks without a limit", []), ("  through a concurrency limit of 64", [.concurrencyLimit(64)]),
      ("  through a concurrency limit of 8", [.concurrencyLimit(8)]),
      ("  through a rate limit", [.rateLimit(1e9, burst: 1_000_000)]),
    ]
    let costs = try await Measure.sideBySide(
      rounds: effort.rounds, count: tasks * each,
      lists.map { _, behaviors in
        let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: YieldingTransport())
        return {
          try await concurrently(tasks) { for _ in 0..<each { try await client.send(.get("x")) } }
        }
      })
    return zip(lists, costs).map { list, limited in
      let perSecond = 1e9 / limited.map(\.nanoseconds).median
      return Row(label: list.0, figure: "\(perSecond.formatted(0)) requests/s", ratio: costs[0].speed(beside: limited))
    }
  }

  private static func concurrently(_ count: Int, _ work: @escaping Measure.Work) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<count { group.addTask { try await work() } }
      try await group.waitForAll()
    }
  }
}

/// A behavior that does nothing around a request: the cost of being called.
struct PassingBehavior: RequestBehavior {
  let order = BehaviorOrder.deadline

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse { try await next(request) }
}

/// A behavior that starts one task and waits for it: the least cost of passing a cancellation inward.
private struct ChildTaskBehavior: RequestBehavior {
  let order = BehaviorOrder.deadline

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let task = Task { try await next(request) }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

/// A transport that responds when all callers have come, and counts them.
private final class CountingTransport: Transport {
  private let sends = Locked(0)

  var count: Int { sends.withLock { $0 } }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    sends.withLock { $0 += 1 }
    try await Task.sleep(for: .seconds(1))
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}

/// A transport that yields to other tasks before it responds.
private struct YieldingTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    await Task.yield()
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}
