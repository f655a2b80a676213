package import Foundation

/// When the phases of an exchange were, on the call's monotonic clock.
public struct ResponseTimings: Sendable, Hashable {
  /// When the transport got the request.
  public var sent: Duration
  /// When the head of the response was there; `nil` if the transport cannot tell.
  public var firstByte: Duration?
  /// When the last byte of the body was there; `nil` for a streamed body, whose ``BodyCompletion`` tells it.
  public var lastByte: Duration?

  /// What the transport measured of the connection; `nil` where it cannot tell, as over URLSession on Linux.
  public var connection: ConnectionTimings? {
    get { if case .measured(let timings) = measurement { timings } else { nil } }
    set { measurement = newValue.map { .measured($0) } ?? .none }
  }

  // One reference, because every step copies the response that it is a part of.
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

  /// How long the exchange took, from handing it to the transport to the last byte; `nil` for a streamed body.
  public var total: Duration? { lastByte.map { $0 - sent } }

  /// The latest moment that is known.
  var latest: Duration { lastByte ?? firstByte ?? sent }
}

/// How long the connection of an exchange took to make, and what it is.
public struct ConnectionTimings: Sendable, Hashable {
  /// How long the request waited before the transport took it up; `nil` if that is not known.
  public var queued: Duration?
  /// How long the host's name took to be resolved; `nil` if it was not.
  public var nameLookup: Duration?
  /// How long the connection took to be made, without TLS; `nil` if an existing one was used.
  public var connecting: Duration?
  /// How long the handshake of TLS took; `nil` if there was none.
  public var securing: Duration?
  /// Whether the connection existed before.
  public var isReused: Bool
  /// The protocol by its ALPN name, such as `h2` (RFC 7301); `nil` if it is not known.
  public var protocolName: String?
  /// The address and the port of the other end, such as `192.0.2.1:443` or `[2001:db8::1]:443`; `nil` if it is not known.
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

  /// A beginning and an end; either may be missing.
  package typealias Interval = (start: Date?, end: Date?)

  /// Creates timings of dates, where the time for connecting contains that for securing.
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
