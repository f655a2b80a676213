import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

final class RecentBehavior {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe)
    private var kept: [SharingKey: NetworkResponse] = [:]
}

extension RecentBehavior: RequestBehavior {
  var order: BehaviorOrder { .caching }

  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    guard request.method == .get,
      let key = next.sharingKey(for: request)
    else { return try await next(request) }
    guard let recent = lock.withLock({ kept[key] }) else {
      let response = try await next(request)
      keep(response, for: key, isOwned: next.knowsOwner(of: response))
      return response
    }
    request.call.record(
      "returned the last response", from: "RecentBehavior",
      kind: .caching)
    let place = next.detached()
    place.start(request) { [weak self] result in
      guard let response = try? result.get() else { return }
      self?.keep(response, for: key, isOwned: place.knowsOwner)
    }
    return recent.bound(to: request)
  }

  private func keep(
    _ response: NetworkResponse, for key: SharingKey, isOwned: Bool
  ) {
    // A stream can be read only once.
    guard case .data = response.body else { return }
    lock.withLock {
      // Within the lock, so that no sign-out comes between.
      guard isOwned, response.isAcceptable, response.isVerified,
        response.request.call.keepsScopes
      else { return }
      kept[key] = response
    }
  }

  func scopeEnded(_ scope: String) {
    lock.withLock {
      kept = kept.filter { !$0.key.scopes.contains(scope) }
    }
  }

  func reset() { lock.withLock { kept = [:] } }
}

/// A seal that doubles each byte and ends with one that shows that none is missing.
private enum Seal {
  static let end: UInt8 = 0x21

  static func close(_ data: Data) -> Data { Data(data.flatMap { [$0, $0] }) + [end] }

  static func open(_ data: Data) throws -> Data {
    guard data.last == end, data.count % 2 == 1 else { throw CocoaError(.coderReadCorrupt) }
    return Data(data.dropLast().enumerated().filter { $0.offset % 2 == 0 }.map(\.element))
  }
}

private struct Unsealed: AsyncSequence, Sendable {
  typealias Element = Data
  let base: ByteStream

  init(_ base: ByteStream) { self.base = base }

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    var count = 0
    var last: UInt8?

    mutating func next() async throws -> Data? {
      guard let chunk = try await base.next() else {
        guard last == Seal.end else { throw CocoaError(.coderReadCorrupt) }
        return nil
      }
      var opened = Data()
      for byte in chunk {
        // Each byte waits for its double, so that the end is not taken for one.
        if count % 2 == 1, let last { opened.append(last) }
        (last, count) = (byte, count + 1)
      }
      return opened
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }
}

struct UnsealingBehavior {}

extension UnsealingBehavior: RequestBehavior {
  // Further in than a download, which makes a file of the stream.
  var order: BehaviorOrder { .inside(.redirects) }

  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    var response = try await next(request)
    guard response.headers["X-Seal"] != nil, !response.isBodyCut
    else { return response }
    switch response.body {
    case .data(let data) where !data.isEmpty:
      response.body = .data(try Seal.open(data))
    case .stream(let stream):
      response.body = .stream(stream.wrapped { Unsealed($0) })
    default: return response
    }
    response.headers.remove("X-Seal")
    // The length and the ranges of the server are of other bytes.
    response.headers["Content-Encoding"] = "seal"
    return response
  }
}

