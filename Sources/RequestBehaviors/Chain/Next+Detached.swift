extension Next {
  /// Returns the same place in the list with a call of its own, whose work may go on after `intercept` has returned.
  ///
  /// Use it for work that outlives one caller, such as a shared request or a background refresh of a stored response.
  ///
  /// The new call begins with the state of this one: options, decoder, owners, the sessions' users, and the values of
  /// behaviors. It has no deadline, makes up to 20 sends itself, and is reported to observers as a call whose
  /// ``Call/parent`` is this one. If callers wait for its outcome, their own calls report it. Then only the sends of
  /// the new call are reported, so that the outcome is not counted twice.
  ///
  /// ```swift
  /// func intercept(
  ///   _ request: NetworkRequest, next: Next
  /// ) async throws -> NetworkResponse {
  ///   guard let stored = store[request.url] else {
  ///     return try await next(request)
  ///   }
  ///   next.detached().start(request)  // for the next time
  ///   return stored.bound(to: request)
  /// }
  /// ```
  ///
  /// - Parameter isForCallers: Whether callers wait for its outcome; by default they do not.
  /// - Returns: The place, with a new call.
  public func detached(isForCallers: Bool = false) -> DetachedNext {
    let call = Call(detachedFrom: run.call, for: isForCallers ? .shared : .background)
    return DetachedNext(
      run: ChainRun(run.chain, call), index: index, original: original,
      callObservers: isForCallers ? [] : run.chain.observers)
  }
}

/// Everything further in than a behavior's `intercept`, with a call of its own; see ``Next/detached(isForCallers:)``.
public struct DetachedNext: Sendable {
  let run: ChainRun
  let index: Int
  /// The request as the behavior got it.
  let original: NetworkRequest
  /// The observers of the call, besides its sends.
  let callObservers: [any CallObserver]
  /// The tasks that were started here and have not ended.
  private let started = Locked(Started())

  private struct Started: Sendable {
    var isCancelled = false
    var tasks: [CancellableTask<NetworkResponse>] = []
  }

  init(run: ChainRun, index: Int, original: NetworkRequest, callObservers: [any CallObserver]) {
    self.run = run
    self.index = index
    self.original = original
    self.callObservers = callObservers
  }

  /// The call that the requests belong to.
  ///
  /// Observers hear of its decisions until the first of the requests has ended.
  public var call: Call { run.call }

  /// Runs everything further in.
  ///
  /// - Parameter request: The request, of any call. A one-shot body belongs to the call that brought it.
  /// - Returns: The response, with any status. It belongs to ``call``; a behavior returns it to a caller as
  ///   ``NetworkResponse/bound(to:)`` the caller's request.
  /// - Throws: The error that prevented a response; ``NetworkError`` of code
  ///   ``NetworkError/Code-swift.struct/invalidBehavior`` for a one-shot body.
  public func callAsFunction(_ request: NetworkRequest) async throws -> NetworkResponse {
    let request = request.bound(to: call)
    if case .oneShot? = request.body?.content {
      throw NetworkError(
        .invalidBehavior, "a one-shot body cannot be sent by a detached call; send it with next")
    }
    for observer in callObservers { observer.callStarted(request) }
    defer { run.end() }
    // The behavior may have changed the request before it used this place.
    run.noteSecrets(addedTo: request, since: original, at: index)
    do {
      let response = try await run.chain.runHooks(at: index, request, in: run)
      if response.isAcceptable, case .stream(let stream) = response.body {
        NetworkClient.report(call, request, response, at: stream, to: callObservers)
      } else {
        report(request, response, response.isAcceptable ? nil : NetworkError.unacceptableStatus(response))
      }
      return response
    } catch {
      report(request, (error as? NetworkError)?.response, error)
      throw error
    }
  }

  /// Runs everything further in, in a task that goes on by itself and ends when the client is shut down.
  ///
  /// - Parameters:
  ///   - request: The request, of any call.
  ///   - isAwaited: Whether the caller does nothing but wait for the task. It then begins at once on the caller's
  ///     thread, which saves a switch to another one; by default it does not. Behaviors further in, and `completion`,
  ///     may then run before `start` returns. So the caller must hold no lock; ``cancel()`` ends the task meanwhile.
  ///   - completion: Gets the outcome in the task; by default the outcome is dropped.
  /// - Returns: The task, to wait for the response or to cancel it.
  @discardableResult
  public func start(
    _ request: NetworkRequest, isAwaited: Bool = false,
    completion: @escaping @Sendable (Result<NetworkResponse, any Error>) -> Void = { _ in }
  ) -> Task<NetworkResponse, any Error> {
    let task = CancellableTask<NetworkResponse>()
    let isCancelled = started.withLock { started in
      started.tasks.append(task)
      return started.isCancelled
    }
    if isCancelled { task.cancel() }
    let started = started
    return run.chain.lifetime.start(task, isAwaited: isAwaited) { outcome in
      started.withLock { $0.tasks.removeAll { $0.isSame(as: task) } }
      completion(outcome)
    } _: {
      try await self(request)
    }
  }

  /// Cancels the tasks that ``start(_:isAwaited:completion:)`` began here, and those that it begins later.
  public func cancel() {
    let tasks = started.withLock { started in
      started.isCancelled = true
      return started.tasks
    }
    for task in tasks { task.cancel() }
  }

  private func report(_ request: NetworkRequest, _ response: NetworkResponse?, _ error: (any Error)?) {
    guard !callObservers.isEmpty else { return }
    let report = CallReport(
      call: call, request: request, response: response, error: error, phase: error == nil ? .finished : .sending,
      lastFailure: error is CancellationError ? run.lastFailure : nil)
    for observer in callObservers { observer.callEnded(report) }
  }
}

extension Call {
  /// Creates a call that continues from the state of another one on its own.
  convenience init(detachedFrom other: Call, for purpose: Purpose) {
    var state = other.withState { $0 }
    // Released at once, because the original still has them.
    _ = state.memory.endSend()
    self.init(
      other.context, options: other.options, parent: other.id, userHeaders: other.userHeaders, memory: state.memory,
      purpose: purpose, root: other.servedID)
    // The checks and updates of sessions apply to the new call too: its requests carry the same tokens.
    withState {
      $0.owner = state.owner
      $0.coverage.scoped = state.coverage.scoped
      $0.secrets = state.secrets
      $0.sendChecks = state.sendChecks
      $0.renewals = state.renewals
      $0.handOvers = state.handOvers
    }
  }
}

extension ChainRun {
  /// Returns a response if it belongs to this call.
  ///
  /// - Throws: ``NetworkError`` of code `invalidBehavior`, naming the behavior, for a response of another call. Its
  ///   verdicts, such as which statuses are acceptable, follow the other call's options.
  func checkOwner(of response: NetworkResponse, from index: Int) throws -> NetworkResponse {
    guard response.request.call !== call else { return response }
    response.body.cancel()
    throw NetworkError(
      .invalidBehavior,
      "\(chain.pipeline.entries[index].name) returned the response of another call; return response.bound(to: request)")
  }
}

extension NetworkResponse {
  /// Returns the response as one to a request of another call, which shared it or found it stored.
  ///
  /// That call then decides which statuses are acceptable and how the body is decoded. Method, URL and fields of
  /// ``request`` stay as they were sent.
  ///
  /// - Parameter request: The request that gets the response.
  /// - Returns: The response of the request's call.
  public func bound(to request: NetworkRequest) -> NetworkResponse {
    var response = self
    response.request = self.request.bound(to: request.call)
    response.request.options = request.options
    return response
  }
}
