/// When the phases of an exchange were, on the call's monotonic clock.
public struct Timings: Sendable, Hashable {
  /// When the transport got the request.
  public var sent: Duration
  /// When the head of the response was there; `nil` if the transport cannot tell.
  public var firstByte: Duration?
  /// When the last byte of the body was there.
  public var lastByte: Duration

  /// Creates timings.
  public init(sent: Duration, firstByte: Duration? = nil, lastByte: Duration) {
    self.sent = sent
    self.firstByte = firstByte
    self.lastByte = lastByte
  }

  /// How long the exchange took, from handing it to the transport to the last byte.
  public var total: Duration { lastByte - sent }
}
