import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The separation of users, and responses that must not be stored.
@Suite(.limited) struct CacheSafetyTests {
  private typealias Reply = CacheFixture.Reply
  private let fresh: HeaderFields = ["Cache-Control": "max-age=60"]

  private struct ScopeBehavior: RequestBehavior {
    let user: Box<String>
    func scope(for request: NetworkRequest) -> String? { user.value }
  }

  @Test func `the response of one user is not used for another`() async throws {
    let user = Box("alice")
    let fixture = CacheFixture(
      [Reply(headers: fresh, body: "alice's"), Reply(headers: fresh, body: "bob's")], ScopeBehavior(user: user))
    try await fixture.send()
    user.value = "bob"
    #expect(try await fixture.send().text == "bob's")
    user.value = "alice"
    #expect(try await fixture.send().text == "alice's")
    #expect(fixture.sent.count == 2)
    // A change makes both invalid.
    try await fixture.send(.init(.delete, "a"))
    #expect(fixture.store.count == 0)
  }

  @Test func `requests with other secrets in their own fields have other entries, and no key shows a secret`()
    async throws
  {
    let fixture = CacheFixture([
      Reply(headers: fresh, body: "1"), Reply(headers: fresh, body: "2"), Reply(headers: fresh, body: "3"),
    ])
    let requests: [Request<NetworkResponse>] = [
      .get("a", headers: ["Authorization": "Bearer canary-1"]),
      .get("a", headers: ["Authorization": "Bearer canary-2"]),
      .get("a").with(header: "X-Own", "canary-3", sensitive: .any),
    ]
    for request in requests { try await fixture.send(request) }
    for (index, request) in requests.enumerated() {
      #expect(try await fixture.send(request).text == "\(index + 1)")
    }
    #expect(fixture.sent.count == 3)
    let entries = await fixture.store.entries(limit: 9)
    #expect(entries.count == 3)
    for entry in entries { #expect(!"\(entry.key) \(entry.response.variant)".contains("canary")) }
  }

  @Test func `environments with other fields have other entries`() async throws {
    let fixture = CacheFixture([Reply(headers: fresh, body: "1"), Reply(headers: fresh, body: "2")])
    func request(_ tenant: String) -> Request<NetworkResponse> {
      .get("a").with(\.environment, ServerEnvironment(baseURL: baseURL, headers: ["X-Tenant": tenant]))
    }
    try await fixture.send(request("a"))
    #expect(try await fixture.send(request("b")).text == "2")
    #expect(try await fixture.send(request("a")).text == "1")
  }

  @Test func `a response that is not verified is not stored, and does not change a stored response`() async throws {
    let fixture = CacheFixture([
      Reply(headers: fresh, body: "old"), Reply(status: 404, headers: fresh, isVerified: false),
      Reply(status: 409, headers: fresh, isVerified: false),
    ])
    let strict = fixture.client.with { $0.options.acceptableStatuses = .success }
    let ask: Request<NetworkResponse> = .get("a")
    _ = try await strict.send(ask)
    await #expect(throws: NetworkError.self) { try await strict.send(ask.with(\.caching, .reload)) }
    await #expect(throws: NetworkError.self) { try await strict.send(Request<NetworkResponse>(.delete, "a")) }
    #expect(try await strict.send(ask).text == "old")
    #expect(fixture.refusals == [.unverified])
  }

  @Test(arguments: ["https://api.example.com/v1/b", "https://cdn.example.com/b"])
  func `a redirected response is not stored under the URL that was asked`(location: String) async throws {
    let fixture = CacheFixture([
      Reply(status: 302, headers: ["Location": location, "Cache-Control": "no-store"]),
      Reply(headers: fresh, body: "1"),
      Reply(status: 302, headers: ["Location": location, "Cache-Control": "no-store"]),
      Reply(headers: fresh, body: "2"),
    ])
    #expect(try await fixture.send().text == "1")
    // The redirect is requested again. Its target is stored under its own URL.
    #expect(try await fixture.send().text == "1")
    #expect(fixture.refusals == [.otherURL, .otherURL])
    #expect(await fixture.store.entries(limit: 9).map(\.key.url) == [location])
  }

  @Test(arguments: ["https://api.example.com/v1/b", "https://cdn.example.com/b"])
  func `a redirect of a validation drops its conditions, and a 304 from there leads to a plain request`(
    location: String
  ) async throws {
    let fixture = CacheFixture([
      Reply(headers: ["ETag": "\"a\""], body: "old"), Reply(status: 307, headers: ["Location": location]),
      Reply(status: 304),
      Reply(headers: ["ETag": "\"b\""], body: "new"),
    ])
    try await fixture.send()
    #expect(try await fixture.send().text == "new")
    #expect(fixture.sent.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", nil, nil])
  }

  @Test func `a response whose URL was changed while it was under way is not stored`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      if request.method == .get { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
    }
    let store = MemoryCacheStore()
    let client = NetworkClient(transport, [.caching(store)])
    async let before: NetworkResponse = client.send(.get("a"))
    await gate.waitForArrivals(1)
    try await client.send(.init(.put, "a"))
    gate.open()
    _ = try await before
    #expect(store.count == 0)
    _ = try await client.send(.get("a")) as NetworkResponse
    #expect(store.count == 1)
  }

