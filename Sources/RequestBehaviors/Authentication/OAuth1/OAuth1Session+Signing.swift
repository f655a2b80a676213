import Foundation

extension OAuth1Session {
  /// The signer of the user; an error that says what to do if nobody is signed in.
  func requiredSigner(for request: NetworkRequest) throws -> OAuth1Signer {
    if let signer = currentSigner { return signer }
    throw NetworkError(
      .oauth1MissingCredentials,
      "nobody is signed in; sign in first, use OAuth1Credentials.none to sign for the app alone, or send the request "
        + "with authentication .none", request: request)
  }

  /// Signs with a fresh nonce and the time at the service.
  func sign(
    _ request: inout NetworkRequest, with signer: OAuth1Signer, additional: [(name: String, value: String)] = []
  ) throws {
    let timestamp = max(1, Int(serverClock(for: request).date(at: request.call.clock.now()).timeIntervalSince1970))
    try signer.sign(&request, nonce: makeNonce(), timestamp: timestamp, additional: additional)
  }

  /// The clock of a service, as it told or, as long as it has not, as the device's is.
  func serverClock(for request: NetworkRequest) -> OAuth1ServerClock {
    let clock = request.call.clock
    if let origin = request.origin, let known = knownClock(of: origin) { return known }
    return OAuth1ServerClock(date: clock.date(), receivedAt: clock.now())
  }

  /// Learns the service's clock from a refusal.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - request: The request that it answers.
  ///   - believed: The clock by which the request was signed.
  /// - Returns: Whether that clock was wrong.
  func learnClock(
    from response: NetworkResponse, to request: NetworkRequest, believed: OAuth1ServerClock
  ) -> Bool {
    guard response.isVerified, let origin = request.origin, origin.scheme == "https" || trustsClockOverHTTP else {
      return false
    }
    let now = request.call.clock.now()
    var body = Data()
    if case .data(let data) = response.body { body = data }
    guard
      let refusal = OAuth1ServerClock.refusal(
        statusCode: response.statusCode, challenge: response.headers["WWW-Authenticate"], body: body),
      let clock = OAuth1ServerClock.corrected(
        by: refusal, dateField: response.headers["Date"], believed: believed.date(at: now), now: now)
    else { return false }
    remember(clock, of: origin)
    return true
  }

  /// Sends a request, and once more if the service told that the clock was wrong.
  func correctingClock(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let believed = serverClock(for: request)
    let response = try await next(request)
    guard learnClock(from: response, to: request, believed: believed) else { return response }
    let isFirst = request.call.update(HasCorrectedClock.self) { hasCorrected in
      defer { hasCorrected = true }
      return !hasCorrected
    }
    guard isFirst, request.body?.isReplayable != false else { return response }
    request.call.record("sign again with the service's time", from: "OAuth1Behavior")
    response.body.cancel()
    return try await next(request)
  }
}

private enum HasCorrectedClock: CallKey {
  static let defaultValue = false
}
