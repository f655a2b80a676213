import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct MockStreamTests {
  private let mock = MockTransport()
  private let clock = ManualClock()

  private var client: NetworkClient {
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  private func texts(_ response: NetworkResponse) async throws -> [String] {
    var texts: [String] = []
    for try await chunk in response.bytes { texts.append(String(decoding: chunk, as: UTF8.self)) }
    return texts
  }

  @Test func `a stream has its chunks and trailers`() async throws {
    mock.on().stream("one", .chunk(Data("two".utf8)), .text("three"), status: 203, trailers: ["X-Sum": "11"])
    let response = try await client.stream(.get("x"))
    #expect(response.statusCode == 203)
    #expect(response.source == .mock)
    #expect(response.timings.lastByte == nil)
    #expect(try await texts(response) == ["one", "two", "three"])
    #expect(try await response.completion.trailers == ["X-Sum": "11"])
    try mock.verify()
  }

  @Test func `a stream waits on the clock of the call`() async throws {
    mock.on().stream("one", .wait(.seconds(5)), "two")
    let response = try await client.stream(.get("x"))
    let reading = Task { try await texts(response) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    #expect(try await reading.value == ["one", "two"])
    #expect(try await response.completion.endedAt == .seconds(5))
  }

  @Test func `a stream whose wait exceeds the request's timeout ends with timedOut`() async throws {
    mock.on().stream("one", .wait(.seconds(5)), "two").times(3)
    let (idle, total) = (Duration.seconds(3), Duration.seconds(4))
    for request in [
      Request<NetworkResponse>.get("x").with(\.idleTimeout, idle), .get("x").with(\.timeout, total),
    ] {
      let response = try await client.stream(request)
      let reading = Task { try await texts(response) }
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(4))
      let error = await #expect(throws: NetworkError.self) { try await reading.value }
      #expect(error?.code == .timedOut)
    }
    var events = Request<NetworkResponse>.get("x").with(\.timeout, total)
    events.options.timesEndAtHead = true
    let response = try await client.stream(events)
    let reading = Task { try await texts(response) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    #expect(try await reading.value == ["one", "two"])
  }

  @Test func `the timeout ends the slow body of an error, even if times end at the head`() async throws {
    mock.on().stream("one", .wait(.seconds(5)), "two", status: 500)
    var options = RequestOptions()
    options.delivery = .streamed
    options.timeout = .seconds(4)
    options.timesEndAtHead = true
    let call = Call(clock: clock.requestClock, options: options)
    let response = try await mock.send(NetworkRequest(url: mock.baseURL, options: options, call: call))
    let reading = Task { try await texts(response) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: NetworkError.self) { try await reading.value }
    #expect(error?.code == .timedOut)
  }

  @Test func `the idle timeout counts from the last byte, however many waits follow`() async throws {
    mock.on().stream("one", .wait(.seconds(2)), "two", .wait(.seconds(2)), .wait(.seconds(2)), "three")
    let request = Request<NetworkResponse>.get("x").with(\.idleTimeout, .seconds(3))
    let seen = try await clock.run { [client, clock] in
      var seen: [String] = []
      do {
        for try await chunk in try await client.stream(request).bytes {
          seen.append(String(decoding: chunk, as: UTF8.self))
        }
      } catch let error as NetworkError {
        seen.append("\(error.code) after \(clock.now): \(error)")
      }
      return seen
    }
    let message = "the mock's stream waits longer than \(Duration.seconds(3))"
    #expect(seen.count == 3)
    #expect(seen.last?.hasPrefix("timedOut after \(Duration.seconds(5))") == true)
    #expect(seen.last?.contains(message) == true)
  }

  @Test func `a stream fails after its chunks`() async throws {
    mock.on().stream("one", .fail(.connectionLost), "never")
    let response = try await client.stream(.get("x"))
    var bytes = response.bytes.makeAsyncIterator()
    #expect(try await bytes.next() == Data("one".utf8))
    let error = await #expect(throws: NetworkError.self) { try await bytes.next() }
    #expect(error?.code == .connectionLost)
    #expect(error?.request != nil)
  }

  @Test func `streamed and buffered delivery are both obeyed`() async throws {
    mock.on(.get, "stream").stream("one", .wait(.seconds(5)), "two", trailers: ["X": "1"])
    mock.on(.get, "data").respond(text: "whole")
    let buffered = Task { try await client.send(Request<NetworkResponse>.get("stream")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    #expect(try await buffered.value.text == "onetwo")
    #expect(try await buffered.value.trailers == ["X": "1"])
    let streamed = try await client.stream(.get("data"))
    guard case .stream = streamed.body else {
      Issue.record("the body is not streamed")
      return
    }
    #expect(try await texts(streamed) == ["whole"])
  }

  @Test func `a body longer than the limit is cut off when it is not streamed`() async throws {
    mock.on().stream("12", "345").times(2)
    let request = Request<NetworkResponse>.get("x").with(\.bodyLimit, 4)
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.code == .bodyTooLarge)
    #expect(try await texts(try await client.stream(request)) == ["12", "345"])
  }

  @Test func `a waiting reader is woken by the cancellation of its task or of the stream`() async throws {
    mock.on().stream(.wait(.seconds(5)), "one")
    for cancelsTask in [true, false] {
      let response = try await client.stream(.get("x"))
      let reading = Task { try await texts(response) }
      await clock.waitForSleepers(1)
      if cancelsTask { reading.cancel() } else { response.body.cancel() }
      await #expect(throws: CancellationError.self) { try await reading.value }
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `shutdown ends a stream in its middle`() async throws {
    mock.on().stream("one", .wait(.seconds(5)), "two")
    var request = NetworkRequest(url: mock.baseURL, call: Call(clock: clock.requestClock))
    request.options.delivery = .streamed
    let response = try await mock.send(request)
    let reading = Task { try await texts(response) }
    await clock.waitForSleepers(1)
    await mock.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await reading.value }
    #expect(error?.code == .clientShutDown)
  }

  @Test func `verify names streams that were not read to their end or cancelled`() async throws {
    mock.on().stream("one", "two")
    let open = try await client.stream(.get("open"))
    _ = try await client.stream(.get("dropped"))
    for try await _ in try await client.stream(.get("left")).bytes { break }
    _ = try await texts(try await client.stream(.get("read")))
    let error = #expect(throws: MockVerificationError.self) { try mock.verify() }
    #expect(error?.openStreams.map(\.url.lastPathComponent) == ["open"])
    #expect(error?.description.contains("neither read to their end nor cancelled") == true)
    open.body.cancel()
    try mock.verify()
  }

  @Test(arguments: [true, false])
  func `the progress knows the length of a body whose field names it`(isStreamed: Bool) async throws {
    let progress = TransferProgress()
    mock.on(.get, "film").respond(200, headers: ["Content-Length": "100000"], body: Data(count: 100_000))
    let request = Request<NetworkResponse>.get("film").with(\.progress, progress)
    if isStreamed { _ = try await texts(client.stream(request)) } else { _ = try await client.send(request) }
    #expect(progress.state.fractionReceived == 1)
  }
}
