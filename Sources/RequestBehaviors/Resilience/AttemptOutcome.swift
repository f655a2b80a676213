/// The end of an attempt: its response, or the error that prevented one.
typealias AttemptOutcome = Result<NetworkResponse, any Error>

extension Result where Success == NetworkResponse, Failure == any Error {
  /// Runs the inner behaviors.
  init(of request: NetworkRequest, _ next: Next) async {
    do {
      self = .success(try await next(request))
    } catch {
      self = .failure(error)
    }
  }

  var response: NetworkResponse? {
    if case .success(let response) = self { response } else { nil }
  }

  var error: (any Error)? {
    if case .failure(let error) = self { error } else { nil }
  }

  /// The reason in few words, such as `503` or `timedOut`.
  var reason: String {
    switch self {
    case .success(let response): "\(response.statusCode)"
    case .failure(let error as NetworkError): "\(error.code)"
    case .failure(let error): "\(type(of: error))"
    }
  }

  /// Whether the server may have acted on the attempt, regardless of earlier sends.
  var mayHaveArrived: Bool { (error as? NetworkError)?.lastAttemptMayHaveArrived ?? true }

  /// Returns the sends before the one that ended so; all of them if none did.
  ///
  /// A behavior may throw another request's error, such as that of a prerequisite, after the response or before a send.
  ///
  /// - Parameter sends: Sends of one call.
  /// - Returns: The sends that this outcome does not tell about.
  func earlierSends(of sends: ArraySlice<Attempt>) -> ArraySlice<Attempt> {
    guard let last = sends.last else { return sends }
    let isItsEnd =
      switch self {
      case .success(let response): response.request.attemptNumber == last.number
      case .failure(let error as NetworkError): last.outcome.hasFailed(with: error.code)
      case .failure: false
      }
    return isItsEnd ? sends.dropLast() : sends
  }

  /// Reads the body of a response that will not be the outcome, so that its connection becomes free.
  func settled() async -> AttemptOutcome {
    guard case .success(var response) = self, case .stream(let stream) = response.body else { return self }
    do {
      response = try await response.buffered(upTo: 65_536)
    } catch {
      stream.cancel()
      response.body = .empty
    }
    return .success(response)
  }
}
