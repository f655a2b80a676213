import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Rules for streams that only this transport has; `TransportConformance` has the others.
@Suite(.limited) struct TransportStreamTests {
  private let server: LoopbackServer
  private static let piece = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0) })

  init() throws { server = try LoopbackServer { _ in .text("other") } }

  private func stream(
    _ transport: URLSessionTransport, clock: RequestClock = .system, _ change: (inout RequestOptions) -> Void = { _ in }
  ) async throws -> NetworkResponse {
    var options = RequestOptions()
    change(&options)
    options.delivery = .streamed
    let call = Call(clock: clock, options: options)
    return try await transport.send(NetworkRequest(url: server.baseURL, options: options, call: call))
  }

  @Test func `a server does not wait for a slow reader, who gets all from a file without a name`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "stream-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let end = LoopbackGate()
    server.enqueue(.generated(pieces: 256, of: 65_536) { _ in Self.piece }.held(by: end, at: .end))
    var configuration = URLSessionTransport.Configuration()
    configuration.spool.directory = directory
    let response = try await stream(URLSessionTransport(configuration: configuration))
    await end.waitForArrivals(1)
    end.open()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    var count = 0
    for try await chunk in response.bytes {
      #expect(chunk.first == UInt8(truncatingIfNeeded: count))
      count += chunk.count
    }
    #expect(count == 256 * 65_536)
  }

  @Test func `a body whose reader is too far behind ends with the received bytes, then an error`() async throws {
    // It has no end, so that only the limit closes the connection.
    server.enqueue(.generated(pieces: 1_000_000, of: 65_536) { _ in Self.piece })
    var configuration = URLSessionTransport.Configuration()
    configuration.spool.limit = 1 << 20
    let response = try await stream(URLSessionTransport(configuration: configuration))
    await server.waitForConnections(atMost: 0)
    var count = 0
    let error = await #expect(throws: NetworkError.self) {
      for try await chunk in response.bytes { count += chunk.count }
    }
    #expect(error?.code == .bodyTooLarge)
    #expect(error?.request != nil)
    #expect(count >= 1 << 20)
    #expect(count <= 2 << 20)
  }

  @Test(arguments: [false, true])
  func `the timeout covers the body unless times end at the head`(endsAtHead: Bool) async throws {
    let clock = ManualClock()
    let gate = LoopbackGate()
    server.enqueue(.text("12345").held(by: gate, at: .body(after: 2)))
    let transport = URLSessionTransport(clock: clock.requestClock)
    let response = try await stream(transport, clock: clock.requestClock) {
      $0.idleTimeout = nil
      $0.timeout = .seconds(10)
      $0.timesEndAtHead = endsAtHead
    }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    if endsAtHead {
      gate.open()
      #expect(try await response.buffered().text == "12345")
    } else {
      let error = await #expect(throws: NetworkError.self) { try await response.buffered() }
      #expect(error?.code == .timedOut)
    }
  }

  @Test func `a compressed body is streamed decoded`() async throws {
    let compressed = try #require(Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="))
    server.enqueue(.data(compressed).header("Content-Encoding", "gzip"))
    #expect(try await stream(URLSessionTransport()).buffered().text == "hello")
  }

  @Test func `the timeout ends the slow body of an error, even if times end at the head`() async throws {
    let clock = ManualClock()
    server.enqueue(.text("12345", status: 500).held(by: LoopbackGate(), at: .body(after: 2)))
    let transport = URLSessionTransport(clock: clock.requestClock)
    let task = Task {
      try await stream(transport, clock: clock.requestClock) {
        $0.idleTimeout = nil
        $0.timeout = .seconds(10)
        $0.timesEndAtHead = true
      }.buffered()
    }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await task.value }
    #expect(error?.code == .timedOut)
  }
}
