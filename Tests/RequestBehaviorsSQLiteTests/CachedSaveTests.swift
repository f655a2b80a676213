import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Saving what comes from a cache.
@Suite(.limited) struct CachedSaveTests {
  private struct Server: Transport {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      NetworkResponse(
        request: request, statusCode: 200,
        headers: ["Content-Type": "application/json", "Cache-Control": "max-age=60", "ETag": "\"a\""],
        body: .data(Data(#"[{"id":1,"title":"old","price":1.5}]"#.utf8)))
    }

    func shutdown() async {}
  }

  /// Sends twice, and changes the row in between; returns its title.
  private func title(
    _ cached: CachedResponses, _ mode: CachingMode = .standard, _ cache: any CacheStore = MemoryCacheStore()
  ) async throws -> String? {
    let test = try TestStore()
    let client = NetworkClient(
      baseURL: try #require(URL(string: "https://api.example.com")),
      behaviors: [
        .caching(cache), .saveRecords([Artwork].self, into: "artwork", in: test.store, cached: cached),
      ], transport: Server())
    _ = try await client.send(.get("a")) as NetworkResponse
    try await test.store.write { _ = try $0.execute("UPDATE artwork SET title = 'new'") }
    _ = try await client.send(.get("a").with(\.caching, mode)) as NetworkResponse
    return try await test.artworks.first?.title
  }

  @Test func `a cached response is saved like one of the network, unless the save skips cached responses`() async throws
  {
    #expect(try await title(.save) == "old")
    #expect(try await title(.skip) == "new")
  }

  @Test func `a response that was fetched again is always saved`() async throws {
    #expect(try await title(.skip, .reload) == "old")
  }

  @Test func `a hit from a file is skipped like one from memory`() async throws {
    let folder = try TemporaryFolder()
    let cache = try SQLiteCacheStore(path: folder.file("cache.sqlite"))
    #expect(try await title(.skip, .standard, cache) == "new")
  }

  @Test func `a hit is saved if the cache got its content by a request without the save`() async throws {
    let test = try TestStore()
    let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store, cached: .skip)
    let client = NetworkClient(Server(), [.caching(MemoryCacheStore())])
    try await client.send(.get("a"))
    let response = try await client.send(Request<NetworkResponse>.get("a").with(saving))
    #expect(response.source == .cache)
    #expect(try await test.artworks.count == 1)
  }

