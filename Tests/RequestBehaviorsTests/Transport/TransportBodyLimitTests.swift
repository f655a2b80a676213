import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct TransportBodyLimitTests {
  private func options(_ limit: Int) -> RequestOptions {
    var options = RequestOptions()
    options.bodyLimit = limit
    return options
  }

  @Test func `a body that is announced as too long is not waited for`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .data(Data(count: 1_001)).held(by: gate, at: .body) }
    let error = try await URLSessionTransport().failure(of: server.request(options: options(1_000)))
    #expect(error.code == .bodyTooLarge)
    #expect(error.message.contains("1000 bytes"))
    await server.waitForConnections(atMost: 0)
  }

  @Test func `a body that exceeds the limit is cut off`() async throws {
    let server = try LoopbackServer { _ in
      LoopbackResponse.chunked((0..<64).map { _ in Data(count: 1_000) }).fault(.stall, at: .body(after: 50_000))
    }
    let error = try await URLSessionTransport().failure(of: server.request(options: options(40_000)))
    #expect(error.code == .bodyTooLarge)
    await server.waitForConnections(atMost: 0)
  }

  @Test func `200 MB are not read into memory`() async throws {
    let server = try LoopbackServer { _ in
      .data(Data(count: 1 << 20), repeated: 200).header("Content-Encoding", "identity")
    }
    let error = try await URLSessionTransport().failure(of: server.request(options: options(100_000)))
    #expect(error.code == .bodyTooLarge)
    await server.waitForConnections(atMost: 0)
  }

  @Test func `a body counts with its decompressed size`() async throws {
    let compressed = Data(base64Encoded: "H4sIAAAAAAACA0tMHAWjYBSMgqEBACs6PfuwBAAA") ?? Data()
    let server = try LoopbackServer { _ in .data(compressed).header("Content-Encoding", "gzip") }
    let transport = URLSessionTransport()
    #expect(try await transport.failure(of: server.request(options: options(1_199))).code == .bodyTooLarge)
    #expect(try await transport.send(server.request(options: options(1_200))).data.count == 1_200)
  }

  @Test func `a compressed body that is shorter than it was announced is not refused`() async throws {
    // "a" in 21 bytes of gzip.
    let compressed = Data([31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 4, 0, 67, 190, 183, 232, 1, 0, 0, 0])
    let server = try LoopbackServer { _ in .data(compressed).header("Content-Encoding", "gzip") }
    #expect(try await URLSessionTransport().send(server.request(options: options(1))).text == "a")
  }

  @Test func `a length beside chunks is ignored`() async throws {
    let server = try LoopbackServer { _ in .chunked(["hel", "lo"]).header("Content-Length", "5000") }
    #expect(try await URLSessionTransport().send(server.request(options: options(5))).text == "hello")
  }

  @Test func `a length without a body is ignored`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.data(Data(count: 5_000)), .status(304).header("Content-Length", "5000"), .data(Data(count: 100)))
    let transport = URLSessionTransport()
    #expect(try await transport.send(server.request(.head, options: options(100))).headers["Content-Length"] == "5000")
    #expect(try await transport.send(server.request(options: options(100))).statusCode == 304)
    #expect(try await transport.send(server.request(options: options(100))).data.count == 100)
  }
}
