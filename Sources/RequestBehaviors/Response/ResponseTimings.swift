package import Foundation

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

/// The durations of a connection's phases, and facts about the connection.
public struct ConnectionTimings: Sendable, Hashable {
  /// How long the request waited before the transport processed it; `nil` if it is unknown.
  public var queued: Duration?
  /// The duration of the name lookup; `nil` if there was no lookup.
  public var nameLookup: Duration?
  /// The duration of connecting, without TLS; `nil` if an existing connection was used.
  public var connecting: Duration?
  /// The duration of the TLS handshake; `nil` if there was no handshake.
  public var securing: Duration?
  /// Whether the connection existed before.
  public var isReused: Bool
  /// The protocol by its ALPN name, such as `h2` (RFC 7301); `nil` if it is unknown.
  public var protocolName: String?
  /// The address and port of the peer, such as `192.0.2.1:443` or `[2001:db8::1]:443`; `nil` if it is unknown.
  public var remoteAddress: String?

  /// Creates timings.
  public init(
    queued: Duration? = nil, nameLookup: Duration? = nil, connecting: Duration? = nil, securing: Duration? = nil,
    isReused: Bool = false, protocolName: String? = nil, remoteAddress: String? = nil
  ) {
    self.queued = queued
    self.nameLookup = nameLookup
    self.connecting = connecting
    self.securing = securing
    self.isReused = isReused
    self.protocolName = protocolName
    self.remoteAddress = remoteAddress
  }

  /// A start and an end; either may be missing.
  package typealias Interval = (start: Date?, end: Date?)

  /// Creates timings from dates, where the interval of connecting contains that of securing.
  package init(
    nameLookup: Interval, connecting: Interval, securing: Interval, isReused: Bool, protocolName: String?
  ) {
    self.init(
      nameLookup: Self.duration(nameLookup),
      connecting: Self.duration((connecting.start, securing.start ?? connecting.end)),
      securing: Self.duration(securing), isReused: isReused, protocolName: protocolName)
  }

  private static func duration(_ interval: Interval) -> Duration? {
    guard let start = interval.start, let end = interval.end, end >= start else { return nil }
    return Duration(clamping: end.timeIntervalSince(start))
  }
}
