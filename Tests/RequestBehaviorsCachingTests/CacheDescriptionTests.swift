import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Descriptions and dumps of what is stored, or under way, do not show a secret.
@Suite(.limited) struct CacheDescriptionTests {
  private func texts(_ value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(reflecting: value), dumped]
  }

  /// A cache with a response whose URL, fields and body have secrets.
  private func filled(_ body: (NetworkClient, MemoryCacheStore, [CacheEvent]) async throws -> Void) async throws {
    let (store, events) = (MemoryCacheStore(), Box<[CacheEvent]>([]))
    let transport = ClosureTransport(
      200, "canary-body",
      headers: ["Cache-Control": "max-age=60", "Set-Cookie": "id=canary-cookie", "Vary": "X-Plain"])
    let client = NetworkClient(
      transport,
      [CachingBehavior(store) { event in events.update { $0.append(event) } }, .coalescing()])
    _ = try await client.send(
      Request<NetworkResponse>.get(
        "a", query: ["token": "canary-query"], headers: ["X-Plain": "canary-vary", "Authorization": "Bearer canary-t"]))
    try await body(client, store, events.value)
  }

  @Test func `keys, entries, responses and events do not show a secret`() async throws {
    try await filled { _, store, events in
      let entry = try #require(await store.entries(limit: 1).first)
      let key = entry.key
      let stored = try #require(
        await store.response(for: key, matching: ["X-Plain": "canary-vary", "Authorization": "Bearer canary-t"]))
      let event = try #require(events.first)
      let values: [Any] = [entry, key, stored, event, entry.response.variant, store, events, [key: 1]]
      for value in values {
        for text in texts(value) { #expect(!text.contains("canary"), "\(type(of: value)): \(text)") }
      }
      #expect("\(key)".contains("https://api.example.com/v1/a?token=REDACTED"))
      #expect("\(entry)".hasPrefix("CacheEntry(200, 11 bytes, CacheKey("))
      #expect("\(event)".hasPrefix("miss https://api.example.com/v1/a"))
    }
  }

  @Test func `the lines of an inspector tell how long each response is fresh, or has been stale`() async throws {
    let fixture = CacheFixture(["Cache-Control": "max-age=60"])
    try await fixture.send()
    let inspector = CacheInspector(fixture.store, clock: fixture.clock.requestClock)
    #expect(try await inspector.lines() == ["200  fresh for 60 s    4 B     https://api.example.com/v1/a"])
    fixture.wait(90)
    #expect(try await inspector.lines() == ["200  stale for 30 s    4 B     https://api.example.com/v1/a"])
    fixture.wait(600)
    #expect(try await inspector.lines() == ["200  stale for 10 min  4 B     https://api.example.com/v1/a"])
  }

  @Test func `the description of a client with a cache does not show what is stored`() async throws {
    try await filled { client, store, _ in
      for value in [client, client.configuration, CachingBehavior(store)] as [Any] {
        for text in texts(value) { #expect(!text.contains("canary"), "\(type(of: value))") }
      }
    }
  }

  @Test func `the key of a shared request and a coalescer with a flight do not show a secret`() async throws {
    let (gate, coalescer, keys) = (TestGate(), Coalescer(), Box<[SharingKey?]>([]))
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let spy = ClosureBehavior("spy", order: .coalescing) { request, next in
      keys.update { $0.append(next.sharingKey(for: request)) }
      return try await next(request)
    }
    let client = NetworkClient(transport, [spy, .coalescing(coalescer)])
    let call = Task {
      try await client.send(
        Request<Void>.get("a", query: ["token": "canary-query"], headers: ["X-Plain": "canary-plain"]))
    }
    await gate.waitForArrivals(1)
    let key = try #require(keys.value.first ?? nil)
    for value in [key, coalescer, client] as [Any] {
      for text in texts(value) { #expect(!text.contains("canary"), "\(type(of: value))") }
    }
    gate.open()
    try await call.value
  }
}
