import Foundation
import RequestBehaviors

/// The number of validations under way in a call that other requests may wait for.
private enum AwaitedValidations: CallKey {
  static let defaultValue = 0
  // The call also waits for its prerequisite requests, so they must not wait either.
  static let isInherited = true
}

extension CacheExchange {
  /// Whether the request is a part of a validation that other requests may wait for.
  ///
  /// It is one if the server responded to the validation with a redirect.
  var isAwaited: Bool { request.call[AwaitedValidations.self] > 0 }

  /// The key of the validation that the request makes or waits for; `nil` if it shares none.
  var validationKey: CacheActivity.ValidationKey? { CacheActivity.ValidationKey(key, request, at: place) }

  /// Asks the server whether a stored response is still good, for all requests that wait for the result.
  ///
  /// - Parameters:
  ///   - stored: The stored response.
  ///   - key: The key for which the validation was begun. It is not made anew: the call may gain an owner.
  ///   - validation: The validation, whose end requests wait for that are sent for it.
  /// - Returns: The response to the request.
  /// - Throws: The error of sending.
  func revalidateForAll(
    _ stored: StoredResponse, _ key: CacheActivity.ValidationKey, _ validation: SharedValidation
  ) async throws -> NetworkResponse {
    request.call.update(AwaitedValidations.self) { $0 += 1 }
    defer { request.call.update(AwaitedValidations.self) { $0 -= 1 } }
    // Unless the server responds or fails for all, the outcome is `abandoned`: one of the waiting requests validates
    // then.
    var outcome = CacheActivity.Validation.abandoned
    // What this request is a part of waits for the validation. Nothing waits for a new one yet, so there is no circle.
    let wait = WorkWait(for: validation)
    defer {
      wait?.end()
      cache.activity.endValidation(of: key, outcome)
    }
    let failure = Locked<Result<NetworkResponse, any Error>?>(nil)
    func noteOutcome() {
      guard let failure = failure.withLock({ $0 }) else { return }
      outcome = isForAll(failure) ? .failed(failure) : .abandoned
    }
    do {
      // A stored response may replace a failure, so the failure is recorded also where this call succeeds.
      let response = try await WorkWait.$current.withValue(validation) {
        try await revalidate(stored) { result in failure.withLock { $0 = result } }
      }
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
    // A call that ended by its own deadline tells nothing about the server. One that cannot wait that long ends early.
    case .failure(let error):
      guard let error = error as? NetworkError else { return false }
      return error.code != .deadlineExceeded && !request.call.isLate
    }
  }

  /// Returns the stored response if it may replace the failure of another request, or else that failure.
  func share(_ failure: Result<NetworkResponse, any Error>, insteadOf stored: StoredResponse) throws -> NetworkResponse
  {
    if let substitute = standIn(stored) { return substitute }
    return try failure.bound(to: request, as: .coalesced)
  }
}
