import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The requests that resume an earlier download, and their checks.
@Suite(.limited) struct DownloadResumptionTests {
  private let server: DownloadFixture

  init() throws { server = try DownloadFixture() }

  private var partial: URL { server.destination.appendingPathExtension("partial") }

  /// Downloads the first 300 bytes.
  private func begin() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
  }

  @Test func `a POST requests the whole file`() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.post("file"), to: server.destination)
    }
    #expect(try server.names.isEmpty)
    try await begin()
    try await server.client().download(.post("file"), to: server.destination)
    #expect(server.ranges == ["all -", "all -", "all -"])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a request for a range requests only that range`() async throws {
    try await begin()
    try await server.client().download(.get("file").with(header: "Range", "bytes=900-"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=900- -"])
    #expect(try Data(contentsOf: server.destination) == server.content.value.dropFirst(900))
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a record with a missing or empty partial file requests the whole file`() async throws {
    for isEmpty in [true, false] {
      try await begin()
      try FileManager.default.removeItem(at: partial)
      if isEmpty { try Data().write(to: partial) }
      try await server.client().download(.get("file"), to: server.destination)
      #expect(try Data(contentsOf: server.destination) == server.content.value)
    }
    #expect(server.ranges == ["all -", "all -", "all -", "all -"])
  }

  @Test(arguments: ["/exports/2?key=1", "https://other.example/exports/1?key=1"])
  func `a file to which a redirect leads now is not appended to that of an earlier one with the same tag`(
    location: String
  ) async throws {
    server.replies.value = [(302, ["Location": "/exports/1?key=1"], "")]
    try await begin()
    server.content.update { $0 = Data($0.reversed()) }
    server.replies.value = [(302, ["Location": location], "")]
    try await server.client().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  /// A client whose responses the server proves to be its own.
  private func verifyingClient() -> NetworkClient {
    server.headers.update { $0["X-API-Nonce"] = "n" }
    return server.client([NonceVerificationBehavior(makeNonce: { "n" })])
  }

  @Test(arguments: [1_000, 300])
  func `a verified rest is not appended to a beginning that was not verified`(length: Int) async throws {
    try await begin()
    server.content.update { $0 = Data($0.reversed().prefix(length)) }
    try await verifyingClient().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a rest that is not verified is not appended to a verified beginning`() async throws {
    let client = verifyingClient()
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: server.destination) }
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\"", "all -"])
  }

  @Test func `a verified rest is appended to a verified beginning`() async throws {
    let client = verifyingClient()
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: server.destination) }
    try await client.download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a rest from a server that is not verified is appended to a beginning from there`() async throws {
    let client = verifyingClient()
    let redirect = (302, ["Location": "https://files.example/1", "X-API-Nonce": "n"] as HeaderFields, "")
    server.replies.value = [redirect]
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: server.destination) }
    server.replies.value = [redirect]
    try await client.download(.get("file"), to: server.destination)
    #expect(server.ranges.last == "bytes=300- \"a\"")
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a whole file to which a redirect led before is not taken for that to which one leads now`() async throws {
    server.replies.value = [(302, ["Location": "/exports/1"], "")]
    try await begin()
    server.content.update { $0 = Data($0.reversed().prefix(300)) }
    server.replies.value = [(302, ["Location": "/exports/2"], ""), (416, ["Content-Range": "bytes */300"], "")]
    try await server.client().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a rest is requested from a link that differs from the earlier one in its query only`() async throws {
    server.replies.value = [(302, ["Location": "https://files.example/1?signature=a"], "")]
    try await begin()
    server.replies.value = [(302, ["Location": "https://files.example/1?signature=b"], "")]
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges.last == "bytes=300- \"a\"")
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a rest that makes the file longer than the limit is not read`() async throws {
    try await begin()
    let cancelled = server.cancellations.value
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination, limit: 999)
    }
    #expect(error?.code == .bodyTooLarge)
    #expect(server.cancellations.value == cancelled + 1)
    #expect(try Data(contentsOf: partial).count == 300)
    try await server.client().download(.get("file"), to: server.destination, limit: 1_000)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test(arguments: [(RequestMethod.head, 200), (.get, 204)])
  func `the length announced for a response that has no body does not count`(
    method: RequestMethod, status: Int
  ) async throws {
    server.replies.value = [(status, ["Content-Length": "1000", "ETag": "\"a\""], "")]
    try await server.client().download(.init(method, "file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination).isEmpty)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `the request's Accept-Encoding is sent, and the rest is requested unencoded`() async throws {
    let request = Request<NetworkResponse>.get("file").with(header: "Accept-Encoding", "br")
    server.cuts.value = [300]
    try await server.client([.retry()]).download(request, to: server.destination)
    #expect(server.requests.value.map { $0.headers["Accept-Encoding"] } == ["br", "identity"])
  }

  @Test func `a response from a cache is checked too`() async throws {
    let canned = ClosureBehavior(
      order: .caching,
      intercept: { request, _ in
        NetworkResponse(request: request, statusCode: 200, body: .data(Data("canned".utf8)), source: .cache)
      })
    let wrong = Checksum.sha256(String(repeating: "0", count: 64))
    let error = await #expect(throws: NetworkError.self) {
      try await server.client([canned]).download(.get("file"), to: server.destination, checksum: wrong)
    }
    #expect(error?.code == .checksumMismatch)
    let long = await #expect(throws: NetworkError.self) {
      try await server.client([canned]).download(.get("file"), to: server.destination, limit: 5)
    }
    #expect(long?.code == .bodyTooLarge)
    #expect(try server.names.isEmpty)
  }

  @Test func `hedging sends a download once`() async throws {
    try await server.client([.hedging(after: .zero)]).download(.get("file"), to: server.destination)
    #expect(server.requests.value.count == 1)
  }

  @Test func `the progress of a download that cannot begin is finished`() async throws {
    let progress = TransferProgress()
    let request = Request<NetworkResponse>.get("file").with(\.progress, progress)
    await #expect(throws: NetworkError.self) { try await server.client().download(request, to: server.folder) }
    #expect(progress.state.isFinished)
  }
}
