import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Each hop of a redirect is stored and reused separately (RFC 9111 §3, RFC 9110 §15.4).
@Suite(.limited) struct CacheRedirectTests {
  private let store = MemoryCacheStore()
  private let clock = ManualClock()
  private let events = Box<[CacheEvent]>([])

  private struct Hop: Sendable {
    var status = 302
    var to: String?
    var cacheControl: String?
    var body = ""
  }

  /// A server of hops by their last path component.
  private func server(_ hops: [String: Hop]) -> ClosureTransport {
    ClosureTransport { request in
      let hop = hops[request.url.lastPathComponent] ?? Hop(status: 404)
      var headers: HeaderFields = [:]
      if let location = hop.to { headers["Location"] = location }
      if let control = hop.cacheControl { headers["Cache-Control"] = control }
      return NetworkResponse(
        request: request, statusCode: hop.to == nil ? 200 : hop.status, headers: headers,
        body: .data(Data(hop.body.utf8)))
    }
  }

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    let events = events
    let cache = CachingBehavior(store) { event in events.update { $0.append(event) } }
    return NetworkClient(transport, clock.requestClock, [cache] + behaviors)
  }

  private func sent(_ transport: ClosureTransport) -> [String] { transport.sent.map(\.url.lastPathComponent) }

  @Test(arguments: ["b", "https://cdn.example.com/b"])
  func `the target of a redirect is stored under its own URL, and the redirect is requested again`(location: String)
    async throws
  {
    let transport = server([
      "a": Hop(to: location, cacheControl: "no-store"), "b": Hop(cacheControl: "max-age=60", body: "b"),
    ])
    let client = client(transport)
    for _ in 0..<2 { #expect(try await client.send(Request<String>.get("a")) == "b") }
    #expect(sent(transport) == ["a", "b", "a"])
    #expect(await store.entries(limit: 9).map { $0.key.url.suffix(2) } == ["/b"])
  }

  @Test func `the stored target of a redirect is used for a request for its own URL`() async throws {
    let transport = server(["a": Hop(to: "b"), "b": Hop(cacheControl: "max-age=60", body: "b")])
    let client = client(transport)
    _ = try await client.send(Request<String>.get("a"))
    let direct = try await client.send(Request<NetworkResponse>.get("b"))
    #expect(direct.source == .cache)
    #expect(sent(transport) == ["a", "b"])
  }

  @Test(arguments: [301, 302, 307, 308])
  func `a fresh redirect is followed without a request, and a target that is not stored is requested`(status: Int)
    async throws
  {
    let transport = server([
      "a": Hop(status: status, to: "b", cacheControl: "max-age=60"),
      "b": Hop(cacheControl: "max-age=10", body: "b"),
    ])
    let client = client(transport)
    for _ in 0..<2 { #expect(try await client.send(Request<String>.get("a")) == "b") }
    #expect(sent(transport) == ["a", "b"])
    clock.advance(by: .seconds(11))
    let response = try await client.send(Request<NetworkResponse>.get("a"))
    #expect(try response.text == "b")
    #expect(response.request.url.lastPathComponent == "b")
    #expect(sent(transport) == ["a", "b", "b"])
    clock.advance(by: .seconds(60))
    _ = try await client.send(Request<String>.get("a"))
    #expect(sent(transport) == ["a", "b", "b", "a", "b"])
  }

  @Test func `each stored hop of a chain of redirects is used`() async throws {
    let transport = server([
      "a": Hop(to: "b", cacheControl: "max-age=60"), "b": Hop(to: "c"), "c": Hop(to: "d", cacheControl: "max-age=60"),
      "d": Hop(cacheControl: "max-age=60", body: "d"),
    ])
    let client = client(transport)
    for _ in 0..<2 { #expect(try await client.send(Request<String>.get("a")) == "d") }
    #expect(sent(transport) == ["a", "b", "c", "d", "b"])
  }

  @Test func `a redirect without explicit freshness, or with no-store, is not stored`() async throws {
    for control in [nil, "no-store"] {
      let transport = server(["a": Hop(to: "b", cacheControl: control), "b": Hop(body: "b")])
      let client = client(transport)
      _ = try await client.send(Request<String>.get("a"))
      #expect(store.count == 0)
    }
  }

  @Test(arguments: [true, false])
  func `a redirect that was under way at a removal is not stored`(isReset: Bool) async throws {
    let (gate, store) = (TestGate(), MemoryCacheStore())
    let transport = ClosureTransport { request in
      guard request.url.lastPathComponent == "a" else { return NetworkResponse(request: request, statusCode: 200) }
      await gate.pass()
      return NetworkResponse(
        request: request, statusCode: 301, headers: ["Location": "b", "Cache-Control": "max-age=3600"])
    }
    let client = NetworkClient(transport, [.caching(store)])
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    // The store alone knows of the second one, as of a removal by another process.
    if isReset { await client.reset() } else { await store.removeAll(url: "https://api.example.com/v1/a") }
    gate.open()
    try await call.value
    try await client.send(.get("a"))
    #expect(transport.sent.map(\.url.lastPathComponent) == ["a", "b", "a", "b"])
  }

  /// A store without marks, which sees only the removals of its own process.
  private final class PlainStore: CacheStore {
    private let store = MemoryCacheStore()

    var digestKey: Data { store.digestKey }
    var maximumBodySize: Int { store.maximumBodySize }

    func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? {
      await store.response(for: key, matching: request)
    }

    func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async throws -> Int {
      await store.save(response, for: key, matching: request)
    }

    func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws {
      await store.update(old, to: new, for: key)
    }

    func remove(_ response: StoredResponse, for key: CacheKey) async throws { await store.remove(response, for: key) }
    func removeAll(url: String) async throws { await store.removeAll(url: url) }
    func removeAll(scope: String) async throws { await store.removeAll(scope: scope) }
    func removeAll() async throws { await store.removeAll() }
    func entries(limit: Int) async throws -> [CacheEntry] { await store.entries(limit: limit) }
  }

  @Test func `a response that was under way at a reset is not stored in a store without marks`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=3600"])
    }
    let client = NetworkClient(transport, [.caching(PlainStore())])
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await client.reset()
    gate.open()
    try await call.value
    try await client.send(.get("a"))
    #expect(transport.sent.count == 2)
    try await client.send(.get("a"))
    #expect(transport.sent.count == 2)
  }

  @Test func `a request that follows no redirects gets the stored one itself`() async throws {
    let transport = server(["a": Hop(to: "b", cacheControl: "max-age=60"), "b": Hop(body: "b")])
    let client = client(transport)
    let request = Request<NetworkResponse>.get("a").with(\.acceptableStatuses, .all)
    _ = try await client.send(request)
    let response = try await client.send(request.with(\.redirects, .none))
    #expect(response.statusCode == 302)
    #expect(response.source == .cache)
    #expect(sent(transport) == ["a", "b"])
  }

  @Test func `stored redirects count as redirects, and a loop of them ends`() async throws {
    let transport = server([
      "a": Hop(to: "b", cacheControl: "max-age=60"), "b": Hop(to: "c", cacheControl: "max-age=60"),
      "c": Hop(to: "a", cacheControl: "max-age=60"), "x": Hop(body: "x"),
    ])
    let client = client(transport)
    for _ in 0..<3 {
      let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("a")) }
      #expect(error?.code == .redirectFailed)
    }
    #expect(transport.sent.count < 10)
  }

  @Test func `the limit counts stored redirects too`() async throws {
    let transport = server([
      "a": Hop(to: "b", cacheControl: "max-age=60"), "b": Hop(to: "c", cacheControl: "max-age=60"),
      "c": Hop(to: "d"), "d": Hop(body: "d"),
    ])
    let client = client(transport)
    #expect(try await client.send(Request<String>.get("a")) == "d")
    let limited = Request<String>.get("a").with(\.redirects, RedirectPolicy(limit: 2))
    let error = await #expect(throws: NetworkError.self) { try await client.send(limited) }
    #expect(error?.code == .redirectFailed)
    #expect(try await client.send(limited.with(\.redirects, RedirectPolicy(limit: 3))) == "d")
  }

  @Test func `secrets do not follow a stored redirect to another origin`() async throws {
    let transport = server(["a": Hop(to: "https://cdn.example.com/b", cacheControl: "max-age=60"), "b": Hop(body: "b")])
    let client = client(transport, .apiKey("X-API-Key", "key"))
    for _ in 0..<2 { _ = try await client.send(Request<String>.get("a")) }
    #expect(sent(transport) == ["a", "b", "b"])
    #expect(transport.sent.map { $0.headers.contains("X-API-Key") } == [true, false, false])
  }

  @Test func `a secret that a stored redirect dropped does not return with the server's next redirect`() async throws {
    let transport = server([
      "a": Hop(to: "b"), "b": Hop(to: "https://cdn.example.com/c", cacheControl: "max-age=60"),
      "c": Hop(to: "https://api.example.com/v1/d"), "d": Hop(body: "d"),
    ])
    let client = client(transport, .apiKey("X-API-Key", "key"))
    for _ in 0..<2 { #expect(try await client.send(Request<String>.get("a")) == "d") }
    #expect(sent(transport) == ["a", "b", "c", "d", "a", "c", "d"])
    #expect(transport.sent.map { $0.headers.contains("X-API-Key") } == [true, true, false, false, true, false, false])
  }

  @Test func `a QUERY that a stored 303 turned into a GET remains a GET after the server's next redirect`() async throws
  {
    let transport = server([
      "a": Hop(status: 307, to: "b"), "b": Hop(status: 303, to: "c", cacheControl: "max-age=60"),
      "c": Hop(status: 307, to: "d"), "d": Hop(body: "d"),
    ])
    let client = client(transport)
    for _ in 0..<2 { #expect(try await client.send(Request<String>(.query, "a", body: .text("x"))) == "d") }
    #expect(sent(transport) == ["a", "b", "c", "d", "a", "c", "d"])
    #expect(transport.sent.map(\.method) == [.query, .query, .get, .get, .query, .get, .get])
    #expect(transport.sent.map { $0.body != nil } == [true, true, false, false, true, false, false])
  }

  @Test func `stored redirects between redirects of the server count as redirects`() async throws {
    let transport = server([
      "a": Hop(to: "b"), "b": Hop(to: "c", cacheControl: "max-age=60"), "c": Hop(to: "d"),
      "d": Hop(to: "e", cacheControl: "max-age=60"), "e": Hop(body: "e"),
    ])
    let client = client(transport)
    let request = Request<String>.get("a").with(\.redirects, RedirectPolicy(limit: 4))
    for _ in 0..<2 { #expect(try await client.send(request) == "e") }
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(request.with(\.redirects, RedirectPolicy(limit: 3)))
    }
    #expect(error?.code == .redirectFailed)
  }

  @Test func `the stored redirect of one user is not used for another`() async throws {
    let transport = server(["a": Hop(to: "b", cacheControl: "max-age=60"), "b": Hop(cacheControl: "max-age=60")])
    for user in ["alice", "bob"] {
      _ = try await client(transport, .basicAuth(user: user, password: "p")).send(Request<String>.get("a"))
    }
    #expect(sent(transport) == ["a", "b", "a", "b"])
  }

  @Test func `the target of a redirected POST is requested from the server`() async throws {
    let transport = server([
      "form": Hop(status: 303, to: "b", cacheControl: "max-age=60"), "b": Hop(cacheControl: "max-age=60", body: "b"),
    ])
    let client = client(transport)
    _ = try await client.send(Request<String>.get("b"))
    _ = try await client.send(Request<String>(.post, "form"))
    #expect(sent(transport) == ["b", "form", "b"])
  }

  @Test(arguments: [200, 404, 500, nil])
  func `RFC 9111 §4.4: a POST that was redirected makes its URL invalid, whatever the last hop says`(last: Int?)
    async throws
  {
    let transport = ClosureTransport { request in
      let name = request.url.lastPathComponent
      if name == "receipt" {
        guard let last else { throw NetworkError(.connectionLost, "the test's server fails") }
        return NetworkResponse(request: request, statusCode: last)
      }
      let isPost = request.method == .post
      return NetworkResponse(
        request: request, statusCode: isPost ? 303 : 200,
        headers: isPost ? ["Location": "receipt"] : ["Cache-Control": "max-age=60"])
    }
    let client = client(transport)
    try await client.send(.get("cart"))
    _ = try? await client.send(.post("cart"))
    try await client.send(.get("cart"))
    #expect(sent(transport) == ["cart", "cart", "receipt", "cart"])
  }

  @Test func `each URL that redirects a POST is invalid, and so is the last target`() async throws {
    let transport = ClosureTransport { request in
      guard request.method == .post else {
        return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
      }
      let next = ["a": "b", "b": "c"][request.url.lastPathComponent]
      return NetworkResponse(
        request: request, statusCode: next == nil ? 500 : 307, headers: next.map { ["Location": $0] } ?? [:])
    }
    let client = client(transport)
    for path in ["a", "b", "c", "d"] { try await client.send(.get("\(path)")) }
    await #expect(throws: NetworkError.self) { try await client.send(.post("a")) }
    #expect(await Set(store.entries(limit: 9).map { $0.key.url.suffix(2) }) == ["/d"])
  }

  @Test func `a redirect that is not verified does not make a URL invalid`() async throws {
    let transport = ClosureTransport { request in
      let headers: HeaderFields = ["Location": "b", "Cache-Control": "max-age=60"]
      let status = request.method == .post ? 303 : 200
      return NetworkResponse(request: request, statusCode: status, headers: headers, isVerified: status == 200)
    }
    let client = client(transport)
    try await client.send(.get("a"))
    _ = try? await client.send(.post("a"))
    #expect(store.count == 1)
  }

  @Test func `a redirect whose URL was changed while it was under way is not stored`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      guard request.url.lastPathComponent == "a", request.method == .get else {
        return NetworkResponse(request: request, statusCode: 200)
      }
      await gate.pass()
      return NetworkResponse(
        request: request, statusCode: 302, headers: ["Location": "b", "Cache-Control": "max-age=60"])
    }
    let client = client(transport)
    let before = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await client.send(.put("a"))
    gate.open()
    try await before.value
    #expect(store.count == 0)
    try await client.send(.get("a"))
    #expect(store.count == 1)
  }

  @Test(arguments: ["a#top", "#top", "https://API.example.com:443/v1/a#top"])
  func `the wait for a validation that is redirected to its own URL ends, for later requests too`(location: String)
    async throws
  {
    let count = TestGate()
    let transport = ClosureTransport { request in
      count.arrive()
      let number = count.arrivalCount
      if number == 2 { return NetworkResponse(request: request, statusCode: 302, headers: ["Location": location]) }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"\(number)\""],
        body: .data(Data("\(number)".utf8)))
    }
    let client = client(transport)
    _ = try await client.send(Request<String>.get("a"))
    clock.advance(by: .seconds(61))
    for _ in 0..<3 { #expect(try await client.send(Request<String>.get("a")) == "3") }
    #expect(transport.sent.count == 3)
  }

  @Test func `a validation that is redirected in a loop fails, and later requests are sent`() async throws {
    let transport = ClosureTransport { request in
      guard request.headers.contains("If-None-Match") else {
        return NetworkResponse(
          request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "a#top"])
    }
    let client = client(transport)
    try await client.send(.get("a"))
    clock.advance(by: .seconds(61))
    for _ in 0..<2 {
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
      #expect(error?.code == .redirectFailed)
    }
    try await client.send(Request<Void>.get("a").with(\.caching, .reload))
  }

  @Test func `two validations that are redirected to each other's URLs end`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      let name = request.url.lastPathComponent
      if request.headers.contains("If-None-Match"), gate.arrivalCount < 2 {
        await gate.pass()
        return NetworkResponse(request: request, statusCode: 302, headers: ["Location": name == "a" ? "b" : "a"])
      }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""],
        body: .data(Data(name.utf8)))
    }
    let client = client(transport)
    for name in ["a", "b"] { _ = try await client.send(Request<String>.get("\(name)")) }
    clock.advance(by: .seconds(61))
    let calls = ["a", "b"].map { name in Task { try await client.send(Request<String>.get("\(name)")) } }
    await gate.waitForArrivals(2)
    gate.open()
    #expect(try await [calls[0].value, calls[1].value] == ["b", "a"])
  }

  @Test func `a cache inside redirects stores each hop`() async throws {
    let transport = server(["a": Hop(to: "b", cacheControl: "max-age=60"), "b": Hop(cacheControl: "max-age=60")])
    let client = NetworkClient(
      transport, clock.requestClock, [CachingBehavior(store).ordered(.inside(.redirects))])
    for _ in 0..<2 { _ = try await client.send(Request<String>.get("a")) }
    #expect(sent(transport) == ["a", "b"])
    #expect(store.count == 2)
  }
}
