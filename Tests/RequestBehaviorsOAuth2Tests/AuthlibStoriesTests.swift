import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// Random stories with an authorization server that others wrote, over real connections, with faults on the way.
  @Suite(
    .limited(to: .seconds(180)),
    .enabled("Python 3 with authlib and flask is not installed (pip install authlib flask)") {
      try await AuthlibServer.isAvailable()
    })
  struct AuthlibStoriesTests {
    @Test(arguments: [UInt64(0), 1, 2])
    func `in 100 stories the right user is signed in, no fault signs out, and no secret is used twice`(
      part: UInt64
    ) async throws {
      let parts = try await AuthlibParts()
      let (key, proofKey) = (try await parts.key(), try await parts.proofKey())
      var counts = AuthlibStory.Counts()
      for seed in (part * 100 + 1)...(part * 100 + 100) {
        var story = try AuthlibStory(seed: seed, parts, key: key, proofKey: proofKey)
        try await story.run()
        if seed % 10 == 0 { #expect(try await parts.reused() == "0", "stories up to \(seed)") }
        counts += story.counts
      }
      // The stories are of use only if enough of each happens.
      #expect(counts.signIns > 60)
      #expect(counts.failedSignIns > 8)
      #expect(counts.responses > 80)
      #expect(counts.failedRequests > 5)
      #expect(counts.revocations > 30)
      #expect(counts.failedRevocations > 2)
      #expect(counts.faults > 30)
    }
  }
#endif