  @Test(
    arguments: [
      (["Content-Length": "9", "Cache-Control": "max-age=60"], .incomplete),
      (["Cache-Control": "no-store"], .responseForbids), (["Vary": "*"], .varyStar),
    ] as [(HeaderFields, CacheRefusal)])
  func `a response that may not be stored passes, and the reason is reported`(
    headers: HeaderFields, refusal: CacheRefusal
  )
    async throws
  {
    let fixture = CacheFixture(headers)
    let response = try await fixture.send()
    #expect(try response.text == "body")
    #expect(response.info[CacheFacts.self] == nil)
    #expect(fixture.refusals == [refusal])
    #expect(response.request.call.events.map(\.message) == ["miss", "not stored: \(refusal)"])
  }

  @Test func `a body that is too large for the store is not stored, and the stored one is removed`() async throws {
    let fixture = CacheFixture(
      [
        Reply(headers: ["ETag": "\"a\""], body: "small"),
        Reply(headers: fresh, body: String(repeating: "x", count: 100)),
      ],
      store: MemoryCacheStore(maximumBodySize: 50))
    try await fixture.send()
    try await fixture.send()
    #expect(fixture.refusals == [.tooLarge])
    #expect(fixture.store.count == 0)
  }

  @Test func `a stored response obeys the limit of its request, as a response of the network does`() async throws {
    let fixture = CacheFixture(fresh)
    try await fixture.send()
    let error = await #expect(throws: NetworkError.self) { try await fixture.send(.get("a").with(\.bodyLimit, 3)) }
    #expect(error?.code == .bodyTooLarge)
  }

