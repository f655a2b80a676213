import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Responses that are not kept, because they may not be or because no request could use them.
@Suite(.limited) struct CacheKeepingTests {
  private typealias Reply = CacheFixture.Reply
  private let store = MemoryCacheStore(capacity: 10_000, maximumBodySize: 100)
  private let events = Box<[CacheEvent]>([])
  private let clock = ManualClock()

  private func client(_ transport: any Transport, store: (any CacheStore)? = nil) -> NetworkClient {
    let events = events
    let cache = CachingBehavior(store ?? self.store) { event in events.update { $0.append(event) } }
    return NetworkClient(transport, clock.requestClock, [cache])
  }

  private func stream(of response: NetworkResponse) throws -> ByteStream {
    guard case .stream(let stream) = response.body else { throw Failure("the body is no stream") }
    return stream
  }

  // MARK: Streams

  @Test(
    arguments: [
      (["Content-Type": "text/event-stream"], .endless),
      (["Content-Type": "Text/Event-Stream; charset=utf-8", "Cache-Control": "no-cache", "ETag": "\"1\""], .endless),
      (["Content-Type": "multipart/x-mixed-replace; boundary=x"], .endless),
      (["Cache-Control": "no-store"], .responseForbids), (["Cache-Control": "no-cache"], .unusable), ([:], .unusable),
      (["Cache-Control": "max-age=60", "Content-Length": "101"], .tooLarge), (["Vary": "*"], .varyStar),
    ] as [(HeaderFields, CacheRefusal)])
  func `a stream that will not be stored passes, and the reason is reported at once`(
    headers: HeaderFields, refusal: CacheRefusal
  )
    async throws
  {
    let source = ChunkSource()
    let response = try await client(source.transport(200, headers)).send(Request<NetworkResponse>.get("a"))
    // The reason is reported at once, not when the stream has been read.
    #expect(events.value.compactMap(\.refusal) == [refusal])
    source.send("one")
    source.finish()
    #expect(try await stream(of: response).texts() == ["one"])
    #expect(events.value.map(\.kind) == [.miss, .notStored])
    #expect(store.count == 0)
  }

  @Test(arguments: ["100", "0", "x"])
  func `a stream of a length that the store takes is collected`(length: String) async throws {
    let source = ChunkSource()
    let headers: HeaderFields = ["Cache-Control": "max-age=60", "Content-Length": length]
    let response = try await client(source.transport(200, headers)).send(Request<NetworkResponse>.get("a"))
    #expect(events.value.map(\.kind) == [.miss])
    response.body.cancel()
  }

