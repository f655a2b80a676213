import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A stored response is not used for another user or another request, or when it is out of date.
@Suite(.limited) struct CacheReuseTests {
  private let store = MemoryCacheStore()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, [.caching(store)] + behaviors)
  }

  /// Answers with what `body` returns, fresh for a minute.
  private func server(
    vary: String? = nil, _ body: @escaping @Sendable (NetworkRequest) -> String
  ) -> ClosureTransport {
    ClosureTransport { request in
      var headers: HeaderFields = ["Cache-Control": "max-age=60"]
      headers["Vary"] = vary
      return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(Data(body(request).utf8)))
    }
  }

  // MARK: Users

  @Test func `a response is not stored for a user who signed in while the request was under way`() async throws {
    let signingIn = ClosureBehavior("sign-in", order: .signing, modify: { $0.call.noteSend(for: "ann") })
    let transport = server { _ in "ann's" }
    _ = try await client(transport, signingIn).send(Request<String>.get("me"))
    #expect(await store.entries(limit: 10).isEmpty)
    let nobody = server { _ in "nobody's" }
    #expect(try await client(nobody).send(Request<String>.get("me")) == "nobody's")
  }

  @Test func `a request that is signed for a user who signed in during the call stores nothing`() async throws {
    let session = OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs"))
    let signingIn = ClosureBehavior(
      "sign-in", order: .gate, beforeSend: { _ in session.signIn(OAuth1Credentials(token: "ann", secret: "s")) })
    let signed = Request<String>.get("me").with(\.authentication, .optional)
    #expect(try await client(server { _ in "ann's" }, signingIn, .oauth1(session)).send(signed) == "ann's")
    #expect(await store.entries(limit: 10).isEmpty)
  }

  @Test func `a response under way is not stored after its user signs out`() async throws {
    struct Ann: RequestBehavior {
      func scope(for request: NetworkRequest) async -> String? { "ann" }
    }
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
    }
    let caching = CachingBehavior(store)
    let client = NetworkClient(transport, [caching, Ann()])
    let call = Task { try await client.send(.get("me")) }
    await gate.waitForArrivals(1)
    await caching.scopeEnded("ann")
    gate.open()
    try await call.value
    #expect(await store.entries(limit: 10).isEmpty)
    try await client.send(.get("me"))
    #expect(await store.entries(limit: 10).count == 1)
  }

  @Test func `a response that was under way at a sign-out is not stored, even if the store could not remove the rest`()
    async throws
  {
    struct Ann: RequestBehavior {
      func scope(for request: NetworkRequest) async -> String? { "ann" }
    }
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
    }
    let store = FailingStore(self.store)
    let refusals = Box<[CacheRefusal?]>([])
    let caching = CachingBehavior(store) { event in refusals.update { $0.append(event.refusal) } }
    let call = Task { try await NetworkClient(transport, [caching, Ann()]).send(.get("me")) }
    await gate.waitForArrivals(1)
    store.fails.value = true
    await caching.scopeEnded("ann")
    store.fails.value = false
    gate.open()
    try await call.value
    #expect(await self.store.entries(limit: 10).isEmpty)
    #expect(refusals.value.last == .changedMeanwhile)
  }

  @Test func `a response that the store failed to keep does not say that it is stored`() async throws {
    let store = FailingStore(self.store)
    let transport = ClosureTransport(200, "body", headers: ["Cache-Control": "max-age=60"])
    let client = NetworkClient(transport, [.caching(store)])
    store.fails.value = true
    let first: NetworkResponse = try await client.send(.get("a"))
    #expect(first.info[CacheFacts.self] == nil)
    store.fails.value = false
    let second: NetworkResponse = try await client.send(.get("a"))
    #expect(second.info[CacheFacts.self] != nil)
  }

  @Test(arguments: ["X-Tenant", "Authorization"])
  func `a response that varies by a field which was added further in is not stored`(field: String) async throws {
    let tenant = Box("north")
    let adding = ClosureBehavior("tenant", order: .signing, modify: { $0.headers[field] = tenant.value })
    let client = client(server(vary: "accept, \(field)") { $0.headers[field] ?? "" }, adding)
    #expect(try await client.send(Request<String>.get("a")) == "north")
    tenant.value = "south"
    #expect(try await client.send(Request<String>.get("a")) == "south")
  }

  @Test func `a credential may be added further in if the key identifies its user`() async throws {
    let transport = server(vary: "Authorization") { $0.headers["Authorization"] ?? "" }
    let client = client(transport, BasicAuthBehavior(user: "u", password: "p"))
    for _ in 1...2 { _ = try await client.send(Request<String>.get("a")) }
    #expect(transport.sent.count == 1)
  }

  // MARK: Invalidation

  @Test func `a removal that fails while an earlier one is made up for is made up for too`() async throws {
    let (failing, version, gate) = (FailingStore(store), Box(0), TestGate())
    let transport = server { _ in "\(version.value)" }
    let client = NetworkClient(transport, [.caching(failing)])
    func change() async throws {
      failing.fails.value = true
      version.update { $0 += 1 }
      try await client.send(.put("doc"))
      failing.fails.value = false
    }
    func read() async throws -> String { try await client.send(.get("doc")) }
    #expect(try await read() == "0")
    try await change()
    failing.afterRemoval.value = { await gate.pass() }
    let held = Task { try await client.send(Request<String>.get("doc")) }
    await gate.waitForArrivals(1)
    #expect(try await read() == "1")
    try await change()
    gate.open()
    _ = try await held.value
    #expect(try await read() == "2")
  }

  @Test func `responses that the store could not remove are not used, and are removed as soon as possible`()
    async throws
  {
    let failing = FailingStore(store)
    let version = Box(1)
    let transport = server { _ in "\(version.value)" }
    let caching = CachingBehavior(failing)
    let client = NetworkClient(transport, [caching])
    #expect(try await client.send(Request<String>.get("doc")) == "1")
    failing.fails.value = true
    version.value = 2
    try await client.send(.put("doc"))
    #expect(try await client.send(Request<String>.get("doc")) == "2")
    failing.fails.value = false
    version.value = 3
    #expect(try await client.send(Request<String>.get("doc")) == "3")
    #expect(try await client.send(Request<String>.get("doc")) == "3")
    #expect(transport.sent.count == 4)
  }

  @Test func `a store that could not remove a thousand URLs is not used until it has been emptied`() async throws {
    let failing = FailingStore(store)
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: .data(Data("\(number)".utf8))
      )
    })
    let client = NetworkClient(transport, .system, [.caching(failing)])
    #expect(try await client.send(Request<String>.get("stored")) == "1")
    failing.fails.value = true
    for number in 0...1_000 { try await client.send(.post("changed/\(number)")) }
    #expect(try await client.send(Request<String>.get("stored")) == "1003")
    failing.fails.value = false
    #expect(try await client.send(Request<String>.get("stored")) == "1004")
    #expect(try await client.send(Request<String>.get("stored")) == "1004")
    #expect(await store.entries(limit: 10).count == 1)
  }

  @Test(arguments: [307, 303])
  func `the redirect target of an unsafe request is invalid`(status: Int) async throws {
    let version = Box(1)
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent == "a" {
        return NetworkResponse(
          request: request, statusCode: status, headers: ["Location": "/v1/b", "Cache-Control": "no-store"])
      }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"],
        body: .data(Data("\(version.value)".utf8)))
    }
    let client = client(transport)
    #expect(try await client.send(Request<String>.get("b")) == "1")
    version.value = 2
    try await client.send(.post("a"))
    #expect(try await client.send(Request<String>.get("b")) == "2")
  }

  @Test func `a response that one client makes invalid is not stored by another client of the store`() async throws {
    let gate = TestGate()
    let slow = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
    }
    let reader = client(slow)
    let call = Task { try await reader.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await client(ClosureTransport()).send(.put("a"))
    gate.open()
    try await call.value
    #expect(await store.entries(limit: 10).isEmpty)
  }

  @Test func `a HEAD does not make a stored failure fresh`() async throws {
    let clock = ManualClock()
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: request.method == .head ? 200 : 404, headers: ["Cache-Control": "max-age=60"])
    }
    let client = NetworkClient(transport, clock.requestClock, [.caching(store)])
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    clock.advance(by: .seconds(61))
    try await client.send(.head("a"))
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(transport.sent.map(\.method) == [.get, .head, .get])
  }

  // MARK: Other questions

  @Test(arguments: [412, 416])
  func `a response to a condition or a range is not used for a plain request`(status: Int) async throws {
    let transport = ClosureTransport { request in
      let isPlain = !request.headers.contains("Range") && !request.headers.contains("If-Match")
      return NetworkResponse(
        request: request, statusCode: isPlain ? 200 : status, headers: ["Cache-Control": "max-age=60"])
    }
    let client = client(transport)
    for field in ["Range": "bytes=1000-", "If-Match": "\"old\""] {
      await #expect(throws: NetworkError.self) { try await client.send(.get("a", headers: [field.key: field.value])) }
    }
    try await client.send(.get("a"))
    #expect(transport.sent.count == 3)
  }

  @Test func `a redirect that a request stored without following it is followed by other requests`() async throws {
    let transport = ClosureTransport { request in
      let isOld = request.url.lastPathComponent == "old"
      return NetworkResponse(
        request: request, statusCode: isOld ? 301 : 200,
        headers: ["Location": "/v1/new", "Cache-Control": "max-age=60"])
    }
    let client = client(transport)
    let asItIs = Request<NetworkResponse>.get("old").with(\.redirects, .none).with(\.acceptableStatuses, [301])
    #expect(try await client.send(asItIs).statusCode == 301)
    #expect(try await client.send(Request<NetworkResponse>.get("old")).request.url.lastPathComponent == "new")
    #expect(try await client.send(asItIs).source == .cache)
  }

  @Test(arguments: [["ext=\"a", "no-store"], ["ext=\"a, no-store"]])
  func `a quoted string without an end does not hide a directive`(lines: [String]) async throws {
    let transport = ClosureTransport { request in
      var headers: HeaderFields = ["Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT"]
      for line in lines { headers.append("Cache-Control", line) }
      return NetworkResponse(request: request, statusCode: 200, headers: headers)
    }
    let client = client(transport)
    for _ in 1...2 { try await client.send(.get("a")) }
    #expect(transport.sent.count == 2)
  }
}

