import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct CacheStoreConformanceTests {
  // A flaw and a case that must find it.
  static let flaws: [(BrokenStore.Flaw, String)] = [
    (.losesATerm, "every field of a response comes back as it was"),
    (.losesVerification, "every field of a response comes back as it was"),
    (.losesSecrecy, "every field of a response comes back as it was"),
    (.cutsDates, "every field of a response comes back as it was"),
    (.joinsFields, "every field of a response comes back as it was"),
    (.cutsBodies, "a body of any length comes back whole"),
    (.keepsBodiesOfEntries, "entries have their keys and sizes and no bodies, the latest saved first"),
    (.ignoresScopes, "nothing is found under another URL, of other scopes or with another discriminator"),
    (.joinsScopes, "no scope and one without a name are not the same"),
    (.ignoresDiscriminators, "nothing is found under another URL, of other scopes or with another discriminator"),
    (.ignoresCase, "nothing is found under another URL, of other scopes or with another discriminator"),
    (.ignoresVariants, "a response is found by the requests that its variant matches, and by no other"),
    (.keepsOneVariant, "variants are kept beside each other, and a response takes the place of its own"),
    (.findsTheFirst, "of several responses that match the most recent is found, in whatever order they came"),
    (.findsTheLast, "of several responses that match the most recent is found, in whatever order they came"),
    (
      .keepsWhatIsReplaced,
      "a response takes the place of those that its request matches, whatever these vary by"
    ),
    (.updatesWithTheBody, "an update changes everything but the body, and no other response"),
    (.updatesWhatIsGone, "an update of a response that was removed brings nothing back"),
    (.updatesWhatIsReplaced, "an update of a response that was replaced changes nothing"),
    (.updatesTermsOnly, "an update changes everything but the body, and no other response"),
    (.removesWhatIsReplaced, "removing a response takes that one, and none that has its place since"),
    (.removesByPrefix, "removing a URL takes all of its responses, and no others"),
    (
      .removesByFirstScope, "removing a scope takes its responses, whatever other scopes they have, and no others"
    ),
    (
      .removesScopesByText, "removing a scope takes its responses, whatever other scopes they have, and no others"
    ),
    (.removesNothingWhenCancelled, "what a task removes that was cancelled is gone, unless the removal throws"),
    (
      .countsNothing,
      "a response that was requested before its URL, its scope or everything was removed is refused"
    ),
    (
      .countsURLsOnly,
      "a response that was requested before its URL, its scope or everything was removed is refused"
    ),
    (
      .forgetsResets,
      "a response that was requested before its URL, its scope or everything was removed is refused"
    ),
    (.refusesTooMuch, "a removal before the request, or of something else, refuses nothing"),
    (.forgetsOldRemovals, "a removal is not forgotten because 1,100 others came after it"),
    (.checksTooEarly, "a removal in the middle of a save leaves nothing"),
    (.replacesBeforeItChecks, "a response that is refused leaves what is stored alone"),
    (.isNotBounded, "no more bytes are kept than fit, and the latest response is"),
    (.forgetsUses, "what was not used for the longest time goes first, and evictions are told"),
    (.tellsNoEvictions, "what was not used for the longest time goes first, and evictions are told"),
    (.makesRoomInVain, "a response that is larger than the store is refused, and only what it replaces goes"),
    (.keepsWhatIsTooLarge, "a response that is larger than the store is refused, and only what it replaces goes"),
    (.limitsByURL, "200 users of one URL each find their own response"),
    (.listsTheOldestFirst, "entries have their keys and sizes and no bodies, the latest saved first"),
    (.ignoresLimits, "entries have their keys and sizes and no bodies, the latest saved first"),
    (.sharesItsDigestKey, "the key for digests stays, and is another store's in no case"),
  ]

  @Test(arguments: flaws) func `a flaw fails the case that is about it`(_ flaw: BrokenStore.Flaw, _ name: String)
    async throws
  {
    let item = try #require(CacheStoreConformance.cases.first { $0.name == name })
    await #expect(throws: ConformanceFailure.self) {
      try await item.run { BrokenStore(flaw, capacity: $0.capacity) }
    }
  }

  @Test func `every flaw is tried`() {
    #expect(Set(Self.flaws.map(\.0)) == Set(BrokenStore.Flaw.allCases))
  }

  @Test(arguments: CacheStoreConformance.cases.filter { $0.subject != .sharing })
  func `MemoryCacheStore conforms`(_ item: CacheStoreConformance.Case) async throws {
    await #expect(throws: Never.self) {
      try await item.run { MemoryCacheStore(capacity: $0.capacity, maximumBodySize: $0.capacity) }
    }
  }

  @Test func `a store that two objects cannot share fails the cases about that`() async throws {
    for item in CacheStoreConformance.cases where item.subject == .sharing {
      await #expect(throws: ConformanceFailure.self) { try await item.run { MemoryCacheStore(capacity: $0.capacity) } }
    }
  }

  @Test func `cases about a subject are excluded together, with the reason`() async throws {
    var exclusions: [String: String] = [:]
    for subject in CacheStoreConformance.Subject.allCases {
      exclusions.merge(CacheStoreConformance.cases(about: subject, excludedBecause: "not today")) { first, _ in first }
    }
    let report = await CacheStoreConformance.run(excluding: exclusions) { _ in MemoryCacheStore() }
    #expect(report.exclusions.count == CacheStoreConformance.cases.count)
    #expect(report.exclusions.first?.result == .excluded("not today"))
    #expect(CacheStoreConformance.cases(about: .sharing, excludedBecause: "").count == 2)
  }

  @Test func `the folder of a case is empty at first and removed after it`() async throws {
    let item = try #require(CacheStoreConformance.cases.first)
    let folders = Locked<[URL]>([])
    try await item.run { place in
      let content = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
      #expect(content.isEmpty)
      folders.withLock { $0.append(place.folder) }
      return MemoryCacheStore()
    }
    let folder = try #require(folders.withLock { $0.first })
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `the names of cases are unique`() {
    let names = CacheStoreConformance.cases.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
