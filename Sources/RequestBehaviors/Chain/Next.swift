/// Everything further in than a behavior's `intercept`: its other hooks, the rest of the list, the transport.
///
/// ```swift
/// func intercept(
///   _ request: NetworkRequest, next: Next
/// ) async throws -> NetworkResponse {
///   let response = try await next(request)
///   guard response.statusCode == 503 else { return response }
///   return try await next(request)
/// }
/// ```
///
/// It may be passed to child tasks, but must not be used after the `intercept` that received it has returned.
public struct Next: Sendable {
  let run: ChainRun
  /// The place of the behavior in the entries of the ``pipeline``.
  public let index: Int
  let step: Int
  /// The request as the behavior received it.
  let original: NetworkRequest

  /// Runs everything further in.
  ///
  /// - Parameter request: The request, or a changed copy of it.
  /// - Returns: The response, with any status.
  /// - Throws: The error that prevented a response. ``NetworkError`` of code
  ///   ``NetworkError/Code-swift.struct/invalidBehavior``, naming the behavior, if `intercept` has returned, if the
  ///   request belongs to another call, or if its one-shot body is already being sent.
  public func callAsFunction(_ request: NetworkRequest) async throws -> NetworkResponse {
    let oneShot = try enter(request)
    defer { oneShot?.leave(level: index, of: ObjectIdentifier(run)) }
    return try await run.chain.runHooks(at: index, request, in: run)
  }

  /// Checks and notes a request that goes further in.
  ///
  /// - Returns: Its one-shot body, which leaves this level when the behaviors further in are done with it.
  // Not inlined; see `Chain.intercept`.
  @inline(never)
  private func enter(_ request: NetworkRequest) throws -> OneShotStream? {
    if request.call !== run.call { throw broken("called next with a request of another call") }
    if run.hasEnded(step: step) { throw broken("called next after its intercept had returned") }
    var oneShot: OneShotStream?
    if case .oneShot(let body)? = request.body?.content {
      run.note(request.body)
      guard body.enter(level: index, of: ObjectIdentifier(run)) else {
        throw broken("called next concurrently with a one-shot body")
      }
      oneShot = body
    }
    run.noteSecrets(addedTo: request, since: original, at: index)
    return oneShot
  }

  /// The list of behaviors that the request runs through, in which a behavior can find others that it works with.
  public var pipeline: Pipeline { run.chain.pipeline }

  /// Returns a client for a prerequisite of this request, such as a request for a token.
  ///
  /// The client has the configuration's behaviors for observation, headers, deadlines, resilience, redirects,
  /// verification and the wire. It has no authentication, signing, caching, coalescing or persistence, and none of the
  /// request's own behaviors. It also lacks the places where the caller may hold something while it waits (`.first`,
  /// `.gate` and `.middle`). A place just outside or inside of another counts as that one. For a user's behavior
  /// or a circuit breaker further out than this one, hooks run but `intercept` does not, because the caller is still
  /// inside it. So the prerequisite cannot wait for its caller.
  ///
  /// - Parameter types: Further behaviors to leave out.
  /// - Returns: The client, over the same transport.
  public func client(omitting types: any RequestBehavior.Type...) -> NetworkClient {
    run.chain.prerequisiteClient(for: index, omitting: types, parent: run.call)
  }

  private func broken(_ promise: String) -> NetworkError {
    NetworkError(.invalidBehavior, "\(run.chain.pipeline.entries[index].name) \(promise)")
  }
}

extension Next {
  /// The latest failure or unacceptable response of the call; `nil` if there is no such outcome.
  ///
  /// A behavior that ends a call for its own reason passes it on as the cause.
  public var lastFailure: (any Error)? { run.lastFailure }
}
