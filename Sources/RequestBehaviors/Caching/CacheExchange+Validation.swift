import Foundation

extension CacheExchange {
  /// Asks the server whether a stored response is still good, for all who wait for that.
  func revalidateForAll(_ stored: StoredResponse) async throws -> NetworkResponse {
    var outcome = CacheActivity.Validation.abandoned
    defer { cache.activity.endValidation(of: key, outcome) }
    let failure = Locked<Result<NetworkResponse, any Error>?>(nil)
    func noteOutcome() {
      guard let failure = failure.withLock({ $0 }) else { return }
      outcome = isForAll(failure) ? .failed(failure) : .abandoned
    }
    do {
      let response = try await revalidate(stored) { result in failure.withLock { $0 = result } }
      outcome = .ended
      noteOutcome()
      return response
    } catch {
      noteOutcome()
      throw error
    }
  }

  /// Whether a failure of the server's is one for every request that waited, and not for this call alone.
  private func isForAll(_ failure: Result<NetworkResponse, any Error>) -> Bool {
    switch failure {
    case .success(let response):
      guard case .data = response.body else { return false }
      return place.knowsOwner(of: response)
    // A call that its own deadline ends says nothing of the server.
    case .failure(let error): return error is NetworkError && !request.call.isLate
    }
  }

  /// Whether the request would have met with a failure that another one met with.
  ///
  /// A server that took too long for that one may be quick enough for this.
  func canShare(_ failure: Result<NetworkResponse, any Error>) -> Bool {
    guard case .failure(let error as NetworkError) = failure, error.code == .timedOut else { return true }
    guard let other = error.request else { return false }
    return other.timeout == request.timeout && other.idleTimeout == request.idleTimeout
  }

  /// Returns what the request gets where the server failed for another one: the stored response if that may stand in.
  func share(_ failure: Result<NetworkResponse, any Error>, insteadOf stored: StoredResponse) throws -> NetworkResponse
  {
    if let substitute = try standIn(stored) { return substitute }
    return try failure.bound(to: request, as: .coalesced)
  }
}
