import Foundation
import RequestBehaviors

extension TransportConformance {
  /// Transfers that exceed a limit are ended.
  static let limits: [Case] = [
    Case("a body as long as the limit is returned") { bench in
      bench.server.enqueue(.text("12345"), .chunked(["123", "45"]))
      for _ in 1...2 {
        let response = try await bench.send(try bench.request { $0.bodyLimit = 5 })
        try bench.equal(try response.text, "12345", "body")
      }
    },
    Case("a longer body is cut off") { bench in
      let endless = LoopbackResponse.data(Data(repeating: 0x61, count: 65_536), repeated: 100_000)
      bench.server.enqueue(endless, .text("123456"), .chunked(["123", "456"]))
      for number in 1...3 {
        let request = try bench.request { $0.bodyLimit = 5 }
        try await bench.failure(of: request, .bodyTooLarge, because: "the body is longer than 5 bytes")
        // The others are so short that their connections may be kept.
        if number == 1 { await bench.server.waitForConnections(atMost: 0) }
      }
    },
    Case("a body that grows beyond the limit by decompression is cut off") { bench in
      let bomb = LoopbackResponse.data(compressedZeros).header("Content-Encoding", "gzip")
      bench.server.enqueue(bomb, bomb)
      let whole = try await bench.send(try bench.request { $0.bodyLimit = 200_000 })
      try bench.equal(try whole.data.count, 200_000, "decompressed bytes")
      let request = try bench.request { $0.bodyLimit = 199_999 }
      try await bench.failure(of: request, .bodyTooLarge, because: "229 bytes become 200,000")
    },
    Case("a head with a megabyte of fields is an error") { bench in
      let lines = (0..<100).map { "X-\($0): \(String(repeating: "x", count: 10_000))\r\n" }
      bench.server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(lines.joined())Content-Length: 0\r\n\r\n"))
      do {
        _ = try await bench.send(try bench.request())
      } catch is NetworkError {
        return
      }
      throw Failure("the response was returned")
    },
    Case("a timeout ends a send without a response", .timeouts) { bench in
      try await timeOut(.status(200).fault(.stall, at: .request), bench) { $0.idleTimeout = .milliseconds(2_500) }
    },
    Case("a timeout ends a body that stops", .timeouts) { bench in
      let stalled = LoopbackResponse.text("12345").fault(.stall, at: .body(after: 2))
      try await timeOut(stalled, bench) { $0.idleTimeout = .milliseconds(2_500) }
    },
    Case("a timeout ends a send that takes too long in all", .timeouts) { bench in
      try await timeOut(.text("12345").fault(.stall, at: .body(after: 2)), bench) {
        $0.idleTimeout = nil
        $0.timeout = .milliseconds(2_500)
      }
    },
    Case("a timeout does not end a send whose body comes slowly", .timeouts) { bench in
      let pace = ManualClock()
      let body = RequestBody.stream { ByteStream(SlowBody(clock: pace.requestClock, count: 3)) }
      let request = try bench.request(.post, body: body) { $0.idleTimeout = .seconds(3) }
      bench.server.enqueue(.status(200))
      let task = Task { try await bench.send(request) }
      for _ in 1...3 {
        await pace.waitForSleepers(1)
        bench.clock.advance(by: .seconds(2))
        pace.advance(by: .seconds(3_600))
      }
      try bench.equal(try await task.value.statusCode, 200, "status")
      try bench.equal(bench.server.requests.last?.body.count, 3, "bytes that arrived")
    },
    Case("a timeout does not end a send that is in time", .timeouts) { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.text("in time").held(by: gate))
      let request = try bench.request { $0.idleTimeout = .seconds(10) }
      let task = Task { try await bench.send(request) }
      await gate.waitForArrivals(1)
      await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(9))
      gate.open()
      try bench.equal(try await task.value.text, "in time", "body")
    },
  ]

  private static func timeOut(
    _ response: LoopbackResponse, _ bench: ConformanceBench, _ change: (inout RequestOptions) -> Void
  ) async throws {
    bench.server.enqueue(response)
    let request = try bench.request { change(&$0) }
    try await bench.failure([.timedOut], because: "2.5 s are over") { try await bench.sendWhileTimePasses(request) }
    try bench.hold(bench.clock.now >= .milliseconds(2_500), "the send timed out after \(bench.clock.now), not 2.5 s")
    await bench.server.waitForConnections(atMost: 0)
  }

  /// Transfers that are ended from outside end at once.
  static let endings: [Case] = [
    Case("a cancelled task sends nothing", .refusals) { bench in
      bench.server.enqueue(.status(200))
      let request = try bench.request()
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await bench.send(request)
      }
      try await bench.cancellation(task)
      try bench.equal(bench.server.requestCount, 0, "requests")
    },
    Case("cancelling ends a send before the server has read it") { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.status(200).held(by: gate, at: .accept))
      try await cancel(bench) { await gate.waitForArrivals(1) }
    },
    Case("cancelling ends a send that waits for its response") { bench in
      bench.server.enqueue(.status(200).fault(.stall, at: .request))
      try await cancel(bench) { await bench.server.waitForRequests(1) }
    },
    Case("cancelling ends a send in the middle of its body") { bench in
      let gate = LoopbackGate()
      bench.server.enqueue(.text("12345").held(by: gate, at: .body(after: 2)))
      try await cancel(bench) { await gate.waitForArrivals(1) }
    },
    Case("cancelling ends a send that waits for its own body") { bench in
      let clock = ManualClock()
      let body = RequestBody.stream { ByteStream(SlowBody(clock: clock.requestClock, count: 1)) }
      let request = try bench.request(.post, body: body)
      let task = Task { try await bench.send(request) }
      await clock.waitForSleepers(1)
      task.cancel()
      try await bench.cancellation(task)
    },
    Case("shutdown ends what is in flight") { bench in
      bench.server.enqueue(.status(200).fault(.stall, at: .request))
      let request = try bench.request()
      let task = Task { try await bench.send(request) }
      await bench.server.waitForRequests(1)
      await bench.transport.shutdown()
      try await bench.failure([.clientShutDown], because: "the transport was shut down") { try await task.value }
      await bench.server.waitForConnections(atMost: 0)
    },
    Case("a send after shutdown is refused", .refusals) { bench in
      await bench.transport.shutdown()
      await bench.transport.shutdown()
      let request = try bench.request()
      try await bench.failure(of: request, .clientShutDown, because: "the transport was shut down")
      try bench.equal(bench.server.requestCount, 0, "requests")
    },
  ]

  private static func cancel(_ bench: ConformanceBench, when isThere: () async -> Void) async throws {
    let request = try bench.request()
    let task = Task { try await bench.send(request) }
    await isThere()
    task.cancel()
    try await bench.cancellation(task)
    await bench.server.waitForConnections(atMost: 0)
  }

  /// A body whose bytes take an hour each.
  private struct SlowBody: AsyncSequence, Sendable {
    typealias Element = Data
    let clock: RequestClock
    let count: Int

    struct Iterator: AsyncIteratorProtocol {
      let clock: RequestClock
      var rest: Int

      mutating func next() async throws -> Data? {
        guard rest > 0 else { return nil }
        rest -= 1
        try await clock.sleep(for: .seconds(3_600))
        return Data([0])
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(clock: clock, rest: count) }
  }
}

/// 200,000 zeros in 229 bytes of gzip.
private let compressedZeros =
  Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 6, 0x7F, 0xA0])
  + Data(count: 193) + Data([0x80, 0xD7, 0x00, 0x7B, 0x58, 0xE0, 0x5C, 0x40, 0x0D, 0x03, 0x00])
