import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
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
  private func title(_ cached: CachedResponses, _ mode: CachingMode = .standard) async throws -> String? {
    let test = try TestStore()
    let client = NetworkClient(
      baseURL: try #require(URL(string: "https://api.example.com")),
      behaviors: [
        .caching(MemoryCacheStore()), .saveRecords([Artwork].self, into: "artwork", in: test.store, cached: cached),
      ], transport: Server())
    _ = try await client.send(.get("a")) as NetworkResponse
    try await test.store.write { _ = try $0.execute("UPDATE artwork SET title = 'new'") }
    _ = try await client.send(.get("a").with(\.caching, mode)) as NetworkResponse
    return try await test.artworks.first?.title
  }

  @Test func `a hit is saved like a response of the network's, unless the save skips what the cache had`() async throws
  {
    #expect(try await title(.save) == "old")
    #expect(try await title(.skip) == "new")
  }

  @Test func `a response that was fetched anew is saved in any case`() async throws {
    #expect(try await title(.skip, .reload) == "old")
  }
}
