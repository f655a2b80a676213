import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

/// The samples in the reference of the cache.
@Suite(.limited) struct CachingReferenceTests {
  private let mock: MockTransport

  init() {
    mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "**").respond(200, jsonText: #"{"name":"Mona"}"#, headers: ["Cache-Control": "max-age=60"])
  }

  @Test func `a cache in memory has a capacity`() async throws {
    func use() -> NetworkClient {
      let cache = MemoryCacheStore(capacity: 16 << 20)
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.caching(cache)])
      return client
    }
    #expect(try use().pipeline(for: Request<User>.get("me")).entries.contains { $0.behavior is CachingBehavior })
  }

  @Test func `a response tells what the cache knows of it, and an inspector lists it`() async throws {
    let cache = MemoryCacheStore()
    let client = NetworkClient(baseURL: baseURL, behaviors: [.caching(cache)], transport: mock)
    _ = try await client.send(.get("feed")) as NetworkResponse
    let response: NetworkResponse = try await client.send(.get("feed"))
    if let facts = response.info[CacheFacts.self] {
      print("stored \(facts.storedAt), \(facts.age) old")
    }
    #expect(response.info[CacheFacts.self] != nil)
    for line in try await CacheInspector(cache).lines() {
      print(line)
    }
    // 200  fresh for 41 s    2.1 kB  https://api.example.com/feed
    // 404  stale for 3 min   112 B   https://api.example.com/old
    #expect(try await CacheInspector(cache).lines().count == 1)
  }

  @Test func `a request says how it uses the cache, a policy what the cache does by itself`() async throws {
    let store = MemoryCacheStore()
    func use() -> NetworkClient {
      var policy = CachePolicy()
      policy.staleIfError = .seconds(86_400)
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.caching(store, policy: policy)])
      return client
    }
    _ = use()
    let client = NetworkClient(baseURL: baseURL, behaviors: [.caching(store)], transport: mock)
    let user: User = try await client.send(
      .get("me").with(\.caching, .reload))
    #expect(user.name == "Mona")
  }
}