/// A store that can fail to remove, and whose looks can take time.
final class FailingStore: CacheStore {
  let fails = Box(false)
  /// The number of removals of an owner's responses.
  let scopeRemovals = Box(0)
  /// Runs after the next look, before its result is returned.
  let afterLook = Box<(@Sendable () async -> Void)?>(nil)
  /// Runs after the next removal of a URL's responses.
  let afterRemoval = Box<(@Sendable () async -> Void)?>(nil)
  private let base: MemoryCacheStore

  init(_ base: MemoryCacheStore) { self.base = base }

  var digestKey: Data { base.digestKey }
  var maximumBodySize: Int { base.maximumBodySize }

  func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? {
    let found = await base.response(for: key, matching: request)
    if let wait = afterLook.value {
      afterLook.value = nil
      await wait()
    }
    return found
  }

  func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async throws -> Int {
    try check()
    return await base.save(response, for: key, matching: request)
  }

  func mark() async throws -> CacheMark { await base.mark() }

  func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async throws -> CacheSaving {
    try check()
    return await base.save(response, for: key, matching: request, since: mark)
  }

  func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws {
    await base.update(old, to: new, for: key)
  }

  func remove(_ response: StoredResponse, for key: CacheKey) async throws {
    try check()
    await base.remove(response, for: key)
  }

  func removeAll(url: String) async throws {
    try check()
    await base.removeAll(url: url)
    if let wait = afterRemoval.value {
      afterRemoval.value = nil
      await wait()
    }
  }

  func removeAll(scope: String) async throws {
    scopeRemovals.update { $0 += 1 }
    try check()
    await base.removeAll(scope: scope)
  }

  func removeAll() async throws {
    try check()
    await base.removeAll()
  }

  func entries(limit: Int) async throws -> [CacheEntry] { await base.entries(limit: limit) }

  private func check() throws { if fails.value { throw Failure("locked") } }
}
