import Foundation
import RequestBehaviors

extension Benchmark {
  /// A benchmark of the cost of a stored token, and of a token for which thousands of requests wait.
  static let tokens = Benchmark(
    name: "tokens",
    summary: "a valid token per request, beside a fixed header; and 10,000 requests that wait for one token"
  ) { effort in
    let count = 2_000
    let session = TokenSession(source: .closure { _ in AccessToken("token", lifetime: .seconds(3_600)) })
    let lists: [[any RequestBehavior]] = [[], [HeaderBehavior(name: "Authorization")], [.tokenAuth(session)]]
    let works = lists.map { behaviors -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("x")) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    let header = costs[1].excess(over: costs[0])
    let token = costs[2].excess(over: costs[0])
    let waiting = try await waiters(effort.scaled(10_000), rounds: effort.rounds)
    return [
      Row(label: "no behavior", figure: costs[0].typical.cpuDescription),
      Row(label: "a fixed header", figure: "\(header.formatted(0)) ns"),
      Row(
        label: "a valid token", figure: "\(token.formatted(0)) ns", ratio: token / header,
        target: .atMost(2.5, token / header)),
      Row(label: "a request that waits for a token with 10,000 others", figure: waiting.cpuDescription),
    ]
  }

  /// Returns the cost of each of many requests that need a first token at once.
  private static func waiters(_ count: Int, rounds: Int) async throws -> Cost {
    let work: Measure.Work = {
      let session = TokenSession(
        source: .closure { _ in
          for _ in 0..<100 { await Task.yield() }
          return AccessToken("token")
        })
      let client = NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(session)], transport: NullTransport())
      // There is no task group: for so many children, its own cost would be most of the measured time.
      let tasks = (0..<count).map { _ in Task { try await client.send(.get("x")) } }
      for task in tasks { try await task.value }
    }
    return try await Measure.sideBySide(rounds: rounds, count: count, [work])[0].typical
  }
}
