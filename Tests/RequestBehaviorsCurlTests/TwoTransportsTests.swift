#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// The bytes of a request at the server, over URLSession and over libcurl.
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
      ("post", .post("x")), ("put", .put("x")), ("delete", .delete("x")),
      ("patch", .patch("x")), ("body", .post("x", body: .json(["a": 1]))), ("head", .head("x")),
      ("empty", .post("x", body: .data(Data()))), ("deletion", .delete("x", body: .json(["a": 1]))),
    ]

    /// The fields that the platform always sends on Linux, and those with different values.
    private static let different: Set = ["host", "accept-encoding", "accept-language", "connection"]

    private func fields(_ head: String, without others: Set<String> = []) -> [String] {
      head.components(separatedBy: "\r\n").dropFirst().filter { line in
        let name = line.prefix { $0 != ":" }.lowercased()
        return !line.isEmpty && !Self.different.contains(name) && !others.contains(name)
      }
    }

    @Test(arguments: requests.indices)
    func `both send the same request line and the same fields`(index: Int) async throws {
      let (name, request) = Self.requests[index]
      let heads = try await heads(request)
      let lines = heads.map { $0.components(separatedBy: "\r\n").first }
      #expect(lines[0] == lines[1])
      // URLSession announces an empty body of DELETE, too.
      let others: Set<String> = name == "delete" ? ["content-length"] : []
      #expect(fields(heads[0], without: others).sorted() == fields(heads[1], without: others).sorted())
      #expect(fields(heads[0]).contains("User-Agent: RequestBehaviors"))
    }

    @Test(arguments: [0, 1])
    func `the progress counts the bytes that a reader has`(index: Int) async throws {
      let transport: any Transport = [URLSessionTransport() as any Transport, CurlTransport()][index]
      // The reader waits for each piece, so that it has it at once.
      let server = try LoopbackServer { _ in
        .data(Data(repeating: 0x61, count: 200_000)).throttled(bytes: 1_000, every: .milliseconds(1))
      }
      let progress = TransferProgress()
      let response = try await NetworkClient(baseURL: server.baseURL, transport: transport)
        .stream(.get("x").with(\.progress, progress))
      var count: Int64 = 0
      var uncounted = 0
      for try await chunk in response.bytes {
        count += Int64(chunk.count)
        if progress.state.received < count { uncounted += 1 }
      }
      #expect(uncounted == 0)
      #expect(progress.state.received == 200_000)
    }

    @Test(arguments: [0, 1])
    func `no request ends in the body of one that was refused with 417`(index: Int) async throws {
      let transport: any Transport = [URLSessionTransport() as any Transport, CurlTransport()][index]
      let foreign = Locked(Data())
      let server = try RawServer { peer in
        while true {
          guard try peer.readHead().hasPrefix("PUT") else {
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
            continue
          }
          try peer.write("HTTP/1.1 417 No\r\nContent-Length: 7\r\n\r\nrefused")
          // The server passes over the body as announced, unless the client ends the connection.
          let body = try peer.read(200_000)
          guard body.contains(where: { $0 != 0 }) else { continue }
          return foreign.withLock { $0 = Data(body.prefix(100)) }
        }
      }
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
      let client = NetworkClient(baseURL: url, transport: transport)
      let request = Request<Void>.put("x", body: .data(Data(count: 200_000)), headers: ["Expect": "100-continue"])
      let error = try await #require(throws: NetworkError.self) { try await client.send(request) }
      #expect(error.statusCode == 417)
      #expect(try await client.send(.get("y").returning(String.self)) == "next")
      #expect(String(decoding: foreign.withLock { $0 }, as: UTF8.self) == "")
    }

    @Test func `libcurl alone keeps the order of fields and sends two of one name apart`() async throws {
      var headers: HeaderFields = ["X-B": "1", "X-A": "2"]
      headers.append("X-B", "3")
      let heads = try await heads(.get("x", headers: headers))
      let own = heads.map { fields($0).filter { $0.hasPrefix("X-") } }
      #expect(own[0].sorted() == ["X-A: 2", "X-B: 1, 3"])
      #expect(own[1] == ["X-B: 1", "X-A: 2", "X-B: 3"])
    }
  }
#endif
