extension Result where Success == NetworkResponse, Failure == any Error {
  /// Returns the response, or throws the error, as that of a request whose call did not make the sends itself.
  ///
  /// The call then has the attempts of the one that made them.
  ///
  /// - Parameters:
  ///   - request: The request that is answered.
  ///   - source: Where the response came from, seen from its call; by default as it is.
  /// - Returns: The response, bound to the request.
  /// - Throws: The error, bound to the request; ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut`` if
  ///   those whose call it is have left (``CallOwner``).
  public func bound(to request: NetworkRequest, as source: ResponseSource? = nil) throws -> NetworkResponse {
    switch self {
    case .success(let response):
      request.call.adoptAttempts(of: response.request.call)
      request.call.adoptOwner(of: response.request.call)
      do { try request.call.owner.verify() } catch {
        response.body.cancel()
        throw error
      }
      var bound = response.bound(to: request)
      if let source { bound.source = source }
      return bound
    case .failure(let error as NetworkError):
      var bound = error
      if let sent = error.request {
        request.call.adoptAttempts(of: sent.call)
        request.call.adoptOwner(of: sent.call)
        bound.request = sent.bound(to: request.call)
      }
      bound.response = error.response?.bound(to: request)
      throw bound
    case .failure(let error): throw error
    }
  }
}

private enum AdoptedAttempts: CallKey {
  static let defaultValue: [Attempt] = []
}

extension Call {
  /// What another call sent for this one.
  var adoptedAttempts: [Attempt] { self[AdoptedAttempts.self] }

  /// Takes what another call sent for this one into the attempts.
  func adoptAttempts(of other: Call) {
    guard other !== self else { return }
    self[AdoptedAttempts.self] = other.attempts
  }
}
