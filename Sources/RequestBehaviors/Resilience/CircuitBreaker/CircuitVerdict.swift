import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The verdict on the server that follows from the end of a request.
public enum CircuitVerdict: Sendable, Hashable {
  /// The server works.
  case success
  /// The server fails.
  case failure
  /// The request tells nothing about the server, for example because it was cancelled or the client refused it.
  case none
}

extension CircuitVerdict {
  /// Judges the end of a request by the table of ``CircuitBreakerBehavior``.
  ///
  /// - Parameters:
  ///   - outcome: How the request ended.
  ///   - call: The call of the request.
  init(_ outcome: AttemptOutcome, of call: Call) {
    self =
      switch outcome {
      case .success(let response): CircuitVerdict(response)
      case .failure(let error): CircuitVerdict(error, of: call)
      }
  }

  private init(_ response: NetworkResponse) {
    guard response.isVerified else {
      self = .none
      return
    }
    self = StatusCodes.brokenServer.contains(response.statusCode) ? .failure : .success
  }

  private init(_ error: any Error, of call: Call) {
    self = .none
    if error is CancellationError, call.isLate { self = .failure }
    guard let error = error as? NetworkError, error.code.kinds.contains(.network) else { return }
    // The error may be that of another request, such as a prerequisite, and its server is another one.
    let isOfOther = error.request.map { $0.call !== call } ?? false
    if isOfOther, call.attempts.last?.outcome.hasFailed(with: error.code) != true { return }
    let offline: Set<URLError.Code> = [.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff]
    if let cause = error.underlyingError as? URLError, offline.contains(cause.code) { return }
    self = .failure
  }
}
