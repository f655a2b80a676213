import Foundation
import RequestBehaviors

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Benchmark {
  /// A benchmark of the cost of the list of behaviors itself.
  static let pipeline = Benchmark(
    name: "pipeline",
    summary: "client.send over a transport that does nothing: processor time and allocations a request"
  ) { effort in
    let count = 2_000
    let lists: [[any RequestBehavior]] = [
      [], [EmptyBehavior()], (0..<10).map { _ in EmptyBehavior() }, (0..<10).map { HeaderBehavior(name: "X-\($0)") },
      [.recording(CallRecorder())],
    ]
    let callee: any Callee = EmptyCallee()
    // The yardsticks: an asynchronous call through an existential, and fields set on the platform's request.
    var works: [Measure.Work] = [
      { for _ in 0..<count { try await callee.call() } },
      { for _ in 0..<count { _ = makeRequest(fields: 0) } },
      { for _ in 0..<count { _ = makeRequest(fields: 10) } },
    ]
    works += lists.map { behaviors -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("x")) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    // The figures are processor time: the requests use nothing else, and other work on the machine does not count.
    let call = costs[0].leastCPUNanoseconds
    let field = costs[2].excess(over: costs[1]) / 10
    let pipeline = costs[3].leastCPUNanoseconds
    let allocations = costs[3].typical.allocations
    let empty = costs[5].excess(over: costs[3]) / 10
    let header = costs[6].excess(over: costs[3]) / 10
    let recorder = costs[7].excess(over: costs[3])
    let kept = costs[7].typical.allocations - allocations
    return [
      Row(label: "an asynchronous call through an existential", figure: "\(call.formatted(0)) ns"),
      Row(label: "a field set on a URLRequest", figure: "\(field.formatted(0)) ns"),
      Row(
        label: "no behavior", figure: costs[3].typical.cpuDescription, ratio: pipeline / call,
        target: .atMost(100, pipeline / call), former: .atMost(120, pipeline / call)),
      Row(
        label: "  of which allocations", figure: allocations.formatted(1), target: .atMost(9, allocations, "a request"),
        former: .atMost(10, allocations, "a request")),
      Row(label: "1 no-op behavior", figure: costs[4].typical.cpuDescription),
      Row(label: "10 no-op behaviors", figure: costs[5].typical.cpuDescription),
      Row(label: "10 header behaviors", figure: costs[6].typical.cpuDescription),
      Row(
        label: "a no-op behavior, beside the asynchronous call", figure: "\(empty.formatted(0)) ns",
        ratio: empty / call,
        target: .atMost(12, empty / call)),
      Row(
        label: "a header behavior, beside a field of a URLRequest", figure: "\(header.formatted(0)) ns",
        ratio: header / field, target: .atMost(1, header / field)),
      Row(
        label: "a recorder, without bodies", figure: "\(recorder.formatted(0)) ns",
        target: .atMost(2_000, recorder, "ns a send")),
      Row(label: "  of which allocations", figure: kept.formatted(1), target: .atMost(3, kept, "a send")),
    ]
  }

  private static func makeRequest(fields: Int) -> URLRequest {
    var request = URLRequest(url: baseURL)
    for number in 0..<fields { request.setValue("value", forHTTPHeaderField: "X-\(number)") }
    return request
  }
}

/// A callee of the cheapest asynchronous call whose callee is not known at compile time.
private protocol Callee: Sendable {
  func call() async throws
}

private struct EmptyCallee: Callee {
  @inline(never)
  func call() async throws {}
}

let baseURL = URL(string: "https://api.example.com/v1")!

/// A transport that responds at once.
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
