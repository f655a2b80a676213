package import Foundation

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
