#if canImport(CRequestBehaviorsCurl)
  import Foundation
  public import RequestBehaviors

  /// Several transports over libcurl that share the work of a server, each with a thread and connections of its own.
  ///
  /// One ``CurlTransport`` uses one core. A server that needs more has a transport for each:
  ///
  /// ```swift
  /// let transports = CurlTransports(count: 4)
  /// let client = NetworkClient(baseURL: baseURL, transport: transports)
  /// let user: User = try await transports.run {
  ///   try await client.send(.get("users/1"))
  /// }
  /// ```
  ///
  /// The transports take turns: each request goes to the next one, and so does each ``run(_:)``. All requests of the
  /// work in a `run` go to the transport on whose thread it runs.
  ///
  /// Limits of the configuration, such as the connections to one host, are those of each transport.
  public final class CurlTransports: Transport {
    /// The transport whose thread runs the current task.
    @TaskLocal private static var current: (owner: CurlTransports, transport: CurlTransport)?

    private let transports: [CurlTransport]
    private let turn = Locked(0)

    /// Creates the transports; their threads start with their first requests.
    ///
    /// - Parameters:
    ///   - count: The number of transports, from 1 to 1,024; a number beyond counts as the nearest of these.
    ///   - configuration: The settings of each; the default settings if omitted.
    ///   - clock: The clock that measures timeouts; by default the system's.
    public init(
      count: Int, configuration: CurlTransport.Configuration = CurlTransport.Configuration(),
      clock: RequestClock = .system
    ) {
      let count = min(max(1, count), 1_024)
      transports = (0..<count).map { _ in CurlTransport(configuration: configuration, clock: clock) }
    }

    /// The number of transports.
    public var count: Int { transports.count }

    /// Sends a request over the transport on whose thread the task runs, or else over the next one.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response, with any status.
    /// - Throws: As ``CurlTransport/send(_:)`` does.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      let own = CurlTransports.current.flatMap { $0.owner === self ? $0.transport : nil }
      return try await (own ?? next()).send(request)
    }

    /// Ends all requests in flight with `NetworkError` of code `clientShutDown`; further sends fail with it too.
    public func shutdown() async {
      for transport in transports { await transport.shutdown() }
    }

    private func next() -> CurlTransport {
      turn.withLock { turn in
        defer { turn = (turn + 1) % transports.count }
        return transports[turn]
      }
    }
  }

  extension CurlTransports: HandOverEnding {}

  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  extension CurlTransports {
    /// Runs work on the thread of the next transport, over which its requests go; see ``CurlTransport/run(_:)``.
    ///
    /// - Parameter work: The work to run.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work.
    public func run<Value: Sendable>(_ work: @concurrent () async throws -> Value) async throws -> Value {
      let transport = next()
      return try await CurlTransports.$current.withValue((self, transport)) {
        try await transport.run(work)
      }
    }
  }
#endif
