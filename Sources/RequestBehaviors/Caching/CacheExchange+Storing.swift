import Foundation

extension CacheExchange {
  /// Stores a response if that may be stored.
  ///
  /// - Parameters:
  ///   - fetched: The response; a stored one that stands in is returned as it is.
  ///   - stored: What was found before.
  /// - Returns: The response with what the cache knows of it.
  func keep(_ fetched: FetchedResponse, insteadOf stored: StoredResponse?) async -> NetworkResponse {
    let response = fetched.response
    guard let fetch = fetched.fetch else { return response }
    if request.method == .head {
      await update(stored, byHead: response, since: fetch.mark)
      return response
    }
    if response.statusCode == 304 { await update(stored, byOwn: response, since: fetch.mark) }
    if let refusal = refusal(of: response, fetch) {
      await refuse(response, refusal, insteadOf: stored)
      return response
    }
    guard var new = storedForm(of: fetched) else { return response }
    guard demand.couldUse(new) else {
      await refuse(response, .unusable, insteadOf: stored)
      return response
    }
    var kept = response
    switch response.body {
    case .file:
      await refuse(response, .file, insteadOf: stored)
      return response
    case .stream(let stream):
      kept.body = .stream(storing(stream, of: new, since: fetch.mark))
    case .data(let body):
      new.body = body
      guard await save(new, since: fetch.mark) else { return response }
    }
    kept.info[CacheFacts.self] = CacheFacts(new, at: now, isChanged: true)
    return kept
  }

  /// Returns a stream that stores its body when its reader has reached the end.
  private func storing(_ stream: ByteStream, of head: StoredResponse, since mark: CacheMark?) -> ByteStream {
    let fetch = LongFetch(of: key, at: cache.activity)
    return StoringStream.make(stream, limit: cache.store.maximumBodySize) { body in
      var refusal: CacheRefusal?
      if !request.call.keepsScopes { refusal = .otherUser }
      if fetch.isOutdated { refusal = .changedMeanwhile }
      if let body, !Storability.isComplete(body.count, head.headers) { refusal = .incomplete }
      guard refusal == nil, let body else { return note(.notStored) { $0.refusal = refusal ?? .tooLarge } }
      var new = head
      new.body = body
      await save(new, since: mark)
    }
  }

  /// Returns the stored form of a response, without its body.
  func storedForm(of fetched: FetchedResponse) -> StoredResponse? {
    let times = fetched.times
    return StoredResponse(
      fetched.response, body: Data(), to: request, requestTime: times.request, responseTime: times.response,
      policy: cache.policy)
  }

  /// Returns why a response is not stored; `nil` if it may be.
  func refusal(of response: NetworkResponse, _ fetch: CacheActivity.Fetch) -> CacheRefusal? {
    if !response.isVerified { return .unverified }
    if demand.forbidsStoring { return .requestForbids }
    // What a redirect led to, or a behavior further in made of it, is not the URL that was asked.
    guard isOwn(response) else { return .otherURL }
    let refusal = Storability.refusal(
      statusCode: response.statusCode, headers: response.headers, method: request.method, url: request.url)
    if let refusal { return refusal }
    if CacheVariant(of: response.headers, to: request.headers) == nil { return .varyStar }
    // Of a response that came in the background the call is another one.
    guard request.call.keepsScopes, response.request.call.keepsScopes else { return .otherUser }
    guard place.knowsOwner(of: response) else { return .unknownOwner }
    guard CacheVariant.isSeen(of: response.headers, at: request.headers, sent: response.request.headers) else {
      return .variesUnseen
    }
    if cache.activity.isOutdated(fetch) { return .changedMeanwhile }
    guard case .data(let body) = response.body else {
      // What is known to be too large is not even collected.
      let told = response.headers["Content-Length"].flatMap { Int($0) } ?? 0
      return told > cache.store.maximumBodySize ? .tooLarge : nil
    }
    guard Storability.isComplete(body.count, response.headers) else { return .incomplete }
    return body.count > cache.store.maximumBodySize ? .tooLarge : nil
  }

  /// Notes that a response is not stored; a stored one that it takes the place of is removed.
  private func refuse(
    _ response: NetworkResponse, _ refusal: CacheRefusal, insteadOf stored: StoredResponse?
  ) async {
    note(.notStored) { $0.refusal = refusal }
    let replaces = response.statusCode < 300 || [404, 410].contains(response.statusCode)
    guard replaces, [.responseForbids, .varyStar, .tooLarge, .unusable, .unknownOwner].contains(refusal), let stored
    else { return }
    await remove(stored)
  }

  // MARK: - Updates

