import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A call whose response is streamed ends when its body has ended.
@Suite(.limited) struct StreamEndTests {
  private let source = ChunkSource()
  private let clock = ManualClock()
  private let reports = Box<[CallReport]>([])
  private let reported = TestGate()

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    let note = CallEndBehavior { [reports, reported] report in
      reports.update { $0.append(report) }
      reported.arrive()
    }
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [note] + behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: source.transport())
  }

  @Test func `the call and its attempt end with the body, and tell its length and its time`() async throws {
    let response = try await client().stream(.get("x"))
    #expect(reports.value.isEmpty)
    let open = try #require(response.attempts.first)
    #expect(open.endedAt == nil)
    #expect(open.description.hasSuffix("200"))
    clock.advance(by: .seconds(3))
    source.send("12345")
    source.finish()
    #expect(try await response.bytes.texts() == ["12345"])
    let report = try #require(reports.value.first)
    #expect(reports.value.count == 1)
    #expect(report.phase == .finished)
    #expect(report.error == nil)
    #expect(report.duration == .seconds(3))
    #expect(report.completion?.byteCount == 5)
    #expect(report.response?.timings.lastByte == .seconds(3))
    let attempt = try #require(response.attempts.first)
    #expect(attempt.endedAt == .seconds(3))
    guard case .response(200, 5) = attempt.outcome else {
      Issue.record("\(attempt.outcome)")
      return
    }
  }

  @Test(arguments: ["drop", "break", "failure"])
  func `a body that is not read to its end fails the call, and no hook is called for it`(
    ending: String
  ) async throws {
    let hooks = Box<[String]>([])
    let watching = ClosureBehavior(
      "watching", afterSuccess: { _, _ in hooks.update { $0.append("success") } },
      afterFailure: { _, _ in hooks.update { $0.append("failure") } })
    source.send("12")
    if ending == "failure" { source.finish(NetworkError(.connectionLost, "the test's source is lost")) }
    do {
      let response = try await client(watching).stream(.get("x"))
      if ending == "break" { for try await _ in response.bytes { break } }
      if ending == "failure" { await #expect(throws: NetworkError.self) { try await response.bytes.texts() } }
    }
    let report = try #require(reports.value.first)
    #expect(report.phase == .receiving)
    #expect(report.response?.statusCode == 200)
    #expect(report.errorType == (ending == "failure" ? "response_ended" : "cancelled"))
    #expect(report.completion?.byteCount == (ending == "drop" ? 0 : 2))
    #expect(report.call.attempts.first?.errorType == report.errorType)
    #expect(hooks.value == ["success"])
  }

  @Test func `permits and activity are held until the body has ended`() async throws {
    struct NoIndicator: ActivityIndicator { func setActive(_ isActive: Bool) {} }
    let limiter = ConcurrencyLimiter(1)
    let key = LimitKey.byOrigin(NetworkRequest(url: baseURL)) ?? "none"
    let activity = ActivityIndicatorBehavior(NoIndicator())
    let client = client(.concurrencyLimit(limiter), activity)
    do {
      let response = try await client.stream(.get("x"))
      #expect(limiter.inUse(of: key) == 1)
      #expect(activity.inFlightCount == 1)
      source.finish()
      #expect(try await response.bytes.texts() == [])
      #expect(limiter.inUse(of: key) == 0)
      #expect(activity.inFlightCount == 0)
    }
    _ = try await client.stream(.get("x"))
    #expect(limiter.inUse(of: key) == 0)
    #expect(activity.inFlightCount == 0)
  }

  @Test func `a deadline ends a body that takes too long`() async throws {
    let response = try await client(.deadline(.seconds(10))).stream(.get("x"))
    let reading = Task { try await response.bytes.texts() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await reading.value }
    #expect(error?.code == .deadlineExceeded)
    #expect(source.cancelCount == 1)
    // The deadline ends the body on its own task, so that the reader can continue before the call is reported.
    await reported.waitForArrivals(1)
    #expect(reports.value.map(\.errorType) == ["timeout"])
  }

  @Test func `a body that ends before its deadline leaves no timer`() async throws {
    let response = try await client(.deadline(.seconds(10))).stream(.get("x"))
    await clock.waitForSleepers(1)
    source.finish()
    #expect(try await response.bytes.texts() == [])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a deadline whose times end at the head does not end the body`() async throws {
    let response = try await client(.deadline(.seconds(10))).stream(.get("x").with(\.timesEndAtHead, true))
    // A deadline that would end the body waits before this task does, and continues before it.
    let later = Task { [clock] in try await clock.requestClock.sleep(for: .seconds(11)) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    clock.advance(by: .seconds(1))
    try await later.value
    source.send("12345")
    source.finish()
    #expect(try await response.bytes.texts() == ["12345"])
    #expect(source.cancelCount == 0)
  }

  @Test func `a debug log tells of the head, and at the end of the bytes`() async throws {
    let records = Box<[LogRecord]>([])
    let sink = ClosureLogSink { record in records.update { $0.append(record) } }
    let response = try await client(.logging(sink, level: .debug)).stream(.get("x"))
    #expect(records.value.map(\.kind) == [.start, .attemptStart, .attemptHead])
    #expect(records.value.last?.line.hasSuffix("/x 200 receiving") == true)
    clock.advance(by: .seconds(1))
    source.send("12345")
    source.finish()
    #expect(try await response.bytes.texts() == ["12345"])
    #expect(records.value.suffix(2).map(\.kind) == [.attempt, .call])
    #expect(records.value.suffix(2).map(\.responseBytes) == [5, 5])
    #expect(records.value.last?.line.hasSuffix("/x 200 5 B in 1000 ms") == true)
  }

  @Test func `a body that broke off is the latest failure`() async throws {
    let found = Box<(any Error)?>(nil)
    let behavior = ClosureBehavior("reading", order: .retry) { request, next in
      let response = try await next(request)
      _ = try? await response.buffered()
      found.value = next.lastFailure
      return response
    }
    let transport = ClosureTransport { request in
      let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
      continuation.finish(throwing: NetworkError(.truncatedBody, "the test cut it"))
      return NetworkResponse(request: request, statusCode: 200, body: .stream(ByteStream(stream)))
    }
    _ = try await NetworkClient(transport, [behavior]).stream(.get("x"))
    #expect((found.value as? NetworkError)?.code == .truncatedBody)
  }
}
