public import Foundation

/// Sends requests through an ordered list of behaviors.
///
/// Make one for each server that you talk to, and share it:
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: URL(string: "https://api.example.com/v1")!)
/// let user: User = try await client.send(.get("users/\(login)"))
/// ```
///
/// A client keeps its connections as long as it lives; the idle ones are closed with the last client over a transport.
/// ``shutdown()`` ends the calls in flight.
public final class NetworkClient: Sendable {
  /// The configuration that the client was made with.
  public let configuration: RequestConfiguration

  let transport: any Transport
  let lifetime: ClientLifetime
  let parent: Parent?
  let context: ClientContext
  // The `Accept` field of requests for decoded values that have none; `nil` if the decoder takes any type.
  let acceptedTypes: String?
  // The list of all requests without behaviors of their own, made once.
  let chain: Result<Chain, any Error>

  /// Creates a client.
  ///
  /// A fault of the configuration (a relative base URL, a behavior listed twice) is thrown by every send.
  ///
  /// - Parameters:
  ///   - configuration: The server, the behaviors, the settings.
  ///   - transport: The transport; by default URLSession with settings that are correct on Linux too.
  public convenience init(configuration: RequestConfiguration, transport: (any Transport)? = nil) {
    self.init(
      configuration: configuration, transport: transport ?? URLSessionTransport(clock: configuration.clock),
      parent: nil)
  }

  /// Creates a client for a server.
  ///
  /// - Parameters:
  ///   - baseURL: The URL that paths are appended to.
  ///   - behaviors: The behaviors of every request; none by default.
  ///   - transport: The transport; by default URLSession.
  public convenience init(
    baseURL: URL, behaviors: [any RequestBehavior] = [], transport: (any Transport)? = nil
  ) {
    self.init(configuration: RequestConfiguration(baseURL: baseURL, behaviors: behaviors), transport: transport)
  }

  init(
    configuration: RequestConfiguration, transport: any Transport, parent: Parent?,
    lifetime: ClientLifetime = ClientLifetime()
  ) {
    self.configuration = configuration
    self.transport = transport
    self.lifetime = lifetime
    self.context = ClientContext(configuration, lifetime: lifetime)
    self.parent = parent
    let types = configuration.decoder.contentTypes.filter { !$0.contains("*") }
    self.acceptedTypes = types.isEmpty ? nil : types.joined(separator: ", ")
    self.chain = Result {
      Chain(
        try NetworkClient.pipeline(of: configuration), transport: transport, configuration: configuration,
        lifetime: lifetime)
    }
    // The client of a prerequisite has behaviors of the client that made it, which hear of endings already.
    if parent == nil, let listener = (try? chain.get())?.listener { lifetime.scopeEndings.add(listener) }
  }

  /// Returns a variant of this client over the same transport.
  ///
  /// ```swift
  /// let patient = client.with { $0.options.idleTimeout = .seconds(300) }
  /// ```
  public func with(_ change: (inout RequestConfiguration) throws -> Void) rethrows -> NetworkClient {
    try with(lifetime, change)
  }

  /// Returns a variant of this client whose calls are part of work that a shutdown lets finish.
  ///
  /// - Parameters:
  ///   - work: The work.
  ///   - change: Changes the configuration.
  /// - Returns: The variant.
  public func with(
    _ work: LastingWork, _ change: (inout RequestConfiguration) throws -> Void
  ) rethrows -> NetworkClient {
    try with(work.lifetime, change)
  }

  /// Returns a variant of this client with another lifetime.
  private func with(
    _ lifetime: ClientLifetime, _ change: (inout RequestConfiguration) throws -> Void
  ) rethrows -> NetworkClient {
    var changed = configuration
    try change(&changed)
    return NetworkClient(configuration: changed, transport: transport, parent: parent, lifetime: lifetime)
  }

  /// Makes every behavior of the configuration forget its state, one after the other, outermost first.
  ///
  /// The transport drops its cookies, if it keeps any, for all clients over it. A request that was under way with them,
  /// and is not sent yet, fails with ``NetworkError/Code-swift.struct/signedOut``. Sessions that the app holds, such as
  /// a signed-in user's, go on.
  public func reset() async {
    transport.forgetUser()
    guard let entries = try? chain.get().pipeline.entries else { return }
    for entry in entries { await entry.behavior.reset() }
  }

  /// Ends the calls in flight with ``NetworkError/Code-swift.struct/clientShutDown``, also those of variants of this
  /// client.
  ///
  /// The waits of behaviors end too: every sleep on the call's clock, and every wait in ``Call/wait(for:)``. No task of
  /// a caller is cancelled. Then the transport is shut down, and later sends fail with the same error. A client that is
  /// no longer used need not be shut down.
  ///
  /// A request that refreshes a token of a session, and has been sent, is let finish before the transport is shut down,
  /// for up to ``TokenRefreshPolicy/timeout``: it has spent the refresh token, and other clients may use the session.
  /// Other requests that have been sent go on meanwhile.
  public func shutdown() async {
    lifetime.shutDown()
    await lifetime.finishLastingWork(on: configuration.clock)
    await transport.shutdown()
  }

  /// Lets the calls under way end, and then shuts the client down.
  ///
  /// A server that is told to end calls it, so that its own callers still get their responses:
  ///
  /// ```swift
  /// await client.shutdown(gracePeriod: .seconds(20))
  /// ```
  ///
  /// From the beginning of the period, new calls fail with ``NetworkError/Code-swift.struct/clientShutDown``, also
  /// those of variants of this client. A call under way goes on with all that it needs: retries, redirects, and
  /// requests for a token. It has ended when its observers have heard of it; a call whose body is a stream ends with
  /// the body. The calls that are left at the end of the period end as by ``shutdown()``.
  ///
  /// The period ends early when all calls have ended, when the task is cancelled, and when ``shutdown()`` is called.
  ///
  /// - Parameter gracePeriod: The longest time that the calls under way have, on the client's clock; zero or less for
  ///   none.
  public func shutdown(gracePeriod: Duration) async {
    await lifetime.finishCalls(for: gracePeriod, on: configuration.clock)
    await shutdown()
  }

  /// Returns the list of behaviors that a request runs through, built-in ones included.
  ///
  /// ``Pipeline/warnings`` names the contradictions in it.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidBehavior`` if a list is wrong.
  public func pipeline<Value>(for request: Request<Value>) throws -> Pipeline {
    try NetworkClient.pipeline(
      of: configuration, request.behaviors, without: request.removedBehaviors,
      options: configuration.options.overridden(by: request.options))
  }

  private static func pipeline(
    of configuration: RequestConfiguration, _ own: [any RequestBehavior] = [],
    without removed: [any RequestBehavior.Type] = [], options: RequestOptions? = nil
  ) throws -> Pipeline {
    let unwanted = Set(configuration.removedBehaviors.map { ObjectIdentifier($0) })
    let builtIns = builtIns.filter { !unwanted.contains(ObjectIdentifier(type(of: $0))) }
    return try Pipeline(
      [(.builtIn, builtIns), (.configuration, configuration.behaviors), (.request, own)], without: removed,
      options: options ?? configuration.options)
  }
}

extension NetworkClient {
  /// The call that needs the requests of a client first, and the values that their calls inherit.
  struct Parent: Sendable {
    let id: Call.ID
    let memory: Call.Memory

    init(_ call: Call) {
      id = call.id
      memory = call.inheritedMemory
    }
  }
}

extension NetworkClient {
  /// The behaviors that every client has by default; see ``RequestConfiguration/removedBehaviors``.
  static let builtIns: [any RequestBehavior] = [RedirectsBehavior()]
}
