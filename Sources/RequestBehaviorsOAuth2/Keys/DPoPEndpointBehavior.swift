import RequestBehaviors

/// Adds proofs to the requests to an authorization server, which carry no token (RFC 9449 §5).
///
/// The endpoint makes another request if the server asks for a nonce: an assertion in it must not come twice.
struct DPoPEndpointBehavior: RequestBehavior {
  let order = BehaviorOrder.signing
  let key: DPoPKey
  /// The nonce that the server has just asked for, until it is sent: a concurrent response may have brought another.
  private let asked: Locked<String?>

  init(key: DPoPKey, nonce: String? = nil) {
    self.key = key
    asked = Locked(nonce)
  }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let first = asked.withLock { asked in
      defer { asked = nil }
      return asked
    }
    let response = try await next(try await key.proven(request, nil, first ?? key.nonce(for: request.origin)))
    key.learn(response)
    return response
  }
}
