#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// What a server sees of a request, over URLSession and over libcurl.
  @Suite(.limited) struct TwoTransportsTests {
    private func heads(_ request: Request<Void>) async throws -> [String] {
      let transports: [any Transport] = [URLSessionTransport(), CurlTransport()]
      var heads: [String] = []
      for transport in transports {
        let server = try LoopbackServer { _ in .text("x") }
        try await NetworkClient(baseURL: server.baseURL, transport: transport).send(request)
        heads.append(try #require(server.requests.first?.head))
      }
      return heads
    }

    static let requests: [(String, Request<Void>)] = [
      ("get", .get("a/./b/../c?x=1")), ("encoded dots", .get(RequestPath(encoded: "a/%2e%2e/b"))),
      ("fields", .get("x", headers: ["X-B": "1", "X-A": "2", "X-C": "3"])),
      ("twice", .get("x").with(header: "X-A", "1")), ("post", .post("x")), ("put", .put("x")), ("delete", .delete("x")),
      ("patch", .patch("x")), ("body", .post("x", body: .json(["a": 1]))), ("head", .head("x")),
      ("empty", .post("x", body: .data(Data()))), ("deletion", .delete("x", body: .json(["a": 1]))),
    ]

    @Test(arguments: requests.indices)
    func `both send the same request`(index: Int) async throws {
      let (name, request) = Self.requests[index]
      let heads = try await heads(request)
      print("== \(name)\n\(heads[0])-- curl\n\(heads[1])")
    }
  }
#endif
