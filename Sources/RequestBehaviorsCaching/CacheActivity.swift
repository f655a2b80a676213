import RequestBehaviors

/// The work in progress at a cache: the fetches of each URL, and the validations that other requests wait for.
final class CacheActivity: Sendable {
  private struct State {
    var fetches: [String: OverlappingFetches] = [:]
    /// The number of fetches so far.
    var fetchCount = 0
    /// The owners that signed out.
    var scopeEndings = ScopeEndingLog()
    /// The URLs whose responses could not be removed from the store.
    var unremovedURLs: Set<String> = []
    var unremovedScopes: Set<String> = []
    /// Whether the store must be emptied before it is used again: it failed to remove everything, or the list of URLs
    /// or that of owners became too long.
    var mustBeEmptied = false
    var validations: [ValidationKey: SharedValidation] = [:]
    /// The number of validations that have ended and may have changed what the store has.
    var validationCount = 0
    /// The number of the latest one of each key.
    var validated: [CacheKey: Int] = [:]
    /// The number of the latest one that is not in ``validated`` any more.
    var lastForgotten = 0
    /// The keys that are validated in the background.
    var refreshed: Set<CacheKey> = []
    /// The number of removals that have failed.
    var failedRemovals = 0

    mutating func noteValidation(of key: CacheKey) {
      validationCount += 1
      if validated.count == CacheActivity.validatedLimit { (validated, lastForgotten) = ([:], validationCount) }
      validated[key] = validationCount
    }

    mutating func trustAll() { (unremovedURLs, unremovedScopes, mustBeEmptied) = ([], [], false) }

    mutating func distrust(_ name: String, in list: WritableKeyPath<State, Set<String>>) {
      failedRemovals += 1
      let isFull = self[keyPath: list].count == CacheActivity.unremovedLimit && !self[keyPath: list].contains(name)
      if isFull { mustBeEmptied = true }
      if !mustBeEmptied { self[keyPath: list].insert(name) }
    }
  }

  /// A fetch that is under way.
  struct Fetch: Sendable {
    let key: CacheKey
    /// The fields of the request, by which a stored response matches it.
    let fields: HeaderFields
    /// The number of the fetch; a fetch that began later has a greater one.
    let number: Int
    fileprivate var invalidations: Int
    fileprivate let scopeEndings: UInt64
    /// The store's mark when the fetch began; `nil` if the store failed.
    var mark: CacheMark?
    /// When the request was sent to which the response came, on the clock of the call.
    var sentAt = Duration.zero

    fileprivate var url: String { key.url }
    fileprivate var scopes: [String] { key.scopes }

    /// Makes the fetch expect that its own request makes the URL invalid once, which does not make it outdated.
    mutating func expectInvalidation() { invalidations += 1 }
  }

  private let state = Locked(State())

  // MARK: - Shared stores

  private static let registry = Locked(ObjectTable<CacheActivity>())

  /// Returns the activity at a store, which all behaviors that use the store share.
  ///
  /// It exists as long as the store, not only as long as a behavior: the store still has what it failed to remove.
  static func shared(by store: any CacheStore) -> CacheActivity {
    // A store that is a value cannot be shared.
    guard let object = store as? any CacheStore & AnyObject else { return CacheActivity() }
    return registry.withLock { $0.value(of: object) { CacheActivity() } }
  }

  // MARK: - Fetches

  /// Records that a response of a URL is being fetched.
  ///
  /// - Parameters:
  ///   - key: The key of the request.
  ///   - fields: The fields of the request.
  ///   - sinceOldest: Whether the fetch counts as begun together with the oldest one under way, and gets its mark.
  /// - Returns: The fetch.
  func beginFetch(of key: CacheKey, _ fields: HeaderFields, sinceOldest: Bool = false) -> Fetch {
    state.withLock { state in
      let endings = state.scopeEndings.count
      var fetches = state.fetches[key.url] ?? OverlappingFetches(scopeEndings: endings)
      fetches.count += 1
      state.fetches[key.url] = fetches
      state.fetchCount += 1
      return Fetch(
        key: key, fields: fields, number: sinceOldest ? 0 : state.fetchCount,
        invalidations: sinceOldest ? 0 : fetches.invalidations,
        scopeEndings: sinceOldest ? state.fetches.values.map(\.scopeEndings).min() ?? endings : endings,
        mark: sinceOldest ? fetches.mark : nil)
    }
  }

  /// Records the store's mark of a fetch.
  func note(_ mark: CacheMark, of fetch: Fetch) { state.withLock { $0.fetches[fetch.url]?.note(mark) } }

  /// Records that a fetch goes on until it has been ended once more.
  func prolong(_ fetch: Fetch) { state.withLock { $0.fetches[fetch.url]?.count += 1 } }

