import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct LoggingBehaviorTests {
  /// An error of another library.
  private struct Talkative: Error, CustomStringConvertible { let description: String }

  private let records = Box<[LogRecord]>([])
  private let clock = ManualClock(date: Date(timeIntervalSince1970: 0))
  private var sink: ClosureLogSink { ClosureLogSink { [records] record in records.update { $0.append(record) } } }

  private func client(
    _ transport: ClosureTransport, _ logging: LoggingBehavior, _ more: [any RequestBehavior] = []
  ) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [logging] + more)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// Answers after some time on the manual clock.
  private func transport(_ statusCode: Int = 200, _ body: String = "", headers: HeaderFields = [:]) -> ClosureTransport
  {
    ClosureTransport { [clock] request in
      let sent = clock.now
      clock.advance(by: .milliseconds(20))
      let head = clock.now
      clock.advance(by: .milliseconds(5))
      let timings = ResponseTimings(sent: sent, firstByte: head, lastByte: clock.now)
      return NetworkResponse(
        request: request, statusCode: statusCode, headers: headers, body: .data(Data(body.utf8)), timings: timings)
    }
  }

  /// The lines without the number of the call, which depends on what else has run.
  private var lines: [String] {
    records.value.map { $0.line.replacing("#\($0.call)", with: "#n") }
  }

  @Test(arguments: [
    (
      ConnectionTimings(
        queued: .milliseconds(1), nameLookup: .milliseconds(2), connecting: .milliseconds(3),
        securing: .milliseconds(4), protocolName: "h2", remoteAddress: "192.0.2.1:443"), "h2, connected in 9.0 ms",
      #""request_behaviors.connection.queued":0.001000,"request_behaviors.connection.name_lookup":0.002000,"#
        + #""request_behaviors.connection.connecting":0.003000,"request_behaviors.connection.securing":0.004000,"#
        + #""request_behaviors.connection.reused":false,"network.protocol.version":"2","#
        + #""network.peer.address":"192.0.2.1","network.peer.port":443"#
    ),
    (ConnectionTimings(isReused: true), "connection reused", #""request_behaviors.connection.reused":true"#),
    (
      ConnectionTimings(isReused: true, remoteAddress: "[2001:db8::1]:8443"), "connection reused",
      #""network.peer.address":"2001:db8::1","network.peer.port":8443"#
    ),
    (
      ConnectionTimings(isReused: true, protocolName: "spdy/3", remoteAddress: "2001:db8::1"),
      "spdy/3, connection reused", #""network.protocol.version":"spdy/3","network.peer.address":"2001:db8::1"}"#
    ),
  ])
  func `a record contains the transport's measurements of the connection`(
    connection: ConnectionTimings, remark: String, json: String
  ) async throws {
    let transport = ClosureTransport { request in
      var timings = ResponseTimings(sent: .zero, lastByte: .zero)
      timings.connection = connection
      return NetworkResponse(request: request, statusCode: 200, timings: timings)
    }
    try await client(transport, .logging(sink)).send(.get("items"))
    let record = try #require(records.value.first)
    #expect(record.line.hasSuffix("(\(remark))"))
    #expect(record.json.contains(json))
  }

  @Test func `a call is one line`() async throws {
    let client = client(transport(200, "[1]"), .logging(sink))
    let _: [Int] = try await client.send(.get("items/\("a")", query: ["page": 2, "key": "x"]))
    #expect(lines == ["#n GET https://api.example.com/v1/items/a?page=2&key=REDACTED 200 3 B in 25.0 ms"])
    #expect(records.value.first?.endpoint == "/v1/items/{}")
    #expect(records.value.first?.level == .info)
    #expect(records.value.first?.sends == 1)
    let phases = try #require(records.value.first?.phases)
    #expect(phases.behaviors == .zero)
    #expect(phases.waiting == .milliseconds(20))
    #expect(phases.receiving == .milliseconds(5))
    #expect(phases.total == .milliseconds(25))
  }

  @Test func `on level debug calls and sends are logged as they begin and end`() async throws {
    let linesAtSend = Box<[Int]>([])
    let redirecting = ClosureTransport { [records] request in
      linesAtSend.update { $0.append(records.value.count) }
      guard request.url.lastPathComponent == "old" else { return NetworkResponse(request: request, statusCode: 204) }
      return NetworkResponse(request: request, statusCode: 301, headers: ["Location": "/v1/new?k=v"])
    }
    try await client(redirecting, .logging(sink, level: .debug)).send(.get("old"))
    #expect(
      lines == [
        "#n GET https://api.example.com/v1/old started", "#n.1 GET https://api.example.com/v1/old started",
        "#n.1 GET https://api.example.com/v1/old 301 0 B in 0.0 ms",
        "#n.2 GET https://api.example.com/v1/new?k=REDACTED started",
        "#n.2 GET https://api.example.com/v1/new?k=REDACTED 204 0 B in 0.0 ms",
        "#n GET https://api.example.com/v1/old 204 0 B in 0.0 ms "
          + "(2 sends; RedirectsBehavior: redirect to https://api.example.com/v1/new?k=REDACTED)",
      ])
    #expect(linesAtSend.value == [2, 4])
    #expect(records.value.map(\.kind) == [.start, .attemptStart, .attempt, .attemptStart, .attempt, .call])
    #expect(records.value.map(\.level) == [.debug, .debug, .debug, .debug, .debug, .info])
  }

  @Test func `the log of a call under way ends with the send that it waits for`() async throws {
    let gate = TestGate()
    let hanging = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 204)
    }
    let client = client(hanging, .logging(sink, level: .debug))
    async let call: Void = client.send(.get("slow"))
    await gate.waitForArrivals(1)
    #expect(lines.last == "#n.1 GET https://api.example.com/v1/slow started")
    gate.open()
    try await call
    #expect(lines.last == "#n GET https://api.example.com/v1/slow 204 0 B in 0.0 ms")
  }

  @Test func `a send that fails or is cancelled is logged when it ends`() async {
    let failing = ClosureTransport { _ in throw Talkative(description: "dropped password=x") }
    _ = try? await client(failing, .logging(sink, level: .debug)).send(.get("x"))
    let line = "#n.1 GET https://api.example.com/v1/x in 0.0 ms failed: "
    #expect(lines.dropFirst(2).first == line + "dropped password=REDACTED")
    let cancelling = ClosureTransport { _ in
      withUnsafeCurrentTask { $0?.cancel() }
      throw Failure("dropped")
    }
    let client = client(cancelling, .logging(sink, level: .debug))
    _ = await Task { try await client.send(.get("x")) }.result
    #expect(lines.dropFirst(6).first == line + "cancelled")
  }

  @Test func `a line contains the URL once, even if the error repeats it`() async {
    let url = "https://api.example.com/v1/x"
    let failing = ClosureTransport { request in
      throw NetworkError(
        .cannotConnect, "no route to \(request.url)", request: request,
        underlyingError: Talkative(description: "Error UserInfo={Key=\(request.url), Other=\(request.url)/more}"))
    }
    let client = client(failing, .logging(sink, level: .debug))
    _ = try? await client.send(.get("x"))
    for line in lines {
      #expect(line.replacing("\(url)/more", with: "").ranges(of: url).count == 1, "\(line)")
    }
    #expect(
      lines.last?.hasSuffix(
        "failed: cannotConnect: no route to (the URL) (Error UserInfo={Key=(the URL), Other=\(url)/more})") == true)
  }

  @Test func `decisions and errors are logged without the secrets of the call`() async {
    let decide = ClosureBehavior(
      "decide", beforeSend: { request in request.call.record("sent abc-canary password=hunter2", from: "Auth") })
    let failing = ClosureTransport { _ in throw Talkative(description: "the key abc-canary is bad") }
    let client = client(failing, .logging(sink, level: .debug), [decide])
    _ = try? await client.send(.get("x").with(header: "X-Api-Key", "abc-canary"))
    let shown = "failed: the key REDACTED is bad (Auth: sent REDACTED password=REDACTED)"
    #expect(lines.last?.hasSuffix(shown) == true)
    for record in records.value {
      #expect(!record.line.contains("canary"), "\(record)")
      #expect(!record.json.contains("canary"), "\(record)")
    }
  }

  @Test func `an error before a cancellation is logged with it`() async {
    let once = ClosureTransport { _ in throw Talkative(description: "dropped X-Api-Key abc-canary") }
    let cancelling = ClosureBehavior("cancelling", order: .retry) { request, next in
      _ = try? await next(request)
      withUnsafeCurrentTask { $0?.cancel() }
      return try await next(request)
    }
    let client = client(once, .logging(sink), [cancelling])
    let request = Request<Void>.get("x").with(header: "X-Api-Key", "abc-canary")
    _ = await Task { try await client.send(request) }.result
    #expect(lines.last?.hasSuffix("failed: cancelled, after dropped X-Api-Key REDACTED") == true)
  }

  @Test func `a failure is logged as an error, with the decisions of the behaviors`() async {
    let decide = ClosureBehavior(
      "decide", beforeSend: { request in request.call.record("no retry: POST", from: "RetryBehavior") })
    let client = client(transport(503, "busy"), .logging(sink), [decide])
    _ = try? await client.send(.post("items", body: .text("x")))
    #expect(records.value.map(\.level) == [.error])
    #expect(lines.first?.hasSuffix("(RetryBehavior: no retry: POST)") == true)
    #expect(lines.first?.contains(" 503 4 B in 25.0 ms failed: unacceptableStatus: the server answered 503") == true)
    #expect(records.value.first?.requestBytes == 1)
  }

  @Test func `errors of building and of decoding are logged too`() async {
    let client = client(transport(200, "[]", headers: ["Content-Type": "application/json"]), .logging(sink))
    _ = try? await client.send(Request<Int>.get("x"))
    _ = try? await client.send(Request<Int>.get("../../../x"))
    #expect(records.value.map(\.level) == [.error, .error])
    #expect(records.value.first?.error?.hasPrefix("decodingFailed") == true)
    #expect(records.value.first?.statusCode == 200)
    #expect(records.value.last?.error?.hasPrefix("invalidURL") == true)
  }

  @Test func `a cancelled call is not logged as an error`() async {
    let cancelling = ClosureTransport { _ in
      withUnsafeCurrentTask { $0?.cancel() }
      throw Failure("dropped")
    }
    let client = client(cancelling, .logging(sink))
    let task = Task { try await client.send(.get("x")) }
    _ = try? await task.value
    #expect(lines == ["#n GET https://api.example.com/v1/x in 0.0 ms failed: cancelled"])
    #expect(records.value.map(\.level) == [.info])
  }

  @Test func `only records of the wanted level are written`() async throws {
    let client = client(transport(), .logging(sink, level: .error))
    try await client.send(.get("x"))
    #expect(records.value.isEmpty)
  }

  @Test func `headers and bodies are logged on request, redacted`() async throws {
    let answer = transport(
      200, #"{"token":"abc","n":1}"#, headers: ["Content-Type": "application/json", "Set-Cookie": "sid=abc; Secure"])
    let client = client(answer, .logging(sink, headers: true, bodyLimit: 100))
    var request = Request<Data>.post("x", body: .form(["user": "me", "password": "abc"]))
    request.headers.set("X-Key", "abc", sensitive: .baseURL)
    _ = try await client.send(request)
    let details = lines.first?.split(separator: "\n").dropFirst().map(String.init)
    #expect(
      details == [
        "  > X-Key: REDACTED", "  > Content-Type: application/x-www-form-urlencoded",
        "  > user=me&password=REDACTED", "  < Content-Type: application/json",
        "  < Set-Cookie: sid=REDACTED; Secure",
        #"  < {"token":"REDACTED","n":1}"#,
      ])
  }

  @Test func `a field that the log's redactor allows is shown, one that is marked is not`() async throws {
    var redactor = Redactor.standard
    redactor.allowedHeaders.formUnion(["X-Region", "X-Key"])
    let client = client(transport(), .logging(sink, headers: true, redactor: redactor))
    let request = Request<Void>.get("x").with(header: "X-Region", "europe-central-1").with(
      header: "X-Key", "abc-canary", sensitive: .baseURL)
    try await client.send(request)
    #expect(
      lines.first?.split(separator: "\n").dropFirst() == ["  > X-Region: europe-central-1", "  > X-Key: REDACTED"])
  }

  @Test func `a record's endpoint hides the same values as its URL`() async throws {
    let key = ClosureBehavior("key", modify: { $0.call.addSecret("BOTKEY-1234abcd") })
    let client = NetworkClient(ClosureTransport(), [.logging(sink, level: .debug), key])
    try await client.send(.get(url: baseURL.appending(path: "botBOTKEY-1234abcd/send")))
    let record = try #require(records.value.last)
    #expect(!record.endpoint.contains("BOTKEY"))
    #expect(record.endpoint.hasSuffix("/send"))
  }

  @Test func `a stream is not read for the log`() async throws {
    let reads = Box(0)
    let stream = ByteStream(
      AsyncStream<Data>(unfolding: {
        reads.update { $0 += 1 }
        return nil
      }))
    let streaming = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .stream(stream))
    }
    let client = client(streaming, .logging(sink, level: .debug, headers: true, bodyLimit: 100))
    let body = RequestBody.oneShot(stream)
    let response = try await client.send(Request<NetworkResponse>.post("x", body: .body(body)))
    #expect(reads.value == 0)
    response.body.cancel()
    #expect(records.value.last?.responseBody == nil)
  }

  @Test func `a request can be excluded from the log, and a prerequisite names its call`() async throws {
    let prerequisite = ClosureBehavior("token", order: .authentication) { request, next in
      try await next.client().send(.get("token"))
      return try await next(request)
    }
    let client = client(transport(), .logging(sink), [prerequisite])
    try await client.send(.get("x").without(LoggingBehavior.self))
    #expect(records.value.isEmpty)
    try await client.send(.get("x"))
    #expect(records.value.count == 2)
    #expect(records.value.first?.parent == records.value.last?.call)
    #expect(records.value.first?.line.contains(" for #") == true)
  }
}