  @Test func `a stream that is read on after its end is stored once`() async throws {
    let source = ChunkSource()
    let transport = source.transport(200, ["Cache-Control": "max-age=60"])
    let response = try await client(transport).send(Request<NetworkResponse>.get("a"))
    source.send("one")
    source.finish()
    var iterator = try stream(of: response).makeAsyncIterator()
    #expect(try await iterator.next() == Data("one".utf8))
    for _ in 0..<3 { #expect(try await iterator.next() == nil) }
    #expect(events.value.map(\.kind) == [.miss, .stored])
    #expect(store.count == 1)
  }

  @Test func `a stream that is read after its error reports no further event`() async throws {
    let source = ChunkSource()
    let transport = source.transport(200, ["Cache-Control": "max-age=60"])
    let response = try await client(transport).send(Request<NetworkResponse>.get("a"))
    source.finish(Failure("cut"))
    var iterator = try stream(of: response).makeAsyncIterator()
    await #expect(throws: (any Error).self) { try await iterator.next() }
    _ = try? await iterator.next()
    #expect(events.value.map(\.kind) == [.miss])
    #expect(store.count == 0)
  }

  @Test func `a response in a file is not stored, and the reason is reported`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"],
        body: .file(URL(filePath: "/nowhere")))
    }
    let response = try await client(transport).send(Request<NetworkResponse>.get("a"))
    #expect(response.info[CacheFacts.self] == nil)
    #expect(events.value.compactMap(\.refusal) == [.file])
    #expect(store.count == 0)
  }

  // MARK: Use

  @Test(
    arguments: [
      [:], ["Cache-Control": "max-age=0"], ["Cache-Control": "no-cache"], ["Cache-Control": "private"],
      ["Cache-Control": "max-age=60, no-cache"], ["Expires": "0"], ["Cache-Control": "max-age=60", "Age": "60"],
      ["Cache-Control": "no-cache, stale-if-error=60"],
      ["Cache-Control": "max-age=0, must-revalidate, stale-if-error=60"],
    ] as [HeaderFields])
  func `a response that is not fresh and has no validator is not stored`(headers: HeaderFields) async throws {
    let fixture = CacheFixture(headers)
    let response = try await fixture.send()
    #expect(try response.text == "body")
    #expect(response.info[CacheFacts.self] == nil)
    #expect(fixture.refusals == [.unusable])
    #expect(fixture.store.count == 0)
  }

  @Test(
    arguments: [
      ["Cache-Control": "max-age=60"], ["Cache-Control": "no-cache", "ETag": "\"1\""], ["ETag": "\"1\""],
      ["Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT", "Cache-Control": "no-cache"],
      ["Cache-Control": "max-age=0, stale-if-error=60"], ["Cache-Control": "max-age=0, stale-while-revalidate=60"],
    ] as [HeaderFields])
  func `a response that is fresh, can be validated or may be used stale is stored`(headers: HeaderFields) async throws {
    let fixture = CacheFixture(headers)
    try await fixture.send()
    #expect(fixture.store.count == 1)
  }

  @Test func `a response that the request or the policy allows to be used stale is stored`() async throws {
    let requests: [Request<NetworkResponse>] = [
      .get("a").with(\.caching, .preferStale), .get("a").with(\.staleIfError, .seconds(60)),
      .get("a").with(header: "Cache-Control", "max-stale"),
    ]
    for request in requests {
      let fixture = CacheFixture([:])
      try await fixture.send(request)
      #expect(fixture.store.count == 1)
    }
    let fixture = CacheFixture([:], policy: CachePolicy(staleIfError: .seconds(60)))
    try await fixture.send()
    #expect(fixture.store.count == 1)
  }

  @Test func `a newer response that cannot be reused replaces the stored one`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"], body: "old"), Reply(body: "new"),
    ])
    try await fixture.send()
    try await fixture.send(.get("a").with(\.caching, .revalidate))
    #expect(fixture.store.count == 0)
    #expect(try await fixture.send().text == "new")
  }

  // MARK: Fields

  @Test(arguments: [RequestMethod.get, .head])
  func `a field that a validation lists in no-cache is removed from the stored response`(method: RequestMethod)
    async throws
  {
    let transport = ClosureTransport { request in
      let isFirst = !request.headers.contains("If-None-Match") && request.method == .get
      return NetworkResponse(
        request: request, statusCode: request.headers.contains("If-None-Match") ? 304 : 200,
        headers: [
          "ETag": "\"1\"", "X-Secret": isFirst ? "old" : "new", "X-Plain": isFirst ? "old" : "new",
          "Cache-Control": isFirst ? "max-age=60" : "max-age=60, no-cache=\"X-Secret\"",
        ], body: .data(Data("body".utf8)))
    }
    let client = client(transport)
    _ = try await client.send(Request<NetworkResponse>.get("a"))
    let mode: CachingMode = method == .head ? .reload : .revalidate
    _ = try await client.send(Request<NetworkResponse>(method, "a").with(\.caching, mode))
    let hit = try await client.send(Request<NetworkResponse>.get("a"))
    #expect(hit.source == .cache)
    #expect(hit.headers["X-Secret"] == nil)
    #expect(hit.headers["X-Plain"] == "new")
  }

  // MARK: Keys

  private static let spellings = [
    "https://api.example.com/v1/a", "https://api.example.com:443/v1/a", "HTTPS://API.Example.COM/v1/a",
    "https://api.example.com:/v1/a", "https://api.example.com/v1/a#part", "https://api.example.com/v1/b/../a",
  ]

  @Test(arguments: spellings)
  func `RFC 9110 §4.2.3: URLs that are equal to a server have the same key`(spelling: String) async throws {
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = client(transport)
    try await client.send(.get("a"))
    let other = Request<NetworkResponse>.get(url: try #require(URL(string: spelling)))
    #expect(try await client.send(other).source == .cache)
    try await client.send(Request<Void>(.delete, url: try #require(URL(string: spelling))))
    #expect(store.count == 0)
  }

  @Test(arguments: [
    "https://api.example.com:80/v1/a", "http://api.example.com/v1/a", "https://api.example.com/V1/a",
    "https://api.example.com/v1/a?b", "https://api.example.com:8443/v1/a",
  ])
  func `URLs that are different to a server have different keys`(spelling: String) async throws {
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = client(transport)
    try await client.send(.get("a"))
    _ = try await client.send(Request<NetworkResponse>.get(url: try #require(URL(string: spelling))))
    #expect(transport.sent.count == 2)
  }

  @Test func `an empty path is the root, and a default port of http counts as none`() async throws {
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = client(transport)
    for text in ["http://h.example", "http://h.example:80/", "http://h.example/#x"] {
      _ = try await client.send(Request<NetworkResponse>.get(url: try #require(URL(string: text))))
    }
    #expect(transport.sent.count == 1)
    for text in ["http://h.example?q=1", "http://H.example:80/?q=1"] {
      _ = try await client.send(Request<NetworkResponse>.get(url: try #require(URL(string: text))))
    }
    #expect(transport.sent.count == 2)
  }

  // MARK: Users who have signed out

  @Test func `stored responses of an ended scope are not used, even if the store could not remove them`() async throws {
    let store = FailingStore(self.store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let cache = CachingBehavior(store)
    let client = NetworkClient(transport, [cache, .basicAuth(user: "alice", password: "p")])
    try await client.send(.get("a"))
    store.fails.value = true
    await cache.scopeEnded("basic:alice")
    for _ in 0..<2 { try await client.send(.get("a")) }
    #expect(transport.sent.count == 3)
    store.fails.value = false
    for _ in 0..<2 { try await client.send(.get("a")) }
    #expect(transport.sent.count == 4)
  }

  @Test func `entries that a reset could not remove are not used before they are removed`() async throws {
    let store = FailingStore(self.store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = NetworkClient(transport, [.caching(store)])
    for path in ["a", "b"] { try await client.send(.get("\(path)")) }
    store.fails.value = true
    await client.reset()
    for _ in 0..<2 { try await client.send(.get("a")) }
    #expect(transport.sent.count == 4)
    store.fails.value = false
    try await client.send(.get("a"))
    #expect(self.store.count == 1)
    for path in ["a", "b"] { try await client.send(.get("\(path)")) }
    #expect(transport.sent.count == 6)
  }

  @Test func `entries that a reset could not remove are not used by the behaviors of other clients either`()
    async throws
  {
    let store = FailingStore(self.store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = NetworkClient(transport, [.caching(store)])
    let other = NetworkClient(transport, [.caching(store)])
    try await client.send(.get("a"))
    store.fails.value = true
    await client.reset()
    try await other.send(.get("a"))
    #expect(transport.sent.count == 2)
  }

  @Test(arguments: [false, true])
  func `entries that a store could not remove are not used after the client that knew of them is gone`(
    isReset: Bool
  ) async throws {
    let store = FailingStore(self.store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    do {
      let client = NetworkClient(transport, [.caching(store)])
      try await client.send(.get("a"))
      store.fails.value = true
      if isReset { await client.reset() } else { try await client.send(.put("a")) }
    }
    let sent = transport.sent.count
    try await NetworkClient(transport, [.caching(store)]).send(.get("a"))
    #expect(transport.sent.count == sent + 1)
  }

  @Test func `the response of a POST is not stored if another process removes its URL beside the POST`() async throws {
    let store = FailingStore(self.store)
    let transport = ClosureTransport(
      200, "body", headers: ["Cache-Control": "max-age=60", "Content-Location": "/v1/a"])
    let client = NetworkClient(transport, [.caching(store)])
    try await client.send(.post("a"))
    try await client.send(.get("a"))
    #expect(transport.sent.count == 1)
    // Between the POST's own removal and the store's new mark.
    store.afterRemoval.value = { [base = self.store] in await base.removeAll(url: "https://api.example.com/v1/a") }
    try await client.send(.post("a"))
    try await client.send(.get("a"))
    #expect(transport.sent.count == 3)
  }

  @Test func `a sign-out removes the responses of a store that is closed beside it`() async throws {
    let store = ClosingStore(self.store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    try await NetworkClient(transport, [.caching(self.store), Alice()]).send(.get("a"))
    #expect(self.store.count == 1)
    await CachingBehavior(store).scopeEnded("alice")
    #expect(store.isClosed)
    #expect(self.store.count == 0)
  }
}

private struct Alice: RequestBehavior {
  func scope(for request: NetworkRequest) -> String? { "alice" }
}

/// A store that is closed while a user's responses are removed, and whose responses another one finds.
private final class ClosingStore: ReleasedCacheStore {
  private let closed = Box(false)
  private let base: MemoryCacheStore

  init(_ base: MemoryCacheStore) { self.base = base }

  var place: String { "closing" }
  var isClosed: Bool { closed.value }
  var reopener: @Sendable () async throws -> (any CacheStore)? { { [base] in base } }
  var digestKey: Data { base.digestKey }
  var maximumBodySize: Int { base.maximumBodySize }

  func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? { nil }
  func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async throws -> Int { 0 }
  func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws {}
  func remove(_ response: StoredResponse, for key: CacheKey) async throws {}
  func removeAll(url: String) async throws {}
  func removeAll() async throws {}
  func entries(limit: Int) async throws -> [CacheEntry] { [] }

  func removeAll(scope: String) async throws {
    closed.value = true
    throw Failure("closed")
  }
}
