import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Stands for the type of that name in swift-log, that the sample hands the records to.
struct Logger: Sendable {
  enum Level { case info, error }
  let journal: Journal
  func log(level: Level, _ message: String) { journal.note("\(level) \(message)") }
}

struct LoggerSink: LogSink {
  let logger: Logger

  func log(_ record: LogRecord) {
    let level: Logger.Level = record.level == .error ? .error : .info
    logger.log(level: level, "\(record)")
  }
}

struct PrintingMetrics: MetricsRecorder {
  func add(
    _ amount: Int, to counter: Metric,
    attributes: [MetricAttribute]
  ) {
    print(counter.name, amount, attributes)
  }

  func record(
    _ value: Double, in histogram: Metric,
    attributes: [MetricAttribute]
  ) {
    print(histogram.name, value, attributes)
  }
}

struct SlowCalls {
  let limit: Duration
  let report: @Sendable (String) -> Void
}

extension SlowCalls: CallObserver {
  func callEnded(_ call: CallReport) {
    guard call.duration > limit, let request = call.request else {
      return
    }
    report("\(request) took \(call.duration)")
  }
}

private struct Alarms: Sendable {
  let journal: Journal
  func send(_ line: String) { journal.note(line) }
}

/// The samples of the articles about observation.
@Suite(.limited) struct ObservationSamplesTests {
  private let transport = answering("[]")
  private let journal = Journal()

  @Test func `watching: behaviors are listed`() async throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let baseURL = server.baseURL
    let timings = LatencyStatistics()
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.logging(), .timing(timings), .traceContext()])
    try await client.send(.get("x"))
    #expect(timings.endpoints.map(\.name) == ["GET x"])
    #expect(server.requests.first?.headers["traceparent"] != nil)
  }

  @Test func `watching: a sink that hands records to a logger`() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.logging(LoggerSink(logger: Logger(journal: journal)))], transport: transport)
    try await client.send(.get("x"))
    #expect(journal.entries.first?.contains("GET https://api.example.com/v1/x 200 2 B in ") == true)
    #expect(journal.entries.first?.hasPrefix("info #") == true)
  }

  @Test func `watching: a sink of a closure`() async throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let baseURL = server.baseURL
    let alarms = Alarms(journal: journal)
    let sink = ClosureLogSink { record in
      if record.level == .error { alarms.send(record.line) }
    }
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.logging(sink)])
    try await client.send(.get("x"))
    _ = try? await client.send(Request<Int>.get("x"))
    #expect(journal.entries.count == 1)
  }

  @Test func `watching: metrics, traces and slow calls`() async throws {
    let headers: HeaderFields = ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]
    let slow = SlowCalls(limit: .zero) { [journal] in journal.note($0) }
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.metrics(PrintingMetrics()), .traceContext(), slow], transport: transport)
    let incoming = TraceContext(
      traceparent: headers["traceparent"] ?? "",
      tracestate: headers["tracestate"])
    try await TraceContext.$current.withValue(incoming) {
      try await client.send(.get("users/1"))
    }
    #expect(transport.sent.first?.headers["traceparent"]?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
    #expect(journal.entries.first?.hasPrefix("GET https://api.example.com/v1/users/1 took ") == true)
  }

  @Test func `watching: the times of a response`() async throws {
    let clock = ManualClock()
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = clock.requestClock
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "slow").respond().delayed(by: .seconds(2))
    let client = NetworkClient(configuration: configuration, transport: mock)
    async let ended: NetworkResponse = client.send(.get("slow"))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    let response = try await ended
    let timings = response.timings
    print(timings.total ?? .zero)  // to the last byte
    if let first = timings.firstByte {
      print(first - timings.sent)  // to the head
    }
    print(timings.connection?.connecting ?? .zero)
    #expect(timings.total == .seconds(2))
  }

  @Test func `watching: a request as a command`() async throws {
    let client = NetworkClient(baseURL: baseURL, transport: transport)
    let response = try await client.send(
      Request<NetworkResponse>.get("issues", query: ["page": 2]))
    print(response.request.curlCommand())
    #expect(
      response.request.curlCommand()
        == "curl 'https://api.example.com/v1/issues?page=2' --header Accept: --header User-Agent:")
  }

  @Test func `secrets: what is shown by default`() throws {
    let redactor = Redactor.standard
    let url = URL(
      string: "https://me:pw@shop.example.com/v1/items?page=2&key=abc#top")!
    print(redactor.redact(url))
    let body = Data(#"{"user":"me","accessToken":"abc"}"#.utf8)
    print(
      redactor.redact(
        body: body, contentType: "application/json", limit: 100))
    #expect(redactor.redact(url) == "https://shop.example.com/v1/items?page=2&key=REDACTED")
    #expect(
      redactor.redact(body: body, contentType: "application/json", limit: 100)
        == #"{"user":"me","accessToken":"REDACTED"}"#)
    let broken = Data(#"{"user":"me", accessToken: "abcdefgh"}"#.utf8)
    #expect(
      redactor.redact(body: broken, contentType: "application/json", limit: 100)
        == #"{"user":"me", <24 bytes that are not JSON>"#)
  }

  @Test func `secrets: a marked field and a custom redactor`() async throws {
    var redactor = Redactor.standard
    redactor.allowedHeaders.insert("X-Shop-Region")
    redactor.allowedQueryNames.insert("category")
    redactor.sensitiveFields.insert("iban")
    redactor.sensitivePointers.insert("/customer/email")
    redactor.sensitivePointers.insert("/orders/*/address")
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.logging(bodyLimit: 2_000, redactor: redactor)])
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.first?.order == .observation)

    let sink = ClosureLogSink { [journal] record in journal.note(record.line) }
    let journaled = NetworkClient(
      baseURL: baseURL,
      behaviors: [.logging(sink, headers: true, bodyLimit: 2_000, redactor: redactor), KeyBehavior(key: "abc")],
      transport: transport)
    let body = #"{"iban":"DE1","customer":{"email":"a@b"},"orders":[{"address":"c","id":1}]}"#
    let content = RequestContent.data(Data(body.utf8), contentType: "application/json")
    try await journaled.send(.post("x", body: content, query: ["category": "a"], headers: ["X-Shop-Region": "eu"]))
    let lines = journal.entries.first?.split(separator: "\n").map(String.init) ?? []
    #expect(lines.first?.contains("/v1/x?category=a 200") == true)
    #expect(
      lines.dropFirst() == [
        "  > X-Shop-Region: eu", "  > Content-Type: application/json", "  > X-API-Key: REDACTED",
        #"  > {"iban":"REDACTED","customer":{"email":"REDACTED"},"orders":[{"address":"REDACTED","id":1}]}"#,
        "  < Content-Type: application/json", "  < []",
      ])
  }
}
