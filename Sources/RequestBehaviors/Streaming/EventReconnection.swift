/// When a request for server-sent events is made again after its stream has ended or broken off.
///
/// Before the first of several streams in a row that brought no event, the wait is the latest `retry` of the server, else
/// ``delay``; before each further one ``backoff`` is added to it.
public struct EventReconnection: Sendable {
  /// How long to wait where the server has not said so; 3 seconds by default.
  public var delay: Duration

  /// What is added to the wait when streams bring no event.
  public var backoff: Backoff

  /// The most streams in a row without an event, beside the first one; `nil`, the default, for any number.
  public var limit: Int?

  /// The longest wait that a server may ask for; an hour by default.
  ///
  /// A server that asks for more is not asked again.
  public var longestServerDelay: Duration

  private let random: @Sendable () -> Double

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - delay: How long to wait where the server has not said so.
  ///   - backoff: What is added to the wait when streams bring no event.
  ///   - limit: The most streams in a row without an event, beside the first one; `nil` for any number.
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
    self.random = random ?? { Double.random(in: 0...1) }
  }

  /// Connects again for as long as the server does not end it.
  public static let automatic = EventReconnection()

  /// How long to wait before a request; `nil` if there is to be none.
  ///
  /// - Parameters:
  ///   - attempt: Which request it is since the latest event, from 1.
  ///   - retry: The wait that the server asked for; `nil` if it did not.
  /// - Returns: The wait.
  func delay(before attempt: Int, retry: Duration?) -> Duration? {
    if let limit, attempt > limit { return nil }
    if let retry, retry > longestServerDelay { return nil }
    let wait = max(.zero, retry ?? delay)
    return attempt > 1 ? wait + backoff.delay(beforeRetry: attempt - 1, random: random()) : wait
  }
}