  /// Whether a 304 says that a stored response is still good.
  func confirms(_ response: NetworkResponse, _ stored: StoredResponse) -> Bool {
    response.isVerified && isOwn(response) && place.knowsOwner(of: response)
      && CacheValidators(stored.headers).isConfirmed(by: response.headers)
  }

  /// Returns a stored response as a later one updates it.
  func updated(_ stored: StoredResponse, by response: NetworkResponse) -> StoredResponse? {
    let times = FetchedResponse(response: response, fetch: nil).times
    return stored.updated(
      by: response.headers, to: request, requestTime: times.request, responseTime: times.response,
      policy: cache.policy)
  }

  /// Puts an updated response in the place of the stored one.
  func replace(_ stored: StoredResponse, by updated: StoredResponse, since mark: CacheMark?) async {
    if updated.variant == stored.variant {
      await perform { try await cache.store.update(stored, to: updated, for: key) }
    } else {
      await save(updated, since: mark)
    }
  }

  /// Updates a stored response by a 304 to the user's own conditions, which passes (RFC 9111 §4.3.4).
  ///
  /// Only an entity tag tells that the 304 is about the stored response, and not about one that the user has.
  private func update(_ stored: StoredResponse?, byOwn response: NetworkResponse, since mark: CacheMark?) async {
    guard let stored, CacheValidators(response.headers).etag != nil, confirms(response, stored) else { return }
    if let updated = updated(stored, by: response) { await replace(stored, by: updated, since: mark) }
  }

  /// Updates a stored response by a response to a HEAD, or removes it if that is about other content (RFC 9111 §4.3.5).
  private func update(_ stored: StoredResponse?, byHead response: NetworkResponse, since mark: CacheMark?) async {
    guard let stored, response.statusCode == 200, response.isVerified, isOwn(response),
      place.knowsOwner(of: response)
    else { return }
    guard stored.statusCode == 200, CacheValidators.describesSameContent(response.headers, as: stored.headers),
      let updated = updated(stored, by: response)
    else { return await remove(stored) }
    await replace(stored, by: updated, since: mark)
  }

  // MARK: - Other methods

  /// Sends a request that is not looked up; one that changes its URL makes what is stored of it invalid (RFC 9111 §4.4).
  static func passBy(_ request: NetworkRequest, _ next: Next, cache: CachingBehavior) async throws -> NetworkResponse {
    if CacheDemand(request, policy: cache.policy).isOnlyIfCached {
      CacheEvent(kind: .miss, request: request).note(by: cache)
      return .gatewayTimeout(to: request)
    }
    let response = try await next(request)
    let urls = CacheInvalidation.urls(after: response, to: request)
    guard response.isVerified, !urls.isEmpty, let key = CacheKey(request, at: next, digestKey: cache.store.digestKey)
    else {
      return response
    }
    let exchange = CacheExchange(request, next, cache: cache, key: key)
    for url in urls {
      cache.activity.invalidate(url)
      if await !exchange.perform({ try await cache.store.removeAll(url: url) }) { cache.activity.distrust(url: url) }
    }
    guard request.method == .post else { return response }
    // RFC 9110 §9.3.3: the response to a POST may be what a GET would now get.
    let fetched = FetchedResponse(response: response, fetch: await exchange.beginFetch())
    defer { fetched.end(cache.activity) }
    return await exchange.keep(fetched, insteadOf: nil)
  }

  // MARK: - The store

  /// Whether a response is of the URL that was asked.
  private func isOwn(_ response: NetworkResponse) -> Bool {
    CacheKey.text(of: response.request.url) == key.url
  }

  /// Stores a response unless the store refuses it.
  ///
  /// - Parameters:
  ///   - new: The response.
  ///   - mark: The store's mark before the request; without one nothing is stored.
  /// - Returns: Whether it is stored.
  @discardableResult
  func save(_ new: StoredResponse, since mark: CacheMark?) async -> Bool {
    guard let mark else { return false }
    do {
      let saving = try await cache.store.save(new, for: key, matching: request.headers, since: mark)
      note(saving.refusal == nil ? .stored : .notStored) { $0.refusal = saving.refusal }
      if saving.evicted > 0 { note(.evicted) { $0.count = saving.evicted } }
      return saving.refusal == nil
    } catch {
      note(.failed) { $0.error = error }
      return false
    }
  }

  private func remove(_ stored: StoredResponse) async {
    await perform { try await cache.store.remove(stored, for: key) }
  }

  /// Does something with the store; a failure is noted and goes no further.
  @discardableResult
  private func perform(_ work: () async throws -> Void) async -> Bool {
    do {
      try await work()
      return true
    } catch {
      note(.failed) { $0.error = error }
      return false
    }
  }
}
