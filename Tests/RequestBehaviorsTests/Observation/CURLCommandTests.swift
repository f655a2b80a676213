import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct RequestCommandTests {
  private let url = URL(string: "https://api.example.com/v1/items?page=2&key=canary#top")!

  @Test func `secrets are hidden by default and shown on request`() {
    var request = NetworkRequest(
      .post, url: url, body: .data(Data(#"{"pin":"canary"}"#.utf8), contentType: "application/json"))
    request.headers.set("Authorization", "Bearer canary", sensitive: .baseURL)
    #expect(!request.curlCommand().contains("canary"))
    #expect(request.curlCommand(isMultiline: true).contains("\\\n  --header 'Authorization: REDACTED' \\\n"))
    let command = request.curlCommand(redactor: nil)
    #expect(command.contains("'https://api.example.com/v1/items?page=2&key=canary' "))
    #expect(command.contains("'Authorization: Bearer canary'"))
    #expect(command.contains(#"'{"pin":"canary"}'"#))
  }

  @Test func `a body that is not text is described, and one that is not bytes is read from elsewhere`() {
    func command(_ body: RequestBody) -> String { NetworkRequest(.put, url: url, body: body).curlCommand() }
    let image = Data([0, 0xFF])
    #expect(command(.data(image, contentType: "image/png")).hasSuffix("--data-raw '<2 bytes of image/png>'"))
    #expect(command(.file(URL(fileURLWithPath: "/a b"))).hasSuffix("--data-binary '@/a b'"))
    #expect(command(.oneShot(ByteStream(chunks: []))).hasSuffix("--data-binary @-"))
  }

  #if os(Linux) || os(macOS)
    private static let curl = ["/usr/bin/curl", "/bin/curl"].first { FileManager.default.isExecutableFile(atPath: $0) }

    private static let requests: [@Sendable (URL) -> NetworkRequest] = [
      { NetworkRequest(url: $0.appending(path: "a")) },
      { NetworkRequest(url: $0.appending(queryItems: [.init(name: "q", value: "[1-3] {a,b} it's $HOME")])) },
      {
        NetworkRequest(.head, url: $0, headers: ["Accept": "text/*", "X-Empty": "", "X-Quote": #"it's "so" \ `x` $y"#])
      },
      { NetworkRequest(.post, url: $0, body: .data(Data())) },
      { NetworkRequest(.post, url: $0, body: .data(Data("@file\nit's ünï".utf8), contentType: "text/plain")) },
      { NetworkRequest(.post, url: $0, body: .data(Data("'\u{301}; exit 3 #".utf8), contentType: "text/plain")) },
      { NetworkRequest(.put, url: $0, body: .data(Data((0...255).map { UInt8($0) }))) },
      { NetworkRequest(.patch, url: $0, body: .data(Data(repeating: UInt8(ascii: "x"), count: 1_200_000))) },
      { NetworkRequest(.delete, url: $0, headers: ["X-Two": "1", "User-Agent": "u"]) },
      { NetworkRequest("M'X", url: $0, headers: HeaderFields([.init("X-Two", "1"), .init("X-Two", "2")])) },
    ]

    @Test(.enabled(if: curl != nil), arguments: requests.indices)
    func `curl sends the request that the command describes`(index: Int) async throws {
      let server = try LoopbackServer { _ in .status(200) }
      let request = Self.requests[index](server.baseURL)
      let command = request.curlCommand(redactor: nil, isMultiline: index.isMultiple(of: 2))
      #expect(try await run(command) == 0, "\(command.prefix(500))")
      let received = try #require(server.requests.first)
      #expect(received.method == request.method)
      let target = request.url.absoluteString.dropFirst(server.baseURL.absoluteString.count - 1)
      #expect(received.target == target)
      #expect(received.body == request.body?.data ?? Data())
      var expected = request.headers
      if let type = request.body?.contentType { expected["Content-Type"] = type }
      var fields = received.headers
      fields.removeAll { ["host", "content-length"].contains($0.name.lowercased()) }
      #expect(fields == expected)
    }

    private func run(_ command: String) async throws -> Int32 {
      // The command is longer than an argument may be.
      let input = Data(("unset http_proxy all_proxy; " + command).utf8)
      return try await ChildProcess.run(URL(fileURLWithPath: "/bin/sh"), ["-s"], standardInput: input).status
    }
  #endif
}
