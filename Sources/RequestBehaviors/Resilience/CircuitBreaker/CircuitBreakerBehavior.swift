import Foundation

/// Refuses requests to a server that fails, instead of letting users wait for it and adding to its load.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry(), .circuitBreaker()])
/// ```
///
/// When half of at least ten requests of 30 seconds failed (``CircuitPolicy``), requests to the origin fail at once with
/// ``NetworkError/Code-swift.struct/circuitOpen`` for a second; ``NetworkError/availableAt`` tells until when. Then up to
/// three probes go through at a time: two successes in a row close the circuit, a failure opens it again. So after an
/// outage a client learns within about a second that the server is back. A server that needs more rest gets it by
/// ``CircuitPolicy/breakDuration`` and ``CircuitPolicy/longestBreak``.
///
/// | end of a request | counts as |
/// |---|---|
/// | any status but those below | success: the server works, whatever it thinks of the request |
/// | 408, 429, 500, 502, 503, 504 and other 5xx but 501 and 505 | failure |
/// | no connection, connection lost, truncated body, timeout | failure; of a streamed body only the head is judged |
/// | cancelled because the call's deadline passed | failure |
/// | cancelled otherwise, refused on this side, no network at all | nothing |
/// | unverified or intercepted, an error of a behavior's own | nothing: who knows whose it was |
///
/// A probe that is cancelled gives its place back. One that has no response within ``CircuitPolicy/probeInterval`` lets a
/// further one go beside it; it still counts until the request's `timeout`, else until ``CircuitPolicy/probeLease``.
public struct CircuitBreakerBehavior: UniqueBehavior {
  /// Further in than the limits, so that no probe is held while a request waits there.
  public let order = BehaviorOrder.circuitBreaker
  /// A prerequisite request is judged for itself: nothing is held meanwhile.
  public let runsForPrerequisites = true

  let breaker: CircuitBreaker

  /// Creates the behavior.
  ///
  /// - Parameter breaker: The policy and the state.
  public init(_ breaker: CircuitBreaker = CircuitBreaker()) { self.breaker = breaker }

  /// Sends the request unless the circuit is open, and reports how it ended.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard !request.options.bypassesCircuitBreaker, let key = breaker.key(request) else {
      return try await next(request)
    }
    let call = request.call
    let circuit = breaker.circuit(of: key, at: call.clock.now())
    switch breaker.admit(circuit, at: call.clock.now(), lease: request.timeout) {
    case .refused(let end): throw refusal(key, until: end, request)
    case .go(let ticket):
      if ticket.isProbe { call.record("probes \(key)", from: "CircuitBreakerBehavior", kind: .circuitBreaker) }
      let outcome = await AttemptOutcome(of: request, next)
      breaker.report(ticket, CircuitVerdict(outcome, of: call), to: circuit, at: call.clock.now())
      return try outcome.get()
    }
  }

  /// Closes all circuits.
  public func reset() async { breaker.reset() }

  private func refusal(_ key: LimitKey, until end: Duration?, _ request: NetworkRequest) -> NetworkError {
    let clock = request.call.clock
    let rest = end.map { $0 - clock.now() }
    let when = rest.map { "for \($0.inWords)" } ?? "until it is closed by hand"
    request.call.record("refused: \(key) is open \(when)", from: "CircuitBreakerBehavior", kind: .circuitBreaker)
    var error = NetworkError(
      .circuitOpen, "requests to \(key) failed of late, so none is sent \(when)", request: request)
    error.availableAt = rest.map { clock.date().addingTimeInterval($0.seconds) }
    return error
  }
}

private enum BypassesCircuitBreaker: RequestOption {
  static let defaultValue = false
  static let isPortable = true
  static let affectsResponse = false
}

extension RequestOptions {
  /// Whether the request is sent whatever the circuit breaker says, and not counted; false by default.
  public var bypassesCircuitBreaker: Bool {
    get { self[BypassesCircuitBreaker.self] }
    set { self[BypassesCircuitBreaker.self] = newValue }
  }
}

extension RequestBehavior where Self == CircuitBreakerBehavior {
  /// Refuses requests to servers that fail; see ``CircuitBreakerBehavior``.
  ///
  /// - Parameter breaker: The policy and the state; by default one of the behavior's own.
  /// - Returns: The behavior.
  public static func circuitBreaker(_ breaker: CircuitBreaker = CircuitBreaker()) -> CircuitBreakerBehavior {
    CircuitBreakerBehavior(breaker)
  }
}
