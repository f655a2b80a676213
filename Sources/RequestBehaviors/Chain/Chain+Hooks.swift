/// The hooks of one behavior, around all behaviors further in.
extension Chain {
  /// Runs the other hooks of the behavior at an index around all behaviors further in.
  // Inlined, and the hooks before and after the behaviors further in are not; see `intercept`.
  @inline(__always)
  func runHooks(at index: Int, _ original: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    let hooks = run.places[index].toCall
    let request: NetworkRequest
    if hooks.isDisjoint(with: .ofRequest) {
      request = original
      run.note(original.body)
    } else {
      request = try await runRequestHooks(at: index, original, in: run)
    }
    let response: NetworkResponse
    do {
      response = try await proceed(from: index + 1, request, in: run)
    } catch {
      if hooks.contains(.afterFailure) { await runFailureHook(at: index, error, for: request, in: run) }
      throw error
    }
    // A status that is not acceptable is a failure for the hooks, although it reaches the caller as a response.
    guard hooks.contains(response.isAcceptable ? .afterSuccess : .afterFailure) else { return response }
    return try await runResponseHook(at: index, response, for: request, in: run)
  }

  /// Runs the hooks before the behaviors further in.
  @inline(never)
  private func runRequestHooks(
    at index: Int, _ original: NetworkRequest, in run: ChainRun
  ) async throws -> NetworkRequest {
    let place = run.places[index]
    let hooks = place.toCall
    let behavior = behavior(at: index, place)
    var request = original
    do {
      if hooks.contains(.headers) {
        request.headers.mergeBehaviors(try await behavior.headers(for: request), unlessIn: request.call.userHeaders)
      }
      if hooks.contains(.modify) { try await behavior.modify(&request) }
    } catch {
      // The error may quote a secret that an outer behavior set on a request that was never sent, and the hook may have
      // set a body before it threw.
      run.call.noteSecrets(in: original.headers)
      run.note(request.body)
      throw error
    }
    // A field that a credential behavior has set is a secret for its origins, even if the behavior did not mark it.
    if place.hasCredential, let credential = credentials[index] {
      request.headers.markUnmarked(as: credential.origins, except: original.headers)
    }
    if !hooks.isDisjoint(with: [.headers, .modify]) {
      run.noteSecrets(addedTo: request, since: original, at: index)
    }
    run.note(request.body)
    if hooks.contains(.beforeSend) { await behavior.beforeSend(request) }
    return request
  }

  /// Runs the hook after a failure of the behaviors further in.
  @inline(never)
  private func runFailureHook(
    at index: Int, _ error: any Error, for request: NetworkRequest, in run: ChainRun
  ) async { await failureHook(at: index, run.places[index]).afterFailure(error, for: request) }

  /// Runs the hook that a response calls.
  @inline(never)
  private func runResponseHook(
    at index: Int, _ response: NetworkResponse, for request: NetworkRequest, in run: ChainRun
  ) async throws -> NetworkResponse {
    guard response.isAcceptable else {
      await runFailureHook(at: index, NetworkError.unacceptableStatus(response), for: request, in: run)
      return response
    }
    do {
      try await behavior(at: index, run.places[index]).afterSuccess(response, for: request)
    } catch {
      run.call.noteSecrets(in: request.headers)
      response.body.cancel()
      throw error
    }
    return response
  }
}

extension HeaderFields {
  /// Sets the fields of a behavior, except those that the user set on the request.
  fileprivate mutating func mergeBehaviors(_ fields: HeaderFields, unlessIn user: HeaderFields) {
    guard !fields.isEmpty else { return }
    if user.isEmpty { return merge(fields) }
    merge(HeaderFields(fields.filter { !user.contains($0.name) }))
  }
}
