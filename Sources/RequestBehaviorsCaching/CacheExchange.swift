import Foundation
import RequestBehaviors

/// One request at a cache: its demand, and the steps that the behavior takes for it.
struct CacheExchange: Sendable {
  private(set) var request: NetworkRequest
  /// The place of the cache in the list.
  let place: Next
  let cache: CachingBehavior
  let key: CacheKey
  let demand: CacheDemand
  /// Whether a behavior further in checks where responses come from.
  let requiresVerification: Bool
  /// Whether a stored redirect is the result, because the behavior that asks follows it.
  ///
  /// That behavior judges the next redirect by the request that got it. If the cache followed this one, it would not
  /// know of it: fields that were left behind at another origin, the method and the number of hops would be forgotten.
  let returnsRedirects: Bool
  /// Sends a request for no caller, in a validation in the background; `nil` while a caller waits.
  private var sendInBackground: (@Sendable (NetworkRequest) async throws -> NetworkResponse)?

  /// Creates the exchange of a request that may be looked up: GET, HEAD and QUERY; `nil` for other methods.
  init?(_ request: NetworkRequest, _ next: Next, cache: CachingBehavior, returnsRedirects: Bool = false) {
    guard [.get, .head, .query].contains(request.method), !request.call.hasGainedCredential else { return nil }
    // A credential that the transport adds, such as a cookie, is no part of a key.
    guard !next.addsCredentials(to: request) else { return nil }
    guard let key = CacheKey(request, at: next, digestKey: cache.store.digestKey) else { return nil }
    self.init(request, next, cache: cache, key: key, returnsRedirects: returnsRedirects)
  }

  init(
    _ request: NetworkRequest, _ next: Next, cache: CachingBehavior, key: CacheKey, returnsRedirects: Bool = false
  ) {
    self.returnsRedirects = returnsRedirects
    self.request = request
    place = next
    requiresVerification = next.verifies(request)
    self.key = key
    demand = CacheDemand(request, policy: cache.policy)
    self.cache = cache
  }

  var now: Date { request.call.clock.date() }

  // MARK: - What is stored

  /// Returns the stored response that the request matches; `nil` if there is no such response or if the store fails.
  func find() async -> StoredResponse? {
    guard !demand.forbidsStoring else { return nil }
    guard await hasRemovedWhatMustGo() else { return nil }
    do {
      let stored = try await cache.store.response(for: key, matching: request.headers)
      // A request whose response would be verified never uses a stored response that was not verified.
      if requiresVerification, stored?.verification != .verified { return nil }
      return stored
    } catch {
      note(.failed) { $0.error = error }
      return nil
    }
  }

  /// Removes the responses whose earlier removal failed.
  ///
  /// - Returns: `false` if the store fails again to remove what the request would match.
  private func hasRemovedWhatMustGo() async -> Bool {
    guard let distrusted = cache.activity.distrusted(of: key) else { return true }
    do {
      if distrusted.isEverything {
        try await cache.store.removeAll()
      } else if distrusted.isURL {
        try await cache.store.removeAll(url: key.url)
      }
      for scope in distrusted.scopes { try await cache.store.removeAll(scope: scope) }
      cache.activity.trust(distrusted, of: key)
      return true
    } catch {
      note(.failed) { $0.error = error }
      return !distrusted.concernsKey
    }
  }

  /// Decides what to do with the stored response.
  func decide(on stored: StoredResponse) -> ReuseDecision {
    ReuseDecision.decide(demand, stored: stored.terms, hasValidator: canValidate(stored), now: now)
  }

  /// Whether a conditional request can ask the server if a stored response is still good.
  ///
  /// A request with conditions of its own, with a range or for the head only is sent as it is.
  private func canValidate(_ stored: StoredResponse) -> Bool {
    request.method != .head && !request.headers.contains("Range") && !CacheValidators.areConditions(in: request.headers)
      && !CacheValidators(stored.headers).isEmpty
  }

  /// Returns the response that is made of a stored one; `nil` if only the server can respond to the request.
  func use(_ stored: StoredResponse, _ use: ReuseDecision.Use) throws -> NetworkResponse? {
    let isFresh = use == .fresh
    let response = try stored.response(to: request, source: isFresh ? .cache : .stale, now: now)
    if response != nil { note(isFresh ? .hit : .stale) }
    return response
  }

  /// The response to a request that may not use the network (RFC 9111 §5.2.1.7).
  private func gatewayTimeout() -> NetworkResponse {
    note(.miss)
    return .gatewayTimeout(to: request)
  }

  // MARK: - What the server sends

  /// Whether the result of a validation also serves the requests that came while it was under way.
  ///
  /// It does not where each request needs a validation of its own.
  func canShareValidation(of stored: StoredResponse) -> Bool {
    !demand.requiresValidation && !stored.terms.requiresValidation && stored.terms.lifetime > 0
  }

  /// Sends the request and stores the response if it may be stored; a request that may not use the network gets a 504.
  func respondFromServer(insteadOf stored: StoredResponse?) async throws -> NetworkResponse {
    if demand.isOnlyIfCached { return gatewayTimeout() }
    note(.miss)
    return try await fetchAnew(insteadOf: stored)
  }

