/// The rule of when a request for server-sent events is repeated after its stream has ended or broken off.
///
/// The wait before a repeat is the latest `retry` of the server, at least half a second, or else ``delay``. If several
/// streams in a row bring no event, ``backoff`` is added before each but the first.
public struct EventReconnection: Sendable {
  /// How long to wait if the server has sent no `retry`; 3 seconds by default.
  public var delay: Duration

  /// The time that is added to the wait when streams bring no event.
  public var backoff: Backoff

  /// The maximum number of successive streams without an event, besides the first one; `nil`, the default, for no
  /// limit.
  public var limit: Int?

  /// The longest wait that a server may ask for; an hour by default.
  ///
  /// If a server asks for a longer wait, the request is not repeated.
  public var longestServerDelay: Duration

  /// The shortest wait for a server that asks for less; without it, `retry: 0` would mean requests without a pause.
  private static let shortestServerDelay = Duration.milliseconds(500)

  private let random: @Sendable () -> Double

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - delay: How long to wait if the server has sent no `retry`.
  ///   - backoff: The time that is added to the wait when streams bring no event.
  ///   - limit: The maximum number of successive streams without an event, besides the first one; `nil` for no limit.
  ///   - longestServerDelay: The longest wait that a server may ask for.
  ///   - random: Makes numbers from 0 to 1 for the backoff; by default the system's.
  public init(
    delay: Duration = .seconds(3), backoff: Backoff = Backoff(), limit: Int? = nil,
    longestServerDelay: Duration = .seconds(3_600), random: (@Sendable () -> Double)? = nil
  ) {
    self.delay = delay
    self.backoff = backoff
    self.limit = limit
    self.longestServerDelay = longestServerDelay
    self.random = random ?? RandomSource.fraction
  }

  /// Repeats the request until the server ends the events.
  public static let automatic = EventReconnection()

  /// Returns how long to wait before a request; `nil` if there is to be no further request.
  ///
  /// - Parameters:
  ///   - attempt: The number of the request since the latest event, from 1.
  ///   - retry: The wait that the server asked for; `nil` if it asked for no wait.
  /// - Returns: The wait.
  func delay(before attempt: Int, retry: Duration?) -> Duration? {
    if let limit, attempt > limit { return nil }
    if let retry, retry > longestServerDelay { return nil }
    let wait = retry.map { max($0, EventReconnection.shortestServerDelay) } ?? max(.zero, delay)
    return attempt > 1 ? wait + backoff.delay(beforeRetry: attempt - 1, random: random()) : wait
  }

  /// Returns whether another request may bring more events after an error.
  func repeats(after error: NetworkError) -> Bool {
    error.isTransient && error.code != .unacceptableStatus
  }

  /// Returns whether requests of a method are repeated; any but GET may take effect again.
  static func repeats(_ method: RequestMethod) -> Bool { method == .get }
}
