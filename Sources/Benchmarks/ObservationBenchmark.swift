import Foundation
import RequestBehaviors

extension Benchmark {
  /// A benchmark of the cost of observing requests.
  static let observation = Benchmark(
    name: "observation",
    summary: "what each kind of observation adds to a request over a transport that does nothing, and redaction itself"
  ) { effort in
    try await observers(effort) + redaction(effort)
  }

  /// The processor time beyond that of a behavior that does nothing in the same place.
  private static func observers(_ effort: Effort) async throws -> [Row] {
    let count = 2_000
    let behaviors: [(label: String, behavior: any RequestBehavior)] = [
      ("", EmptyBehavior(order: .observation)), ("logging to a null sink", .logging(ClosureLogSink { _ in })),
      ("logging, the line made", .logging(ClosureLogSink { blackHole($0.line) })),
      ("logging, the JSON made", .logging(ClosureLogSink { blackHole($0.json) })),
      ("timing", .timing(LatencyStatistics())), ("trace context", .traceContext()),
    ]
    let works = behaviors.map { entry -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: [entry.behavior], transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("users/\(1)", query: ["page": 2])) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    return zip(behaviors, costs).dropFirst().map { entry, cost in
      Row(label: entry.label, figure: "\(cost.excess(over: costs[0]).formatted(0)) ns more")
    }
  }

  private static func redaction(_ effort: Effort) async throws -> [Row] {
    let count = 2_000
    let bodies = [
      ("a 2 KB JSON body of prose", json { #"{"id":\#($0),"text":"An issue with words as people write them"}"# }),
      ("a 2 KB JSON body of short members", json { #"{"id":\#($0),"at":"2024-01-01T00:00:00Z","open":true}"# }),
    ]
    let works = bodies.map { _, body -> Measure.Work in
      {
        for _ in 0..<count {
          blackHole(Redactor.standard.redact(body: body, contentType: "application/json", limit: 4_096))
        }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    return zip(bodies, costs).map { body, cost in
      Row(label: "redacting \(body.0)", figure: cost.typical.cpuDescription)
    }
  }

  /// A body of about 2 KB with one token.
  private static func json(_ element: (Int) -> String) -> Data {
    var elements = [#"{"access_token":"c2VjcmV0"}"#]
    while elements.reduce(0, { $0 + $1.utf8.count + 1 }) < 2_000 { elements.append(element(elements.count)) }
    return Data("[\(elements.joined(separator: ","))]".utf8)
  }

  @inline(never)
  private static func blackHole(_ text: String) {}
}
