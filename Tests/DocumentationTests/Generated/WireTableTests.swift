#if os(Linux) && canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// The table of "What a server sees of the choice", made of what a server on Linux got.
  @Suite(.limited) struct WireTableTests {
    /// What a server and a client saw of requests over a transport.
    private struct Traces {
      let get: LoopbackRequest
      let post: LoopbackRequest
      let dots: LoopbackRequest
      let response: NetworkResponse

      init(_ transport: any Transport) async throws {
        let server = try LoopbackServer { _ in
          LoopbackResponse(headers: HeaderFields([.init("X-B", "1"), .init("X-A", "2"), .init("X-B", "3")]))
        }
        let client = NetworkClient(baseURL: server.baseURL, transport: transport)
        response = try await client.send(.get("x"))
        try await client.send(.post("x"))
        let dotted = try #require(URL(string: "\(server.baseURL)a/./b/../c"))
        try await client.send(.get(url: dotted))
        let requests = server.requests
        (get, post, dots) = (requests[0], requests[1], requests[2])
      }

      func value(_ name: String) -> String { get.headers[name].map { "`\($0)`" } ?? "not sent" }

      func isSent(_ name: String) -> String { get.headers.contains(name) ? "sent" : "not sent" }

      var fields: String {
        let names = response.headers.map(\.name).filter { $0.hasPrefix("X-") }
        return names == ["X-B", "X-A", "X-B"] ? "as they came" : "without order, same names joined"
      }
    }

    @Test func `the table is that of the transports`() async throws {
      let (session, curl) = (try await Traces(URLSessionTransport()), try await Traces(CurlTransport()))
      let rows: [(String, (Traces) -> String)] = [
        ("`User-Agent`, if the request has none", { $0.isSent("User-Agent") }),
        ("`Accept-Language`, if the request has none", { $0.isSent("Accept-Language") }),
        ("`Accept-Encoding`, if the request has none", { $0.isSent("Accept-Encoding") }),
        ("`Accept`, if the request has none", { $0.value("Accept") }),
        ("`Connection`", { $0.value("Connection") }),
        (
          "`Content-Length: 0` of a `POST` without a body",
          { $0.post.headers.contains("Content-Length") ? "sent" : "not sent" }
        ),
        ("the path of `.get(url:)` with `a/./b/../c`", { "`\($0.dots.path)`" }),
        ("fields of the response", { $0.fields }),
      ]
      let table =
        ["| on the wire | over URLSession | over libcurl |", "|---|---|---|"]
        + rows.map { "| \($0.0) | \($0.1(session)) | \($0.1(curl)) |" }
      try Repository.expect(
        "Sources/RequestBehaviors/RequestBehaviors.docc/ChoosingATransport.md", contains: table.joined(separator: "\n"))
    }
  }
#endif
