import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Checksums, limits, cancellation, and places that cannot be written.
@Suite(.limited) struct DownloadRulesTests {
  private let server: DownloadFixture

  init() throws { server = try DownloadFixture(Data("hello".utf8)) }

  private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  @Test func `a file with the right checksum appears, whichever case it is written in`() async throws {
    try await server.client().download(
      .get("file"), to: server.destination, checksum: .sha256(DownloadRulesTests.hello.uppercased()))
    #expect(try Data(contentsOf: server.destination) == Data("hello".utf8))
  }

  @Test func `a file with another checksum is removed`() async throws {
    server.content.value = Data("hallo".utf8)
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(
        .get("file"), to: server.destination, checksum: .sha256(DownloadRulesTests.hello))
    }
    #expect(error?.code == .checksumMismatch)
    #expect(error?.message.contains(DownloadRulesTests.hello) == true)
    #expect(try server.names.isEmpty)
  }

  @Test func `the checksum is that of the whole file when its rest came later`() async throws {
    server.cuts.value = [2]
    try await server.client([.retry()]).download(
      .get("file"), to: server.destination, checksum: .sha256(DownloadRulesTests.hello))
    #expect(server.ranges == ["all -", "bytes=2- \"a\""])
  }

  @Test func `a download that has no place for its file has not arrived`() async throws {
    let destination = server.folder.appending(path: "none/file.bin")
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.post("file"), to: destination)
    }
    #expect(error?.code == .fileUnwritable)
    #expect(error?.mayHaveArrived == false)
    #expect(server.ranges.isEmpty)
  }

  @Test(arguments: ["", "2cf2", String(repeating: "g", count: 64)])
  func `an invalid checksum is an error before the send`(text: String) async throws {
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination, checksum: .sha256(text))
    }
    #expect(error?.code == .invalidRequest)
    #expect(server.requests.value.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a file that exceeds the limit is an error and is not kept`(isAnnounced: Bool) async throws {
    if !isAnnounced { server.replies.value = [(200, ["ETag": "\"a\""], "hello")] }
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination, limit: 4)
    }
    #expect(error?.code == .bodyTooLarge)
    #expect(error?.message.contains("4 bytes") == true)
    #expect(try server.names.isEmpty)
    try await server.client().download(.get("file"), to: server.destination, limit: 5)
  }

  @Test(arguments: ["-5", "five"])
  func `an invalid length counts as not announced`(length: String) async throws {
    server.replies.value = [(200, ["ETag": "\"a\"", "Content-Length": length], "hello")]
    try await server.client().download(.get("file"), to: server.destination, limit: 5)
    #expect(try Data(contentsOf: server.destination) == Data("hello".utf8))
  }

  @Test(arguments: [true, false])
  func `cancelling keeps the partial file only if it can be resumed`(isResumable: Bool) async throws {
    let started = TestGate()
    started.open()
    let headers: HeaderFields = isResumable ? ["ETag": "\"a\""] : [:]
    let transport = ClosureTransport { request in
      let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
      continuation.yield(Data("hel".utf8))
      let body = ByteStream(Announcing(base: ByteStream(stream), gate: started), onCancel: { continuation.finish() })
      return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .stream(body))
    }
    let client = NetworkClient(transport)
    let destination = server.destination
    let task = Task { try await client.download(.get("file"), to: destination) }
    await started.waitForArrivals(2)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try server.names == (isResumable ? ["file.bin.partial", "file.bin.partial.json"] : []))
    guard isResumable else { return }
    #expect(try Data(contentsOf: server.folder.appending(path: "file.bin.partial")) == Data("hel".utf8))
  }

  @Test func `a place that cannot be written is an error before anything is sent`() async throws {
    let folder = server.folder
    let places = [folder, folder.appending(path: "none/file.bin"), try #require(URL(string: "https://h.example/a"))]
    for place in places {
      let error = await #expect(throws: NetworkError.self) {
        try await server.client().download(.get("file"), to: place)
      }
      #expect(error?.code == .fileUnwritable)
    }
    #expect(server.requests.value.isEmpty)
  }

  @Test func `a response that a behavior has already is written, too`() async throws {
    let canned = ClosureBehavior(
      order: .caching,
      intercept: { request, _ in
        NetworkResponse(request: request, statusCode: 200, body: .data(Data("canned".utf8)), source: .cache)
      })
    let response = try await server.client([canned]).download(.get("file"), to: server.destination)
    #expect(response.source == .cache)
    #expect(try Data(contentsOf: server.destination) == Data("canned".utf8))
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a range that the request asks for is written as received`() async throws {
    let response = try await server.client().download(
      .get("file").with(header: "Range", "bytes=2-"), to: server.destination)
    #expect(response.statusCode == 206)
    #expect(try Data(contentsOf: server.destination) == Data("llo".utf8))
  }

  @Test func `the progress of a resumed download begins with the size of the partial file`() async throws {
    server.cuts.value = [2]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "file").stream(
      [Data("l".utf8), Data("lo".utf8)], status: 206,
      headers: ["Content-Range": "bytes 2-4/5", "Content-Length": "3", "ETag": "\"a\""])
    let progress = TransferProgress()
    let request = Request<NetworkResponse>.get("file").with(\.progress, progress)
    try await NetworkClient(mock).download(request, to: server.destination)
    #expect(try Data(contentsOf: server.destination) == Data("hello".utf8))
    #expect(progress.state.received == 5)
    #expect(progress.state.isFinished)
  }

  @Test func `a 416 that is not known to come from the server completes no file`() async throws {
    server.cuts.value = [2]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    server.replies.value = [(416, ["Content-Range": "bytes */2"], "")]
    let doubt = ClosureBehavior(
      order: .verification,
      intercept: { request, next in
        var response = try await next(request)
        response.isVerified = response.statusCode != 416
        return response
      })
    let error = await #expect(throws: NetworkError.self) {
      try await server.client([doubt]).download(.get("file"), to: server.destination)
    }
    #expect(error?.statusCode == 416)
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
  }

  @Test func `a 304 does not change the file`() async throws {
    try Data("old".utf8).write(to: server.destination)
    server.replies.value = [(304, ["ETag": "\"a\""], "")]
    let response = try await server.client().download(
      .get("file").with(header: "If-None-Match", "\"a\""), to: server.destination)
    #expect(response.statusCode == 304)
    #expect(try Data(contentsOf: server.destination) == Data("old".utf8))
    #expect(try server.names == ["file.bin"])
  }
}

/// Passes a gate whenever a chunk is requested.
private struct Announcing: AsyncSequence, Sendable {
  typealias Element = Data

  let base: ByteStream
  let gate: TestGate

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let gate: TestGate

    mutating func next() async throws -> Data? {
      await gate.pass()
      return try await base.next()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), gate: gate) }
}
