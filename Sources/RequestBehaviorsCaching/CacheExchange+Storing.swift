import Foundation
import RequestBehaviors

extension CacheExchange {
  /// Stores a response if it may be stored.
  ///
  /// - Parameters:
  ///   - fetched: The response; a stored one that replaces a failure is returned as it is.
  ///   - stored: The stored response that was found before, if any.
  /// - Returns: The response with its ``CacheFacts``.
  func keep(_ fetched: FetchedResponse, insteadOf stored: StoredResponse?) async -> NetworkResponse {
    let response = fetched.response
    guard let fetch = fetched.fetch else { return response }
    // A HEAD has no body to store, and a 304 to the user's own condition has none either: both only update the stored
    // response.
    if request.method == .head {
      await update(stored, byHead: response, of: fetch)
      return response
    }
    if response.statusCode == 304 { await update(stored, byOwn: response, of: fetch) }
    if let refusal = refusal(of: response, fetch) {
      await refuse(response, refusal, insteadOf: stored)
      return response
    }
    // A response that no later request could use would only take room.
    guard var new = storedForm(of: fetched) else { return response }
    guard demand.couldUse(new) else {
      await refuse(response, .unusable, insteadOf: stored)
      return response
    }
    // A stream is collected while it is read, and stored at its end. A file is not copied into the store.
    var kept = response
    switch response.body {
    case .file:
      await refuse(response, .file, insteadOf: stored)
      return response
    case .stream(let stream):
      kept.body = .stream(storing(stream, of: new, fetch))
    case .data(let body):
      new.body = body
      guard await save(new, of: fetch) else { return response }
    }
    kept.info[CacheFacts.self] = CacheFacts(new, at: now, isChanged: true)
    return kept
  }

  /// Returns a stream that stores its body when it has been read to its end.
  private func storing(
    _ stream: ByteStream, of head: StoredResponse, _ fetch: CacheActivity.Fetch
  ) -> ByteStream {
    let long = LongFetch(fetch, at: cache.activity)
    return StoringStream.make(stream, limit: cache.store.maximumBodySize) { body in
      var refusal: CacheRefusal?
      if !request.call.keepsScopes { refusal = .otherUser }
      if cache.activity.isOutdated(long.fetch, head.variant) { refusal = .changedMeanwhile }
      if let body, !Storability.isComplete(body.count, head.headers) { refusal = .incomplete }
      guard refusal == nil, let body else { return note(.notStored) { $0.refusal = refusal ?? .tooLarge } }
      var new = head
      new.body = body
      await save(new, of: long.fetch)
    }
  }

  /// Returns the stored form of a response, without its body.
  func storedForm(of fetched: FetchedResponse) -> StoredResponse? {
    let times = fetched.times
    return StoredResponse(
      fetched.response, body: Data(), to: request, requestTime: times.request, responseTime: times.response,
      policy: cache.policy)
  }

  /// Records that a response is not stored, and removes the stored one that it makes obsolete.
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

  /// Whether a 304 confirms that a stored response is still good.
  func confirms(_ response: NetworkResponse, _ stored: StoredResponse) -> Bool {
    response.isVerified && isOwn(response) && place.knowsOwner(of: response)
      && CacheValidators(stored.headers).isConfirmed(by: response.headers)
  }

  /// Returns a stored response with the updates of a later one.
  func updated(_ stored: StoredResponse, by response: NetworkResponse) -> StoredResponse? {
    let times = FetchedResponse(response: response, fetch: nil).times
    var updated = stored.updated(
      by: response.headers, to: request, requestTime: times.request, responseTime: times.response,
      policy: cache.policy)
    // Its fields and its lifetime are those of the later response, which a client without a verification may have got.
    if response.verification != .verified { updated?.verification = response.verification }
    return updated
  }

  /// Replaces the stored response by the updated one, or removes it if the update forbids storing.
  ///
  /// - Parameters:
  ///   - stored: The response as it was found.
  ///   - updated: The response with the updates of a later one.
  ///   - response: The later response.
  ///   - fetch: The fetch that it came from.
  func replace(
    _ stored: StoredResponse, by updated: StoredResponse, after response: NetworkResponse, of fetch: CacheActivity.Fetch
  ) async {
    let isSeen = CacheVariant.isSeen(of: updated.headers, at: request.headers, sent: response.request.headers)
    if !isSeen || Storability.isForbidden(updated.statusCode, updated.headers) {
      await remove(stored)
    } else if updated.variant == stored.variant {
      await perform { try await cache.store.update(stored, to: updated, for: key) }
    } else {
      await save(updated, of: fetch)
    }
  }

  /// Updates a stored response by a 304 to the user's own conditions, which the user gets (RFC 9111 §4.3.4).
  ///
  /// Only an entity tag shows that the 304 is about the stored response and not about one that the user has.
  private func update(
    _ stored: StoredResponse?, byOwn response: NetworkResponse, of fetch: CacheActivity.Fetch
  ) async {
    guard let stored, CacheValidators(response.headers).etag != nil, confirms(response, stored) else { return }
    if let updated = updated(stored, by: response) { await replace(stored, by: updated, after: response, of: fetch) }
  }

  /// Updates a stored response by a response to a HEAD, or removes it if the content has changed (RFC 9111 §4.3.5).
  private func update(
    _ stored: StoredResponse?, byHead response: NetworkResponse, of fetch: CacheActivity.Fetch
  ) async {
    guard let stored, response.statusCode == 200, response.isVerified, isOwn(response),
      place.knowsOwner(of: response)
    else { return }
    guard stored.statusCode == 200, CacheValidators.describesSameContent(response.headers, as: stored.headers),
      let updated = updated(stored, by: response)
    else { return await remove(stored) }
    await replace(stored, by: updated, after: response, of: fetch)
  }

  // MARK: - The store

  /// Whether a response is of the URL that was requested.
  func isOwn(_ response: NetworkResponse) -> Bool {
    CacheKey.text(of: response.request.url) == key.url
  }

  /// Stores a response unless the store refuses it.
  ///
  /// - Parameters:
  ///   - new: The response.
  ///   - fetch: The fetch that it came from; nothing is stored if the store had no mark for it.
  /// - Returns: Whether it is stored.
  @discardableResult
  func save(_ new: StoredResponse, of fetch: CacheActivity.Fetch) async -> Bool {
    guard let mark = fetch.mark else { return false }
    // Recorded before it is stored: of two that are stored at the same time, the earlier one sees the later one.
    cache.activity.noteSaving(new.variant, of: fetch)
    do {
      let saving = try await cache.store.save(new, for: key, matching: request.headers, since: mark)
      var refusal = saving.refusal
      if refusal == nil, cache.activity.isOutdated(fetch, new.variant) {
        await remove(new)
        refusal = .changedMeanwhile
      }
      note(refusal == nil ? .stored : .notStored) { $0.refusal = refusal }
      if saving.evicted > 0 { note(.evicted) { $0.count = saving.evicted } }
      return refusal == nil
    } catch {
      note(.failed) { $0.error = error }
      return false
    }
  }

  private func remove(_ stored: StoredResponse) async {
    await perform { try await cache.store.remove(stored, for: key) }
  }

  /// Performs work on the store, and records a failure instead of throwing it.
  private func perform(_ work: () async throws -> Void) async {
    do { try await work() } catch { note(.failed) { $0.error = error } }
  }
}
