import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite struct CallTimingsTests {
  private let clock = ManualClock()

  private func client(_ behavior: any RequestBehavior) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [behavior])
    configuration.clock = clock.requestClock
    let transport = ClosureTransport { [clock] request in
      clock.advance(by: request.url.lastPathComponent == "slow" ? .seconds(2) : .milliseconds(10))
      return NetworkResponse(request: request, statusCode: request.url.lastPathComponent == "bad" ? 500 : 200)
    }
    return NetworkClient(configuration: configuration, transport: transport)
  }

  @Test func `durations are collected per endpoint, not per URL`() async throws {
    let timings = LatencyStatistics()
    let client = client(.timing(timings))
    for id in 1...5 { try await client.send(.get("users/\(id)")) }
    try await client.send(.get("slow"))
    _ = try? await client.send(.post("users/\("bad")"))
    #expect(timings.endpoints.map(\.name) == ["GET slow", "GET users/{}", "POST users/{}"])
    #expect(timings.endpoints.map(\.durations.count) == [1, 5, 1])
    #expect(timings.endpoints.map(\.failures) == [0, 0, 1])
    #expect(
      timings.description == """
        endpoint       calls  failed      p50      p95      p99      max
        GET slow           1       0  2000 ms  2000 ms  2000 ms  2000 ms
        GET users/{}       5       0  10.0 ms  10.0 ms  10.0 ms  10.0 ms
        POST users/{}      1       1  10.0 ms  10.0 ms  10.0 ms  10.0 ms
        """)
    timings.reset()
    #expect(timings.endpoints.isEmpty)
  }

  @Test func `memory is fixed: endpoints past the limit count as one`() async throws {
    let timings = LatencyStatistics(limit: 2)
    let client = client(.timing(timings))
    for id in 1...9 { try await client.send(.get(url: #require(URL(string: "https://h/\(id)")))) }
    #expect(timings.endpoints.map(\.name) == ["(other)", "GET /1", "GET /2"])
  }

  @Test func `a cancelled call says nothing about a server`() async {
    let timings = LatencyStatistics()
    let client = client(.timing(timings))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.send(.get("x"))
    }
    _ = try? await task.value
    #expect(timings.endpoints.isEmpty)
  }
}

@Suite struct MetricsBehaviorTests {
  private struct Recorder: MetricsRecorder {
    let journal: Journal
    func add(_ amount: Int, to counter: String, labels: [MetricLabel]) {
      journal.note("\(counter) \(amount) \(labels)")
    }
    func record(_ duration: Duration, in timer: String, labels: [MetricLabel]) {
      journal.note("\(timer) \(labels)")
    }
  }

  private let journal = Journal()

  @Test func `calls, sends, bytes and durations are reported`() async throws {
    let client = NetworkClient(ClosureTransport(200, "hello"), [.metrics(Recorder(journal: journal))])
    try await client.send(.get("users/\(1)"))
    #expect(
      journal.entries == [
        "http_client_calls 1 [endpoint=GET users/{}, outcome=2xx]",
        "http_client_call_duration [endpoint=GET users/{}, outcome=2xx]",
        "http_client_sends 1 [endpoint=GET users/{}]", "http_client_received_bytes 5 [endpoint=GET users/{}]",
      ])
  }

  @Test func `outcomes are few: a status class, an error's code, cancelled, or error`() async throws {
    func outcome(_ answer: @escaping @Sendable (NetworkRequest) throws -> NetworkResponse) async -> String? {
      let journal = Journal()
      let client = NetworkClient(ClosureTransport { try answer($0) }, [.metrics(Recorder(journal: journal))])
      let task = Task { try await client.send(Request<Int>.get("x")) }
      _ = try? await task.value
      return journal.entries.first?.split(separator: "outcome=").last.map { String($0.dropLast()) }
    }
    #expect(await outcome { NetworkResponse(request: $0, statusCode: 404) } == "4xx")
    #expect(await outcome { NetworkResponse(request: $0, statusCode: 200) } == "emptyBody")
    #expect(await outcome { throw NetworkError(.timedOut, "late", request: $0) } == "timedOut")
    #expect(await outcome { _ in throw Failure("secret") } == "error")
    #expect(
      await outcome { _ in
        withUnsafeCurrentTask { $0?.cancel() }
        throw Failure("dropped")
      } == "cancelled")
  }

  @Test func `labels are low in number, whatever the methods and paths`() async throws {
    let client = NetworkClient(
      ClosureTransport(), [MetricsBehavior(Recorder(journal: journal), endpointLimit: 1)])
    for id in 0..<9 {
      try await client.send(Request<Void>(RequestMethod(rawValue: "M\(id)"), "x"))
      try await client.send(.get("x\(id)"))
    }
    let labels = Set(
      journal.entries.compactMap { $0.split(separator: "endpoint=").last?.prefix { $0 != "," && $0 != "]" } })
    #expect(labels == ["_OTHER x", "(other)"])
  }
}