  @Test func `a newer response with no-store removes the stored one`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"], body: "old"),
      Reply(headers: ["Cache-Control": "no-store"]),
    ])
    try await fixture.send()
    try await fixture.send(.get("a").with(\.caching, .revalidate))
    #expect(fixture.store.count == 0)
  }

  @Test(arguments: [Request<NetworkResponse>.get("a"), Request(.head, "a")])
  func `a 304 or the response to a HEAD with no-store removes the stored response`(
    request: Request<NetworkResponse>
  ) async throws {
    let fixture = CacheFixture([
      Reply(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Last-Modified": httpDate(-86_400 * 365)]),
      Reply(headers: ["ETag": "\"a\"", "Cache-Control": "no-store"]),
    ])
    try await fixture.send()
    fixture.wait(61)
    try await fixture.send(request)
    #expect(fixture.store.count == 0)
    #expect(try await fixture.send().source == .network)
  }

  @Test func `variants of a URL are stored side by side, and a new response replaces the matching one`() async throws {
    let fixture = CacheFixture([
      Reply(headers: ["Cache-Control": "max-age=60", "Vary": "Foo"], body: "1"),
      Reply(headers: ["Cache-Control": "max-age=60", "Vary": "Foo"], body: "2"),
      Reply(headers: ["Cache-Control": "max-age=60", "Vary": "Foo"], body: "3"),
    ])
    func request(_ value: String) -> Request<NetworkResponse> { .get("a", headers: ["Foo": value]) }
    try await fixture.send(request("1"))
    try await fixture.send(request("2"))
    #expect(try await fixture.send(request("1")).text == "1")
    #expect(try await fixture.send(request("1").with(\.caching, .reload)).text == "3")
    #expect(try await fixture.send(request("2")).text == "2")
    #expect(fixture.store.count == 2)
  }

  @Test func `resetting the client empties the cache`() async throws {
    let fixture = CacheFixture(fresh)
    try await fixture.send()
    await fixture.client.reset()
    #expect(fixture.store.count == 0)
    #expect(fixture.store.size == 0)
  }

  /// Adds a field that the cache does not see.
  private struct LanguageBehavior: RequestBehavior {
    let order = BehaviorOrder.inside(.caching)
    let language: Box<String>

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      var request = request
      request.headers.set("X-Language", language.value)
      return try await next(request)
    }
  }

  @Test(arguments: [RequestMethod.get, .head])
  func `a response is not used again once a validation says that it varies by a field that was added further in`(
    method: RequestMethod
  ) async throws {
    let language = Box("de")
    let varying: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "X-Language"]
    let fixture = CacheFixture(
      [
        Reply(headers: ["Cache-Control": "no-cache", "ETag": "\"a\""], body: "Hallo"), Reply(headers: varying),
        Reply(headers: varying, body: "Hello", confirms: false),
      ], LanguageBehavior(language: language))
    #expect(try await fixture.send().text == "Hallo")
    let validation = try await fixture.send(.init(method, "a"))
    #expect(try validation.text == (method == .get ? "Hallo" : ""))
    #expect(fixture.store.count == 0)
    language.value = "en"
    #expect(try await fixture.send().text == "Hello")
  }

  @Test(arguments: [RequestMethod.get, .head])
  func `what an unverified validation says is not used where responses are verified`(method: RequestMethod) async throws
  {
    let isPortal = Box(false)
    let transport = ClosureTransport { request in
      var headers: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X-Portal": "yes"]
      if isPortal.value {
        return NetworkResponse(request: request, statusCode: request.method == .head ? 200 : 304, headers: headers)
      }
      headers = ["Cache-Control": "no-cache", "ETag": "\"a\"", "X-API-Nonce": request.headers["X-API-Nonce"] ?? ""]
      return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(Data("body".utf8)))
    }
    let store = MemoryCacheStore()
    let verifying = NetworkClient(transport, [.caching(store), .nonceVerification()])
    let other = NetworkClient(transport, [.caching(store)])
    let get = Request<NetworkResponse>.get("a")
    _ = try await verifying.send(get)
    isPortal.value = true
    #expect(try await other.send(Request<NetworkResponse>(method, "a")).verification == .none)
    isPortal.value = false
    let response = try await verifying.send(get)
    #expect(response.source == .network)
    #expect(response.verification == .verified)
    #expect(response.headers["X-Portal"] == nil)
  }

  @Test func `a store that fails costs the cache, never the request`() async throws {
    let events = Box<[CacheEvent]>([])
    let client = NetworkClient(
      ClosureTransport(200, "body", headers: fresh),
      [.caching(FailingCacheStore()) { event in events.update { $0.append(event) } }])
    for _ in 0..<2 {
      let text: String = try await client.send(.get("a"))
      #expect(text == "body")
    }
    try await client.send(.init(.delete, "a"))
    #expect(events.value.map(\.kind) == [.failed, .miss, .failed, .failed, .miss, .failed, .failed])
    #expect(events.value.first?.error as? Failure == Failure("store"))
  }
}

/// A store that throws whatever it is asked.
struct FailingCacheStore: CacheStore {
  let digestKey = Data()
  let maximumBodySize = 1_000
  func response(for key: CacheKey, matching request: HeaderFields) throws -> StoredResponse? { throw Failure("store") }
  func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) throws -> Int {
    throw Failure("store")
  }
  func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) throws { throw Failure("store") }
  func remove(_ response: StoredResponse, for key: CacheKey) throws { throw Failure("store") }
  func removeAll(url: String) throws { throw Failure("store") }
  func removeAll(scope: String) throws { throw Failure("store") }
  func removeAll() throws { throw Failure("store") }
  func entries(limit: Int) throws -> [CacheEntry] { throw Failure("store") }
}