/// The sample of "A behavior like ours" that changes bodies, with the parts that it may meet.
@Suite(.limited) struct UnsealingBehaviorTests {
  private let plain = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 3) })

  private func server(_ respond: @escaping @Sendable (LoopbackRequest, LoopbackResponse) -> LoopbackResponse) throws
    -> LoopbackServer
  {
    let sealed = LoopbackResponse.data(Seal.close(plain)).header("X-Seal", "1").header("ETag", "\"a\"")
    return try LoopbackServer { respond($0, sealed) }
  }

  private func client(_ server: LoopbackServer, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(baseURL: server.baseURL, behaviors: [UnsealingBehavior()] + behaviors)
  }

  @Test func `a body is decrypted in memory, as a stream, and after a cache has validated it`() async throws {
    let server = try server { request, sealed in
      let response = request.headers["If-None-Match"] == nil ? sealed : .status(304).header("ETag", "\"a\"")
      return response.header("X-Seal", "1").header("Cache-Control", "no-cache")
    }
    let client = client(server, .caching(MemoryCacheStore()))
    for _ in 0..<2 {
      let data: Data = try await client.send(.get("file"))
      #expect(data == plain)
      let stream = try await client.stream(.get("file"))
      #expect(try await stream.bytes.collect(upTo: 1 << 20) == plain)
    }
    #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", "\"a\"", "\"a\""])
  }

  @Test func `a download whose body breaks off restarts`() async throws {
    let server = try server { request, sealed in sealed.part(for: request) }
    server.enqueue(
      LoopbackResponse.data(Seal.close(plain)).header("X-Seal", "1").header("ETag", "\"a\"")
        .fault(.close, at: .body(after: 150_001)))
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let retry = RetryBehavior.retry(RetryPolicy(backoff: Backoff(base: .zero, factor: 1, cap: .zero)))
    try await client(server, retry).download(.get("file"), to: file)
    #expect(try Data(contentsOf: file) == plain)
    #expect(server.requests.map { $0.headers["Range"] } == [nil, nil])
  }

  @Test func `a failure of a stream keeps its status`() async throws {
    let server = try server { _, sealed in
      var failure = sealed
      failure.status = 500
      return failure
    }
    let error = await #expect(throws: NetworkError.self) { try await client(server).stream(.get("file")) }
    #expect(error?.statusCode == 500)
  }
}

/// The sample of "A behavior like ours".
@Suite(.limited) struct BehaviorLikeOursTests {
  /// A server that returns the credential of each request.
  private let mock = MockTransport { request in
    NetworkResponse(
      request: request, statusCode: 200, headers: ["Content-Type": "text/plain"],
      body: .data(Data((request.headers["Authorization"] ?? "").utf8)))
  }
  private let session = TokenSession(source: .closure { _ in throw NetworkError(.notSignedIn, "a test") })
  private let client: NetworkClient

  init() {
    client = NetworkClient(baseURL: baseURL, behaviors: [RecentBehavior(), .tokenAuth(session)], transport: mock)
  }

  /// Waits until so many requests were sent.
  private func waitForSends(_ count: Int) async {
    while mock.sent.count < count { await Task.yield() }
  }

  @Test func `the last response comes at once, and a newer one is fetched for the next time`() async throws {
    try await session.signIn(AccessToken("alice"))
    let first: String = try await client.send(.get("me"))
    let second = try await client.response(for: Request<String>.get("me"))
    #expect(first == "Bearer alice")
    #expect(second.value == "Bearer alice")
    #expect(second.http.request.call.events.map(\.message) == ["returned the last response"])
    await waitForSends(2)
  }

  @Test func `another user does not get the response of the previous user`() async throws {
    try await session.signIn(AccessToken("alice"))
    try await client.send(.get("me"))
    try await session.signOut()
    try await session.signIn(AccessToken("bob"))
    let text: String = try await client.send(.get("me"))
    #expect(text == "Bearer bob")
  }

  @Test func `a response without a known owner is not kept`() async throws {
    let secret = ClosureBehavior("secret", order: .signing) { request, next in
      var request = request
      request.headers.set("X-Secret", "s3cret", sensitive: .baseURL)
      return try await next(request)
    }
    let client = client.with { $0.behaviors.append(secret) }
    try await session.signIn(AccessToken("alice"))
    for _ in 0..<2 { try await client.send(.get("me")) }
    #expect(mock.sent.count == 2)
  }
}
