import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Streams at the times at which they came.
@Suite(.limited) struct CassetteTimeTests {
  private let bench = CassetteBench()

  @Test func `a stream keeps its chunks, its trailers and, in virtual time, its times`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    mock.on(.get, "feed").stream(
      "data: 1\n\n", .wait(.seconds(5)), "data: 2\n\n", .wait(.seconds(20)), "data: 3\n\n",
      headers: ["Content-Type": "text/event-stream"], trailers: ["X-Rows": "3"])
    @Sendable func read(_ transport: any Transport, _ clock: ManualClock) async throws -> [String] {
      var configuration = RequestConfiguration(baseURL: mock.baseURL)
      configuration.clock = clock.requestClock
      let client = NetworkClient(configuration: configuration, transport: transport)
      let response = try await client.stream(.get("feed"))
      var seen: [String] = []
      for try await chunk in response.bytes {
        seen.append("\(clock.now) \(String(decoding: chunk, as: UTF8.self))")
      }
      return seen + [try await response.completion.trailers?["X-Rows"] ?? "no trailers"]
    }
    let recording = try bench.cassette(.recordAll, over: mock)
    let lines = try await clock.run { try await read(recording, clock) }
    await recording.shutdown()
    let second = ManualClock()
    let playing = try bench.cassette(.replay, pace: .recorded)
    let played = try await second.run { try await read(playing, second) }
    #expect(played == lines)
    #expect(lines.count == 4)
    let immediate = ManualClock()
    #expect(try await read(try bench.cassette(.replay), immediate).count == 4)
    #expect(immediate.now == .zero)
  }

  @Test func `a stall that was recorded hits the idle timeout in virtual time`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    mock.on(.get, "feed").stream("one", .wait(.seconds(90)), "two")
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    let recording = try bench.cassette(.recordAll, over: mock)
    let patient = NetworkClient(configuration: configuration, transport: recording)
    let whole = try await clock.run {
      try await patient.send(Request<String>.get("feed").with(\.idleTimeout, .seconds(600)))
    }
    #expect(whole == "onetwo")
    await recording.shutdown()
    let client = NetworkClient(
      configuration: configuration, transport: try bench.cassette(.replay, pace: .recorded))
    let error = await #expect(throws: NetworkError.self) {
      try await clock.run { try await client.send(Request<String>.get("feed")) }
    }
    #expect(error?.code == .timedOut)
  }

  @Test func `the timeout of an event stream ends at its head`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    mock.on(.get, "feed").stream("one", .wait(.seconds(5)), "two").times(2)
    @Sendable func read(_ transport: any Transport) async throws -> String {
      var configuration = RequestConfiguration(baseURL: mock.baseURL)
      configuration.clock = clock.requestClock
      var request = Request<NetworkResponse>.get("feed").with(\.timeout, .seconds(4))
      request.options.timesEndAtHead = true
      let client = NetworkClient(configuration: configuration, transport: transport)
      return String(decoding: try await client.stream(request).bytes.collect(upTo: 100), as: UTF8.self)
    }
    let recording = try bench.cassette(.recordAll, over: mock)
    let whole = try await clock.run { try await read(recording) }
    #expect(whole == "onetwo")
    await recording.shutdown()
    let playing = try bench.cassette(.replay, pace: .recorded)
    let played = try await clock.run { try await read(playing) }
    #expect(played == "onetwo")
  }

  @Test func `a thousand chunks of an hour are read at their times`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    let steps = (0..<1_000).flatMap { [MockStreamStep.wait(.milliseconds(3_600)), .text("event \($0)\n")] }
    mock.on(.get, "feed").stream(steps: steps)
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = NetworkClient(configuration: configuration, transport: recording)
    let whole = try await clock.run { try await live.send(Request<String>.get("feed")) }
    #expect(whole.count > 8_000)
    await recording.shutdown()
    let playing = NetworkClient(configuration: configuration, transport: try bench.cassette(.replay, pace: .recorded))
    let start = clock.now
    let times = try await clock.run {
      var times: [Duration] = []
      for try await _ in try await playing.stream(.get("feed")).bytes { times.append(clock.now - start) }
      return times
    }
    let late = times.enumerated().count { $1 != .milliseconds(3_600 * ($0 + 1)) }
    #expect(times.count == 1_000)
    #expect(late == 0)
  }

  @Test func `an error is played with its code and progress, so that a retry decides as it did`() async throws {
    let url = try await bench.tape({ _ in LoopbackResponse.text("12345678").fault(.close, at: .body(after: 3)) }).record
    {
      client in
      _ = try? await client.send(Request<String>.get("x"))
    }
    let error = await #expect(throws: NetworkError.self) {
      try await self.bench.client(try self.bench.cassette(.replay), at: url).send(Request<String>.get("x"))
    }
    #expect([.connectionLost, .truncatedBody].contains(error?.code))
  }
}
