import RequestBehaviorsCaching
import Testing

/// The conversations of the public conformance suite for HTTP caches, for a private cache.
@Suite(.limited) struct CacheConformanceTests {
  private static let all: [CacheCase] =
    CacheCase.cacheControlFreshness + CacheCase.cacheControlParsing + CacheCase.ageParsing + CacheCase.expires
    + CacheCase.expiresParsing + CacheCase.heuristics + CacheCase.statuses + CacheCase.responseDirectives
    + CacheCase.stale + CacheCase.vary + CacheCase.invalidation + CacheCase.other + CacheCase.validation
    + CacheCase.storedFields + CacheCase.updates + CacheCase.partial

  /// Optional conversations that go another way, each for a reason.
  private static let otherwise: Set<String> = [
    // Entries are kept apart by credentials, and a cookie counts as one.
    "a request with a Cookie",
    // Parts pass by; they are not stored.
    "a part that is stored", "a range of a stored part", "the rest of a stored part", "the end of a stored part",
    "a part that is completed",
    // Another variant might fit better.
    "Vary on languages, of which the preferred is stored",
  ]

  @Test(arguments: all.filter { $0.kind == .required })
  func `the cache obeys every rule that is required of a cache`(test: CacheCase) async throws {
    let problem = try await CacheCaseRunner().run(test)
    #expect(problem == nil)
  }

  @Test(arguments: all.filter { $0.kind == .optional })
  func `the cache obeys every optional rule, except those that are listed`(test: CacheCase) async throws {
    let problem = try await CacheCaseRunner().run(test)
    #expect((problem == nil) == !Self.otherwise.contains(test.name), "\(problem ?? "it is done")")
  }

  @Test func `the suite contains all required conversations and most of the optional ones`() {
    let names = Self.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Self.all.count { $0.kind == .required } > 120)
    #expect(Self.all.count { $0.kind == .optional } - Self.otherwise.count > 62)
  }
}
