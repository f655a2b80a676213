import Foundation
public import RequestBehaviors

// Each hop of a redirect is cacheable by itself (RFC 9111 §3, RFC 9110 §15.4). The cache is further out than the
// behavior that follows redirects and sees only the last response. So that behavior asks the cache for each hop.

extension CacheExchange {
  /// Whether a stored response is a redirect that would be followed if the server sent it.
  func wouldBeFollowed(_ stored: StoredResponse) -> Bool {
    Redirect.statuses.contains(stored.statusCode) && stored.headers.contains("Location")
      && request.options.redirects.limit > 0
  }

  /// Returns a stored redirect and the request to which it leads; `nil` if the server must be asked.
  ///
  /// - Throws: `NetworkError` of code `redirectFailed` for a location that must not be followed, and for too many.
  func redirect(
    from stored: StoredResponse, _ decision: ReuseDecision
  ) throws -> (response: NetworkResponse, hop: NetworkRequest)? {
    // A redirect that may be used only while it is validated is validated at once: it has no body worth saving.
    guard case .use(let use) = decision, use != .whileRevalidating || demand.isOnlyIfCached else { return nil }
    guard let response = try self.use(stored, use) else { return nil }
    let policy = request.options.redirects
    guard case .follow(let hop) = try Redirect.decide(response, to: request, policy: policy) else { return nil }
    return (response, try hop.counted(after: response, policy))
  }

  /// Stores a redirect under its own URL, if it may be stored.
  func keep(redirect response: NetworkResponse) async {
    let fetched = FetchedResponse(response: response, fetch: await beginFetch(sinceOldest: true))
    defer { fetched.end(cache.activity) }
    guard let fetch = fetched.fetch, refusal(of: response, fetch) == nil, case .data(let body) = response.body,
      var new = storedForm(of: fetched), demand.couldUse(new)
    else { return }
    new.body = body
    await save(new, of: fetch)
  }
}

/// Whether a hop of the call got a credential that its first request did not get.
private enum HasGainedCredential: CallKey { static let defaultValue = false }

extension Call {
  /// Whether a hop of the call got a credential that its first request did not get.
  ///
  /// The owners of the call were asked for before the redirect, so they do not tell whose response it is.
  var hasGainedCredential: Bool { self[HasGainedCredential.self] }
}

extension Next {
  /// Whether a hop may be looked up; if not, no later hop of the call may be either.
  func mayLookUp(_ hop: NetworkRequest, after request: NetworkRequest) -> Bool {
    let inner = pipeline.entries.indices.dropFirst(index + 1)
    let gained = inner.contains { place in
      guard let credential = pipeline.entries[place].credential, credential.applies(to: hop) else { return false }
      return !credential.applies(to: request) && !hop.call.hasOwner(from: place)
    }
    if gained { hop.call[HasGainedCredential.self] = true }
    return !hop.call.hasGainedCredential
  }
}

extension CachingBehavior: ResponseCache {
  /// Removes the stored responses that a redirect of an unsafe request makes invalid (RFC 9111 §4.4).
  public func invalidate(after redirect: NetworkResponse, to request: NetworkRequest) async {
    // The cache itself sees only the outcome of the last hop.
    guard !request.method.isSafe, redirect.isVerified, Redirect.statuses.contains(redirect.statusCode) else { return }
    await invalidate(CacheInvalidation.urls(after: redirect, to: request), after: request)
  }

  /// Stores the first redirect of a call under its own URL, if it may be stored.
  public func keep(_ redirect: NetworkResponse, to request: NetworkRequest, next: Next) async {
    guard request.method.isSafe else { return }
    await CacheExchange(request, next, cache: self)?.keep(redirect: redirect)
  }

  /// Returns a stored response to a hop, or the server's response, which is stored if it may be.
  ///
  /// - Throws: The error that prevented a response.
  public func respond(
    to hop: NetworkRequest, after request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    // The server must handle an unsafe request at each hop.
    guard request.method.isSafe, next.mayLookUp(hop, after: request) else { return try await next(hop) }
    return try await respond(to: hop, next, returnsRedirects: true)
  }
}
