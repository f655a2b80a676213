import RequestBehaviors

/// Adds proofs to the requests to an authorization server, which carry no token (RFC 9449 §5).
///
/// The endpoint makes another request if the server asks for a nonce: an assertion in it must not come twice.
struct DPoPEndpointBehavior: RequestBehavior {
  let order = BehaviorOrder.signing
  let key: DPoPKey

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let response = try await next(try await key.proven(request, nil, key.nonce(for: request.origin)))
    key.learn(response)
    return response
  }
}
