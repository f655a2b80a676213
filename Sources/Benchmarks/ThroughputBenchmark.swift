import Foundation
import RequestBehaviors

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Benchmark {
  /// A benchmark of the cost of a client beside the bare session, over real connections.
  static let throughput = Benchmark(
    name: "throughput", summary: "1 KB over loopback: NetworkClient with 5 behaviors beside raw URLSession data(for:)"
  ) { effort in
    let server = try Server()
    defer { server.stop() }
    var rows: [Row] = []
    for width in [1, 8, 64] { rows += try await compare(server.baseURL, width, effort) }
    return rows
  }

  private static func compare(_ url: URL, _ width: Int, _ effort: Effort) async throws -> [Row] {
    // The rounds are short, because the speed of a machine changes from second to second.
    let count = 256
    let session = URLSession(configuration: leanConfiguration)
    let client = NetworkClient(
      baseURL: url,
      behaviors: [
        HeaderBehavior(name: "X-A"), HeaderBehavior(name: "X-B"), EmptyBehavior(), EmptyBehavior(order: .first),
        .nonceVerification(),
      ])
    let bare = URLRequest(url: url.appending(path: "x"))
    // The fields that the behaviors add, so that both send the same requests and get the same responses.
    var same = bare
    same.allHTTPHeaderFields = ["X-A": "value", "X-B": "value", "X-API-Nonce": UUID().uuidString]
    let works: [Measure.Work] = [
      { try await inParallel(count, width) { _ = try await session.data(for: bare) } },
      { [same] in try await inParallel(count, width) { _ = try await session.data(for: same) } },
      { try await inParallel(count, width) { let _: Data = try await client.send(.get("x")) } },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    session.invalidateAndCancel()
    await client.shutdown()
    let ratio = costs[2].speed(beside: costs[1])
    return [
      Row(label: "URLSession without header fields, \(width) in flight", figure: figure(costs[0].typical)),
      Row(label: "URLSession, the same request, \(width) in flight", figure: figure(costs[1].typical)),
      Row(
        label: "NetworkClient, \(width) in flight", figure: figure(costs[2].typical), ratio: ratio,
        // One change of thread is the price of never blocking the pool. With one request at a time nothing hides it.
        target: .atLeast(width == 1 ? 0.7 : 0.85, ratio)),
    ]
  }

  private static func figure(_ cost: Cost) -> String {
    "\((1e9 / cost.nanoseconds).formatted(0))/s, \((cost.cpuNanoseconds / 1_000).formatted(0)) µs CPU, "
      + "\(cost.allocations.formatted(0)) allocations"
  }

  static func inParallel(
    _ count: Int, _ width: Int, _ work: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<width {
        group.addTask { for _ in 0..<(count / width + (lane < count % width ? 1 : 0)) { try await work() } }
      }
      try await group.waitForAll()
    }
  }

  /// The settings with which the bare session is fastest; the library's transport has the same.
  static var leanConfiguration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = 128
    return configuration
  }
}
