import Foundation
// The types that decide are internal: a response is stored here without a server.
import RequestBehaviors
import TestSupport
import Testing

@testable import RequestBehaviorsCaching

@Suite(.limited) struct MemoryCacheStoreTests {
  private func key(_ name: String, scopes: [String] = []) -> CacheKey {
    CacheKey(url: "https://h/\(name)", scopes: scopes, discriminator: "")
  }

  private func response(_ size: Int, _ headers: HeaderFields = [:], at offset: Double = 0) -> StoredResponse {
    let now = arrival.addingTimeInterval(offset)
    return StoredResponse(
      statusCode: 200, headers: headers, body: Data(repeating: 1, count: size),
      variant: CacheVariant(of: headers, to: ["Foo": "1"]) ?? CacheVariant(fields: []), storedAt: now,
      terms: terms(headers, responseTime: now))
  }

  @Test func `the least recently used response is evicted first`() async {
    let store = MemoryCacheStore(capacity: 3_000, maximumBodySize: 3_000)
    for name in ["a", "b", "c"] { #expect(await store.save(response(700), for: key(name), matching: [:]) == 0) }
    #expect(await store.response(for: key("a"), matching: [:]) != nil)
    #expect(await store.save(response(700), for: key("d"), matching: [:]) == 1)
    #expect(await store.response(for: key("b"), matching: [:]) == nil)
    #expect(await store.entries(limit: 9).map(\.key.url) == ["https://h/d", "https://h/a", "https://h/c"])
    #expect(await store.entries(limit: 1).map(\.bodySize) == [700])
    #expect(store.size == 3 * (700 + 256))
    #expect(await store.save(response(2_700), for: key("e"), matching: [:]) == 3)
    #expect(await store.entries(limit: 9).map(\.key.url) == ["https://h/e"])
    #expect(store.size == 2_700 + 256)
  }

  @Test(arguments: [3_000, 10_000])
  func `a response that is larger than the store removes what it replaces, and no other response`(maximumBodySize: Int)
    async
  {
    let store = MemoryCacheStore(capacity: 3_000, maximumBodySize: maximumBodySize)
    #expect(store.maximumBodySize == 3_000)
    for name in ["a", "b"] { _ = await store.save(response(700), for: key(name), matching: [:]) }
    #expect(await store.save(response(2_900), for: key("c"), matching: [:]) == 0)
    #expect(await store.entries(limit: 9).map(\.key.url) == ["https://h/b", "https://h/a"])
    // The response that it would replace is older.
    #expect(await store.save(response(2_900), for: key("a"), matching: [:]) == 0)
    #expect(await store.entries(limit: 9).map(\.key.url) == ["https://h/b"])
    #expect(store.size == 700 + 256)
  }

  @Test func `an update that makes a response larger makes room for it`() async {
    let store = MemoryCacheStore(capacity: 3_000, maximumBodySize: 3_000)
    let old = response(1_000)
    for name in ["a", "b"] { _ = await store.save(old, for: key(name), matching: [:]) }
    var headers: HeaderFields = [:]
    headers["A"] = String(repeating: "x", count: 1_000)
    let new = StoredResponse(
      statusCode: 200, headers: headers, body: Data(), variant: old.variant, storedAt: old.storedAt, terms: old.terms)
    await store.update(old, to: new, for: key("b"))
    #expect(await store.entries(limit: 9).map(\.key.url) == ["https://h/b"])
    #expect(store.size <= store.capacity)
  }

  @Test func `1,000 users of one URL each have their own response`() async {
    let store = MemoryCacheStore()
    for user in 0..<1_000 { _ = await store.save(response(user), for: key("me", scopes: ["\(user)"]), matching: [:]) }
    for user in 0..<1_000 {
      #expect(await store.response(for: key("me", scopes: ["\(user)"]), matching: [:])?.body.count == user)
    }
    await store.removeAll(url: "https://h/me")
    #expect(store.count == 0)
    #expect(store.size == 0)
  }

  @Test func `of too many variants the least recently used one is evicted`() async {
    let store = MemoryCacheStore()
    func save(_ value: Int, _ name: String = "a") async -> Int {
      let variant = CacheVariant(fields: [.init(name: "foo", value: "\(value)")])
      let response = StoredResponse(
        statusCode: 200, headers: ["Vary": "Foo"], body: Data(), variant: variant, storedAt: arrival, terms: terms([:]))
      return await store.save(response, for: key(name), matching: ["Foo": "\(value)"])
    }
    // Another key is older and does not count.
    #expect(await save(0, "b") == 0)
    for value in 0..<64 { #expect(await save(value) == 0) }
    #expect(await store.response(for: key("a"), matching: ["Foo": "0"]) != nil)
    #expect(await save(64) == 1)
    #expect(await store.response(for: key("a"), matching: ["Foo": "1"]) == nil)
    #expect(await store.response(for: key("a"), matching: ["Foo": "0"]) != nil)
    #expect(await store.response(for: key("b"), matching: ["Foo": "0"]) != nil)
    #expect(store.count == 65)
  }

  @Test func `an update keeps the body, and an update of a replaced response does nothing`() async throws {
    let store = MemoryCacheStore()
    let old = response(10, ["A": "1"])
    _ = await store.save(old, for: key("a"), matching: [:])
    var head = response(0, ["A": "22"], at: 5)
    head = StoredResponse(
      statusCode: 200, headers: head.headers, body: Data(), variant: old.variant, storedAt: old.storedAt,
      terms: head.terms)
    await store.update(old, to: head, for: key("a"))
    let updated = try #require(await store.response(for: key("a"), matching: [:]))
    #expect(updated.headers["A"] == "22")
    #expect(updated.body.count == 10)
    #expect(store.size == updated.size)
    await store.update(old, to: response(0, ["A": "3"]), for: key("a"))
    await store.remove(old, for: key("a"))
    #expect(await store.response(for: key("a"), matching: [:])?.headers["A"] == "22")
    await store.remove(updated, for: key("a"))
    #expect(store.count == 0)
  }

  @Test func `RFC 9111 §4: of several matching responses the most recent is used`() async {
    let store = MemoryCacheStore()
    // The first is found by any request, the second by those with Foo: 1, which the other did not have.
    _ = await store.save(response(1, ["Vary": "Foo"]), for: key("a"), matching: ["Foo": "1"])
    _ = await store.save(response(2, [:], at: 9), for: key("a"), matching: ["Foo": "2"])
    #expect(store.count == 2)
    #expect(await store.response(for: key("a"), matching: ["Foo": "1"])?.body.count == 2)
    #expect(await store.response(for: key("a"), matching: [:])?.body.count == 2)
  }

  @Test func `a URL has a limited number of variants`() async {
    let store = MemoryCacheStore()
    for index in 0..<100 {
      let headers: HeaderFields = ["Vary": "Foo"]
      let variant = CacheVariant(fields: [.init(name: "foo", value: "\(index)")])
      let response = StoredResponse(
        statusCode: 200, headers: headers, body: Data(), variant: variant, storedAt: arrival, terms: terms(headers))
      _ = await store.save(response, for: key("a"), matching: ["Foo": "\(index)"])
    }
    #expect(store.count == 64)
    #expect(await store.response(for: key("a"), matching: ["Foo": "99"]) != nil)
    #expect(await store.response(for: key("a"), matching: ["Foo": "0"]) == nil)
  }

  @Test func `the responses of a scope go together, whatever other scopes they have`() async {
    let store = MemoryCacheStore()
    _ = await store.save(response(1), for: key("a", scopes: ["alice"]), matching: [:])
    _ = await store.save(response(1), for: key("a", scopes: ["alice", "app"]), matching: [:])
    _ = await store.save(response(1), for: key("a", scopes: ["bob"]), matching: [:])
    _ = await store.save(response(1), for: key("a"), matching: [:])
    await store.removeAll(scope: "alice")
    #expect(await store.entries(limit: 9).map(\.key.scopes) == [[], ["bob"]])
    await store.removeAll(url: "https://h/a")
    #expect(store.count == 0)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `the list of uses behaves like an array under all operations`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = LeastRecentlyUsed<Int>()
    var model: [(position: Int, value: Int)] = []  // The oldest first.
    for value in 0..<5_000 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1: model.append((list.insert(value), value))
      case 2:
        guard let index = model.indices.randomElement(using: &random) else { continue }
        list.use(model[index].position)
        model.append(model.remove(at: index))
      default:
        guard let index = model.indices.randomElement(using: &random) else { continue }
        list.remove(model.remove(at: index).position)
      }
      if value % 100 != 0 { continue }
      var values: [Int] = []
      list.visit { element in
        values.append(element)
        return true
      }
      #expect(values == model.map(\.value).reversed())
      #expect(list.count == model.count)
      #expect(list.oldest == model.first?.position)
    }
  }
}
