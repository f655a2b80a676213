#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// The rules of any transport over HTTP/2: nginx takes the requests and passes them on to the server of the rule.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct CurlHTTP2ConformanceTests {
    /// The rules that cannot be seen through nginx, each with the reason.
    private static let exclusions = [
      "a method in lower case arrives in lower case": "nginx refuses it",
      "interim responses are read over": "nginx takes them for the response",
      "the response names its request and its source": "the URL is that of nginx",
      "a streamed body follows its head": "nginx keeps the head until the body begins",
      "a streamed body that failed delivers what came before the error": "nginx resets a stream in either case",
      "a head with a megabyte of fields is an error": "nginx takes fewer",
      "a refused connection is an error of code cannotConnect": "nginx responds with 502",
      "a connection lost before the response is an error of code connectionLost": "nginx responds with 502",
      "a body that ends too early is an error of code truncatedBody": "nginx resets the stream",
      "a bad chunk is an error of code badResponse": "chunks are of HTTP/1.1",
      "contradicting lengths are an error of code badResponse": "nginx corrects them",
      "a length that no number can hold is an error of code badResponse": "nginx drops it",
      "a transfer coding other than chunks is an error of code badResponse": "codings are of HTTP/1.1",
      "a response that is not HTTP is an error of code badResponse": "nginx sends a status of its own",
      "a head that ends too early is an error": "nginx responds with 502",
    ]

    @Test(arguments: TransportConformance.cases.filter { exclusions[$0.name] == nil })
    func `a transport over HTTP 2 passes the transport conformance suite`(conformance: TransportConformance.Case)
      async throws
    {
      let server = try await SecureServer.shared()
      // Longer than by default, because all cases run at once, beside all other tests.
      await #expect(throws: Never.self) {
        try await conformance.run(within: .seconds(60)) { try NginxTransport(server, clock: $0) }
      }
    }

    @Test
    func `RFC 9110 §15.5.20: a misdirected request is sent over another connection while the first one is in use`()
      async throws
    {
      let server = try await SecureServer()
      let gate = LoopbackGate()
      server.backend.enqueue(.text("held").held(by: gate), .status(421))
      let settings = CurlTransport.Configuration(trust: try server.trust, httpVersion: .http2OverTLS)
      let client = NetworkClient(
        baseURL: try server.url(.secure, path: "back/"),
        behaviors: [.retry(RetryPolicy(backoff: Backoff(base: .zero)))], transport: .curl(settings))
      async let held: String = client.send(.get("held"))
      await gate.waitForArrivals(1)
      #expect(try await client.send(.get("a")) == "GET 0")
      gate.open()
      #expect(try await held == "held")
      let connections = server.backend.requests.map { $0.headers["X-Connection"] }
      #expect(connections.count == 3)
      #expect(connections.last != connections.dropLast().last)
    }

    @Test func `each excluded rule exists`() {
      let names = Set(TransportConformance.cases.map(\.name))
      #expect(CurlHTTP2ConformanceTests.exclusions.keys.filter { !names.contains($0) } == [])
    }
  }

  /// A transport over HTTP/2 that sends the requests to a loopback server through nginx.
  private struct NginxTransport: Transport {
    private let server: SecureServer
    private let base: CurlTransport

    init(_ server: SecureServer, clock: RequestClock) throws {
      self.server = server
      let settings = CurlTransport.Configuration(trust: try server.trust, httpVersion: .http2OverTLS)
      base = CurlTransport(configuration: settings, clock: clock)
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      var request = request
      let start = "http://127.0.0.1:"
      // An invalid URL is not changed.
      if request.url.absoluteString.hasPrefix(start) {
        let rest = request.url.absoluteString.dropFirst(start.count)
        let port = rest.prefix { $0.isNumber }
        let target = rest.dropFirst(port.count)
        request.url = try server.url(.secure, path: "gate/\(port)\(target.hasPrefix("/") ? "" : "/")\(target)")
      }
      return try await base.send(request)
    }

    func shutdown() async { await base.shutdown() }
  }
#endif
