/// A private HTTP cache (RFC 9111): a response is stored, used while it is fresh, and validated when it is not.
///
/// A fresh response is used without anything further in being called. A stale one with an `ETag` or a `Last-Modified` is
/// validated: the server's 304 lets the stored body stand. Requests say by ``RequestOptions/caching`` how they use the
/// cache; ``NetworkResponse/source`` says what came of it.
///
/// What is stored is kept apart by ``RequestBehavior/scope(for:)``, by the secrets in the request's own fields and by
/// the fields that the response's `Vary` names, all as they stand at this behavior: a field that is set further in, such
/// as a token's, counts by its scope alone. So a response is not stored if a secret was added further in without a scope
/// (``Next/knowsOwner(of:)``), if it varies by a field that was added further in, or if it is not verified. Of a request
/// that is redirected each hop is stored, and used again, under its own URL. A request with an unsafe method makes what
/// is stored of its URL invalid.
public struct CachingBehavior: UniqueBehavior {
  /// Around everything that tries, waits and authenticates; within what saves.
  public let order = BehaviorOrder.caching
  let store: any CacheStore
  let policy: CachePolicy
  let onEvent: (@Sendable (CacheEvent) -> Void)?
  /// What is under way at the store, by this behavior and others.
  let activity: CacheActivity

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - store: Where responses are kept.
  ///   - policy: What the cache does where server and request leave it to it.
  ///   - onEvent: Told of each hit, miss and so on, on the path of the request; nothing by default.
  public init(
    _ store: any CacheStore, policy: CachePolicy = CachePolicy(), onEvent: (@Sendable (CacheEvent) -> Void)? = nil
  ) {
    self.store = store
    self.policy = policy
    self.onEvent = onEvent
    activity = CacheActivity.shared(by: store)
  }

  /// Returns a stored response if that may be used, else what the server sends, which is stored if it may be.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    // What is not looked up may still make stored responses invalid.
    guard let exchange = CacheExchange(request, next, cache: self) else {
      return try await CacheExchange.passBy(request, next, cache: self)
    }
    return try await run(exchange, next, hasWaited: false)
  }

  private func run(_ exchange: CacheExchange, _ next: Next, hasWaited: Bool) async throws -> NetworkResponse {
    var stored = await exchange.find()
    var decision = exchange.decide(on: stored)

    // A stored redirect is followed as the server's would be; one that may not be used is as good as none.
    if let redirect = stored, exchange.wouldBeFollowed(redirect) {
      if let hop = try exchange.hop(from: redirect, decision) { return try await intercept(hop, next: next) }
      (stored, decision) = (nil, exchange.decide(on: nil))
    }

    // If a stored response may be used, we are done; a stale one may be refreshed for the next time.
    if case .use(let use) = decision, let stored, let response = try exchange.use(stored, use) {
      if use == .whileRevalidating, !exchange.demand.isOnlyIfCached { exchange.revalidateLater(stored, next) }
      return response
    }

    // If the network may not be used, we are done, too.
    if exchange.demand.isOnlyIfCached { return exchange.gatewayTimeout() }

    // If nothing is stored that may still be good, the server's response is it.
    guard decision == .revalidate, let stored else { return try await exchange.fetch(insteadOf: stored) }

    // If another request asks the server already whether it is good, we look again after that, once.
    guard !hasWaited, exchange.canShareValidation(of: stored) else { return try await exchange.revalidate(stored) }
    switch try await activity.beginValidation(of: exchange.key, for: exchange.request.call) {
    case .own: return try await exchange.revalidateForAll(stored)
    case .ended: return try await run(exchange, next, hasWaited: true)
    case .abandoned: return try await run(exchange, next, hasWaited: false)
    case .failed(let failure):
      guard exchange.canShare(failure) else { return try await exchange.revalidate(stored) }
      return try exchange.share(failure, insteadOf: stored)
    }
  }

  /// Warns of credentials further in that have no scope.
  public func warnings(in pipeline: Pipeline) -> [String] {
    pipeline.warningsOfUnknownOwners(for: CachingBehavior.self, "what it is sent with is not stored")
  }

  /// Removes what is stored for a scope, such as a user who signed out.
  ///
  /// A response that is under way is not stored. What the store cannot remove is not used until it can.
  public func scopeEnded(_ scope: String) async {
    activity.end(scope: scope)
    do { try await store.removeAll(scope: scope) } catch { activity.distrust(scope: scope) }
  }

  /// Removes everything that is stored.
  public func reset() async { if (try? await store.removeAll()) != nil { activity.trustAll() } }
}

extension RequestBehavior where Self == CachingBehavior {
  /// Stores responses and uses them again, as RFC 9111 has it; see ``CachingBehavior``.
  ///
  /// - Parameters:
  ///   - store: Where responses are kept.
  ///   - policy: What the cache does where server and request leave it to it.
  ///   - onEvent: Told of each hit, miss and so on; nothing by default.
  /// - Returns: The behavior.
  public static func caching(
    _ store: any CacheStore, policy: CachePolicy = CachePolicy(), onEvent: (@Sendable (CacheEvent) -> Void)? = nil
  ) -> CachingBehavior {
    CachingBehavior(store, policy: policy, onEvent: onEvent)
  }
}
