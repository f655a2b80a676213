import Foundation

extension CacheExchange {
  /// Asks the server whether a stored response is still good, for all requests that wait for the result.
  func revalidateForAll(_ stored: StoredResponse) async throws -> NetworkResponse {
    // Unless the server responds or fails for all, the outcome is `abandoned`: one of the waiting requests validates
    // then.
    var outcome = CacheActivity.Validation.abandoned
    defer { cache.activity.endValidation(of: key, outcome) }
    let failure = Locked<Result<NetworkResponse, any Error>?>(nil)
    func noteOutcome() {
      guard let failure = failure.withLock({ $0 }) else { return }
      outcome = isForAll(failure) ? .failed(failure) : .abandoned
    }
    do {
      // A stored response may replace a failure, so the failure is recorded also where this call succeeds.
      let response = try await revalidate(stored) { result in failure.withLock { $0 = result } }
      outcome = .ended
      noteOutcome()
      return response
    } catch {
      noteOutcome()
      throw error
    }
  }

  /// Whether a failure concerns every request that waited, and not this call alone.
  private func isForAll(_ failure: Result<NetworkResponse, any Error>) -> Bool {
    switch failure {
    case .success(let response):
      guard case .data = response.body else { return false }
      return place.knowsOwner(of: response)
    // A call that ended by its own deadline tells nothing about the server.
    case .failure(let error): return error is NetworkError && !request.call.isLate
    }
  }

  /// Whether the request would have failed in the same way as another one.
  ///
  /// A server that was too slow for the other request may be quick enough for this one.
  func canShare(_ failure: Result<NetworkResponse, any Error>) -> Bool {
    guard case .failure(let error as NetworkError) = failure, error.code == .timedOut else { return true }
    guard let other = error.request else { return false }
    return other.timeout == request.timeout && other.idleTimeout == request.idleTimeout
  }

  /// Returns the stored response if it may replace the failure of another request, or else that failure.
  func share(_ failure: Result<NetworkResponse, any Error>, insteadOf stored: StoredResponse) throws -> NetworkResponse
  {
    if let substitute = try standIn(stored) { return substitute }
    return try failure.bound(to: request, as: .coalesced)
  }
}
