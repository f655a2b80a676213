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

  /// Whether the server may have acted on the attempt.
  var mayHaveArrived: Bool { (error as? NetworkError)?.lastAttemptMayHaveArrived ?? true }

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
