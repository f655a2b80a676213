#if os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Tests that must not run in the process of the others, or cannot be measured there.
  @Suite(.limited) struct TransportProcessTests {
    @Test func `a child process sends and prints the status`() async throws {
      let server = try LoopbackServer()
      server.enqueue(.text("hello", status: 203))
      let probe = try await Probe.run("get", "\(server.baseURL)")
      #expect(probe.output == "203")
      #expect(probe.isClean)
    }

    @Test func `a log line that cannot be written is dropped, and the call continues`() async throws {
      let probe = try await Probe.run("log", "/dev/full")
      #expect(probe.output == "alive")
      #expect(probe.isClean)
    }

    @Test func `requests do not wait for a log that is not read, and its lines are there later`() async throws {
      let probe = try await Probe.run("unread", "300")
      #expect(probe.output == "alive\nin order")
      #expect(probe.isClean)
    }

    /// Foundation's UUIDs are all the same on Linux without random bytes, as in a process that has no descriptor left.
    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `streams that are kept in files are separate even if UUIDs repeat`() async throws {
      let server = try LoopbackServer { _ in .status(200) }
      let probe = try #require(ChildProcess.fixture("TransportProbe"))
      let script = "mount --bind /dev/null /dev/urandom"
      let result = try await PrivateMounts.start(script, probe, ["spools", "\(server.baseURL)"]).end()
      #expect(result.text == "second is sent\nfirst is sent\n")
      let bodies = server.requests.map { "\($0.path) \($0.body.count) \(Set($0.body))" }
      #expect(bodies == ["/second 600000 [98]", "/first 600000 [97]"])
    }

    /// What Limitations in the documentation says of URLSession on Linux up to 6.3.
    ///
    /// From 6.4 on the first is an error. This fails when another thing changes, so that the documentation can follow.
    @Test(arguments: [
      LoopbackResponse.text("hello").fault(.close, at: .head(after: 30)),
      LoopbackResponse.chunked(["a"], trailers: ["X-Trailer": "1"]),
    ])
    func `a head that is cut off and trailers end the process or are an error`(response: LoopbackResponse) async throws
    {
      let server = try LoopbackServer()
      server.enqueue(response)
      let probe = try await Probe.run("get", "\(server.baseURL)")
      if probe.isClean {
        let outcomes = ["200", "badResponse", "connectionLost", "truncatedBody", "transportFailed"]
        #expect(outcomes.contains { probe.output.hasPrefix($0) })
      } else {
        #expect(probe.output.contains("Transfer completed, but there's no response."))
      }
    }

    @Test func `connections that are lost while a file is sent are errors of its sends`() async throws {
      let server = try LoopbackServer()
      for _ in 1...50 { server.enqueue(.status(200).fault(.reset, at: .accept)) }
      let probe = try await Probe.run("upload", "\(server.baseURL)", "50")
      #expect(probe.isClean)
      // Some are lost as soon as they are made.
      let codes = Set(probe.output.split { !$0.isLetter })
      #expect(codes.isSubset(of: ["cannotConnect", "connectionLost"]))
    }

    @Test(arguments: [
      "http://user-canary:canary-word@127.0.0.1:99999", "http://user-canary:canary word@127.0.0.1:1",
      "foo://user-canary:canary-word@127.0.0.1:1", "user-canary:canary-word@127.0.0.1:x",
      "http://user-canary:canary@word@127.0.0.1:99999/",
    ])
    func `an error does not show the password of a proxy URL that cannot be parsed`(proxy: String) async throws {
      let server = try LoopbackServer { _ in .text("from the server") }
      let probe = try await Probe.run("get", "\(server.baseURL)", environment: ["http_proxy": proxy])
      #expect(probe.isClean)
      #expect(probe.output.hasPrefix("invalidURL"), "\(probe.output)")
      #expect(!probe.output.contains("canary"), "\(probe.output)")
      #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["get", "head"], ["200 OK", "403 No", "407 No", "302 Found"])
    func `the response of a proxy to CONNECT is not that of the server`(command: String, status: String) async throws {
      let fields = "Location: /x\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\n"
      let proxy = try LoopbackServer { _ in
        .raw("HTTP/1.1 \(status)\r\n\(fields)" + (status.hasPrefix("2") ? "" : "no")).fault(.close, at: .end)
      }
      let environment = ["https_proxy": "\(proxy.baseURL)"]
      let probe = try await Probe.run(command, "https://127.0.0.1:1/", environment: environment)
      #expect(probe.isClean)
      #expect(probe.output.hasPrefix("cannotConnect"), "\(probe.output)")
      #expect(proxy.requestCount == 1)
    }

    // The thread sanitizer's own memory grows with what it watches.
    @Test(.disabled(if: ThreadSanitizer.isRunning, "memory cannot be measured under the thread sanitizer"))
    func `threads and memory do not grow with the number of requests of a client`() async throws {
      let isLong = ProcessInfo.processInfo.environment["SOAK"] != nil
      let count = isLong ? 50_000 : 3_000
      let probe = try await Probe.run("soak", "\(count)")
      let figures = probe.output.split(separator: " ").compactMap { Int($0) }
      try #require(probe.isClean && figures.count == 2, "\(probe)")
      // The system's pools grow and shrink by a few.
      #expect(figures[0] <= 30, "threads")
      // URLSession on Linux leaks about 165 bytes a transfer; the constant is what the allocator keeps.
      #expect(figures[1] <= 8 << 20 + 220 * count, "bytes")
      if isLong { print("soak of \(count): \(figures[0]) threads and \(figures[1]) bytes gained") }
    }
  }

  /// What a slow reader of a streamed response costs, measured in a process of its own.
  @Suite(.limited) struct TransportMemoryTests {
    // The thread sanitizer's own memory grows with what it watches.
    @Test(.disabled(if: ThreadSanitizer.isRunning, "memory cannot be measured under the thread sanitizer"))
    func `a reader that begins when all of a body was sent keeps memory flat`() async throws {
      let isLong = ProcessInfo.processInfo.environment["SOAK"] != nil
      let pieces = isLong ? 1_024 : 128
      let end = LoopbackGate()
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
        guard request.path == "/large" else { return .text("small") }
        let piece = Data(repeating: 0x61, count: 1 << 20)
        return .generated(pieces: pieces, of: 1 << 20) { _ in piece }.held(by: end, at: .end)
      }
      let executable = try #require(ChildProcess.fixture("TransportProbe"))
      let figures = try #require(
        try await ChildProcess.stream(executable, server.baseURL) {
          await end.waitForArrivals(1)
          end.open()
        })
      #expect(figures.count == pieces << 20)
      #expect(figures.growth < 32 << 20, "bytes")
      if isLong { print("stream of \(pieces) MiB over URLSession: \(figures.growth) bytes more") }
    }
  }

  /// The end of a process of `TransportProbe`.
  private struct Probe {
    let output: String
    let isClean: Bool

    static func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Probe {
      let executable = try #require(ChildProcess.fixture("TransportProbe"))
      // Symbolicating a crash that is expected takes longer than all the rest.
      let quiet = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
      let result = try await ChildProcess(executable, arguments, environment: quiet, keepsErrors: true).end()
      return Probe(
        output: result.text.trimmingCharacters(in: .whitespacesAndNewlines),
        isClean: !result.wasKilled && result.status == 0)
    }
  }
#endif
