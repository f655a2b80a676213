import Foundation

extension NetworkClient {
  /// A call that got an acceptable response, which is not decoded yet.
  struct PerformedCall: Sendable {
    let call: Call
    let chain: Chain
    let request: NetworkRequest
    var response: NetworkResponse
  }

  /// Builds the request, runs it through the list, and checks the status.
  ///
  /// A caller that is isolated to an actor leaves it here, once.
  @concurrent
  func perform<Value>(_ request: Request<Value>, accept: String? = nil) async throws -> PerformedCall {
    // The run and the request are needed for the report of a failure, as far as the call got.
    let call = makeCall(for: request)
    var run: ChainRun?
    var built: NetworkRequest?
    let hasBegun = lifetime.beginCall(isNeeded: parent != nil)
    do {
      if !hasBegun {
        // For the log: a line without method and URL would not say which request came too late.
        built = try? build(request, call, accept: accept)
        throw NetworkError.clientShutDown()
      }
      let chain = try chain(for: request)
      if call.options.delivery == .streamed { try chain.checkStreams() }
      let newRun = ChainRun(chain, call)
      run = newRun
      let networkRequest = try build(request, call, accept: accept)
      built = networkRequest
      let response = try await chain.run(networkRequest, in: newRun)
      guard response.isAcceptable else { throw NetworkError.unacceptableStatus(response) }
      return PerformedCall(call: call, chain: chain, request: networkRequest, response: response)
    } catch let thrown {
      // A body that was not sent has no other reader to end it.
      call.options.progress?.finish()
      if run == nil || built == nil {
        // A form that was made of the content holds its streams.
        built?.body?.cancelUnlessConsumed()
        request.body?.cancelUnlessConsumed()
      }
      let error = attribute(thrown, to: built, isUnsent: !hasBegun || built == nil)
      (error as? NetworkError)?.request?.call.noteFailure(in: run?.chain)
      report(to: observers(of: run?.chain, request)) {
        CallReport(
          call: call, request: built, response: (error as? NetworkError)?.response, error: error,
          phase: built == nil ? .building : .sending, lastFailure: error is CancellationError ? run?.lastFailure : nil)
      }
      // Of a request that could not be built, no chain ends the run.
      if built == nil { run?.end() }
      if hasBegun { lifetime.endCall() }
      throw error
    }
  }

  /// Returns the error with the call's request if it names no request, so that its description hides the call's
  /// secrets.
  ///
  /// The error of a call whose behaviors did not run says that nothing was sent.
  private func attribute(_ error: any Error, to request: NetworkRequest?, isUnsent: Bool) -> any Error {
    guard var error = error as? NetworkError, error.request == nil else { return error }
    error.request = request
    return isUnsent && error.progress == nil ? error.unsent : error
  }

  /// Returns the owners that a call of the request would have if it began now.
  ///
  /// A call that begins only after a wait verifies that they are still there, because its caller asked for them. A call
  /// without owners has nothing to verify.
  func owners<Value>(of request: Request<Value>) async -> CallOwner {
    var head = request
    // Making a body could use up a stream.
    head.body = nil
    guard let chain = try? chain(for: head), chain.places().contains(where: { $0.toCall.contains(.scope) }),
      let built = try? build(head, makeCall(for: head), accept: nil)
    else { return CallOwner() }
    return await chain.owners(of: built)
  }

  private func chain<Value>(for request: Request<Value>) throws -> Chain {
    if request.behaviors.isEmpty, request.removedBehaviors.isEmpty { return try chain.get() }
    return Chain(
      try pipeline(for: request), transport: transport, configuration: configuration, lifetime: lifetime,
      base: try chain.get())
  }

  private func makeCall<Value>(for request: Request<Value>) -> Call {
    Call(
      context, options: configuration.options.overridden(by: request.options), parent: parent?.id,
      userHeaders: request.headers, memory: parent?.memory ?? Call.Memory())
  }

  private func build<Value>(_ request: Request<Value>, _ call: Call, accept: String?) throws -> NetworkRequest {
    // Fields of the environment first, because those of the request win.
    let environment = call.options.environment
    var built = try makeRequest(request, call, in: environment)
    if let environment, built.origin == environment.origin { built.headers = environment.boundHeaders }
    if !request.headers.isEmpty {
      var own = request.headers
      if let origin = built.origin { own.markCredentials(as: .only([origin])) }
      built.headers.merge(own)
    }
    if let accept, !built.headers.contains("Accept") { built.headers[.accept] = accept }
    if request.body != nil { try addBody(of: request, to: &built) }
    return built
  }

  private func addBody<Value>(of request: Request<Value>, to built: inout NetworkRequest) throws {
    let call = built.call
    guard let body = try request.body?.makeBody(with: configuration.encoder, noting: call.addSecret) else { return }
    if let type = body.contentType, !built.headers.namesType(of: body) { built.headers[.contentType] = type }
    built.body = body
  }

