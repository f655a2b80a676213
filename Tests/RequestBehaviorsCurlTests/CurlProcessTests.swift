#if os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Tests that must not run in the process of the others, or cannot be measured there.
  ///
  /// With `SOAK` in the environment each is done many times more often.
  @Suite(.limited) struct CurlProcessTests {
    private static let isLong = ProcessInfo.processInfo.environment["SOAK"] != nil

    private func probe(_ arguments: String..., environment: [String: String] = [:]) async throws -> String {
      let executable = try #require(ChildProcess.fixture("CurlProbe"))
      let variables = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
      let result = try await ChildProcess(executable, arguments, environment: variables, keepsErrors: true).end()
      #expect(!result.wasKilled, "\(result.text)")
      #expect(result.status == 0, "\(result.text)")
      if Self.isLong { print(arguments.joined(separator: " "), result.text) }
      return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `responses changed at random do not end the process, and do not pass as complete`() async throws {
      let text = try await probe("fuzz", Self.isLong ? "100000" : "3000")
      #expect(text.hasPrefix("no wrong outcome"), "\(text)")
    }

    @Test func `sends cancelled at random moments leave nothing behind`() async throws {
      #expect(try await probe("cancel", Self.isLong ? "50000" : "1000").hasSuffix("ended whole"))
    }

    @Test(.disabled(if: ThreadSanitizer.isRunning, "memory cannot be measured under the thread sanitizer"))
    func `threads and memory do not grow with the number of requests`() async throws {
      let text = try await probe("soak", Self.isLong ? "100000" : "5000")
      let figures = text.split(separator: " ").compactMap { Int($0) }
      try #require(figures.count == 2)
      // The system's pools grow and shrink by a few; the bytes are what the allocator keeps.
      #expect(figures[0] <= 30, "threads")
      #expect(figures[1] <= 6 << 20, "bytes")
    }

    @Test(.disabled(if: ThreadSanitizer.isRunning, "memory cannot be measured under the thread sanitizer"))
    func `a slow reader of a streamed response keeps memory flat`() async throws {
      let pieces = Self.isLong ? 1_024 : 128
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
        guard request.path == "/large" else { return .text("small") }
        let piece = Data(repeating: 0x61, count: 1 << 20)
        return .generated(pieces: pieces, of: 1 << 20) { _ in piece }
      }
      let executable = try #require(ChildProcess.fixture("CurlProbe"))
      let figures = try #require(try await ChildProcess.stream(executable, server.baseURL) {})
      #expect(figures.count == pieces << 20)
      #expect(figures.growth < 16 << 20, "bytes")
      if Self.isLong { print("stream of \(pieces) MiB over libcurl: \(figures.growth) bytes more") }
    }

    @Test func `a cancellation does not block other requests while a name is resolved`() async throws {
      #expect(try await probe("resolve") == "prompt")
    }

    @Test func `a cancellation does not block other requests with a libcurl that waits for the resolver`() async throws
    {
      #expect(try await probe("resolve-old") == "prompt")
    }

    @Test(arguments: [("0", 3), ("0.9", 3), ("60", 1)])
    func `a name is resolved again only if its address is not cached`(lifetime: String, count: Int) async throws {
      #expect(try await probe("names", lifetime) == "\(count) lookups for 3 connections")
    }

    @Test func `only a transport that asks for the environment's proxy uses it`() async throws {
      let proxy = try LoopbackServer { _ in .text("through the proxy") }
      let server = try LoopbackServer { _ in .text("from the server") }
      let environment = ["http_proxy": "\(proxy.baseURL)"]
      #expect(try await probe("get", "\(server.baseURL)", environment: environment) == "from the server")
      #expect(try await probe("proxied", "\(server.baseURL)", environment: environment) == "through the proxy")
      server.stop()
      let failure = try await probe("get", "\(server.baseURL)", environment: environment)
      #expect(failure.hasPrefix("cannotConnect"))
      #expect(failure.contains("http_proxy is not obeyed"))
    }

    /// Runs the probe with the environment's proxies at a proxy, and returns what came out.
    private func proxied(_ scheme: String, _ names: String..., except: [String: String]) async throws -> (
      text: String, isProxied: Bool, head: String
    ) {
      let proxy = try LoopbackServer { $0.method == "CONNECT" ? .status(403) : .text("through the proxy") }
      let server = try LoopbackServer { _ in .text("from the server") }
      var environment = except
      for name in names { environment[name] = "http://Aladdin:open%20sesame@127.0.0.1:\(proxy.port)" }
      let text = try await probe("proxied", "\(scheme)://127.0.0.1:\(server.port)/", environment: environment)
      #expect(proxy.connectionCount + server.connectionCount == 1, "\(text)")
      return (text, proxy.connectionCount == 1, proxy.requests.first?.head ?? "")
    }

    @Test(arguments: [
      ("http", "http_proxy", true), ("http", "HTTP_PROXY", false), ("http", "https_proxy", false),
      ("http", "all_proxy", true), ("http", "ALL_PROXY", true), ("https", "http_proxy", false),
      ("https", "https_proxy", true), ("https", "HTTPS_PROXY", true), ("https", "all_proxy", true),
    ])
    func `each variable of the environment names the proxy of its scheme`(
      scheme: String, name: String, isObeyed: Bool
    ) async throws {
      let outcome = try await proxied(scheme, name, except: [:])
      #expect(outcome.isProxied == isObeyed, "\(outcome.text)")
      guard isObeyed else { return }
      #expect(outcome.head.contains("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="))
      #expect(!outcome.text.contains("sesame"))
      guard scheme == "https" else { return #expect(outcome.text == "through the proxy") }
      #expect(outcome.text.hasPrefix("cannotConnect"), "\(outcome.text)")
      #expect(outcome.text.contains("response 403; the proxy is 127.0.0.1:"), "\(outcome.text)")
    }

    @Test(arguments: [
      ("no_proxy", "127.0.0.1", false), ("NO_PROXY", "127.0.0.1", false), ("no_proxy", "*", false),
      ("no_proxy", "a.test, 127.0.0.1", false), ("no_proxy", "a.test,7.0.0.1", true), ("no_proxy", "", true),
    ])
    func `hosts that the environment excludes do not use a proxy`(name: String, hosts: String, isProxied: Bool)
      async throws
    {
      for scheme in ["http", "https"] {
        let outcome = try await proxied(scheme, "http_proxy", "https_proxy", except: [name: hosts])
        #expect(outcome.isProxied == isProxied, "\(outcome.text)")
      }
    }

    @Test func `a proxy with a URL is used whatever the environment says`() async throws {
      let (proxy, other) = (try LoopbackServer { _ in .text("through the proxy") }, try LoopbackServer())
      let environment = ["no_proxy": "*", "NO_PROXY": "*", "http_proxy": "\(other.baseURL)"]
      let text = try await probe("through", "\(proxy.baseURL)", "http://127.0.0.1:1/", environment: environment)
      #expect(text == "through the proxy")
      #expect(other.connectionCount == 0)
    }

    @Test(arguments: [
      "http://user-canary:canary-word@127.0.0.1:99999", "http://user-canary:canary word@127.0.0.1:1",
      "foo://user-canary:canary-word@127.0.0.1:1", "user-canary:canary-word@127.0.0.1:x",
      "http://user-canary:%63anary%20word@[127.0.0.1:1", "http://user-canary:canary@word@127.0.0.1:99999/",
    ])
    func `an error does not show the password of a proxy URL that cannot be parsed`(proxy: String) async throws {
      let server = try LoopbackServer { _ in .text("from the server") }
      let text = try await probe("proxied", "\(server.baseURL)", environment: ["http_proxy": proxy])
      #expect(text.hasPrefix("invalidURL"), "\(text)")
      #expect(!text.contains("canary"), "\(text)")
      #expect(server.connectionCount == 0)
    }

    @Test func `a password is not read from the user's files`() async throws {
      let home = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: home) }
      try Data("machine 127.0.0.1 login user password secret\n".utf8).write(to: home.appending(path: ".netrc"))
      let server = try LoopbackServer { .text("\($0.headers.contains("Authorization"))") }
      #expect(try await probe("get", "\(server.baseURL)", environment: ["HOME": home.path]) == "false")
    }
  }
#endif
