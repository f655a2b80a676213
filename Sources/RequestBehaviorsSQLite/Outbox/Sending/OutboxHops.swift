import RequestBehaviors

/// Ends an attempt where a redirect would send it on as another request, without its method and body, or without its
/// key.
///
/// A 301 or 302 makes a POST a GET (RFC 9110 §15.4.2, §15.4.3). The response to that GET is no proof that the server
/// has the POST. After a 303 it is: the server has done what was asked, and shows the result elsewhere. If the server
/// refuses the request for the result for good, a 303 within the origin is the delivery all the same.
///
/// A redirect to another origin removes the idempotency key. There the entry could be carried out with each attempt.
struct OutboxHops: RequestBehavior {
  let order = BehaviorOrder.inside(.redirects)

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let pass = request.options.outboxPass else { return try await next(request) }
    if let last = pass.hops.last {
      try check(request, after: last, pass)
      pass.note(request, following: last)
    }
    let response = try await next(request)
    pass.note(hop: response)
    return response
  }

  /// Throws if the request to which a response has led is another one than that of the entry.
  private func check(_ request: NetworkRequest, after last: NetworkResponse, _ pass: OutboxPass) throws {
    // A behavior of the user's may ask for the outcome by another request, such as after a 202.
    if !pass.hops.isDone, Redirect.statuses.contains(last.statusCode), request.method != last.request.method {
      throw NetworkError(
        .redirectFailed,
        "the \(last.statusCode) would make the \(pass.method) a \(request.method) without its body; let the server "
          + "respond with 307 or 308, or change the path of the operation's request", response: last)
    }
    if !request.method.isSafe, !request.hasIdempotencyKey {
      let other = request.origin?.description ?? "another origin"
      throw NetworkError(
        .redirectFailed,
        "the \(last.statusCode) leads to \(other), and the idempotency key is not sent to another origin; let the "
          + "server redirect within its origin, or make an outbox with a client of that server", response: last)
    }
  }
}
