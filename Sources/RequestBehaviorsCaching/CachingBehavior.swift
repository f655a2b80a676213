public import RequestBehaviors

/// A private HTTP cache (RFC 9111): a response is stored, used while it is fresh, and validated when it is not.
///
/// A fresh response is used without a call further in. A stale one with an `ETag` or a `Last-Modified` is validated:
/// after a 304 of the server the stored body is used. `RequestOptions.caching` sets how a request uses the cache;
/// `NetworkResponse.source` tells where its response came from.
///
/// Three things separate stored responses: `RequestBehavior.scope(for:)`, the secrets in the request's own fields,
/// and the fields that the response's `Vary` names. The cache sees the fields that the request has when it arrives
/// here. A field that is set further in, such as a token's, counts by its scope alone. So a response is not stored if a
/// secret was added further in without a scope (`Next.knowsOwner(of:)`), if it varies by a field that was added
/// further in, or if it is not verified.
///
/// Each hop of a redirected request is stored, and used again, under its own URL. A request with an unsafe method makes
/// the stored responses of its URL invalid.
public struct CachingBehavior: UniqueBehavior {
  /// Further out than retries, waits and authentication, and further in than the behaviors that save.
  public let order = BehaviorOrder.caching
  let store: any CacheStore
  let policy: CachePolicy
  let onEvent: (@Sendable (CacheEvent) -> Void)?
  /// The fetches and validations at the store, of this behavior and of others.
  let activity: CacheActivity
  /// The name of the stored responses among the data that are removed when an owner ends.
  public let leftoverID: String
  /// Returns the store, or another one over its responses, when the store may be gone; `nil` if the session holds it.
  private let later: (@Sendable () async throws -> (any CacheStore)?)?

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - store: The store that keeps the responses.
  ///   - policy: The decisions that server and request leave to the cache.
  ///   - onEvent: Called at each hit, miss and other event, on the path of the request; `nil` by default.
  public init(
    _ store: any CacheStore, policy: CachePolicy = CachePolicy(), onEvent: (@Sendable (CacheEvent) -> Void)? = nil
  ) {
    self.store = store
    self.policy = policy
    self.onEvent = onEvent
    activity = CacheActivity.shared(by: store)
    let released = store as? any ReleasedCacheStore
    // The responses in a file are removed once, however many stores have opened it.
    let place = released.map(\.place) ?? ""
    leftoverID = "cache \(place.isEmpty ? "\(ObjectIdentifier(activity))" : place)"
    later = released.map { store in
      let reopen = store.reopener
      return { [weak store] in if let store, !store.isClosed { store } else { try await reopen() } }
    }
  }

