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
/// A client keeps its connections for as long as it lives; when the last client over a transport goes, the idle ones
/// are closed. ``shutdown()`` ends what is in flight.
public final class NetworkClient: Sendable {
  /// What the client was made of.
  public let configuration: RequestConfiguration

  let transport: any Transport
  let waits: ClientWaits
  private let parent: Call.ID?
  // The configuration's, with sleeps that end when the client is shut down.
  private let clock: RequestClock
  private let baseOrigin: Origin?
  // What requests for decoded values ask for, unless they say it themselves; `nil` if the decoder takes anything.
  let acceptedTypes: String?
  // The list of all requests without behaviors of their own, made once.
  private let chain: Result<Chain, any Error>

  /// Creates a client.
  ///
  /// What is wrong with a configuration (a relative base URL, a behavior listed twice) is thrown by every send.
  ///
  /// - Parameters:
  ///   - configuration: The server, the behaviors, the settings.
  ///   - transport: What sends; by default URLSession with settings that are correct on Linux too.
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
  ///   - transport: What sends; by default URLSession.
  public convenience init(
    baseURL: URL, behaviors: [any RequestBehavior] = [], transport: (any Transport)? = nil
  ) {
    self.init(configuration: RequestConfiguration(baseURL: baseURL, behaviors: behaviors), transport: transport)
  }

  init(
    configuration: RequestConfiguration, transport: any Transport, parent: Call.ID?,
    waits: ClientWaits = ClientWaits()
  ) {
    self.configuration = configuration
    self.transport = transport
    self.waits = waits
    self.clock = configuration.clock.ending(with: waits)
    self.parent = parent
    self.baseOrigin = configuration.options.environment?.origin
    let types = configuration.decoder.contentTypes.filter { !$0.contains("*") }
    self.acceptedTypes = types.isEmpty ? nil : types.joined(separator: ", ")
    self.chain = Result {
      Chain(
        try NetworkClient.pipeline(of: configuration), transport: transport, configuration: configuration,
        waits: waits)
    }
  }

  /// Returns a variant of this client over the same transport.
  ///
  /// ```swift
  /// let patient = client.with { $0.options.idleTimeout = .seconds(300) }
  /// ```
  public func with(_ change: (inout RequestConfiguration) throws -> Void) rethrows -> NetworkClient {
    var changed = configuration
    try change(&changed)
    return NetworkClient(configuration: changed, transport: transport, parent: parent, waits: waits)
  }

  /// Makes every behavior of the configuration forget its state, one after the other, outermost first.
  ///
  /// Sessions that users hold, such as a signed-in user's, are not ended by it.
  public func reset() async {
    guard let entries = try? chain.get().entries else { return }
    for entry in entries { await entry.behavior.reset() }
  }

  /// Ends what is in flight with ``NetworkError/Code-swift.struct/clientShutDown``, also for variants of this client.
  ///
  /// A call that waits in a behavior is ended too, by ending the wait: every sleep on the call's clock, and what waits in
  /// ``Call/wait(for:)``. No task of a caller is cancelled. Then the transport is shut down. Later sends fail with the
  /// same error. A client that is no longer used need not be shut down.
  public func shutdown() async {
    waits.shutDown()
    await transport.shutdown()
  }

  /// Returns the list of behaviors that a request runs through, built-in ones included.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidBehavior`` if a list is wrong.
  public func pipeline<Value>(for request: Request<Value>) throws -> Pipeline {
    try NetworkClient.pipeline(of: configuration, request.behaviors, without: request.removedBehaviors)
  }

  private static func pipeline(
    of configuration: RequestConfiguration, _ own: [any RequestBehavior] = [],
    without removed: [any RequestBehavior.Type] = []
  ) throws -> Pipeline {
    let unwanted = Set(configuration.removedBehaviors.map { ObjectIdentifier($0) })
    let builtIns = builtIns.filter { !unwanted.contains(ObjectIdentifier(type(of: $0))) }
    return try Pipeline(
      [(.builtIn, builtIns), (.configuration, configuration.behaviors), (.request, own)], without: removed)
  }

  private static let builtIns: [any RequestBehavior] = [RedirectsBehavior()]
}

// MARK: - Exchanges

extension NetworkClient {
  /// What a call came to before its answer is decoded.
  struct Answer: Sendable {
    let call: Call
    let chain: Chain
    let request: NetworkRequest
    let response: NetworkResponse
  }

