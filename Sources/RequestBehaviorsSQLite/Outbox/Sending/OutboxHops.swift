import RequestBehaviors

/// Ends an attempt where a redirect would send it on as another request, without its method and body.
///
/// A 301 or 302 makes a POST a GET (RFC 9110 §15.4.2, §15.4.3). The response to that GET is no proof that the server
/// has the POST. After a 303 it is: the server has done what was asked, and shows the result elsewhere.
struct OutboxHops: RequestBehavior {
  let order = BehaviorOrder.inside(.redirects)

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let pass = request.options.outboxPass else { return try await next(request) }
    let hops = pass.hops
    if let last = hops.last, !hops.isDone, request.method != pass.method {
      throw NetworkError(
        .redirectFailed,
        "the \(last.statusCode) would make the \(pass.method) a \(request.method) without its body; let the server "
          + "respond with 307 or 308, or change the path of the operation's request", response: last)
    }
    let response = try await next(request)
    pass.note(hop: response)
    return response
  }
}
