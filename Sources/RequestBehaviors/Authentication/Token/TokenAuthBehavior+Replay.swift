extension TokenAuthBehavior {
  /// Replaces a refused token and sends the request once more, if it may be.
  ///
  /// - Parameters:
  ///   - refusal: The response.
  ///   - request: The request.
  ///   - refused: The token that the request carried.
  ///   - isCertain: Whether it is sure that the refusal is about the token.
  ///   - next: The inner behaviors.
  /// - Returns: The response to the replay, or the refusal if the request is not sent again.
  /// - Throws: The error that prevents a newer token, and those of the inner behaviors.
  func answer(
    to refusal: NetworkResponse, _ request: NetworkRequest, _ refused: IssuedToken, isCertain: Bool, _ next: Next
  ) async throws -> NetworkResponse {
    // An open body would hold its connection during the wait.
    let refusal = await refusal.detached()
    guard !request.call.hasReplayed(for: session.coordinator.id) else { return refusal }
    // The caller of an `.optional` request, or of one that cannot be repeated, gets the 401 instead of an error.
    let newer: IssuedToken?
    do {
      let found = try await request.call.wait {
        try await session.issuedToken(.newer(than: refused, isCertain: isCertain), for: request, next)
      }
      newer = if let found { try await withOwnKey(found, request, next) } else { nil }
    } catch let error as CancellationError {
      throw error
    } catch let error as NetworkError where error.code == .clientShutDown {
      throw error
    } catch let error as NetworkError where !isCertain && error.underlyingError is UnrefreshableToken {
      return note("it may be about another credential, and the token cannot be refreshed", refusal)
    } catch
      where !request.call.isLate
      && (request.options.authentication.isOptional || request.body?.isReplayable == false)
    {
      return refusal
    }
    guard let newer else { return note("no newer token is to be had", refusal) }
    guard request.body?.isReplayable != false else { return note("the one-shot body is not sent again", refusal) }
    guard request.call.beginReplay(for: session.coordinator.id) else { return refusal }
    request.call.record("sent again with a newer token", from: "TokenAuthBehavior", kind: .authentication)
    // Only a token that the server has just given, and refuses for sure, ends the session.
    let response = try await next(authorized(request, newer))
    if isRefusal(response), let sent = token(sentIn: response), sent.isFresh,
      verdict(on: sent, in: response) == .certain
    {
      await session.refuse(sent, response, for: request.call)
    }
    return response
  }

  private func note(_ reason: String, _ refusal: NetworkResponse) -> NetworkResponse {
    let message = "the \(refusal.statusCode) is the outcome: \(reason)"
    refusal.request.call.record(message, from: "TokenAuthBehavior", kind: .authentication)
    return refusal
  }
}

extension TokenSession {
  /// Returns a token, after waiting for it if need be; `nil` if there is no newer one in place of a refused one.
  ///
  /// - Throws: The error that prevents it, ``NetworkError`` of code `deadlineExceeded` when the call's deadline passes,
  ///   or `CancellationError`.
  func issuedToken(_ need: TokenCoordinator.Need, for request: NetworkRequest, _ next: Next) async throws
    -> IssuedToken?
  {
    // A refresh stores its token after the operations on the store that are under way.
    guard !coordinator.queue.waitsForThisTask else { throw NetworkError.tokenStoreWaitsForItself() }
    guard !coordinator.isAtWork else { throw NetworkError.tokenSourceWaitsForItself() }
    let call = request.call
    let waiting = call.begin("waits for a token", from: "TokenAuthBehavior", kind: .authentication)
    defer { call.end(waiting) }
    let snapshot = call.sessionSnapshot(of: coordinator.id)
    do {
      let issued = try await withDeadline(of: call) {
        while true {
          do {
            return try await self.coordinator.wait(for: need, snapshot: snapshot) { refresh in
              self.coordinator.launch(
                refresh, source: self.source, client: next.client(omitting: TokenAuthBehavior.self),
                environment: self.firstEnvironment)
            }
          } catch let error as AbandonedRefresh {
            // The client that was to refresh the token was shut down. If it is another, this one does so now.
            if next.isClientShutDown { throw error.failure }
          }
        }
      }
      if let issued { call.bind(to: issued, at: coordinator.id) }
      return issued
    } catch var error as NetworkError where error.request == nil {
      error.request = request
      throw error
    }
  }

  /// Ends the session, unless it has a newer token.
  ///
  /// Waits for the store no longer than until the call's deadline.
  func refuse(_ issued: IssuedToken, _ response: NetworkResponse, for call: Call) async {
    _ = try? await call.wait {
      try await self.withDeadline(of: call) {
        await self.coordinator.refuse(issued, response)
        return nil
      }
    }
  }

  /// Waits until the call's deadline at most.
  private func withDeadline(
    of call: Call, _ wait: @escaping @Sendable () async throws -> IssuedToken?
  ) async throws -> IssuedToken? {
    guard call.deadline != nil else { return try await wait() }
    return try await withThrowingTaskGroup(of: IssuedToken?.self) { group in
      group.addTask { try await wait() }
      group.addTask {
        try await call.waitForDeadline()
        throw NetworkError.tokenDeadlinePassed()
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

extension NetworkResponse {
  /// Returns the response with its body in memory; a body of more than 64 KiB is dropped.
  func detached() async -> NetworkResponse {
    if let response = try? await buffered(upTo: 65_536) { return response }
    body.cancel()
    var response = self
    response.body = .empty
    return response
  }
}
