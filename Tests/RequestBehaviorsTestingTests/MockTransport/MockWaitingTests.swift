import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct MockWaitingTests {
  let mock = MockTransport()
  let clock = ManualClock()

  func request(_ change: (inout RequestOptions) -> Void = { _ in }) -> NetworkRequest {
    var options = RequestOptions()
    change(&options)
    return NetworkRequest(url: mock.baseURL, options: options, call: Call(clock: clock.requestClock, options: options))
  }

  @Test func `a delayed response arrives at its time on the call's clock`() async throws {
    mock.on().respond(text: "late").delayed(by: .seconds(2))
    async let response = mock.send(request())
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    #expect(try await response.text == "late")
    #expect(try await response.timings == ResponseTimings(sent: .zero, firstByte: .seconds(2), lastByte: .seconds(2)))
  }

  @Test func `the time limit of a send covers its body and the delay of its response together`() async throws {
    mock.on().respond().delayed(by: .seconds(5))
    let (source, reading) = (ChunkSource(), TestGate())
    var request = request { $0.timeout = .seconds(10) }
    request.method = .put
    request.body = .stream {
      reading.arrive()
      return source.stream
    }
    let sending = Task { [mock, request] in try await mock.send(request) }
    await reading.waitForArrivals(1)
    clock.advance(by: .seconds(8))
    source.finish()
    // The limit of the body is a timer, and that of the response a wait.
    await clock.waitForSleepers(1)
    while clock.now < .seconds(13) {
      clock.advance(by: .seconds(1))
      await Task.yield()
    }
    let error = await #expect(throws: NetworkError.self) { try await sending.value }
    #expect(error?.code == .timedOut)
  }

  enum Timeout: CaseIterable { case idle, total }

  @Test(arguments: Timeout.allCases) func `a delay of at least the timeout is a timeout`(
    _ timeout: Timeout
  ) async throws {
    mock.on().delayed(by: .seconds(5)).respond().respond().delayed(by: .seconds(4))
    let request = request {
      switch timeout {
      case .idle: $0.idleTimeout = .seconds(5)
      case .total: $0.timeout = .seconds(5)
      }
    }
    let late = Task { try await mock.send(request) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: NetworkError.self) { try await late.value }
    #expect(error?.code == .timedOut)
    async let inTime = mock.send(request)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(4))
    #expect(try await inTime.statusCode == 200)
  }

  @Test(arguments: Timeout.allCases, [Duration.zero, .seconds(-1)]) func `no response comes within no time`(
    _ timeout: Timeout, _ time: Duration
  ) async throws {
    mock.on(.get, "").respond()
    mock.on(.post, "").stream("a")
    mock.on(.put, "").respond { NetworkResponse(request: $0, statusCode: 200) }
    for method in [RequestMethod.get, .post, .put] {
      var request = request {
        switch timeout {
        case .idle: $0.idleTimeout = time
        case .total: $0.timeout = time
        }
        $0.delivery = .streamed
      }
      request.method = method
      let error = await #expect(throws: NetworkError.self) { try await mock.send(request) }
      #expect(error?.code == .timedOut)
    }
    try mock.verify()
  }

  @Test func `a cancelled task gets no response, before and during the wait`() async throws {
    mock.on().respond().delayed(by: .seconds(1))
    let request = request()
    let waiting = Task { try await mock.send(request) }
    await clock.waitForSleepers(1)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(mock.sent.count == 1)
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await mock.send(request)
    }
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(mock.sent.count == 1)
  }

  @Test func `cancelling does not wait for a closure that does not notice`() async throws {
    let gate = LoopbackGate()
    let never = ManualClock()
    mock.on().respond { request in
      await Task { await never.waitForSleepers(1) }.value
      gate.open()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let request = request()
    let task = Task { try await mock.send(request) }
    await mock.waitForRequests(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!gate.isOpen)
    // Lets the closure end.
    let sleeper = Task { try await never.requestClock.sleep(for: .seconds(1)) }
    await never.waitForSleepers(1)
    sleeper.cancel()
  }

  @Test func `a response that was returned is not kept`() async throws {
    let contents = Contents()
    mock.on().respond { request in
      let own = contents.make()
      let body = ByteStream(AsyncStream { $0.finish() }, onCancel: { _ = own })
      return NetworkResponse(request: request, statusCode: 200, body: .stream(body))
    }
    for _ in 1...3 { #expect(try await mock.send(request()).statusCode == 200) }
    #expect(contents.made == 3)
    #expect(contents.alive == 0)
  }

  /// Objects that bodies hold, and how many of them are still there.
  private final class Contents: Sendable {
    final class Content: Sendable {}

    private struct Reference { weak var content: Content? }

    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var references: [Reference] = []

    var made: Int { lock.withLock { references.count } }
    var alive: Int { lock.withLock { references.count { $0.content != nil } } }

    func make() -> Content {
      let content = Content()
      lock.withLock { references.append(Reference(content: content)) }
      return content
    }
  }

  @Test func `a shutdown and a timeout end a request whose body stalls`() async throws {
    for endsByTimeout in [true, false] {
      let error = try await errorOfStalledBody(over: mock, to: mock.baseURL, clock, endsByTimeout: endsByTimeout)
      #expect(error.code == (endsByTimeout ? .timedOut : .clientShutDown))
      #expect(clock.sleeperCount == 0)
    }
    #expect(mock.sent.isEmpty)
  }

  @Test func `a shutdown ends waiting requests and refuses new ones`() async throws {
    mock.on().respond().delayed(by: .seconds(1))
    let request = request()
    let waiting = Task { try await mock.send(request) }
    await clock.waitForSleepers(1)
    await mock.shutdown()
    let ended = await #expect(throws: NetworkError.self) { try await waiting.value }
    #expect(ended?.code == .clientShutDown)
    let refused = await #expect(throws: NetworkError.self) { try await mock.send(request) }
    #expect(refused?.code == .clientShutDown)
    #expect(mock.sent.count == 1)
  }
}
