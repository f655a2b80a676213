#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  private let curlPath = ["/usr/bin/curl"].first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The server as seen by an independent client.
  @Suite(.limited, .enabled(if: curlPath != nil, "curl is not installed in /usr/bin"))
  struct LoopbackCurlTests {
    /// Runs curl and returns its output and exit status.
    private func curl(_ arguments: String...) async throws -> (output: String, status: Int32) {
      let path = URL(fileURLWithPath: try #require(curlPath))
      let result = try await ChildProcess.run(path, ["--silent", "--noproxy", "*", "--max-time", "20"] + arguments)
      return (result.text, result.status)
    }

    @Test func `curl follows a redirect on the connection it has`() async throws {
      let server = try LoopbackServer()
      server.enqueue(.redirect(to: "/there"), .chunked(["one", "two"]))
      let result = try await curl("--location", server.baseURL.absoluteString + "here")
      #expect(result.output == "onetwo")
      #expect(result.status == 0)
      #expect(server.requests.map(\.path) == ["/here", "/there"])
      #expect(server.connectionCount == 1)
    }

    @Test func `curl uploads after 100-continue`() async throws {
      let server = try LoopbackServer { .text($0.text) }
      let result = try await curl(
        "--header", "Expect: 100-continue", "--expect100-timeout", "20", "--data", "hello",
        server.baseURL.absoluteString)
      #expect(result.output == "hello")
    }

    @Test(arguments: [
      (LoopbackResponse.text("0123456789").fault(.close, at: .body(after: 4)), Int32(18)),
      (.status(200).fault(.close, at: .request), 52), (.status(200).fault(.reset, at: .request), 56),
      (.badChunk(after: ["one"]), 56), (.garbage, 1),
    ])
    func `curl tells the faults apart`(response: LoopbackResponse, status: Int32) async throws {
      let server = try LoopbackServer { _ in response }
      #expect(try await curl(server.baseURL.absoluteString).status == status)
    }
  }
#endif
