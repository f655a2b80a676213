import Foundation

/// Follows redirects; built in, and steered by ``RequestOptions/redirects``.
///
/// Each hop runs through authentication, signing and verification for itself. The method changes as browsers and
/// RFC 9110 §15.4 have it: 303 becomes GET (HEAD stays), 301 and 302 make GET of POST, 307 and 308 change nothing. On
/// the way to another origin every sensitive field is left behind, for good, unless it is marked for both origins, and
/// so is every option that is not portable; names such as `Authorization` and `Cookie` count as marked (see
/// ``HeaderFields``). A location is resolved against, and judged by, the URL that was sent. A body is sent on to another origin only if the policy says so; a one-shot body that was sent
/// is not sent again: in both cases the 3xx is the outcome.
///
/// Refused with ``NetworkError/Code-swift.struct/redirectFailed``: https to http, other schemes, user names in the
/// location, a loop, and more hops than ``RedirectPolicy/limit``.
public struct RedirectsBehavior: UniqueBehavior {
  /// Around authentication: each hop is authenticated, signed and verified for itself.
  public let order = BehaviorOrder.redirects
  /// Nothing is held while a request is within `intercept`, so prerequisites pass too.
  public let runsForPrerequisites = true

  /// Creates the behavior; a client has one without being told.
  public init() {}

  /// Sends the request, then where it is redirected to, until a response is no redirect.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    var response = try await next(request)
    guard (300...399).contains(response.statusCode) else { return response }
    let policy = request.options.redirects
    guard policy.limit > 0 else { return response }
    let cache = RedirectCache(around: request, next)
    var current = request
    var visited: Set<Visit> = [Visit(request)]
    var isFirst = true
    while case .follow(let target) = try Redirect.decide(response, to: current, policy: policy) {
      let hop = try target.counted(after: response, policy)
      visited.insert(Visit(response.request))
      guard visited.insert(Visit(hop)).inserted else {
        throw NetworkError(.redirectFailed, "the redirect leads back to \(hop), a loop", response: response)
      }
      let shown = Redactor.standard.hiding(secretsOf: hop).redact(hop.url)
      request.call.record("redirect to \(shown)", from: "RedirectsBehavior", kind: .redirect)
      // What came of a later hop the cache has seen itself.
      if isFirst { await cache?.keep(response, to: request) }
      isFirst = false
      response.body.cancel()
      current = hop
      response = if let cache { try await cache.send(hop) } else { try await next(hop) }
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