  /// Asks the server whether a stored response is still good (RFC 9111 §4.3).
  ///
  /// - Parameters:
  ///   - stored: The stored response.
  ///   - onFailure: Called if the server fails, also where the stored response replaces the failure.
  /// - Returns: The stored response as the server confirmed it, or the new one.
  /// - Throws: The error of sending, if the stored response may not replace it.
  func revalidate(
    _ stored: StoredResponse, onFailure: (Result<NetworkResponse, any Error>) -> Void = { _ in }
  ) async throws -> NetworkResponse {
    var conditional = request
    conditional.headers.merge(CacheValidators(stored.headers).conditionalFields)
    conditional.options.isCacheValidation = true
    let fetched = try await send(conditional, insteadOf: stored, onFailure: onFailure)
    defer { fetched.end(cache.activity) }
    guard let fetch = fetched.fetch, fetched.response.statusCode == 304 else {
      return await keep(fetched, insteadOf: stored)
    }
    fetched.response.body.cancel()

    // RFC 9111 §4.3.4: a 304 confirms nothing if it is of another URL, of another owner or about other content.
    guard confirms(fetched.response, stored), let updated = updated(stored, by: fetched.response),
      let response = try updated.response(to: request, source: .revalidated, now: now)
    else { return try await fetchAnew(insteadOf: stored) }
    await replace(stored, by: updated, after: fetched.response, of: fetch)
    note(.revalidated)
    return response
  }

  /// Validates a stored response in a background call, unless one is under way already (RFC 5861 §3).
  func revalidateLater(_ stored: StoredResponse, _ next: Next) {
    // A request for a stream, such as a download to a file, has its response already and is not sent again.
    guard request.options.delivery == .buffered, cache.activity.beginRefresh(of: key, unless: validationKey) else {
      return
    }
    let detached = next.detached()
    var exchange = self
    // For no caller: the whole response is asked for, and no condition of a caller's.
    for name in ["Range"] + CacheValidators.conditions { exchange.request.headers.remove(name) }
    exchange.sendInBackground = { request in
      // No caller reads a stream in the background, so the body is collected.
      try await detached.start(request).value.buffered()
    }
    Task { [exchange] in
      defer { cache.activity.endRefresh(of: key) }
      _ = try? await exchange.revalidate(stored)
    }
  }

  /// Records that a response is being fetched, and takes the store's mark, so that this response does not bring back
  /// what is removed after it.
  ///
  /// - Parameter sinceOldest: Whether it counts as begun with the oldest fetch under way; false by default.
  /// - Returns: The fetch.
  func beginFetch(sinceOldest: Bool = false) async -> CacheActivity.Fetch {
    var fetch = cache.activity.beginFetch(of: key, request.headers, sinceOldest: sinceOldest)
    if fetch.mark == nil, let mark = await mark() {
      fetch.mark = mark
      cache.activity.note(mark, of: fetch)
    }
    return fetch
  }

  /// Returns a mark of the removals so far; `nil` if the store fails.
  func mark() async -> CacheMark? {
    do { return try await cache.store.mark() } catch {
      note(.failed) { $0.error = error }
      return nil
    }
  }

  private func fetchAnew(insteadOf stored: StoredResponse?) async throws -> NetworkResponse {
    let fetched = try await send(request, insteadOf: stored)
    defer { fetched.end(cache.activity) }
    return await keep(fetched, insteadOf: stored)
  }

  /// Sends a request; the stored response replaces a failure of the server if that is allowed (RFC 5861 §4).
  private func send(
    _ original: NetworkRequest, insteadOf stored: StoredResponse?,
    onFailure: (Result<NetworkResponse, any Error>) -> Void = { _ in }
  ) async throws -> FetchedResponse {
    // Other caches on the way get the same demand, unless the request names its own directives.
    var outgoing = original
    if let directive = CacheDemand.directive(for: request.options.caching), !request.headers.contains("Cache-Control") {
      outgoing.headers.set("Cache-Control", directive)
    }
    // The fetch begins before the request is sent, so that a removal from now on keeps the response out of the
    // store.
    let fetch = await beginFetch()
    do {
      let response = try await forward(outgoing)
      guard StatusCodes.staleInstead.contains(response.statusCode) else {
        return FetchedResponse(response: response, fetch: fetch)
      }
      onFailure(.success(response))
      guard let substitute = standIn(stored) else { return FetchedResponse(response: response, fetch: fetch) }
      cache.activity.end(fetch)
      response.body.cancel()
      return FetchedResponse(response: substitute, fetch: nil)
    } catch {
      cache.activity.end(fetch)
      guard FetchedResponse.isServerFailure(error, call: request.call) else { throw error }
      onFailure(.failure(error))
      guard let substitute = standIn(stored) else { throw error }
      return FetchedResponse(response: substitute, fetch: nil)
    }
  }

  /// Runs everything that is further in than the cache.
  private func forward(_ request: NetworkRequest) async throws -> NetworkResponse {
    if let sendInBackground { return try await sendInBackground(request) }
    return try await place(request)
  }

  /// Returns the stored response if it may replace a failure of the server.
  ///
  /// One that is larger than the request allows replaces nothing: its error would hide the failure.
  func standIn(_ stored: StoredResponse?) -> NetworkResponse? {
    guard let stored, ReuseDecision.standsIn(stored.terms, for: demand, now: now) else { return nil }
    return try? use(stored, .stale)
  }

  // MARK: - Events

  /// Records what the cache did in the call, and reports it to the observer of the cache.
  func note(_ kind: CacheEvent.Kind, _ complete: (inout CacheEvent) -> Void = { _ in }) {
    var event = CacheEvent(kind: kind, request: request)
    complete(&event)
    event.note(by: cache)
  }
}

extension CacheEvent {
  /// Records the event in the call, and reports it to the observer of the cache.
  func note(by cache: CachingBehavior) {
    request.call.record(refusal.map { "\(kind): \($0)" } ?? kind.rawValue, from: "CachingBehavior", kind: .caching)
    cache.onEvent?(self)
  }
}
