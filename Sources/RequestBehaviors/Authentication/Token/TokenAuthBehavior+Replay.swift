extension TokenAuthBehavior {
  /// Replaces a refused token and sends the request once more, if it may be.
  ///
  /// - Returns: The answer to the replay, or the refusal if there is none.
  func answer(
    to refusal: NetworkResponse, _ request: NetworkRequest, _ refused: TokenLease, _ next: Next
  ) async throws -> NetworkResponse {
    // A body under way would hold its connection while this waits.
    let refusal = await refusal.detached()
    guard !request.call.hasReplayed(for: session.keeper.id) else { return refusal }
    let newer: TokenLease?
    do {
      newer = try await session.lease(.newer(than: refused), for: request, next)
    } catch let error as CancellationError {
      throw error
    } catch
      where !request.call.isLate
      && (request.options.authentication.isOptional || request.body?.isReplayable == false)
    {
      return refusal
    }
    guard let newer else { return note("no newer token is to be had", refusal) }
    guard request.body?.isReplayable != false else { return note("the one-shot body is not sent again", refusal) }
    guard request.call.beginReplay(for: session.keeper.id) else { return refusal }
    request.call.record("sent again with a newer token", from: "TokenAuthBehavior")
    let response = try await next(authorized(request, newer))
    if newer.isFresh, blame(for: response, newer) == .certain {
      await session.refuse(newer, response, for: request.call)
    }
    return response
  }

  private func note(_ reason: String, _ refusal: NetworkResponse) -> NetworkResponse {
    refusal.request.call.record("the \(refusal.statusCode) stands: \(reason)", from: "TokenAuthBehavior")
    return refusal
  }
}

extension TokenSession {
  /// Returns a token, after waiting for it if need be; `nil` if there is none to replace a refused one.
  ///
  /// - Throws: What prevents it, ``NetworkError`` of code `timedOut` when the call's deadline passes, or
  ///   `CancellationError`.
  func lease(_ need: TokenKeeper.Need, for request: NetworkRequest, _ next: Next) async throws -> TokenLease? {
    guard !keeper.isAtWork else { throw NetworkError.tokenSourceWaitsForItself() }
    let call = request.call
    let ticket = call.tokenTicket(of: keeper.id)
    do {
      let lease = try await withDeadline(of: call) {
        try await self.keeper.wait(for: need, ticket: ticket) { flight in
          self.keeper.launch(
            flight, source: self.source, client: next.client(omitting: TokenAuthBehavior.self),
            environment: self.firstEnvironment)
        }
      }
      if let lease { call.bind(to: lease, at: keeper.id) }
      return lease
    } catch var error as NetworkError where error.request == nil {
      error.request = request
      throw error
    }
  }

  /// Ends the session, unless the token is not its newest, and waits no longer than the call may for the store.
  func refuse(_ lease: TokenLease, _ response: NetworkResponse, for call: Call) async {
    _ = try? await withDeadline(of: call) {
      await self.keeper.refuse(lease, response)
      return nil
    }
  }

  /// Waits no longer than until the call's deadline.
  private func withDeadline(
    of call: Call, _ wait: @escaping @Sendable () async throws -> TokenLease?
  ) async throws -> TokenLease? {
    guard let deadline = call.deadline else { return try await wait() }
    return try await withThrowingTaskGroup(of: TokenLease?.self) { group in
      group.addTask { try await wait() }
      group.addTask {
        try await call.clock.sleep(for: deadline - call.clock.now())
        throw NetworkError.tokenDeadlinePassed()
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

extension NetworkResponse {
  /// The response with its body in memory, or without one if it is longer than an explanation would be.
  func detached() async -> NetworkResponse {
    if let response = try? await buffered(upTo: 65_536) { return response }
    body.cancel()
    var response = self
    response.body = .empty
    return response
  }
}
