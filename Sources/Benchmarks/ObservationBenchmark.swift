import Foundation
import RequestBehaviors

extension Benchmark {
  /// A benchmark of the cost of observing requests.
  static let observation = Benchmark(
    name: "observation",
    summary: "what each kind of observation adds to a request over a transport that does nothing, and redaction itself"
  ) { effort in
    try await observers(effort) + recorder(effort) + redaction(effort)
  }

  /// The processor time beyond that of a behavior that does nothing in the same place.
  private static func observers(_ effort: Effort) async throws -> [Row] {
    let count = 2_000
    let behaviors: [(label: String, behavior: any RequestBehavior, limit: Double?)] = [
      ("", EmptyBehavior(order: .observation), nil),
      ("logging to a null sink", .logging(ClosureLogSink { _ in }), 1_500),
      ("logging, the line made", .logging(ClosureLogSink { blackHole($0.line) }), nil),
      ("logging, the JSON made", .logging(ClosureLogSink { blackHole($0.json) }), 5_000),
      ("timing", .timing(LatencyStatistics()), nil), ("trace context", .traceContext(), 1_000),
    ]
    let works = behaviors.map { entry -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: [entry.behavior], transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("users/\(1)", query: ["page": 2])) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    return zip(behaviors, costs).dropFirst().map { entry, cost in
      let more = cost.excess(over: costs[0])
      return Row(
        label: entry.label, figure: "\(more.formatted(0)) ns more",
        target: entry.limit.map { .atMost($0, more, "ns") })
    }
  }

  /// The cost of a recorder without bodies, and how much it keeps of many calls.
  private static func recorder(_ effort: Effort) async throws -> [Row] {
    let count = 2_000
    let recorder = CallRecorder()
    let lists: [[any RequestBehavior]] = [[EmptyBehavior(order: .last)], [.recording(recorder)]]
    let works = lists.map { behaviors -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("users/\(1)", query: ["page": 2])) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    let time = costs[1].excess(over: costs[0])
    let allocations = costs[1].typical.allocations - costs[0].typical.allocations
    let calls = effort.scaled(1_000_000)
    let resident = residentBytes
    for _ in 0..<calls / count { try await works[1]() }
    let growth = Double(residentBytes - resident) / 1_048_576
    let start = ContinuousClock.now
    let recording = recorder.recording
    let snapshot = start.duration(to: .now)
    let page = recording.waterfall()
    let written = start.duration(to: .now) - snapshot
    return [
      Row(label: "recording a call", figure: "\(time.formatted(0)) ns more", target: .atMost(2_000, time, "ns")),
      Row(
        label: "recording a call, memory", figure: "\(allocations.formatted(1)) allocations more",
        target: .atMost(3, allocations, "allocations")),
      Row(
        label: "memory after \(calls) recorded calls", figure: "\(growth.formatted(1)) MiB more",
        target: .atMost(4, growth, "MiB")),
      Row(
        label: "a recording of \(recording.calls.count) calls",
        figure: "\((snapshot.nanoseconds / 1e6).formatted(1)) ms"),
      Row(
        label: "its page of \(page.count / 1_024) KiB", figure: "\((written.nanoseconds / 1e6).formatted(1)) ms"),
    ]
  }

  /// The memory of the process that is not swapped out; 0 where the system does not tell.
  private static var residentBytes: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * 4_096
  }

  private static func redaction(_ effort: Effort) async throws -> [Row] {
    let count = 2_000
    let bodies = [
      ("a 2 KB JSON body of prose", proseBody), ("a 2 KB JSON body of short members", shortMembersBody),
    ]
    let works = bodies.map { _, body -> Measure.Work in
      {
        for _ in 0..<count {
          blackHole(Redactor.standard.redact(body: body, contentType: "application/json", limit: 4_096))
        }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    return zip(bodies, costs).flatMap { body, cost in
      let (time, allocations) = (cost.leastCPUNanoseconds, cost.typical.allocations)
      return [
        Row(
          label: "redacting \(body.0)", figure: cost.typical.cpuDescription,
          target: .atMost(10_000, time, "ns")),
        Row(label: "  of which allocations", figure: "", target: .atMost(20, allocations, "allocations")),
      ]
    }
  }

  /// A body of about 2 KB with one token, and texts.
  static var proseBody: Data { json { #"{"id":\#($0),"text":"An issue with words as people write them"}"# } }

  /// A body of about 2 KB with one token, and short members.
  static var shortMembersBody: Data { json { #"{"id":\#($0),"at":"2024-01-01T00:00:00Z","open":true}"# } }

  private static func json(_ element: (Int) -> String) -> Data {
    var elements = [#"{"access_token":"c2VjcmV0"}"#]
    while elements.reduce(0, { $0 + $1.utf8.count + 1 }) < 2_000 { elements.append(element(elements.count)) }
    return Data("[\(elements.joined(separator: ","))]".utf8)
  }
}
