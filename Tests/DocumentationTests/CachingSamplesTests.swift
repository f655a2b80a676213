import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// The samples of "Caching".
@Suite(.limited) final class CachingSamplesTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sqlite").path()

  deinit {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  @Test func `clients have a cache in memory or in a file`() throws {
    let cache = MemoryCacheStore(capacity: 32 << 20)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(cache)])
    let file = try SQLiteCacheStore(path: path, capacity: 64 << 20)
    let durable = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(file)])
    var policy = CachePolicy()
    policy.staleIfError = .seconds(7 * 86_400)
    let sturdy = NetworkClient(
      baseURL: baseURL, behaviors: [.caching(cache, policy: policy)])
    let watched = CachingBehavior(cache) { event in
      if event.kind == .notStored {
        print(event.refusal ?? .status, event.request)
      }
    }
    #expect(watched.order == .caching)
    let store = try SQLiteStore(path: ":memory:")
    let saving = SaveBehavior.saveRecords(
      [Issue].self, into: "issue", in: store, cached: .skip)
    #expect(saving.order == .persistence)
    for client in [client, durable, sturdy] {
      #expect(try client.pipeline(for: Request<User>.get("me")).entries.contains { $0.behavior is CachingBehavior })
    }
  }

  @Test func `a request says how it uses the cache`() async throws {
    let mock = answering("[]", headers: ["Cache-Control": "max-age=60"])
    let client = NetworkClient(baseURL: baseURL, behaviors: [.caching(MemoryCacheStore())], transport: mock)
    let response: NetworkResponse = try await client.send(.get("feed"))
    print(response.source, response.info[CacheFacts.self]?.age ?? .zero)
    // Past what is stored, as a pull to refresh.
    let fresh: [Issue] = try await client.send(
      .get("issues").with(\.caching, .reload))
    // Whatever is there, however old, else the network.
    let quick: [Issue] = try await client.send(
      .get("issues").with(\.caching, .preferStale))
    #expect(fresh.isEmpty && quick.isEmpty)
    #expect(mock.sent.count == 2)
  }
}
