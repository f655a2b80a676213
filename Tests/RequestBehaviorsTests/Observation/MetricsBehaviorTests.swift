import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct MetricsBehaviorTests {
  private struct Recorder: MetricsRecorder {
    let journal: Journal
    func add(_ amount: Int, to counter: Metric, attributes: [MetricAttribute]) {
      journal.note("\(counter.name) \(counter.unit) \(amount) \(attributes)")
    }
    func record(_ value: Double, in histogram: Metric, attributes: [MetricAttribute]) {
      journal.note("\(histogram.name) \(histogram.unit) \(value) \(attributes)")
    }
  }

  private let journal = Journal()

  private func client(_ transport: any Transport, endpointLimit: Int = 200) -> NetworkClient {
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [MetricsBehavior(Recorder(journal: journal), endpointLimit: endpointLimit)])
    configuration.clock = ManualClock().requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  @Test func `attempts and calls are reported by the names of OpenTelemetry`() async throws {
    try await client(ClosureTransport(200, "hello")).send(.post("users/\(1)", body: .text("hi")))
    let call = "http.request.method=POST, url.template=/v1/users/{}"
    let attempt = "\(call), server.address=api.example.com, server.port=443, url.scheme=https"
    let ended = "\(attempt), http.response.status_code=200"
    #expect(
      journal.entries == [
        "http.client.active_requests {request} 1 [\(attempt)]", "http.client.active_requests {request} -1 [\(attempt)]",
        "http.client.request.duration s 0.0 [\(ended)]", "http.client.request.body.size By 2.0 [\(ended)]",
        "http.client.response.body.size By 5.0 [\(ended)]", "request_behaviors.call.duration s 0.0 [\(call)]",
        "request_behaviors.call.attempts {attempt} 1.0 [\(call)]",
      ])
  }

  @Test func `an attempt whose response is streamed is under way until its body has ended`() async throws {
    let source = ChunkSource()
    let response = try await client(source.transport()).stream(.get("x"))
    #expect(journal.entries.map { $0.prefix { $0 != "[" } } == ["http.client.active_requests {request} 1 "])
    source.send("12345")
    source.finish()
    #expect(try await response.bytes.texts() == ["12345"])
    #expect(journal.entries.contains { $0.hasPrefix("http.client.active_requests {request} -1") })
    #expect(journal.entries.contains { $0.hasPrefix("http.client.response.body.size By 5.0") })
    #expect(journal.entries.last?.hasPrefix("request_behaviors.call.attempts {attempt} 1.0") == true)
  }

  @Test func `every attempt has a record, a redirect among them`() async throws {
    let transport = ClosureTransport { request in
      guard request.attemptNumber == 1 else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "/v1/b"])
    }
    try await client(transport).send(.get("a"))
    let durations = journal.entries.filter { $0.hasPrefix("http.client.request.duration") }
    #expect(durations.map { $0.contains("status_code=302") } == [true, false])
    #expect(journal.entries.last?.hasPrefix("request_behaviors.call.attempts {attempt} 2.0") == true)
  }

  @Test func `errors have few values: a status, a word of the conventions, a code, or a type`() async throws {
    func type(_ respond: @escaping @Sendable (NetworkRequest) throws -> NetworkResponse) async -> [String] {
      let journal = Journal()
      let client = NetworkClient(ClosureTransport { try respond($0) }, [.metrics(Recorder(journal: journal))])
      let task = Task { try await client.send(Request<Int>.get("x")) }
      _ = try? await task.value
      let ends = journal.entries.filter { $0.contains("request.duration") || $0.contains("call.duration") }
      return ends.map { $0.split(separator: "error.type=").last.map { String($0.dropLast()) } ?? "" }
        .map { $0.contains("=") ? "none" : $0 }
    }
    #expect(await type { NetworkResponse(request: $0, statusCode: 404) } == ["404", "404"])
    #expect(await type { NetworkResponse(request: $0, statusCode: 200) } == ["none", "emptyBody"])
    #expect(await type { throw NetworkError(.timedOut, "late", request: $0) } == ["timeout", "timeout"])
    #expect(await type { throw NetworkError(.dnsFailed, "x", request: $0) }.first == "name_resolution_error")
    #expect(await type { throw NetworkError(.connectionLost, "x", request: $0) }.first == "response_ended")
    #expect(await type { _ in throw Failure("secret") } == ["_OTHER", "Failure"])
    #expect(
      await type { _ in
        withUnsafeCurrentTask { $0?.cancel() }
        throw Failure("dropped")
      } == ["cancelled", "cancelled"])
  }

  @Test(arguments: ["", "more"])
  func `a JSON Web Token in the path of a URL is in no attribute and no table`(appended: String) async throws {
    let timings = LatencyStatistics()
    let appending = ClosureBehavior(
      "appending", modify: { if !appended.isEmpty { $0.url.append(path: appended) } })
    let client = NetworkClient(
      ClosureTransport(), [.metrics(Recorder(journal: journal)), .timing(timings), appending])
    let link = "https://api.example.com/v1/verify/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl/mail"
    try await client.send(.get(url: #require(URL(string: link))))
    #expect(journal.entries.allSatisfy { $0.contains("url.template=/v1/verify/{}/mail") })
    #expect(timings.endpoints.map(\.name) == ["GET /v1/verify/{}/mail"])
  }

  @Test func `attributes have few values, whatever the methods and paths`() async throws {
    let client = client(ClosureTransport(), endpointLimit: 1)
    for id in 0..<9 {
      try await client.send(Request<Void>(RequestMethod(rawValue: "M\(id)"), "x"))
      try await client.send(.get("x\(id)"))
    }
    let names = Set(
      journal.entries.compactMap {
        $0.split(separator: "[").last?.split(separator: ", ").prefix(2).joined(separator: " ")
      })
    #expect(
      Set(names.map { $0.filter { $0 != "]" } }) == [
        "http.request.method=_OTHER url.template=/v1/x", "http.request.method=GET url.template=(other)",
      ])
  }
}
