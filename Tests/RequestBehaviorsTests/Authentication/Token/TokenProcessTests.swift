#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Two processes that share a token file, as an app and its extension do.
  @Suite(.limited) final class TokenProcessTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "processes-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "token.json") }
    private let spent = Box<[String]>([])

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server that gives `t1`, `r1` for `r0` and so on, refuses a refresh token that was spent, and accepts `t1`.
    private func makeServer() throws -> LoopbackServer {
      let spent = spent
      return try LoopbackServer { (request: LoopbackRequest) in
        guard request.path == "/token" else {
          return .status(request.headers["Authorization"] == "Bearer t1" ? 200 : 401)
        }
        let fields = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        let sent = fields.first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) } ?? "none"
        let isFirst = spent.update { spent in
          defer { spent.append(sent) }
          return !spent.contains(sent)
        }
        guard isFirst else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
        return .json(#"{"access_token":"t1","expires_in":3600,"refresh_token":"r1"}"#)
      }
    }

    /// Stops one process at a place in the middle of its refresh, lets another refresh the token, and lets the first go
    /// on.
    ///
    /// - Returns: What both told, the stopped one first.
    private func race(_ server: LoopbackServer, stoppedAt place: String) async throws -> (String, String) {
      try await TokenSession(source: .refreshToken(.test), store: FileTokenStore(url: file)).signIn(
        AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
      let program = try #require(ChildProcess.fixture("TokenFileWriter"))
      let arguments = [file.path(percentEncoded: false), server.baseURL.absoluteString]
      let first = try ChildProcess(program, arguments + [place])
      #expect(await first.lines(1) == "paused\n")
      first.pause()
      let second = try await ChildProcess.run(program, arguments + ["nowhere"]).text
      first.resume()
      return (await first.end(after: Data("go\n".utf8)).text, second)
    }

    @Test func `a process stopped before it sends its refresh uses the token that another got`() async throws {
      let server = try makeServer()
      let (first, second) = try await race(server, stoppedAt: "source")
      #expect(first.split(separator: "\n") == ["sent", "signed in"])
      #expect(second.split(separator: "\n") == ["sent", "signed in"])
      #expect(spent.value == ["r0"], "no refresh token was sent twice")
    }

    @Test func `a process whose refresh is refused because another was quicker stays signed in`() async throws {
      let server = try makeServer()
      let (first, second) = try await race(server, stoppedAt: "transport")
      #expect(first.split(separator: "\n") == ["sent", "signed in"])
      #expect(second.split(separator: "\n") == ["sent", "signed in"])
      #expect(spent.value == ["r0", "r0"], "the second one was on its way when the first was answered")
    }
  }
#endif
