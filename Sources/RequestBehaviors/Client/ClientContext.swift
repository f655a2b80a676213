/// The facts that all calls of a client share.
///
/// A call refers to them as a whole, because copies of the parts would cost each request a reference count for each.
final class ClientContext: Sendable {
  /// The clock of the client, with sleeps that end when the client is shut down.
  let clock: RequestClock
  /// The clock of the configuration, whose sleeps go on when the client is shut down.
  let sessionClock: RequestClock
  /// The origin of the configuration's base URL; `nil` without a base URL.
  let baseOrigin: Origin?
  /// The decoder of bodies.
  let decoder: any BodyDecoder
  /// The lifetime of the client; `nil` for calls without a client.
  let lifetime: ClientLifetime?

  /// The facts of calls that no client made and that have the defaults.
  static let withoutClient = ClientContext(
    clock: .system, sessionClock: .system, baseOrigin: nil, decoder: RequestConfiguration.jsonDecoder, lifetime: nil)

  /// Creates the facts of a client with a configuration.
  convenience init(_ configuration: RequestConfiguration, lifetime: ClientLifetime) {
    self.init(
      clock: configuration.clock.ending(with: lifetime), sessionClock: configuration.clock,
      baseOrigin: configuration.options.environment?.origin, decoder: configuration.decoder, lifetime: lifetime)
  }

  init(
    clock: RequestClock, sessionClock: RequestClock, baseOrigin: Origin?, decoder: any BodyDecoder,
    lifetime: ClientLifetime?
  ) {
    self.clock = clock
    self.sessionClock = sessionClock
    self.baseOrigin = baseOrigin
    self.decoder = decoder
    self.lifetime = lifetime
  }
}