  /// Builds the request, runs it through the list, and checks the status.
  ///
  /// A caller that is isolated to an actor is left here, once.
  @concurrent
  func exchange<Value>(_ request: Request<Value>, accept: String? = nil) async throws -> Answer {
    let call = makeCall(for: request)
    var run: ChainRun?
    var built: NetworkRequest?
    do {
      if waits.isShutDown { throw NetworkError.clientShutDown() }
      let chain = try chain(for: request)
      let newRun = ChainRun(chain, call)
      run = newRun
      let networkRequest = try build(request, call, accept: accept)
      built = networkRequest
      let response = try await chain.run(networkRequest, in: newRun)
      guard response.isAcceptable else { throw NetworkError.unacceptableStatus(response) }
      return Answer(call: call, chain: chain, request: networkRequest, response: response)
    } catch let thrown {
      if built == nil { request.body?.cancelUnlessTaken() }
      let error = attribute(thrown, to: built)
      report(error, call, run?.chain, request: built, lastFailure: run?.lastFailure)
      throw error
    }
  }

  /// An error of a behavior's that names no request gets the call's: its description hides what the call knows to be
  /// secret.
  private func attribute(_ error: any Error, to request: NetworkRequest?) -> any Error {
    guard var error = error as? NetworkError, error.request == nil else { return error }
    error.request = request
    return error
  }

  private func chain<Value>(for request: Request<Value>) throws -> Chain {
    if request.behaviors.isEmpty, request.removedBehaviors.isEmpty { return try chain.get() }
    return Chain(try pipeline(for: request), transport: transport, configuration: configuration, waits: waits)
  }

  private func makeCall<Value>(for request: Request<Value>) -> Call {
    Call(
      clock: clock, options: configuration.options.overridden(by: request.options),
      baseOrigin: baseOrigin, decoder: configuration.decoder, parent: parent, userHeaders: request.headers,
      waits: waits, sessionClock: configuration.clock)
  }

  private func build<Value>(_ request: Request<Value>, _ call: Call, accept: String?) throws -> NetworkRequest {
    let environment = call.options.environment
    var built = try makeRequest(request, call, in: environment)
    if let environment, built.origin == environment.origin { built.headers = environment.boundHeaders }
    var own = request.headers
    if let origin = built.origin { own.markCredentials(as: .only([origin])) }
    built.headers.merge(own)
    if let accept, !built.headers.contains("Accept") { built.headers["Accept"] = accept }
    if let content = request.body {
      let body = try content.makeBody(with: configuration.encoder)
      if let type = body.contentType, !built.headers.contains("Content-Type") { built.headers["Content-Type"] = type }
      built.body = body
    }
    return built
  }

  private func makeRequest<Value>(
    _ request: Request<Value>, _ call: Call, in environment: ServerEnvironment?
  ) throws -> NetworkRequest {
    switch request.target {
    case .path(let path):
      let url = try RequestURL.resolve(path, query: request.query, in: environment)
      let origin = path.isAbsolute ? Origin(url) : environment?.origin
      return NetworkRequest(request.method, url: url, origin: origin, endpoint: path.template, call: call)
    case .url(let url):
      let checked = try RequestURL.check(url, adding: request.query)
      let path = checked.path(percentEncoded: true)
      return NetworkRequest(request.method, url: checked, origin: Origin(checked), endpoint: path, call: call)
    }
  }
}

// MARK: - Reports

extension NetworkClient {
  /// Reports a call that ended before its response was decoded; `lastFailure` matters for a cancelled one only.
  func report(
    _ error: any Error, _ call: Call, _ chain: Chain?, request: NetworkRequest?,
    lastFailure: @autoclosure () -> (any Error)? = nil
  ) {
    guard isObserved(chain) else { return }
    report(
      CallReport(
        call: call, request: request, response: (error as? NetworkError)?.response, error: error,
        phase: request == nil ? .building : .exchange, decoding: .zero, duration: call.clock.now() - call.startedAt,
        lastFailure: error is CancellationError ? lastFailure() : nil), to: chain)
  }

  func report(_ answer: Answer, decoding: Duration, error: (any Error)?) {
    guard isObserved(answer.chain) else { return }
    report(
      CallReport(
        call: answer.call, request: answer.request, response: answer.response, error: error,
        phase: error == nil ? .finished : .decoding, decoding: decoding,
        duration: answer.call.clock.now() - answer.call.startedAt, lastFailure: nil), to: answer.chain)
  }

  private func isObserved(_ chain: Chain?) -> Bool {
    !configuration.observers.isEmpty || chain?.observers.isEmpty == false
  }

  private func report(_ report: CallReport, to chain: Chain?) {
    for observer in chain?.observers ?? [] { observer.callEnded(report) }
    for observer in configuration.observers { observer(report) }
  }
}
