#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import Testing
  import TestSupport

  /// A server that refuses requests with its connection, while the requests of another server go on.
  @Suite(
    .limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"),
    .enabled(if: CurlLibrary.canMultiplex, "requests share connections from libcurl 8.1 on"))
  struct CurlRefusalElsewhereTests {
    /// A server of HTTP/2, which responds to the requests of one connection in their order.
    private final class Server: Sendable {
      let raw: RawSecureServer
      private let url: URL
      private let count = Locked(0)

      /// Creates the server, which is reached at its own port or at another one.
      init(_ certified: SecureServer, port: (UInt16) throws -> UInt16 = { $0 }) async throws {
        raw = try await RawSecureServer(certified, ["-alpn", "h2"])
        url = try #require(URL(string: "https://localhost:\(port(raw.port))/"))
      }

      /// Sends a request, and returns its outcome after the server has got its body.
      func send(
        over transport: CurlTransport, onArrival: (Server, Int) async -> Void = { await $0.respond(to: $1) }
      ) async throws -> NetworkResponse {
        let number = count.withLock {
          $0 += 1
          return $0
        }
        let text = "request \(number)\n"
        async let response = transport.send(NetworkRequest(.post, url: url, body: .data(Data(text.utf8))))
        _ = await raw.read(until: text)
        // The connection begins with settings, and so does each response: it may (RFC 9113 §6.5).
        await raw.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
        await onArrival(self, 2 * number - 1)
        return try await response
      }

      /// Sends a head with the status 200, and no body.
      func respond(to stream: Int) async {
        await raw.write([0, 0, 1, 1, 5, 0, 0, UInt8(stream >> 8), UInt8(stream & 0xFF), 0x88])
      }

      /// Announces the end of the connection: no stream after the given one is processed.
      func sayFarewell(after stream: UInt8) async {
        await raw.write([0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, stream, 0, 0, 0, 0])
      }
    }

    @Test func `the last stream of one server's connection says nothing about another server's`() async throws {
      let certified = try await SecureServer.shared()
      let transport = CurlTransport(configuration: .init(trust: try certified.trust, httpVersion: .http2OverTLS))
      var relay: RawServer?
      let leaving = try await Server(certified) { port in
        let relayed = try RawServer { client in try client.relay(to: Peer(connectingTo: port)) }
        relay = relayed
        return relayed.port
      }
      let staying = try await Server(certified)
      #expect(try await leaving.send(over: transport).statusCode == 200)
      #expect(try await staying.send(over: transport).statusCode == 200)
      await leaving.sayFarewell(after: 1)
      let isClosed = Locked(false)
      let watch = Task { [relay] in
        await relay?.waitForEnd()
        isClosed.withLock { $0 = true }
      }
      // Once a second libcurl looks after all its connections, when it needs one for a request.
      let hasSeen = try await eventually(every: .milliseconds(100)) {
        let response = try await staying.send(over: transport)
        #expect(response.timings.connection?.isReused == true)
        return isClosed.withLock { $0 }
      }
      #expect(hasSeen)
      await watch.value
      // The server has got the request, so it must not pass for one that was refused.
      let error = await #expect(throws: NetworkError.self) {
        try await staying.send(over: transport) { server, _ in await server.raw.kill() }
      }
      #expect(error?.code == .connectionLost)
      #expect(error?.progress == NetworkError.Progress(.sent, reusedConnection: true))
    }
  }
#endif
