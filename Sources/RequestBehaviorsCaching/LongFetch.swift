/// A fetch that goes on until the stream of its body is released, whether it was read or not.
final class LongFetch: Sendable {
  private let activity: CacheActivity
  let fetch: CacheActivity.Fetch

  /// Prolongs a fetch that is under way.
  init(_ fetch: CacheActivity.Fetch, at activity: CacheActivity) {
    self.activity = activity
    self.fetch = fetch
    activity.prolong(fetch)
  }

  deinit { activity.end(fetch) }
}
