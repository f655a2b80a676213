import RequestBehaviors

extension RequestOptions {
  /// The option by which the behaviors of an outbox know its requests.
  ///
  /// Behaviors of each request would have the client sort its list for each attempt.
  private enum Pass: RequestOption {
    static let defaultValue: OutboxPass? = nil
    static let isPortable = true
  }

  /// The attempt that the request belongs to; nil for requests that are not an outbox's.
  var outboxPass: OutboxPass? {
    get { self[Pass.self] }
    set { self[Pass.self] = newValue }
  }
}

/// Sends a request only in a call of the entry's own user, and notes how the call ends.
///
/// The check is inside the call: from here on a session sends its own user's token, or fails. An error is noted as it
/// arises; the caller's may have been replaced.
struct OutboxGuard: RequestBehavior {
  let order = BehaviorOrder.first

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let pass = request.options.outboxPass else { return try await next(request) }
    do {
      guard await pass.permits(request) else {
        throw NetworkError(
          .notSignedIn, "the entry belongs to another user than the one who is signed in, or its user has just left")
      }
      let response = try await next(request)
      pass.note(.success(response), of: request)
      return response
    } catch {
      pass.note(.failure(error), of: request)
      throw error
    }
  }
}
