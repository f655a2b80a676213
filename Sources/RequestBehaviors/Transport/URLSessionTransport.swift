/// Sends requests over URLSession.
public final class URLSessionTransport: Transport {
  /// Creates a transport.
  public init(clock: RequestClock = .system) {}
  /// Sends a request.
  public func send(_ request: NetworkRequest) async throws -> NetworkResponse { throw NetworkError.invalidRequest("") }
  /// Ends what is in flight.
  public func shutdown() async {}
}
