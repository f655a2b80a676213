import Foundation

/// Refuses requests to a failing server, so that users do not wait for it and its load does not grow.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry(), .circuitBreaker()])
/// ```
///
/// The circuit of an origin opens when half of at least ten requests within 30 seconds failed (``CircuitPolicy``). For
/// a second, requests to the origin then fail at once with ``NetworkError/Code-swift.struct/circuitOpen``;
/// ``NetworkError/availableAt`` tells until when. After that, up to three probes go through at a time. Two successes in
/// a row close the circuit, and a failure opens it again. So after an outage a client learns within about a second that
/// the server is back. ``CircuitPolicy/breakDuration`` and ``CircuitPolicy/longestBreak`` give a server more rest.
///
/// | end of a request | counts as |
/// |---|---|
/// | any status but those below | success: the server works, even if it rejects the request |
/// | 408, 429, 500, 502, 503, 504 and other 5xx but 501 and 505 | failure |
/// | `cannotConnect`, `dnsFailed`, `connectionLost`, `truncatedBody` | failure; of a stream only the head is judged |
/// | `timedOut`, `transportFailed` | failure |
/// | cancelled because the call's deadline passed | failure |
/// | cancelled otherwise, refused by the client, no network at all | nothing |
/// | `tlsFailed`, `badResponse` and other codes | nothing |
/// | unverified or intercepted, an error of a behavior's own | nothing: it may not come from the server |
/// | the error of another request, such as a prerequisite | nothing: that request is judged separately |
///
/// A cancelled probe frees its place. If a probe has no response within ``CircuitPolicy/probeInterval``, another may go
/// in parallel. The first still counts until the request's `timeout`, or until ``CircuitPolicy/probeLease`` if there is
/// no timeout.
///
/// A prerequisite that a behavior further in asks for, such as a key for a signature, is neither refused nor counted
/// (``Next/client(omitting:)``).
public struct CircuitBreakerBehavior: UniqueBehavior {
  /// Further in than the limits, so that a request that waits for a permit does not occupy a probe's place.
  public let order = BehaviorOrder.circuitBreaker
  /// A request inside may have a probe's place, which its own prerequisite must not need.
  public let runsForPrerequisites = false

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
    let ticket =
      switch breaker.admit(circuit, at: call.clock.now(), lease: request.timeout) {
      case .go(let ticket): ticket
      case .refused(let end): throw refusal(key, until: end, request)
      }
    if ticket.isProbe { call.record("probes \(key)", from: "CircuitBreakerBehavior", kind: .circuitBreaker) }
    let outcome = await AttemptOutcome(of: request, next)
    breaker.report(ticket, CircuitVerdict(outcome, of: call), to: circuit, at: call.clock.now())
    return try outcome.get()
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
    error.availableAt = rest.map { clock.date().addingTimeInterval($0.inSeconds) }
    return error
  }
}

private enum BypassesCircuitBreaker: RequestOption {
  static let defaultValue = false
  static let isPortable = true
}

extension RequestOptions {
  /// Whether the circuit breaker neither refuses nor counts the request; false by default.
  public var bypassesCircuitBreaker: Bool {
    get { self[BypassesCircuitBreaker.self] }
    set { self[BypassesCircuitBreaker.self] = newValue }
  }
}

extension RequestBehavior where Self == CircuitBreakerBehavior {
  /// Refuses requests to servers that fail; see ``CircuitBreakerBehavior``.
  ///
  /// - Parameter breaker: The policy and the state; by default a breaker of the behavior's own.
  /// - Returns: The behavior.
  public static func circuitBreaker(_ breaker: CircuitBreaker = CircuitBreaker()) -> CircuitBreakerBehavior {
    CircuitBreakerBehavior(breaker)
  }
}
