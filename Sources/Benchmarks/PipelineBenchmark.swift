import Foundation
import RequestBehaviors

extension Benchmark {
  /// What the list of behaviors itself costs.
  static let pipeline = Benchmark(
    name: "pipeline",
    summary: "client.send over a transport that does nothing: processor time and allocations a request"
  ) { effort in
    let count = 2_000
    let lists: [[any RequestBehavior]] = [
      [], [EmptyBehavior()], (0..<10).map { _ in EmptyBehavior() }, (0..<10).map { HeaderBehavior(name: "X-\($0)") },
    ]
    let works = lists.map { behaviors -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("x")) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    // Processor time: it is all that there is to spend, and what else runs on the machine does not count.
    let empty = costs[2].excess(over: costs[0]) / 10
    let header = costs[3].excess(over: costs[0]) / 10
    return [
      Row(label: "no behavior", figure: costs[0].typical.cpuDescription),
      Row(label: "1 no-op behavior", figure: costs[1].typical.cpuDescription),
      Row(label: "10 no-op behaviors", figure: costs[2].typical.cpuDescription),
      Row(label: "10 header behaviors", figure: costs[3].typical.cpuDescription),
      Row(label: "a no-op behavior", figure: "\(empty.formatted(0)) ns", target: .atMost(400, empty, "ns")),
      Row(label: "a header behavior", figure: "\(header.formatted(0)) ns", target: .atMost(1_000, header, "ns")),
    ]
  }
}

let baseURL = URL(string: "https://api.example.com/v1")!

/// A transport that responses at once.
struct NullTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}

/// A behavior that sets one header.
struct HeaderBehavior: RequestBehavior {
  let name: String

  func headers(for request: NetworkRequest) async throws -> HeaderFields { [name: "value"] }
}