  /// Returns a stored response if it may be used, or else the server's response, which is stored if it may be.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await respond(to: request, next, returnsRedirects: false)
  }

  /// Returns a stored response or the server's.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - next: The inner behaviors.
  ///   - returnsRedirects: Whether a stored redirect is returned; otherwise it is followed.
  /// - Returns: The response.
  /// - Throws: The error of the inner behaviors.
  func respond(
    to request: NetworkRequest, _ next: Next, returnsRedirects: Bool
  ) async throws -> NetworkResponse {
    removeWithOwners(of: request.call)
    // A request that is not looked up may still make stored responses invalid.
    guard let exchange = CacheExchange(request, next, cache: self, returnsRedirects: returnsRedirects) else {
      return try await CacheExchange.passBy(request, next, cache: self)
    }
    return try await run(exchange, next)
  }

  /// Responds from the store or the server.
  ///
  /// - Parameters:
  ///   - exchange: The request.
  ///   - next: The inner behaviors.
  ///   - hasWaited: Whether the request has waited for a validation that has ended.
  /// - Returns: The response.
  /// - Throws: The error of the inner behaviors.
  private func run(
    _ exchange: CacheExchange, _ next: Next, hasWaited: Bool = false
  ) async throws -> NetworkResponse {
    let validationCount = activity.validationCount
    guard let stored = await exchange.find() else { return try await exchange.respondFromServer(insteadOf: nil) }
    let decision = exchange.decide(on: stored)

    // A stored redirect is followed as the server's would be. One that may not be used is ignored.
    if exchange.wouldBeFollowed(stored) {
      guard let (response, hop) = try exchange.redirect(from: stored, decision) else {
        return try await exchange.respondFromServer(insteadOf: nil)
      }
      if exchange.returnsRedirects { return response }
      guard next.mayLookUp(hop, after: exchange.request) else { return try await next(hop) }
      return try await intercept(hop, next: next)
    }

    // If a stored response may be used, it is the result; a stale one may be refreshed for the next request.
    if case .use(let use) = decision, let response = try exchange.use(stored, use) {
      if use == .whileRevalidating, !exchange.demand.isOnlyIfCached { exchange.revalidateLater(stored, next) }
      return response
    }

    // If the stored response cannot still be good, the server's response is the result.
    guard decision == .revalidate else { return try await exchange.respondFromServer(insteadOf: stored) }

    // If another request is validating the stored response already, this one waits and then looks again, once.
    // A call that others wait for asks for itself: a wait of two such calls for each other would not end.
    guard !hasWaited, !exchange.isAwaited, exchange.canShareValidation(of: stored), let key = exchange.validationKey
    else { return try await exchange.revalidate(stored) }
    let call = exchange.request.call
    let validation: CacheActivity.Validation
    do {
      validation = try await activity.beginValidation(of: key, since: validationCount, for: call)
    } catch {
      // A wait that the call's deadline ends is a failure of the server, as in the request that validates.
      guard FetchedResponse.isServerFailure(error, call: call), let substitute = exchange.standIn(stored) else {
        throw error
      }
      return substitute
    }
    switch validation {
    case .own(let validation): return try await exchange.revalidateForAll(stored, key, validation)
    case .alone: return try await exchange.revalidate(stored)
    case .ended: return try await run(exchange, next, hasWaited: true)
    case .abandoned, .missed: return try await run(exchange, next)
    case .failed(let failure): return try exchange.share(failure, insteadOf: stored)
    }
  }

  /// Warns of credentials further in that have no scope: responses to requests with them are not stored.
  ///
  /// It also warns if the cache is further out than coalescing.
  public func warnings(in pipeline: Pipeline) -> [String] {
    pipeline.warningsOfUnknownOwners(for: CachingBehavior.self, "what it is sent with is not stored")
      + pipeline.misplacements(
        of: CachingBehavior.self, inside: CoalescingBehavior.self,
        consequence: "so each caller asks the server for the same response")
  }

  /// Removes the stored responses of an owner, such as a user who signed out.
  ///
  /// A response that is under way is not stored. A response that the store fails to remove is not used until it has
  /// been removed.
  public func scopeEnded(_ scope: String) async {
    activity.end(scope: scope)
    do { try await remove { try await $0.removeAll(scope: scope) } } catch { activity.distrust(scope: scope) }
  }

  /// Removes responses from the store; if it is closed, from its file, which is opened again.
  ///
  /// Of several caches of a file, one is told of a sign-out, and that may be the one whose store is closed.
  private func remove(_ removal: (any CacheStore) async throws -> Void) async throws {
    guard let later else { return try await removal(store) }
    // Responses that are gone need no removal.
    guard let open = try await later() else { return }
    do { try await removal(open) } catch {
      // The store may have been closed meanwhile.
      guard (open as? any ReleasedCacheStore)?.isClosed == true, let reopened = try await later() else { throw error }
      try await removal(reopened)
    }
  }

  /// Arranges that the stored responses of a call's owners are removed when they end, also if no client has this
  /// behavior any more by then.
  private func removeWithOwners(of call: Call) {
    let owner = call.owner
    let scopes = owner.scopes
    guard !scopes.isEmpty, owner.isPresent, let leftovers = call.scopeEndings?.leftovers else { return }
    for scope in scopes {
      if let later {
        leftovers.add(leftoverID, of: scope) {
          // There is no one left to tell of a file that cannot be opened.
          if let store = try? await later() { await CachingBehavior(store).scopeEnded(scope) }
        }
      } else {
        leftovers.add(leftoverID, of: scope) { [self] in await scopeEnded(scope) }
      }
    }
  }

  /// Removes everything that is stored; a response that is under way is not stored.
  ///
  /// If the store fails to do so, no stored response is used until everything has been removed.
  public func reset() async {
    let failedRemovals = activity.failedRemovals
    // Responses under way are not stored. A store without marks does not know of them.
    activity.invalidateAll()
    do {
      try await remove { try await $0.removeAll() }
      activity.trustAll(since: failedRemovals)
    } catch {
      activity.distrustAll()
    }
  }
}

extension RequestBehavior where Self == CachingBehavior {
  /// Stores responses and uses them again, according to RFC 9111; see ``CachingBehavior``.
  ///
  /// - Parameters:
  ///   - store: The store that keeps the responses.
  ///   - policy: The decisions that server and request leave to the cache.
  ///   - onEvent: Called at each hit, miss and other event, on the path of the request; `nil` by default.
  /// - Returns: The behavior.
  public static func caching(
    _ store: any CacheStore, policy: CachePolicy = CachePolicy(), onEvent: (@Sendable (CacheEvent) -> Void)? = nil
  ) -> CachingBehavior {
    CachingBehavior(store, policy: policy, onEvent: onEvent)
  }
}
