public import Foundation

/// An HTTP/1.1 server on 127.0.0.1 that sends the responses of a test, valid or not.
///
/// It is for tests of a real connection: framing, reuse, redirects, cancellation, and everything that a server or a
/// network can do wrong. (`MockTransport` is quicker to set up where the connection does not matter.)
///
/// ```swift
/// let server = try LoopbackServer()
/// server.enqueue(.status(503), .json(#"{"id": 1}"#))
/// let client = NetworkClient(baseURL: server.baseURL)
/// try? await client.send(.get("users/1"))
/// let user: User = try await client.send(.get("users/1"))
/// #expect(server.requests.map(\.path) == ["/users/1", "/users/1"])
/// ```
///
/// It listens from its creation on, on a port that the system chooses. Queued responses are sent in order, whichever
/// connection a request comes on. If the queue is empty the handler is called. Without a handler the response is a 404
/// that says so. A request that breaks RFC 9112 is refused with a 4xx or 5xx whose body names the rule, and the
/// connection is closed. Such a request is not recorded and does not take a response from the queue.
///
/// Each connection has its own thread, so a wait of the server or of a handler does not block a thread of Swift's
/// cooperative pool. Releasing the server stops it.
public final class LoopbackServer: Sendable {
  private let core: LoopbackCore
  /// The URL of the server, such as `http://127.0.0.1:49152/`.
  public let baseURL: URL

  private init(core: LoopbackCore) throws {
    self.core = core
    guard let url = URL(string: "http://127.0.0.1:\(core.port)/") else {
      core.stop()
      throw URLError(.badURL)
    }
    baseURL = url
  }

  /// The settings of a ``LoopbackServer``.
  public struct Options: Sendable {
    /// The port to listen on; by default 0, for any free port.
    ///
    /// Set a fixed port for a server that is stopped and started again.
    public var port: UInt16
    /// Whether ``LoopbackServer/requests`` keeps the requests; true by default.
    ///
    /// Set it to false to save memory when there are many thousands of requests.
    public var recordsRequests: Bool
    /// The largest request body in bytes, 64 MiB by default; a larger one is refused with 413 before it has been read.
    public var bodyLimit: Int
    /// Whether the server sends `100 Continue` for `Expect: 100-continue`; true by default.
    ///
    /// If not, the server waits for the body without sending anything.
    public var sendsContinue: Bool

    /// Creates settings.
    public init(
      port: UInt16 = 0, recordsRequests: Bool = true, bodyLimit: Int = 64 << 20, sendsContinue: Bool = true
    ) {
      self.port = port
      self.recordsRequests = recordsRequests
      self.bodyLimit = bodyLimit
      self.sendsContinue = sendsContinue
    }
  }

  /// Creates a server that serves its queue only.
  ///
  /// - Parameter options: The port, the recording, and the limits.
  /// - Throws: ``LoopbackError`` if the system has no socket or the port is taken.
  public convenience init(options: Options = Options()) throws {
    try self.init(core: LoopbackCore(options: options, handler: .none))
  }

  /// Creates a server that calls a handler for each request when no response is queued.
  ///
  /// - Parameters:
  ///   - options: The port, the recording, and the limits.
  ///   - handler: Returns the response, on the connection's own thread, several at a time for several connections. It
  ///     may block. An error that it throws becomes a response of status 500 that describes it.
  /// - Throws: As ``init(options:)``.
  public convenience init(
    options: Options = Options(), handler: @escaping @Sendable (LoopbackRequest) throws -> LoopbackResponse
  ) throws {
    try self.init(core: LoopbackCore(options: options, handler: .immediate(handler)))
  }

  /// Creates a server that calls an asynchronous handler for each request when no response is queued.
  ///
  /// - Parameters:
  ///   - options: The port, the recording, and the limits.
  ///   - handler: Returns the response, in a task of its own, which is cancelled when the client goes away or the
  ///     server stops. It must not block. An error that it throws becomes a response of status 500 that describes it.
  /// - Throws: As ``init(options:)``.
  public convenience init(
    options: Options = Options(), handler: @escaping @Sendable (LoopbackRequest) async throws -> LoopbackResponse
  ) throws {
    try self.init(core: LoopbackCore(options: options, handler: .asynchronous(handler)))
  }

  deinit { core.stop() }

  /// The port that the server listens on.
  public var port: UInt16 { core.port }

  /// Adds responses to the end of the queue.
  public func enqueue(_ responses: LoopbackResponse...) { core.enqueue(responses) }

  /// Adds responses to the end of the queue.
  public func enqueue(contentsOf responses: some Sequence<LoopbackResponse>) { core.enqueue(Array(responses)) }

  /// The number of queued responses that have not been used.
  ///
  /// If some are left at the end of a test, it expected more requests than came.
  public var queuedResponseCount: Int { core.queuedCount }

  /// The requests so far, in the order in which they were completely received; empty if they are not recorded.
  public var requests: [LoopbackRequest] { core.requests }

  /// The number of requests that have been received, recorded or not.
  public var requestCount: Int { core.requestCount }

  /// The number of connections that have been accepted since the server was created.
  public var connectionCount: Int { core.connectionCount }

  /// The number of open connections.
  public var openConnectionCount: Int { core.openConnectionCount }

  /// Waits until a number of requests have been received, and returns all requests so far.
  ///
  /// It returns earlier, with fewer, if the task is cancelled or the server stops.
  @discardableResult
  public func waitForRequests(_ count: Int) async -> [LoopbackRequest] {
    await core.wait(forRequests: count)
    return core.requests
  }

  /// Waits until no more than a number of connections are open, or the task is cancelled.
  ///
  /// A client that gives up a request closes its connection, so a test can use `await server.waitForConnections(atMost:
  /// 0)` to see that a cancellation has reached the wire.
  public func waitForConnections(atMost count: Int) async { await core.wait(forOpenConnections: count) }

  /// Closes all connections and stops listening; from then on connections are refused.
  ///
  /// On Linux the system does not give the port to another process while the server exists, so that a test can rely on
  /// the refusal. A server that asks for this very ``Options/port`` gets it.
  ///
  /// Stopping it twice, or releasing it after that, has no further effect.
  public func stop() { core.stop() }
}
