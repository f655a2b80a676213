import Foundation

/// What is under way at a cache: the fetches of each URL, and the validations that others wait for.
final class CacheActivity: Sendable {
  private struct Fetches {
    var count = 0
    /// How often the URL became invalid while one was under way.
    var invalidations = 0
  }

  private struct State {
    var fetches: [String: Fetches] = [:]
    var waiting: [CacheKey: [AsyncStream<Never>.Continuation]] = [:]
  }

  /// A fetch that is under way.
  struct Fetch: Sendable {
    let url: String
    fileprivate let invalidations: Int
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  // MARK: - Fetches

  /// Notes that a response of a URL is fetched.
  func beginFetch(of url: String) -> Fetch {
    lock.withLock {
      state.fetches[url, default: Fetches()].count += 1
      return Fetch(url: url, invalidations: state.fetches[url]?.invalidations ?? 0)
    }
  }

  /// Notes that a fetch has ended.
  func end(_ fetch: Fetch) {
    lock.withLock {
      guard var fetches = state.fetches[fetch.url] else { return }
      fetches.count -= 1
      state.fetches[fetch.url] = fetches.count > 0 ? fetches : nil
    }
  }

  /// Notes that the responses of a URL are not valid any more, those under way included.
  func invalidate(_ url: String) { lock.withLock { state.fetches[url]?.invalidations += 1 } }

  /// Whether the URL of a fetch became invalid while that was under way, so that its response may be older.
  func isOutdated(_ fetch: Fetch) -> Bool {
    lock.withLock { state.fetches[fetch.url]?.invalidations != fetch.invalidations }
  }

  // MARK: - Validations

  /// Becomes the one that validates what is stored under a key, or waits for the one that does.
  ///
  /// - Returns: Whether the caller is the one, which then calls ``endValidation(of:)``; if not, another validation has
  ///   ended in the meantime, whatever came of it.
  /// - Throws: `CancellationError`, or that the client was shut down.
  func beginValidation(of key: CacheKey, for call: Call) async throws -> Bool {
    let stream: AsyncStream<Never>? = lock.withLock {
      guard state.waiting[key] != nil else {
        state.waiting[key] = []
        return nil
      }
      let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
      state.waiting[key]?.append(continuation)
      return stream
    }
    guard let stream else { return true }
    call.record("waits while another request asks the server", from: "CachingBehavior")
    try await call.wait { for await _ in stream {} }
    try Task.checkCancellation()
    return false
  }

  /// Becomes the one that validates what is stored under a key, unless there is one.
  func beginValidation(of key: CacheKey) -> Bool {
    lock.withLock {
      guard state.waiting[key] == nil else { return false }
      state.waiting[key] = []
      return true
    }
  }

  /// Lets those go on that wait for a validation.
  func endValidation(of key: CacheKey) {
    let continuations = lock.withLock { state.waiting.removeValue(forKey: key) ?? [] }
    for continuation in continuations { continuation.finish() }
  }
}

/// A fetch that lasts as long as the stream of its body, read or dropped.
final class LongFetch: Sendable {
  private let activity: CacheActivity
  private let fetch: CacheActivity.Fetch

  /// Begins a fetch.
  init(of url: String, at activity: CacheActivity) {
    self.activity = activity
    fetch = activity.beginFetch(of: url)
  }

  deinit { activity.end(fetch) }

  /// Whether the URL became invalid since.
  var isOutdated: Bool { activity.isOutdated(fetch) }
}
