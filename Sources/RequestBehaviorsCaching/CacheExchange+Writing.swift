import RequestBehaviors

/// Requests that are not looked up.
extension CacheExchange {
  /// Sends a request that is not looked up; an unsafe one makes the stored responses of its URL invalid
  /// (RFC 9111 §4.4).
  static func passBy(_ request: NetworkRequest, _ next: Next, cache: CachingBehavior) async throws -> NetworkResponse {
    if CacheDemand(request, policy: cache.policy).isOnlyIfCached {
      CacheEvent(kind: .miss, request: request).note(by: cache)
      return .gatewayTimeout(to: request)
    }
    if request.method.isSafe { return try await next(request) }
    let post = await CachedPost(request, next, cache: cache)
    defer { post?.end() }
    // A behavior further out may have made sends of the same call before.
    let earlier = request.call.attemptCount
    let outcome: Result<NetworkResponse, any Error>
    do { outcome = .success(try await next(request)) } catch { outcome = .failure(error) }
    let sends = request.call.attempts.dropFirst(earlier)
    let mayKeep = await post?.mayKeep(outcome) ?? false
    let removals = await cache.invalidate(
      CacheInvalidation.urls(after: outcome, of: request, sends), after: request)
    let response = try outcome.get()
    guard mayKeep, let post else { return response }
    return await post.keep(response, after: removals)
  }
}

/// A POST at a cache: its response may be the one that a GET would get now (RFC 9110 §9.3.3).
private struct CachedPost: Sendable {
  private let exchange: CacheExchange
  /// The fetch begins before the POST is sent, so that a change meanwhile keeps the response out of the store.
  private let fetch: CacheActivity.Fetch

  /// Begins a fetch; `nil` for another method.
  init?(_ request: NetworkRequest, _ next: Next, cache: CachingBehavior) async {
    guard request.method == .post, let key = CacheKey(request, at: next, digestKey: cache.store.digestKey) else {
      return nil
    }
    let exchange = CacheExchange(request, next, cache: cache, key: key)
    self.exchange = exchange
    fetch = await exchange.beginFetch()
  }

  /// Ends the fetch.
  func end() { exchange.cache.activity.end(fetch) }

  /// Whether the response may be stored, as known before the POST makes the stored responses of its URL invalid.
  func mayKeep(_ outcome: Result<NetworkResponse, any Error>) async -> Bool {
    guard case .success(let response) = outcome, response.isVerified, (200...399).contains(response.statusCode),
      let fetch = FetchedResponse(response: response, fetch: fetch).fetch, let mark = fetch.mark
    else { return false }
    var refusal = exchange.refusal(of: response, fetch)
    // The mark of the store after the POST's own change would not tell whether there was another change before.
    if refusal == nil, await exchange.mark() != mark { refusal = .changedMeanwhile }
    if let refusal { exchange.note(.notStored) { $0.refusal = refusal } }
    return refusal == nil
  }

  /// Stores the response after the POST has made the stored responses of its URL invalid.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - removals: The number of removals that the POST has made.
  /// - Returns: The response.
  func keep(_ response: NetworkResponse, after removals: Int) async -> NetworkResponse {
    var fetch = fetch
    fetch.expectInvalidation()
    let mark = await exchange.mark()
    // A store counts these removals, or none at all. Any other number has removals of another process in it.
    if let mark, let before = fetch.mark, ![0, removals].contains(mark.number &- before.number) {
      exchange.note(.notStored) { $0.refusal = .changedMeanwhile }
      return response
    }
    fetch.mark = mark
    return await exchange.keep(FetchedResponse(response: response, fetch: fetch), insteadOf: nil)
  }
}

extension CachingBehavior {
  /// Removes the stored responses of URLs that a request has changed, including those under way.
  ///
  /// A response that the store fails to remove is not used until it has been removed.
  ///
  /// - Parameters:
  ///   - urls: The URLs in their normal form.
  ///   - request: The request that changed them.
  /// - Returns: The number of URLs whose responses the store has removed.
  @discardableResult
  func invalidate(_ urls: [String], after request: NetworkRequest) async -> Int {
    var removed = 0
    for url in urls {
      activity.invalidate(url)
      do {
        try await store.removeAll(url: url)
        removed += 1
      } catch {
        activity.distrust(url: url)
        var event = CacheEvent(kind: .failed, request: request)
        event.error = error
        event.note(by: self)
      }
    }
    return removed
  }
}
