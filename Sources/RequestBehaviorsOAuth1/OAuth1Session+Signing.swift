import Foundation
import RequestBehaviors

extension OAuth1Session {
  /// Returns the user's signer, or throws an error that says what to do if no user is signed in.
  func requiredSigner(for request: NetworkRequest) throws -> OAuth1Signer {
    if let signer = currentSigner { return signer }
    throw NetworkError(
      .oauth1MissingCredentials,
      "nobody is signed in; sign in first, use OAuth1Credentials.none to sign for the app alone, or send the request "
        + "with authentication .none", request: request)
  }

  /// Signs with a fresh nonce and the time at the service.
  ///
  /// - Throws: `NetworkError` if the request cannot be signed.
  func sign(
    _ request: inout NetworkRequest, with signer: OAuth1Signer, additional: [(name: String, value: String)] = []
  ) async throws {
    // Hashing a large file takes a while, and the timestamp must not be old.
    let fileHash = try await signer.fileHash(of: request)
    let timestamp = clock(for: request).timestamp(at: request.call.clock.now())
    let own = request.options.oauth1Parameters.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    try signer.sign(
      &request, nonce: makeNonce(), timestamp: timestamp, bodyHash: fileHash,
      additional: additional + own.map { (name: $0.key, value: $0.value) })
  }
}

// MARK: - Clock

extension OAuth1Session {
  /// Sends a request, and sends it again by another clock if the service refused the timestamp.
  ///
  /// The service's clock is stored for later requests as soon as one has succeeded by it. A response that does not
  /// judge the signature, such as a 503, leaves the clock on trial for the call: a retry uses it.
  func correctingClock(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard let origin = request.origin else { return try await next(request) }
    let place = OAuth1ClockTrials.Place(session: ObjectIdentifier(self), origin: origin)
    let used = clock(for: request)
    let response = try await next(request)
    judge(used, by: response, at: place, of: request.call)
    guard let other = alternative(to: used, after: response, to: request, origin: origin) else { return response }

    // One trial for each call, session and origin: a service that refuses both clocks has the last word.
    let isFirst = request.call.update(OAuth1ClockTrials.self) { trials in
      if trials[place] != nil { return false }
      trials[place] = OAuth1ClockTrials.Trial(clock: other)
      return true
    }
    guard isFirst else { return response }
    request.call.record(
      other.source == .service ? "sign again with the service's time" : "sign again with the device's time",
      from: "OAuth1Behavior", kind: .authentication)
    response.body.cancel()

    let second = try await next(request)
    judge(other, by: second, at: place, of: request.call)
    return second
  }

  /// Ends the trial of a clock if a response to a request that was signed by it says whether it is right.
  private func judge(
    _ clock: OAuth1Clock, by response: NetworkResponse, at place: OAuth1ClockTrials.Place, of call: Call
  ) {
    guard call[OAuth1ClockTrials.self][place]?.clock == clock else { return }
    if response.acceptsSignature {
      keep(clock, of: place.origin)
    } else if response.refusesSignature {
      call.update(OAuth1ClockTrials.self) { $0[place]?.clock = nil }
    }
  }

  /// Returns the clock by which a request is signed: the one on trial, else the one learned, else the device's.
  private func clock(for request: NetworkRequest) -> OAuth1Clock {
    guard let origin = request.origin else { return deviceClock(for: request) }
    let place = OAuth1ClockTrials.Place(session: ObjectIdentifier(self), origin: origin)
    return request.call[OAuth1ClockTrials.self][place]?.clock ?? learnedClock(of: origin) ?? deviceClock(for: request)
  }

  private func deviceClock(for request: NetworkRequest) -> OAuth1Clock {
    let clock = request.call.clock
    return OAuth1Clock(source: .device, date: clock.date(), readAt: clock.now())
  }

  /// Returns the clock by which to sign again after a response, and forgets the one that the response refuses.
  ///
  /// - Returns: `nil` if the request is not to be sent again.
  private func alternative(
    to used: OAuth1Clock, after response: NetworkResponse, to request: NetworkRequest, origin: Origin
  ) -> OAuth1Clock? {
    guard response.isVerified, origin.scheme == "https" || trustsClockOverHTTP,
      let verdict = OAuth1Refusal(response).timestampVerdict
    else { return nil }
    // A refused clock is forgotten even if this request cannot be sent again, for the sake of the next one.
    if verdict == .refused { forget(used, of: origin) }
    guard request.body?.isReplayable != false else { return nil }
    let now = request.call.clock.now()
    return OAuth1Clock.alternative(
      to: used, verdict: verdict,
      serviceDate: response.headers[.date].flatMap { HTTPDate.date(from: $0, now: used.date(at: now)) },
      device: deviceClock(for: request), now: now)
  }
}

extension NetworkResponse {
  /// Whether the service accepted the signature; a response that is not verified may come from another server.
  fileprivate var acceptsSignature: Bool {
    isVerified && statusCode != 400 && statusCode != 401 && (isAcceptable || (200..<400).contains(statusCode))
  }

  /// Whether the service may have rejected the signature; a response that is not verified may come from another server.
  fileprivate var refusesSignature: Bool { isVerified && (statusCode == 400 || statusCode == 401) }
}