  /// Records that a fetch has ended.
  func end(_ fetch: Fetch) {
    state.withLock { state in
      guard var fetches = state.fetches[fetch.url] else { return }
      fetches.count -= 1
      state.fetches[fetch.url] = fetches.count > 0 ? fetches : nil
    }
  }

  /// Records that the responses of a URL are no longer valid, including those under way.
  func invalidate(_ url: String) { state.withLock { $0.fetches[url]?.invalidations += 1 } }

  /// Records that all responses are to be removed, including those under way.
  func invalidateAll() {
    state.withLock { state in for url in state.fetches.keys { state.fetches[url]?.invalidations += 1 } }
  }

  /// Records that the responses of an owner must be removed, including those under way.
  func end(scope: String) { state.withLock { $0.scopeEndings.note(scope) } }

  /// Records that the response of a fetch is being stored.
  func noteSaving(_ variant: CacheVariant, of fetch: Fetch) {
    state.withLock { $0.fetches[fetch.url]?.noteSaving(variant, of: fetch) }
  }

  /// Whether the response of a fetch may be older than what happened while the fetch was under way, so that it is not
  /// stored.
  ///
  /// - Parameters:
  ///   - fetch: The fetch.
  ///   - variant: The variant of its response.
  /// - Returns: `true` if its URL became invalid, if one of its owners signed out, or if the response to a request that
  ///   was sent later is stored.
  func isOutdated(_ fetch: Fetch, _ variant: CacheVariant) -> Bool {
    state.withLock { state in
      let fetches = state.fetches[fetch.url]
      return fetches?.invalidations != fetch.invalidations
        || fetches?.hasLater(than: fetch, variant) == true
        || state.scopeEndings.hasEnded(fetch.scopes, since: fetch.scopeEndings)
    }
  }

  // MARK: - Failed removals

  /// The responses that must be removed.
  struct Distrusted: Sendable {
    let isURL: Bool
    let scopes: Set<String>
    let isEverything: Bool
    /// Whether nothing of the key may be used before they are removed.
    let concernsKey: Bool
    /// The number of removals that had failed by then.
    fileprivate let failedRemovals: Int
  }

  /// The most URLs, and the most owners, that are remembered.
  ///
  /// A store that keeps failing would otherwise make the lists grow without end.
  private static let unremovedLimit = 1_000

  /// Records that the responses of a URL could not be removed when they became invalid.
  func distrust(url: String) {
    state.withLock { $0.distrust(url, in: \.unremovedURLs) }
  }

  /// Records that the responses of an owner could not be removed when that owner signed out.
  func distrust(scope: String) { state.withLock { $0.distrust(scope, in: \.unremovedScopes) } }

  /// Records that the store could not be emptied.
  func distrustAll() {
    state.withLock { state in
      state.failedRemovals += 1
      state.mustBeEmptied = true
    }
  }

  /// The number of removals that have failed.
  var failedRemovals: Int { state.withLock { $0.failedRemovals } }

  /// Returns what must be removed when a key is looked up; `nil` if every removal succeeded.
  ///
  /// An owner who signed out may never come again, so any request tries to remove what that owner left.
  func distrusted(of key: CacheKey) -> Distrusted? {
    state.withLock { state in
      if state.mustBeEmptied {
        return Distrusted(
          isURL: true, scopes: [], isEverything: true, concernsKey: true, failedRemovals: state.failedRemovals)
      }
      guard !state.unremovedURLs.isEmpty || !state.unremovedScopes.isEmpty else { return nil }
      let scopes = state.unremovedScopes
      let isURL = state.unremovedURLs.contains(key.url)
      guard isURL || !scopes.isEmpty else { return nil }
      let concernsKey = isURL || key.scopes.contains { scopes.contains($0) }
      return Distrusted(
        isURL: isURL, scopes: scopes, isEverything: false, concernsKey: concernsKey,
        failedRemovals: state.failedRemovals)
    }
  }

  /// Records that the responses have been removed, unless another removal has failed since they were looked up.
  ///
  /// It may have been of the same responses, of which some were stored meanwhile.
  func trust(_ removed: Distrusted, of key: CacheKey) {
    state.withLock { state in
      guard state.failedRemovals == removed.failedRemovals else { return }
      if removed.isEverything { return state.trustAll() }
      if removed.isURL { state.unremovedURLs.remove(key.url) }
      state.unremovedScopes.subtract(removed.scopes)
    }
  }

  /// Records that the store was emptied, unless another removal has failed since.
  ///
  /// - Parameter failedRemovals: The number of removals that had failed when it began to be emptied.
  func trustAll(since failedRemovals: Int) {
    state.withLock { if $0.failedRemovals == failedRemovals { $0.trustAll() } }
  }

  // MARK: - Validations

