package import RequestBehaviors

/// Sends a request of its own for `x`, once, by a client that it is listed in.
package struct AskingBehavior: RequestBehavior {
  /// The client, which is taken by the first request.
  package let client = Box<NetworkClient?>(nil)

  package init() {}

  package func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let client = client.update { client in
      defer { client = nil }
      return client
    }
    try await client?.send(.get("x"))
    return try await next(request)
  }
}
