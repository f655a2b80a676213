import Foundation
import RequestBehaviors

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
  func clock(for request: NetworkRequest) -> OAuth1Clock {
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

extension OAuth1Clock {
  /// The least difference, in seconds, that counts as the reason of a 401 without one; services allow 300 s and more.
  static let tolerance: TimeInterval = 60

  /// The least difference, in seconds, by which a timestamp that was refused by name is corrected.
  static let precision: TimeInterval = 2

  /// Returns the clock by which a request is signed again.
  ///
  /// The device's clock is replaced by the date of the service. A clock that was learned from the service is replaced
  /// by the device's, unless the service gives a date now that matches neither.
  ///
  /// - Parameters:
  ///   - used: The clock by which the request was signed.
  ///   - verdict: The meaning of the response for the timestamp.
  ///   - serviceDate: The date of the response; `nil` if it has no date.
  ///   - device: The device's clock.
  ///   - now: The time at which the response came, on the monotonic clock.
  /// - Returns: The clock; `nil` if the timestamp is not the reason, or if there is no other clock.
  static func alternative(
    to used: OAuth1Clock, verdict: OAuth1Refusal.TimestampVerdict, serviceDate: Date?, device: OAuth1Clock,
    now: Duration
  ) -> OAuth1Clock? {
    let least = verdict == .refused ? precision : tolerance
    let differ = { (one: Date, other: Date) in abs(one.timeIntervalSince(other)) >= least }
    let (believed, deviceDate) = (used.date(at: now), device.date(at: now))
    let isConfirmed = serviceDate.map { !differ($0, believed) } ?? false

    if used.source == .device {
      guard let serviceDate, !isConfirmed else { return nil }
      return OAuth1Clock(source: .service, date: serviceDate, readAt: now)
    }
    // The service still gives the date that was learned, so a 401 without a reason has another cause.
    if isConfirmed, verdict == .suspected { return nil }
    if let serviceDate, !isConfirmed, differ(serviceDate, deviceDate) {
      return OAuth1Clock(source: .service, date: serviceDate, readAt: now)
    }
    return differ(deviceDate, believed) ? device : nil
  }
}
