import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Requests for one URL that are under way at the same time: the response to the later one is kept.
@Suite(.limited) struct CacheOverlapTests {
  private let store = MemoryCacheStore()
  private let clock = ManualClock()
  private let events = Box<[CacheEvent]>([])

  private var refusals: [CacheRefusal] { events.value.compactMap(\.refusal) }

  private func client(
    _ transport: any Transport, store: (any CacheStore)? = nil, _ behaviors: any RequestBehavior...
  ) -> NetworkClient {
    let events = events
    let cache = CachingBehavior(store ?? self.store) { event in events.update { $0.append(event) } }
    return NetworkClient(transport, clock.requestClock, [cache] + behaviors)
  }

  /// A server that holds the first request at a gate and then says `old` to it, and `new` to all others.
  private func server(_ gate: TestGate, _ headers: HeaderFields = ["Cache-Control": "max-age=60"]) -> ClosureTransport {
    ClosureTransport(numbered: { number, request in
      if number == 1 { await gate.pass() }
      let text = Data((number == 1 ? "old" : "new").utf8)
      return NetworkResponse(
        request: request, statusCode: 200, headers: headers,
        body: request.options.delivery == .streamed ? .stream(ByteStream(chunks: [text])) : .data(text))
    })
  }

  private let reload = Request<String>.get("a").with(\.caching, .reload)

  /// Sends a request whose response comes after that to a later one, and returns it.
  private func overtaken(_ client: NetworkClient, _ gate: TestGate) async throws -> String {
    let slow = Task { try await client.send(Request<String>.get("a")) }
    await gate.waitForArrivals(1)
    #expect(try await client.send(reload) == "new")
    gate.open()
    return try await slow.value
  }

  @Test func `a response does not replace that to a request which was sent later`() async throws {
    let gate = TestGate()
    let transport = server(gate)
    let client = client(transport)
    #expect(try await overtaken(client, gate) == "old")
    #expect(try await client.send(Request<String>.get("a")) == "new")
    #expect(transport.sent.count == 2)
    #expect(refusals == [.changedMeanwhile])
  }

  @Test func `a stream that is read slowly does not replace the response to a request which was sent later`()
    async throws
  {
    let gate = TestGate()
    gate.open()
    let client = client(server(gate))
    let slow = try await client.send(Request<NetworkResponse>.get("a").with(\.delivery, .streamed))
    #expect(try await client.send(reload) == "new")
    #expect(try await slow.buffered().text == "old")
    #expect(try await client.send(Request<String>.get("a")) == "new")
    #expect(refusals == [.changedMeanwhile])
  }

  @Test func `a response replaces the response to a request that was sent earlier`() async throws {
    let gate = TestGate()
    let client = client(server(gate))
    _ = try await overtaken(client, gate)
    #expect(try await client.send(reload) == "new")
    #expect(events.value.map(\.kind) == [.miss, .miss, .stored, .notStored, .miss, .stored])
  }

  @Test func `of two responses the one to the later request is kept, whichever came first`() async throws {
    let gate = TestGate()
    let holding = ClosureBehavior("holds", order: .gate) { request, next in
      if request.options.caching == .standard { await gate.pass() }
      return try await next(request)
    }
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: .data(Data("\(number)".utf8))
      )
    })
    let client = client(transport, holding)
    let held = Task { try await client.send(Request<String>.get("a")) }
    await gate.waitForArrivals(1)
    #expect(try await client.send(reload) == "1")
    clock.advance(by: .seconds(1))
    gate.open()
    #expect(try await held.value == "2")
    #expect(try await client.send(Request<String>.get("a").with(\.caching, .onlyIfCached)) == "2")
  }

  @Test func `of two variants of a URL neither prevents the storing of the other`() async throws {
    let gate = TestGate()
    let client = client(server(gate, ["Cache-Control": "max-age=60", "Vary": "Foo"]))
    let slow = Task { try await client.send(Request<String>.get("a", headers: ["Foo": "1"])) }
    await gate.waitForArrivals(1)
    #expect(try await client.send(Request<String>.get("a", headers: ["Foo": "2"])) == "new")
    gate.open()
    #expect(try await slow.value == "old")
    #expect(store.count == 2)
    #expect(refusals == [])
  }

  @Test func `of two users neither prevents the storing of the other's response`() async throws {
    let gate = TestGate()
    let transport = server(gate)
    let slow = Task { try await client(transport, .basicAuth(user: "alice", password: "p")).send(reload) }
    await gate.waitForArrivals(1)
    _ = try await client(transport, .basicAuth(user: "bob", password: "p")).send(reload)
    gate.open()
    _ = try await slow.value
    #expect(store.count == 2)
  }

  @Test func `a response is not stored after more stores in the meantime than the cache remembers`() async throws {
    let gate = TestGate()
    let client = client(server(gate, ["Cache-Control": "max-age=60", "Vary": "Foo"]))
    let slow = Task { try await client.send(Request<String>.get("a", headers: ["Foo": "0"])) }
    await gate.waitForArrivals(1)
    for number in 1...65 { _ = try await client.send(Request<String>.get("a", headers: ["Foo": "\(number)"])) }
    gate.open()
    _ = try await slow.value
    #expect(refusals == [.changedMeanwhile])
  }

  @Test func `a response that is being saved while a later one is saved does not stay`() async throws {
    let (gate, saving) = (TestGate(), TestGate())
    let slowStore = SlowStore(store, saving)
    let transport = server(gate)
    gate.open()
    let client = client(transport, store: slowStore)
    let slow = Task { try await client.send(Request<String>.get("a")) }
    await saving.waitForArrivals(1)
    #expect(try await client.send(reload) == "new")
    saving.open()
    #expect(try await slow.value == "old")
    #expect(try await client.send(Request<String>.get("a")) == "new")
  }
}

/// A store whose first save waits at a gate.
private final class SlowStore: CacheStore {
  private let base: MemoryCacheStore
  private let gate: TestGate

  init(_ base: MemoryCacheStore, _ gate: TestGate) { (self.base, self.gate) = (base, gate) }

  var digestKey: Data { base.digestKey }
  var maximumBodySize: Int { base.maximumBodySize }

  func response(for key: CacheKey, matching request: HeaderFields) async -> StoredResponse? {
    await base.response(for: key, matching: request)
  }

  func mark() async -> CacheMark { await base.mark() }

  func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async -> CacheSaving {
    if gate.arrivalCount == 0 { await gate.pass() }
    return await base.save(response, for: key, matching: request, since: mark)
  }

  func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async -> Int {
    await base.save(response, for: key, matching: request)
  }

  func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async {
    await base.update(old, to: new, for: key)
  }

  func remove(_ response: StoredResponse, for key: CacheKey) async { await base.remove(response, for: key) }
  func removeAll(url: String) async { await base.removeAll(url: url) }
  func removeAll(scope: String) async { await base.removeAll(scope: scope) }
  func removeAll() async { await base.removeAll() }
  func entries(limit: Int) async -> [CacheEntry] { await base.entries(limit: limit) }
}
