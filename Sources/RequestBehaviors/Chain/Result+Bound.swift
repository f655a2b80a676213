extension Result where Success == NetworkResponse, Failure == any Error {
  /// Returns the response, or throws the error, for a request whose call did not make the sends itself.
  ///
  /// The call then has the history of the call that made them (``Call/adoptHistory(of:)``).
  ///
  /// - Parameters:
  ///   - request: The request that gets the response.
  ///   - source: The source of the response, as the request's call sees it; by default unchanged.
  /// - Returns: The response, bound to the request.
  /// - Throws: The error, bound to the request; ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut``
  ///   if the call's owners have left (``CallOwner``), unless there is an error without a response.
  public func bound(to request: NetworkRequest, as source: ResponseSource? = nil) throws -> NetworkResponse {
    switch self {
    case .success(let response):
      try request.call.adopt(response.request.call, with: response)
      var bound = response.bound(to: request)
      if let source { bound.source = source }
      return bound
    case .failure(let error as NetworkError):
      if let sent = error.request { try request.call.adopt(sent.call, with: error.response) }
      throw error.bound(to: request)
    case .failure(let error): throw error
    }
  }
}

extension Call {
  /// Takes over the history and the owners of another call.
  ///
  /// - Parameters:
  ///   - other: The other call.
  ///   - response: The response that it got; `nil` if it got none.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/signedOut`` if there is a response and the
  ///   owners have left.
  fileprivate func adopt(_ other: Call, with response: NetworkResponse?) throws {
    // The owner comes with the attempts: a response of a user who has left since must not reach the next one.
    adoptHistory(of: other)
    adoptOwner(of: other)
    if let response { try owner.verify(for: response) }
  }
}

extension NetworkError {
  /// Returns the error as one of a request of another call.
  fileprivate func bound(to request: NetworkRequest) -> NetworkError {
    var bound = self
    bound.request = self.request?.bound(to: request.call)
    bound.response = response?.bound(to: request)
    return bound
  }
}

extension Next {
  /// Takes over the latest failure of a call that the caller waited for, as the cause of the caller's own end.
  ///
  /// - Parameters:
  ///   - place: The place where the other call runs.
  ///   - request: The caller's request.
  public func adoptFailure(of place: DetachedNext, for request: NetworkRequest) {
    guard let failure = place.run.lastFailure else { return }
    request.call.adoptOwner(of: place.call)
    run.noteFailure((failure as? NetworkError)?.bound(to: request) ?? failure)
  }
}

extension Call {
  /// Takes over what another call did for this one: its attempts and decisions, the credentials that it kept back, why
  /// it was not repeated, and its secrets, which no description may show.
  ///
  /// A response or an error that is bound to a request of this call brings its history (`bound(to:as:)`). A caller that
  /// leaves before there is one uses this method. If several calls did something for this one, the attempts and
  /// decisions are those of the latest.
  ///
  /// - Parameter other: The other call.
  public func adoptHistory(of other: Call) {
    guard other !== self else { return }
    // A response or an error that is bound to this call hides this call's secrets, and may hold those of the other.
    let (attempts, secrets, withheld) = other.withState { ($0.servingAttempts, $0.secrets, $0.withheld) }
    var events = other.events
    // A wait that goes on for other callers is over for this one.
    let now = clock.now()
    for index in events.indices where events[index].isUnderWay { events[index].endWait(at: now) }
    withState { [events] state in
      state.secrets.add(secrets)
      state.adoptedAttempts = attempts
      state.adoptedEvents = events
      state.withheld.formUnion(withheld)
    }
    if let hindrance = other[RetryHindranceNote.self] { self[RetryHindranceNote.self] = hindrance }
  }
}
