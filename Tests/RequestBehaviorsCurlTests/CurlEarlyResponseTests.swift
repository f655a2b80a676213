#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import Testing

  /// Responses over HTTP/2 that come, with their end, before all of the request's body was sent.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct CurlEarlyResponseTests {
    /// Frames of HTTP/2: the server's settings, and the head of a response of 400 to the first request, with its end.
    private static let refusal: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x8C]

    @Test(arguments: 0..<8, [Int64?.none, 1_000_000])
    func `a response that refuses a stream is returned at once, whether or not its length is known`(
      round: Int, length: Int64?
    ) async throws {
      let certified = try await SecureServer.shared()
      let server = try await RawSecureServer(certified, ["-alpn", "h2"])
      let transport = CurlTransport(configuration: .init(trust: try certified.trust, httpVersion: .http2OverTLS))
      let (chunks, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
      continuation.yield(Data("begun\n".utf8))
      var options = RequestOptions()
      options.idleTimeout = .seconds(10)
      let request = NetworkRequest(
        .post, url: try server.url, body: .oneShot(ByteStream(chunks), length: length), options: options,
        call: Call(options: options))
      async let response = transport.send(request)
      _ = await server.read(until: "begun\n")
      // Whether libcurl sends or waits for the stream when the response comes differs from round to round.
      for _ in 0..<round { continuation.yield(Data(count: 1_000)) }
      await server.write(CurlEarlyResponseTests.refusal)
      #expect(try await response.statusCode == 400)
      await transport.shutdown()
    }
  }
#endif