  @Test func `a hit is saved by each save whose inner save failed`() async throws {
    let (outer, inner) = (try TestStore(), try TestStore())
    func saving(_ test: TestStore) -> SaveBehavior {
      .saveRecords([Artwork].self, into: "artwork", in: test.store, cached: .skip)
    }
    let client = NetworkClient(Server(), [saving(outer), saving(inner), .caching(MemoryCacheStore())])
    await inner.store.suspend()
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) as NetworkResponse }
    inner.store.resume()
    #expect(try await (client.send(.get("a")) as NetworkResponse).source == .cache)
    #expect(try await outer.artworks.count == 1)
    #expect(try await inner.artworks.count == 1)
  }

  @Test(arguments: [CachedResponses.save, .skip])
  func `a slow hit does not replace what another call has saved since`(cached: CachedResponses) async throws {
    let (test, gate, clock, count) = (try TestStore(), TestGate(), ManualClock(), Locked(0))
    let transport = ClosureTransport { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      let body = try JSONEncoder().encode([Artwork(id: 1, title: "\(number)")])
      return NetworkResponse(
        request: request, statusCode: 200,
        headers: ["Content-Type": "application/json", "Cache-Control": "max-age=600"], body: .data(body))
    }
    // Between the cache and the save; it holds the second call.
    let calls = Locked(0)
    let slow = ClosureBehavior("slow", order: .inside(.persistence)) { request, next in
      let response = try await next(request)
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      if number == 2 { await gate.pass() }
      return response
    }
    let saving = SaveBehavior.saveRecords(
      [Artwork].self, into: "artwork", in: test.store, deletingOthers: .all, cached: cached)
    let client = NetworkClient(transport, clock.requestClock, [saving, slow, .caching(MemoryCacheStore())])
    let get = Request<NetworkResponse>.get("a")
    _ = try await client.send(get)
    clock.advance(by: .seconds(1))
    let hit = Task { try await client.send(get) }
    await gate.waitForArrivals(1)
    _ = try await client.send(get.with(\.caching, .reload))
    gate.open()
    #expect(try await hit.value.source == .cache)
    #expect(try await test.artworks.map(\.title) == ["2"])
    try await test.store.write { _ = try $0.execute("UPDATE artwork SET title = 'edited'") }
    _ = try await client.send(get)
    #expect(try await test.artworks.map(\.title) == [cached == .skip ? "edited" : "2"])
  }

  @Test func `a hit is saved if its content was stored but not saved`() async throws {
    let test = try TestStore()
    let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store, cached: .skip)
    let client = NetworkClient(Server(), [.caching(MemoryCacheStore()), saving])
    await test.store.suspend()
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) as NetworkResponse }
    #expect(error?.code == .persistenceFailed)
    test.store.resume()
    let hit = try await client.send(.get("a")) as NetworkResponse
    #expect(hit.source == .cache)
    #expect(try await test.artworks.map(\.title) == ["old"])
    // By now it is saved.
    try await test.store.write { _ = try $0.execute("UPDATE artwork SET title = 'new'") }
    _ = try await client.send(.get("a")) as NetworkResponse
    #expect(try await test.artworks.map(\.title) == ["new"])
  }

  @Test func `a hit is saved if the save of its content was cancelled`() async throws {
    let test = try TestStore()
    let (saves, held) = (Log(), HeldWork())
    let saving = SaveBehavior.persist(in: test.store, cached: .skip) { response, db in
      saves.append("save")
      try db.save(try response.decode([Artwork].self), into: "artwork")
      if saves.lines.count == 1 { held.hold() }
    }
    let client = NetworkClient(Server(), [.caching(MemoryCacheStore()), saving])
    let call = Task { try await client.send(.get("a")) as NetworkResponse }
    await held.isHeld()
    call.cancel()
    held.letGo()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(try await test.artworks == [])
    for _ in 1...2 { _ = try await client.send(.get("a")) as NetworkResponse }
    #expect(try await test.artworks.map(\.title) == ["old"])
    #expect(saves.lines.count == 2)
  }

  @Test func `content that the cache got in the background is saved when a request first gets it`() async throws {
    let (test, clock, stored) = (try TestStore(), ManualClock(), TestGate())
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(
        request: request, statusCode: 200,
        headers: ["Content-Type": "application/json", "Cache-Control": "max-age=1, stale-while-revalidate=600"],
        body: .data(Data(#"[{"id":1,"title":"\#(number)","price":1.5}]"#.utf8)))
    })
    let cache = CachingBehavior(MemoryCacheStore()) { if $0.kind == .stored { stored.arrive() } }
    let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store, cached: .skip)
    let client = NetworkClient(transport, clock.requestClock, [cache, saving])
    _ = try await client.send(.get("a")) as NetworkResponse
    clock.advance(by: .seconds(2))
    let stale = try await client.send(.get("a")) as NetworkResponse
    #expect(stale.source == .stale)
    await stored.waitForArrivals(2)
    #expect(try await test.artworks.map(\.title) == ["1"])
    let hit = try await client.send(.get("a")) as NetworkResponse
    #expect(hit.source == .cache)
    #expect(try await test.artworks.map(\.title) == ["2"])
    try await test.store.write { _ = try $0.execute("UPDATE artwork SET title = 'mine'") }
    _ = try await client.send(.get("a")) as NetworkResponse
    #expect(try await test.artworks.map(\.title) == ["mine"])
  }

  @Test func `content that was not saved is saved later, however many requests there were`() async throws {
    let (test, count) = (try TestStore(), 1_100)
    let transport = ClosureTransport { request in
      let id = request.url.lastPathComponent
      return NetworkResponse(
        request: request, statusCode: 200,
        headers: ["Content-Type": "application/json", "Cache-Control": "max-age=60"],
        body: .data(Data(#"[{"id":\#(id),"title":"a","price":1.5}]"#.utf8)))
    }
    let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: test.store, cached: .skip)
    let client = NetworkClient(transport, [.caching(MemoryCacheStore()), saving])
    await test.store.suspend()
    for id in 1...count { _ = try? await client.send(.get("\(id)")) as NetworkResponse }
    test.store.resume()
    for id in 1...count { _ = try await client.send(.get("\(id)")) as NetworkResponse }
    #expect(try await test.artworks.count == count)
    #expect(transport.sent.count == count)
  }

  @Test func `a stale response that stands in for a late one is returned, though it can no longer be saved`()
    async throws
  {
    let (test, clock) = (try TestStore(), ManualClock())
    let transport = ClosureTransport.validatingLate(#"[{"id":1,"title":"a","price":1.5}]"#)
    let client = NetworkClient(
      transport, clock.requestClock,
      [
        .deadline(.seconds(10)), .saveRecords([Artwork].self, into: "artwork", in: test.store),
        .caching(MemoryCacheStore()),
      ])
    _ = try await client.send(.get("a")) as NetworkResponse
    clock.advance(by: .seconds(90))
    let late = Task { try await client.send(.get("a")) as NetworkResponse }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(11))
    #expect(try await late.value.source == .stale)
  }

  @Test func `a response that was cached before the store was opened is skipped`() async throws {
    let (test, cache) = (try TestStore(), MemoryCacheStore())
    func send(_ store: SQLiteStore) async throws {
      let saving = SaveBehavior.saveRecords([Artwork].self, into: "artwork", in: store, cached: .skip)
      _ = try await NetworkClient(Server(), [.caching(cache), saving]).send(.get("a")) as NetworkResponse
    }
    try await send(test.store)
    try await test.store.write { _ = try $0.execute("UPDATE artwork SET title = 'new'") }
    try await send(try SQLiteStore(path: test.store.path))
    #expect(try await test.artworks.map(\.title) == ["new"])
  }
}
