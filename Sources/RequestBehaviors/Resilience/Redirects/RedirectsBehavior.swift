import Foundation

/// Follows redirects, as ``RequestOptions/redirects`` says.
///
/// The behavior is built into each client.
///
/// Each hop is authenticated, signed and verified separately. The method changes as in browsers and RFC 9110 §15.4: a
/// 303 makes it GET (HEAD stays), a 301 or 302 makes a POST a GET, and a 307 or 308 changes nothing.
///
/// A redirect to another origin drops every sensitive field for good, unless it is marked for both origins. It also
/// drops every option that is not portable. Names such as `Authorization` and `Cookie` count as marked sensitive (see
/// ``HeaderFields``). A location is resolved against the URL that was sent, and judged by it. A body is sent on to
/// another origin only if the policy allows it, and a one-shot body is never sent again. In both cases the 3xx is the
/// outcome.
///
/// The call fails with ``NetworkError/Code-swift.struct/redirectFailed`` for a redirect from https to http, another
/// scheme, a user name in the location, several different locations, a loop, or more hops than
/// ``RedirectPolicy/limit``. A redirect back is no loop if it sets a cookie and the transport keeps cookies.
public struct RedirectsBehavior: UniqueBehavior {
  /// Outside authentication: each hop is authenticated, signed and verified separately.
  public let order = BehaviorOrder.redirects
  /// The behavior holds no permit or lock while a request is within `intercept`, so prerequisites pass too.
  public let runsForPrerequisites = true

  /// Creates the behavior.
  ///
  /// Each client already has one.
  public init() {}

  /// Sends the request, follows redirects, and returns the first response that is not a redirect to follow.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let response = try await next(request)
    guard (300...399).contains(response.statusCode), request.options.redirects.limit > 0 else { return response }
    return try await follow(response, to: request, next)
  }

  /// Returns the response at the end of the redirects that begin with a response.
  // Not inlined: every request would take memory for it while it waits.
  @inline(never)
  private func follow(
    _ first: NetworkResponse, to request: NetworkRequest, _ next: Next
  ) async throws -> NetworkResponse {
    var response = first
    let policy = request.options.redirects
    let cache = next.outer { $0 as? any ResponseCache }
    await cache?.invalidate(after: response, to: request)
    var current = request
    var visited: Set<Visit> = [Visit(request)]
    var isFirst = true
    while case .follow(let target) = try Redirect.decide(response, to: current, policy: policy) {
      let hop = try target.counted(after: response, policy)
      visited.insert(Visit(response.request))
      // With a new cookie the same request may have another response. The limit of redirects still holds.
      let hasNewCookie = response.headers.contains("Set-Cookie") && next.addsCredentials(to: hop)
      guard visited.insert(Visit(hop)).inserted || hasNewCookie else {
        throw NetworkError(.redirectFailed, "the redirect leads back to \(hop), a loop", response: response)
      }
      request.call.noteSecrets(of: response.request, before: hop)
      let shown = Redactor.standard.hiding(secretsOf: hop).redact(hop.url)
      request.call.record("redirect to \(shown)", from: "RedirectsBehavior", kind: .redirect)
      // The cache sees the responses of later hops itself.
      if isFirst { await cache?.keep(response, to: request, next: next) }
      isFirst = false
      response.body.cancel()
      current = hop
      // The request may have changed where it was redirected to, so no later request may join an earlier one for that
      // URL.
      defer { if !request.method.isSafe { next.outer { $0 as? CoalescingBehavior }?.coalescer.forget(hop.url) } }
      response =
        if let cache { try await cache.respond(to: hop, after: request, next: next) } else { try await next(hop) }
      await cache?.invalidate(after: response, to: hop)
    }
    return response
  }

  private struct Visit: Hashable {
    let method: RequestMethod
    let url: String

    init(_ request: NetworkRequest) {
      method = request.method
      url = request.url.absoluteString
    }
  }
}

extension Next {
  /// Returns the innermost behavior of a kind that is further out than this place; `nil` if there is no such behavior.
  fileprivate func outer<Behavior>(_ asKind: (any RequestBehavior) -> Behavior?) -> Behavior? {
    for entry in pipeline.entries[..<index].reversed() {
      if let behavior = asKind(entry.behavior) { return behavior }
    }
    return nil
  }
}

extension Pipeline.Entry {
  /// Whether the behavior follows redirects.
  var followsRedirects: Bool { behavior is RedirectsBehavior }
}
