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
    /// The scopes that have ended while something was fetched.
    var endedScopes: [String] = []
    /// What could not be removed from the store.
    var unremovedURLs: Set<String> = []
    var unremovedScopes: Set<String> = []
    /// Whether so much could not be removed that nothing of the store is used before it has been emptied.
    var mustBeEmptied = false
    var waiting: [CacheKey: [Waiter<Validation>]] = [:]
    /// What is validated in the background.
    var refreshed: Set<CacheKey> = []
  }

  /// A fetch that is under way.
  struct Fetch: Sendable {
    let url: String
    fileprivate let scopes: [String]
    fileprivate let invalidations: Int
    fileprivate let scopeEndings: Int
    /// What the store had removed when the fetch began; `nil` if it could not tell.
    var mark: CacheMark?
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  // MARK: - Shared stores

  private struct Shared {
    weak var activity: CacheActivity?
  }

  private static let registryLock = NSLock()
  // Protected by `registryLock`.
  nonisolated(unsafe) private static var registry: [ObjectIdentifier: Shared] = [:]

  /// Returns what is under way at a store: one for all behaviors that use it, each of which keeps both.
  static func shared(by store: any CacheStore) -> CacheActivity {
    // A value is nobody else's.
    guard type(of: store) is AnyClass else { return CacheActivity() }
    return registryLock.withLock {
      let id = ObjectIdentifier(store as AnyObject)
      if let activity = registry[id]?.activity { return activity }
      registry = registry.filter { $0.value.activity != nil }
      let activity = CacheActivity()
      registry[id] = Shared(activity: activity)
      return activity
    }
  }

  // MARK: - Fetches

  /// Notes that a response of a URL is fetched.
  ///
  /// - Parameters:
  ///   - key: The key of the request.
  ///   - sinceOldest: Whether the fetch began as early as any that is under way.
  /// - Returns: The fetch.
  func beginFetch(of key: CacheKey, sinceOldest: Bool = false) -> Fetch {
    lock.withLock {
      let url = key.url
      state.fetches[url, default: Fetches()].count += 1
      return Fetch(
        url: url, scopes: key.scopes, invalidations: sinceOldest ? 0 : state.fetches[url]?.invalidations ?? 0,
        scopeEndings: sinceOldest ? 0 : state.endedScopes.count)
    }
  }

  /// Notes that a fetch has ended.
  func end(_ fetch: Fetch) {
    lock.withLock {
      guard var fetches = state.fetches[fetch.url] else { return }
      fetches.count -= 1
      state.fetches[fetch.url] = fetches.count > 0 ? fetches : nil
      if state.fetches.isEmpty { state.endedScopes = [] }
    }
  }

  /// Notes that the responses of a URL are not valid any more, those under way included.
  func invalidate(_ url: String) { lock.withLock { state.fetches[url]?.invalidations += 1 } }

  /// Notes that the responses of a scope must go, those under way included.
  func end(scope: String) { lock.withLock { if !state.fetches.isEmpty { state.endedScopes.append(scope) } } }

  /// Whether the URL of a fetch became invalid while that was under way, so that its response may be older, or a scope of
  /// it has ended.
  func isOutdated(_ fetch: Fetch) -> Bool {
    lock.withLock {
      state.fetches[fetch.url]?.invalidations != fetch.invalidations
        || state.endedScopes.dropFirst(fetch.scopeEndings).contains { fetch.scopes.contains($0) }
    }
  }

  // MARK: - What must go and is still there

  /// What is stored under a key and must not be used before it has been removed.
  struct Distrusted: Sendable {
    let isURL: Bool
    let scopes: [String]
    let isEverything: Bool
  }

  /// How many URLs are remembered that could not be removed, as of a store that is broken for good.
  private static let unremovedLimit = 1_000

  /// Notes that the responses of a URL could not be removed when they became invalid.
  func distrust(url: String) {
    lock.withLock {
      if state.unremovedURLs.count == CacheActivity.unremovedLimit { state.mustBeEmptied = true }
      if !state.mustBeEmptied { state.unremovedURLs.insert(url) }
    }
  }

  /// Notes that the responses of a scope could not be removed when it ended.
  func distrust(scope: String) { lock.withLock { _ = state.unremovedScopes.insert(scope) } }

  /// What is to be removed before anything of a key is used; `nil` if there is nothing.
  func distrusted(of key: CacheKey) -> Distrusted? {
    lock.withLock {
      if state.mustBeEmptied { return Distrusted(isURL: true, scopes: key.scopes, isEverything: true) }
      guard !state.unremovedURLs.isEmpty || !state.unremovedScopes.isEmpty else { return nil }
      let scopes = key.scopes.filter { state.unremovedScopes.contains($0) }
      let isURL = state.unremovedURLs.contains(key.url)
      return isURL || !scopes.isEmpty ? Distrusted(isURL: isURL, scopes: scopes, isEverything: false) : nil
    }
  }

  /// Notes that it has been removed.
  func trust(_ removed: Distrusted, of key: CacheKey) {
    lock.withLock {
      if removed.isURL { state.unremovedURLs.remove(key.url) }
      state.unremovedScopes.subtract(removed.scopes)
    }
  }

  /// Notes that the store is empty.
  func trustAll() {
    lock.withLock { (state.unremovedURLs, state.unremovedScopes, state.mustBeEmptied) = ([], [], false) }
  }

  // MARK: - Validations

  /// What came of a validation, for those who waited for it.
  enum Validation: Sendable {
    /// Nobody validates: the caller does, and then calls ``endValidation(of:_:)``.
    case own
    /// The server was asked: they look again at what is stored.
    case ended
    /// The server failed: they need not ask it too.
    case failed(Result<NetworkResponse, any Error>)
    /// Nobody knows, because the one that asked has left: one of them asks.
    case abandoned
  }

  /// Becomes the one that validates what is stored under a key, or waits for the one that does.
  ///
  /// - Returns: What is to be done.
  /// - Throws: `CancellationError`, or that the client was shut down.
  func beginValidation(of key: CacheKey, for call: Call) async throws -> Validation {
    let waiter: Waiter<Validation>? = lock.withLock {
      guard state.waiting[key] != nil else {
        state.waiting[key] = []
        return nil
      }
      let waiter = Waiter<Validation>()
      state.waiting[key]?.append(waiter)
      return waiter
    }
    guard let waiter else { return .own }
    call.record("waits while another request asks the server", from: "CachingBehavior")
    let outcome = try await call.wait { try await waiter.value() }
    try Task.checkCancellation()
    return outcome
  }

  /// Becomes the one that validates what is stored under a key in the background, unless somebody validates it.
  ///
  /// Nobody waits for that: it takes as long as it takes, and who needs a validation has a deadline perhaps.
  func beginRefresh(of key: CacheKey) -> Bool {
    lock.withLock { state.waiting[key] == nil && state.refreshed.insert(key).inserted }
  }

  /// Notes that a validation in the background has ended.
  func endRefresh(of key: CacheKey) { lock.withLock { _ = state.refreshed.remove(key) } }

  /// Lets those go on that wait for a validation.
  func endValidation(of key: CacheKey, _ outcome: Validation) {
    let waiters = lock.withLock { state.waiting.removeValue(forKey: key) ?? [] }
    for waiter in waiters { waiter.settle(.success(outcome)) }
  }
}

/// A fetch that lasts as long as the stream of its body, read or dropped.
final class LongFetch: Sendable {
  private let activity: CacheActivity
  private let fetch: CacheActivity.Fetch

  /// Begins a fetch.
  init(of key: CacheKey, at activity: CacheActivity) {
    self.activity = activity
    fetch = activity.beginFetch(of: key)
  }

  deinit { activity.end(fetch) }

  /// Whether the URL became invalid since.
  var isOutdated: Bool { activity.isOutdated(fetch) }
}
