#if os(Linux)
  import CSlowResolver
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport

  /// Does what might end the process, or what needs one of its own to be measured, and tells how it went.
  ///
  /// `get URL` sends one request; `proxied URL` does so with the environment's proxies, and `through PROXY URL` with
  /// one; `fuzz COUNT` gets that many responses that were changed at random, and `mutation NUMBER` prints one of them
  /// and its outcome; `cancel COUNT`
  /// cancels that many sends at random; `soak COUNT` sends that many;
  /// `stream URL` reads the streamed response of `large` below a URL; `resolve` and `resolve-old` cancel sends whose
  /// host's name is being resolved; `names SECONDS` tells how often a name is resolved for three connections if it is
  /// remembered for that long.
  @main
  enum CurlProbe {
    static func main() async throws {
      slow_resolver_install()
      let arguments = CommandLine.arguments.dropFirst()
      if arguments.count == 3, arguments.first == "through", let proxy = URL(string: CommandLine.arguments[2]) {
        return try await get(CommandLine.arguments[3], .url(proxy))
      }
      switch (arguments.first, arguments.last) {
      case ("get", let text?): try await get(text, .none)
      case ("proxied", let text?): try await get(text, .environment)
      case ("fuzz", let text?): try await ResponseFuzz(CurlTransport()).run(Int(text) ?? 0)
      case ("mutation", let text?): try await ResponseFuzz(CurlTransport()).show(Int(text) ?? 0)
      case ("cancel", let text?): try await Cancellations().run(Int(text) ?? 0)
      case ("soak", let text?): try await soak(Int(text) ?? 0)
      case ("stream", let text?): try await stream(text)
      case ("resolve", _): try await resolve(leavesResolverBehind: true)
      case ("resolve-old", _): try await resolve(leavesResolverBehind: false)
      case ("names", let text?): try await resolve(lifetime: .seconds(Double(text) ?? 0))
      default: throw CocoaError(.featureUnsupported)
      }
    }

    private static func get(_ text: String, _ proxy: CurlTransport.Proxy) async throws {
      guard let url = URL(string: text) else { throw URLError(.badURL) }
      let transport = CurlTransport(configuration: .init(proxy: proxy))
      do {
        print(try await transport.send(NetworkRequest(url: url)).text)
      } catch let error as NetworkError {
        print(error.code, error.message, error, String(reflecting: error), "\(error.underlyingError as Any)")
      }
    }

    private static func stream(_ text: String) async throws {
      guard let url = URL(string: text) else { throw URLError(.badURL) }
      try await readStream(with: NetworkClient(baseURL: url, transport: CurlTransport()))
    }

    /// Prints how many seconds a cancelled send, and another that is sent meanwhile, take.
    private static func resolve(leavesResolverBehind: Bool) async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var settings = CurlTransport.Configuration()
      settings.leavesResolverBehind = leavesResolverBehind
      let transport = CurlTransport(configuration: settings)
      _ = try await transport.send(NetworkRequest(url: server.baseURL))
      guard let slow = URL(string: "http://slow.test/") else { throw URLError(.badURL) }
      for _ in 1...3 {
        let start = ContinuousClock.now
        let task = Task { try await transport.send(NetworkRequest(url: slow)) }
        // Real time: the resolver of the system is under way, and tells nobody.
        try await RequestClock.system.sleep(for: .milliseconds(100))
        task.cancel()
        _ = await task.result
        _ = try await transport.send(NetworkRequest(url: server.baseURL))
        let elapsed = start.duration(to: .now)
        guard elapsed < .seconds(2) else { return print("waited for the resolver: \(elapsed)") }
      }
      print("prompt")
    }

    private static func resolve(lifetime: Duration) async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var settings = CurlTransport.Configuration()
      settings.nameLifetime = lifetime
      settings.idleConnectionLifetime = .zero
      let transport = CurlTransport(configuration: settings)
      guard let url = URL(string: "http://counted.test:\(server.port)/") else { throw URLError(.badURL) }
      for _ in 1...3 { _ = try await transport.send(NetworkRequest(url: url)) }
      print(slow_resolver_count(), "lookups for", server.connectionCount, "connections")
    }

    private static func soak(_ count: Int) async throws {
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
        request.path == "/500" ? .text(String(repeating: "broken ", count: 1_000), status: 500) : .text("hello")
      }
      let client = NetworkClient(
        configuration: RequestConfiguration(
          baseURL: server.baseURL, behaviors: [.headers(["X-Client": "soak"]), .timing(LatencyStatistics())]),
        transport: CurlTransport())
      try await send(count / 10, client)
      let (threads, bytes) = try (processFigure("Threads"), processFigure("VmRSS"))
      try await send(count, client)
      print(try processFigure("Threads") - threads, try (processFigure("VmRSS") - bytes) * 1_024)
    }

    /// Sends requests of several kinds, 20 at a time.
    private static func send(_ count: Int, _ client: NetworkClient) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 0..<20 {
          group.addTask {
            for number in 0..<(count / 20) {
              switch (lane + number) % 5 {
              case 0: _ = try? await client.send(.get("500"))
              case 1: try await client.send(.post("x", body: .text(String(repeating: "x", count: 20_000))))
              case 2: try await client.send(.put("x", body: .text("hello")))
              default: _ = try await client.send(.get("x").returning(String.self))
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#else
  // Its figures are Linux's.
  @main
  enum CurlProbe {
    static func main() {}
  }
#endif
