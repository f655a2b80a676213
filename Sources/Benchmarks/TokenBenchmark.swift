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
    let lists: [([any RequestBehavior], any Transport)] = [
      ([], NullTransport()), ([HeaderBehavior(name: "Authorization")], NullTransport()),
      ([.tokenAuth(session)], NullTransport()), ([], NullEndingTransport()),
      ([.tokenAuth(session)], NullEndingTransport()),
    ]
    let works = lists.map { behaviors, transport -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: transport)
      return {
        for _ in 0..<count { try await client.send(.get("x")) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    let header = costs[1].excess(over: costs[0])
    let token = costs[2].excess(over: costs[0])
    let told = costs[4].excess(over: costs[3])
    let waiting = try await waiters(effort.scaled(10_000), rounds: effort.rounds)
    return [
      Row(label: "no behavior", figure: costs[0].typical.cpuDescription),
      Row(label: "a fixed header", figure: "\(header.formatted(0)) ns"),
      Row(
        label: "a valid token", figure: "\(token.formatted(0)) ns", ratio: token / header,
        former: .atMost(2.5, token / header)),
      beside(token, costs[0]),
      Row(
        label: "a valid token, over a transport that says when it has the request, as libcurl's does",
        figure: "\(told.formatted(0)) ns", ratio: told / header, former: .atMost(2.5, told / header)),
      beside(told, costs[3]),
      Row(label: "a request that waits for a token with 10,000 others", figure: waiting.cpuDescription),
    ]
  }

  /// Returns the row of a token's cost beside the pipeline without it.
  private static func beside(_ token: Double, _ pipeline: [Cost]) -> Row {
    let ratio = token / pipeline.leastCPUNanoseconds
    return Row(label: "  beside the empty pipeline", figure: "", ratio: ratio, target: .atMost(0.5, ratio))
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

/// A transport that responds at once, and says itself when it has the request.
struct NullEndingTransport: HandOverEnding {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    HandOver.endCurrent()
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}