  private func makeRequest<Value>(
    _ request: Request<Value>, _ call: Call, in environment: ServerEnvironment?
  ) throws -> NetworkRequest {
    switch request.target {
    case .path(let path):
      let url = try URLResolution.resolve(path, query: request.query, in: environment)
      let origin = path.isAbsolute ? Origin(url) : environment?.origin
      return NetworkRequest(request.method, url: url, origin: origin, endpoint: path.template, call: call)
    case .url(let url, let template):
      let checked = try URLResolution.check(url, adding: request.query)
      let endpoint = template ?? checked.path(percentEncoded: true)
      return NetworkRequest(request.method, url: checked, origin: Origin(checked), endpoint: endpoint, call: call)
    }
  }
}

// MARK: - The end of a call

extension NetworkClient {
  /// Ends and reports a call whose response was to be decoded; a call with a streamed body ends with the body.
  ///
  /// It is called once for every performed call, because a client that closes waits for the end.
  ///
  /// - Parameters:
  ///   - performed: The call.
  ///   - decoding: The time that decoding took.
  ///   - error: The error that the caller gets; `nil` if it gets a value.
  ///   - phase: The stage that the call had reached; by default it follows from the error.
  func report(
    _ performed: PerformedCall, decoding: Duration = .zero, error: (any Error)? = nil, phase: CallReport.Phase? = nil
  ) {
    performed.call.finishProgress(with: error == nil ? performed.response.body : .empty)
    if error is NetworkError { performed.call.noteFailure(in: performed.chain) }
    let observers = performed.chain.observers
    if error == nil, case .stream(let stream) = performed.response.body {
      // The call has ended when its observers have heard of that.
      return NetworkClient.report(
        performed.call, performed.request, performed.response, at: stream, to: observers
      ) { [lifetime] in lifetime.endCall() }
    }
    report(to: observers) {
      CallReport(
        call: performed.call, request: performed.request, response: performed.response, error: error,
        phase: phase ?? (error == nil ? .finished : .decoding), decoding: decoding)
    }
    lifetime.endCall()
  }

  /// Reports a call when its body has ended.
  static func report(
    _ call: Call, _ request: NetworkRequest, _ response: NetworkResponse, at stream: ByteStream,
    to observers: [any CallObserver], andThen finish: @escaping @Sendable () -> Void = {}
  ) {
    // A closure that waits for the end of the body must not keep the body alive.
    let withoutStream = response.withoutStream
    stream.onCompletion { completion in
      var head = withoutStream
      head.timings.lastByte = completion.endedAt
      let report = CallReport(
        call: call, request: request, response: head, error: completion.error,
        phase: completion.error == nil ? .finished : .receiving, completion: completion)
      for observer in observers { observer.callEnded(report) }
      finish()
    }
  }

  /// Ends the progress and the one-shot body of a request that no call is begun for.
  func abandon<Value>(_ request: Request<Value>) {
    configuration.options.overridden(by: request.options).progress?.finish()
    request.body?.cancelUnlessConsumed()
  }

  private func report(to observers: [any CallObserver], _ makeReport: () -> CallReport) {
    guard !observers.isEmpty else { return }
    let report = makeReport()
    for observer in observers { observer.callEnded(report) }
  }

  /// Returns the observers of a call's end, even if its list of behaviors is wrong.
  private func observers<Value>(of chain: Chain?, _ request: Request<Value>) -> [any CallObserver] {
    if let chain { return chain.observers }
    let entries =
      (try? pipeline(for: request).entries)
      ?? Pipeline.flatten(configuration.behaviors, source: .configuration)
      + Pipeline.flatten(request.behaviors, source: .request)
    let removed = Set(request.removedBehaviors.map { ObjectIdentifier($0) })
    return entries.map(\.behavior).filter { !removed.contains(ObjectIdentifier(type(of: $0))) }
      .compactMap { $0 as? any CallObserver }
  }
}

extension Call {
  /// Ends the progress of the call, if need be after its body.
  fileprivate func finishProgress(with body: ResponseBody) {
    guard let progress = options.progress else { return }
    guard case .stream(let stream) = body else { return progress.finish() }
    stream.onCompletion { _ in progress.finish() }
  }
}

extension HeaderFields {
  /// Whether the user's own `Content-Type` is used for a body.
  ///
  /// A multipart type without a boundary is useless (RFC 2046 §5.1.1), and only the body knows the boundary.
  fileprivate func namesType(of body: RequestBody) -> Bool {
    guard let own = self["Content-Type"] else { return false }
    guard body.contentType?.hasPrefix("multipart/") == true else { return true }
    return own.lowercased().contains("boundary=")
  }
}
