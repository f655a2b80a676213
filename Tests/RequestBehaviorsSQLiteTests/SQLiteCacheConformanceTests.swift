import Foundation
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct SQLiteCacheConformanceTests {
  @Test(arguments: CacheStoreConformance.cases)
  func `SQLiteCacheStore conforms`(_ item: CacheStoreConformance.Case) async {
    await #expect(throws: Never.self) {
      try await item.run { place in
        try SQLiteCacheStore(
          path: place.folder.appending(path: "cache.sqlite").path(percentEncoded: false), capacity: place.capacity,
          maximumBodySize: place.capacity)
      }
    }
  }
}
