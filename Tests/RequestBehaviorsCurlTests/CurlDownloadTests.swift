#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// Downloads and events over libcurl.
  @Suite(.limited) struct CurlDownloadTests {
    @Test func `a download keeps the bytes received before its connection is lost in mid-body`() async throws {
      let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
      let file = LoopbackResponse.data(content).header("ETag", "\"a\"")
      let server = try LoopbackServer { request in
        let part = file.part(for: request)
        return request.headers["Range"] == nil ? part.fault(.close, at: .body(after: 600_000)) : part
      }
      let folder = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let client = NetworkClient(
        baseURL: server.baseURL, behaviors: [.retry(RetryPolicy(backoff: Backoff(base: .zero, floor: .zero)))],
        transport: CurlTransport())
      let destination = folder.appending(path: "file.bin")
      try await client.download(.get("file"), to: destination)
      #expect(try Data(contentsOf: destination) == content)
      #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=600000-"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file.bin"])
    }

    @Test func `events arrive one by one while the response is open`() async throws {
      let gate = LoopbackGate()
      let server = try LoopbackServer()
      let text = "data: one\n\ndata: two\n\n"
      server.enqueue(
        LoopbackResponse(headers: ["Content-Type": "text/event-stream"], body: Data(text.utf8))
          .held(by: gate, at: .body(after: 11)))
      let client = NetworkClient(baseURL: server.baseURL, transport: CurlTransport())
      var events = client.events(.get("feed")).makeAsyncIterator()
      #expect(try await events.next()?.data == "one")
      gate.open()
      #expect(try await events.next()?.data == "two")
      #expect(try await events.next() == nil)
    }

    @Test func `a body that is encoded without a request for it is written decoded`() async throws {
      let compressed = try #require(Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="))
      let server = try LoopbackServer { _ in .data(compressed).header("Content-Encoding", "gzip") }
      let destination = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: destination) }
      try await NetworkClient(baseURL: server.baseURL, transport: CurlTransport()).download(.get("x"), to: destination)
      #expect(try Data(contentsOf: destination) == Data("hello".utf8))
      #expect(server.requests.map { $0.headers["Accept-Encoding"] } == ["identity"])
    }
  }
#endif
