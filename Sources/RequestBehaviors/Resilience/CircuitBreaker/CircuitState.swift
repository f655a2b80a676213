/// The requests that a circuit breaker lets through.
public enum CircuitState: Sendable, Hashable {
  /// All requests.
  case closed
  /// No request, because too many failed. At the given time of the clock a probe may go.
  case open(until: Duration)
  /// A few probes, which decide whether it closes.
  case halfOpen
  /// No request, until the user closes it.
  case isolated
}