  /// The result of a validation, for the requests that waited for it.
  enum Validation: Sendable {
    /// No validation is under way: the caller validates, and then calls ``endValidation(of:_:)``.
    case own(SharedValidation)
    /// The validation under way waits for the caller, directly or through others: the caller validates for itself.
    case alone
    /// The validation has ended: the waiting requests look into the store again.
    case ended
    /// The server failed: the waiting requests share the failure instead of asking again.
    case failed(Result<NetworkResponse, any Error>)
    /// The request that validated was cancelled or failed by itself: one of the waiting requests validates.
    case abandoned
    /// A validation of the response has ended since the caller looked into the store: the caller looks again.
    case missed
  }

  /// The key of a validation that requests may wait for.
  ///
  /// The options of such requests and the behaviors further in are the same, so that none waits at a gate, or for a
  /// timeout, that is not its own. Clients that share a store validate separately.
  struct ValidationKey: Hashable, Sendable {
    let key: CacheKey
    private let shared: SharingKey

    /// Creates the key of a request; `nil` if no other request is known to have the same behaviors further in.
    init?(_ key: CacheKey, _ request: NetworkRequest, at place: Next) {
      // The key of the stored response covers the fields and the body, as far as they matter.
      var plain = request
      (plain.headers, plain.body) = (HeaderFields(), nil)
      guard let shared = place.sharingKey(for: plain) else { return nil }
      self.key = key
      self.shared = shared
    }

    // The rest of most keys is the same, so hashing it is not worth its cost.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  /// The most keys whose latest validations are remembered; where one is forgotten, a request looks once more.
  private static let validatedLimit = 1_000

  /// The number of validations so far that may have changed what the store has.
  var validationCount: Int { state.withLock { $0.validationCount } }

  /// Makes the caller the request that validates the response of a key, or waits for the request that does.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - count: The ``validationCount`` before the caller looked into the store.
  ///   - call: The caller's call.
  /// - Returns: The result of the other validation, or `own` if the caller has to validate.
  /// - Throws: `CancellationError`, or the error of a client that was shut down.
  func beginValidation(of key: ValidationKey, since count: Int, for call: Call) async throws -> Validation {
    let waiter = Waiter<Validation>()
    let (decision, wait) = state.withLock { state -> (Validation?, WorkWait?) in
      guard let validation = state.validations[key] else {
        if state.validated[key.key] ?? state.lastForgotten > count { return (.missed, nil) }
        let new = SharedValidation()
        state.validations[key] = new
        return (.own(new), nil)
      }
      guard let wait = WorkWait(for: validation) else { return (.alone, nil) }
      validation.waiters.withLock { $0.append(waiter) }
      return (nil, wait)
    }
    if let decision { return decision }
    let waiting = call.begin("waits while another request asks the server", from: "CachingBehavior", kind: .caching)
    defer {
      call.end(waiting)
      wait?.end()
    }
    let outcome = try await call.wait { try await waiter.value() }
    try Task.checkCancellation()
    return outcome
  }

  /// Begins a validation in the background, unless the key is being validated already.
  ///
  /// No request waits for it: it has no deadline, and a request that needs a validation may have one.
  ///
  /// - Parameters:
  ///   - key: The key of the stored response.
  ///   - validation: The key of a validation that other requests may wait for, if there may be one.
  /// - Returns: Whether the caller is to validate.
  func beginRefresh(of key: CacheKey, unless validation: ValidationKey?) -> Bool {
    state.withLock { state in
      let isValidated = validation.map { state.validations[$0] != nil } ?? false
      return !isValidated && state.refreshed.insert(key).inserted
    }
  }

  /// Records that a validation in the background has ended.
  func endRefresh(of key: CacheKey) {
    state.withLock { state in
      state.refreshed.remove(key)
      state.noteValidation(of: key)
    }
  }

  /// Ends a validation, and resumes the requests that wait for it.
  func endValidation(of key: ValidationKey, _ outcome: Validation) {
    let validation = state.withLock { state in
      if case .ended = outcome { state.noteValidation(of: key.key) }
      return state.validations.removeValue(forKey: key)
    }
    for waiter in validation?.end() ?? [] { waiter.settle(.success(outcome)) }
  }
}

/// A validation that other requests may wait for.
final class SharedValidation: AwaitedWork {
  fileprivate let waiters = Locked<[Waiter<CacheActivity.Validation>]>([])
  private let hasEnded = Locked(false)

  fileprivate init() {}

  var isOver: Bool { hasEnded.withLock { $0 } }

  /// Ends it, and returns those who wait.
  fileprivate func end() -> [Waiter<CacheActivity.Validation>] {
    hasEnded.withLock { $0 = true }
    return waiters.withLock { $0 }
  }
}