@Suite(.limited) struct LogRecordTests {
  private func record() async throws -> LogRecord {
    let records = Box<[LogRecord]>([])
    let sink = ClosureLogSink { record in records.update { $0.append(record) } }
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.logging(sink)])
    configuration.clock = ManualClock(date: Date(timeIntervalSince1970: 1.5)).requestClock
    let client = NetworkClient(configuration: configuration, transport: ClosureTransport(200, "hi"))
    try await client.send(.get("x"))
    return try #require(records.value.first)
  }

  @Test func `a JSON record is one line of valid JSON`() async throws {
    var record = try await record()
    record.error = "a \"b\" \\ \n\u{1} é"
    record.decisions = ["one", "two\r"]
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(record.json.utf8)) as? [String: any Sendable])
    #expect(!record.json.contains("\n"))
    #expect(object["error.message"] as? String == record.error)
    #expect(object["request_behaviors.decisions"] as? [String] == record.decisions)
    #expect(object["timestamp"] as? String == "1970-01-01T00:00:01.500Z")
    #expect(object["severity_text"] as? String == "INFO")
    #expect(object["request_behaviors.kind"] as? String == "call")
    #expect(object["http.request.method"] as? String == "GET")
    #expect(object["http.response.status_code"] as? Int == 200)
    #expect(object["http.response.body.size"] as? Int == 2)
    #expect(object["url.template"] as? String == "/v1/x")
    #expect(object["request_behaviors.source"] as? String == "network")
    #expect(object["request_behaviors.duration"] as? Double == 0)
    #expect(object["http.request.body.size"] == nil)
  }

  @Test func `a value cannot forge a line`() async throws {
    var record = try await record()
    record.error = "one\n#9 GET /forged 200\u{2028}\u{85}\u{1B}[31m"
    record.responseBody = "a\r\nb"
    let lines = record.line.split(whereSeparator: \.isNewline)
    #expect(lines.count == 2)
    #expect(lines.first?.contains(#"one\n#9 GET /forged 200\u{2028}\u{85}\u{1b}[31m"#) == true)
    #expect(lines.last == #"  < a\r\nb"#)
  }

  @Test(arguments: [
    (Duration.zero, "0.0"), (.microseconds(1_234), "1.2"), (.milliseconds(999), "999.0"), (.seconds(2), "2000"),
    (.microseconds(-1_500), "-1.5"), (.seconds(Int64.max), "9223372036854775807000"),
    (.seconds(Int64.max) * 2, "9223372036854775807000"),
  ])
  func `a duration is written in milliseconds`(duration: Duration, expected: String) async throws {
    var record = try await record()
    record.duration = duration
    #expect(record.line.contains(" in \(expected) ms"))
  }

  #if os(Linux) || os(macOS)
    @Test func `long lines of several threads do not mix on a pipe`() async throws {
      // The process reads its own standard error to the last line, because it may end before its log has been written.
      let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
        let recorded = Locked<LogRecord?>(nil)
        let sink = ClosureLogSink { record in recorded.withLock { $0 = record } }
        try await NetworkClient(ClosureTransport(), [.logging(sink)]).send(.get("x"))
        guard var record = recorded.withLock({ $0 }) else { return }
        record.error = String(repeating: "x", count: 20_000)
        let long = record
        let pipe = Pipe()
        let standardError = dup(STDERR_FILENO)
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        // All 40 lines together are shorter than what may wait, so none is lost.
        Thread.detachNewThread {
          DispatchQueue.concurrentPerform(iterations: 40) { _ in StandardErrorLogSink(format: .json).log(long) }
        }
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < 40 { text += pipe.fileHandleForReading.availableData }
        dup2(standardError, STDERR_FILENO)
        try FileHandle.standardOutput.write(contentsOf: text)
      }
      let lines = result.standardOutputContent.split(separator: UInt8(ascii: "\n")).filter { $0.count > 1_000 }
      #expect(lines.count == 40)
      #expect(Set(lines.map(\.count)).count == 1)
    }
  #endif

  @Test func `the sink for standard error writes time and level before a line`() async throws {
    let record = try await record()
    #expect(StandardErrorLogSink().text(of: record) == "1970-01-01T00:00:01.500Z info \(record.line)")
    #expect(StandardErrorLogSink(format: .json).text(of: record) == record.json)
  }
}
