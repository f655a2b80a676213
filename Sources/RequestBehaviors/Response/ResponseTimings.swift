import Foundation

/// The times of the phases of an exchange, on the call's monotonic clock.
public struct ResponseTimings: Sendable, Hashable {
  /// The time at which the transport received the request.
  public var sent: Duration
  /// The time at which the head of the response arrived; `nil` if the transport cannot tell.
  public var firstByte: Duration?
  /// The time of the last byte of the body; `nil` for a streamed body, whose ``BodyCompletion`` has the time.
  public var lastByte: Duration?

  /// The transport's measurements of the connection; `nil` if it has no such measurements, as URLSession on Linux.
  public var connection: ConnectionTimings? {
    get { if case .measured(let timings) = measurement { timings } else { nil } }
    set { measurement = newValue.map { .measured($0) } ?? .none }
  }

  // One reference, because every step copies the response that contains it.
  private indirect enum Measurement: Sendable, Hashable {
    case none
    case measured(ConnectionTimings)
  }

  private var measurement = Measurement.none

  /// Creates timings.
  public init(sent: Duration, firstByte: Duration? = nil, lastByte: Duration?) {
    self.sent = sent
    self.firstByte = firstByte
    self.lastByte = lastByte
  }

  /// The duration of the exchange, from handing it to the transport to the last byte; `nil` for a streamed body.
  public var total: Duration? { lastByte.map { $0 - sent } }

  /// The latest known time.
  var latest: Duration { lastByte ?? firstByte ?? sent }
}
