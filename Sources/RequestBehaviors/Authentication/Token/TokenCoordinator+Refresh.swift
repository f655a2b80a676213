extension TokenCoordinator {
  /// The refreshes whose source runs in this task.
  ///
  /// A request that waited for one of them would wait for itself.
  @TaskLocal private static var atWork: [ID: Int] = [:]

  /// Whether this task works for the source.
  var isAtWork: Bool { refreshAtWork != nil }

  /// The number of the refresh whose source this task works for.
  ///
  /// It is `nil` in other tasks, and in a task that the source left behind, once its refresh has ended.
  var refreshAtWork: Int? {
    guard let refresh = TokenCoordinator.atWork[id], update({ state, _ in state.isUnderWay(refresh) }) else {
      return nil
    }
    return refresh
  }

  /// Starts to get a token.
  ///
  /// Only a sign-out cancels it, no caller. Shutting the client down ends it only before its first request is sent.
  ///
  /// - Parameters:
  ///   - refresh: The refresh.
  ///   - source: Gets the token.
  ///   - client: Sends the requests of the source.
  ///   - environment: The server of these requests; the client's own if `nil`.
  /// - Returns: The task that runs the refresh.
  func launch(
    _ refresh: TokenState.Refresh, source: any TokenSource, client: NetworkClient, environment: ServerEnvironment?
  ) -> Task<Void, Never> {
    let atWork = TokenCoordinator.atWork.merging([id: refresh.id]) { _, new in new }
    let tally = TokenRequestTally()
    let work = LastingWork(of: client, limit: policy.timeout)
    // The requests of the source go to the first client's server, have enough time, and are checked right before each
    // send.
    let client = client.with(work) {
      if let environment { $0.options.environment = environment }
      $0.options.waitForTokens(atLeast: policy.timeout)
      $0.behaviors.append(TokenRequestCheck(coordinator: self, refresh: refresh, work: work))
      $0.behaviors.append(.onCallEnd { tally.note($0) })
    }
    return Task {
      defer {
        work.end()
        self.release(nil, of: refresh)
      }
      await self.runAlone(refresh) {
        await TokenCoordinator.$atWork.withValue(atWork) { await self.run(refresh, source, client, tally) }
      }
    }
  }

  /// Runs a refresh while no other process refreshes the token of the store.
  ///
  /// The lock is held until the refresh has ended, not until its source has: after a sign-out the source may wait long
  /// for its server, and the next user's refresh does not wait for that.
  private func runAlone(_ refresh: TokenState.Refresh, _ work: @escaping @Sendable () async -> Void) async {
    let (source, task) = (CancellableTask<Void>(), Locked<Task<Void, any Error>?>(nil))
    await withTaskCancellationHandler {
      do {
        try await store.withRefreshLock(
          RefreshWork {
            guard let end = self.enter(refresh) else { return }
            let begun = source.begin(onThisThread: true) {
              await work()
              end.settle(.success(()))
            }
            task.withLock { $0 = begun }
            try? await end.settlement()
            // A sign-in or sign-out that has ended this refresh is stored before another process may refresh: it would
            // find the old token, and send the refresh token once more.
            await self.waitForSaves()
          })
        fail(refresh, unasked: NetworkError.tokenLockIgnored(by: store))
      } catch {
        // The store could not be written before, so it has nothing newer. Without its lock the refresh goes on.
        if update({ state, _ in state.isUnsaved && !state.isAlone }), !(error is CancellationError),
          enter(refresh) != nil
        {
          await work()
        }
        fail(refresh, unasked: NetworkError.tokenStoreUnreadable(error))
      }
      _ = await task.withLock { $0 }?.result
    } onCancel: {
      source.cancel()
    }
  }

  /// Waits until the changes of the session are stored, for no longer than a refresh may take.
  private func waitForSaves() async {
    guard update({ state, _ in state.hasPendingSaves }) else { return }
    let (last, clock) = (queue.enqueue {}, update { _, clock in clock })
    // In a task of its own, because the sign-out has cancelled this one.
    await Task { _ = await clock.value(of: Task { _ = try? await last.value() }, within: policy.timeout) }.value
  }

  /// Ends a refresh in which no token was asked for, unless it has ended.
  private func fail(_ refresh: TokenState.Refresh, unasked error: any Error) {
    complete { state, _ in
      state.complete(refresh, failing: error, isTerminal: false, wasAsked: false)
    } telling: {
      event(of: $0, error)
    }
  }

  private func run(
    _ refresh: TokenState.Refresh, _ source: any TokenSource, _ client: NetworkClient, _ tally: TokenRequestTally
  ) async {
    // Another process may have refreshed the token, signed out or signed in since the refresh began.
    do {
      try await queue.enqueue { try await self.readForRefresh() }.value()
    } catch {
      return fail(refresh, unasked: error)
    }
    var action = TokenState.RefreshAction.end
    complete { state, clock in
      action = state.begin(refresh, now: clock.now())
      if case .use(let issued) = action { return .use(issued) }
      return .ignore
    }
    do {
      var old: AccessToken?
      let new: AccessToken
      switch action {
      case .fetch: new = try await source.fetch(using: client)
      case .refresh(let token):
        old = token
        // A server may take a refresh token that comes twice for a stolen one, whatever request the source makes of it.
        let client = client.with {
          $0.options.isSentOnce = true
          $0.options.idempotencyKey = nil
          $0.options.hedging = nil
        }
        new = try await source.refresh(token, using: client)
      case .use, .end: return
      }
      // The lifetime counts from here, and not from when the token is stored.
      let (now, date) = update { _, clock in (clock.now(), clock.date()) }
      try new.checkCharacters()
      let received = new.received(at: date)
      let completed = old.map { received.completed(from: $0) } ?? received
      await keep(completed, got: now, from: refresh)
      release(completed, of: refresh)
    } catch {
      await fail(refresh, error, tally)
    }
  }

  /// Stores the token, and only then lets requests use it: it may be the only copy of a rotated refresh token.
  ///
  /// The state changes before the store's next operation begins, so that both hold the same.
  private func keep(_ token: AccessToken, got now: Duration, from refresh: TokenState.Refresh) async {
    _ = try? await queue.enqueue {
      @Sendable func isUnderWay() -> Bool { self.update { state, _ in state.isUnderWay(refresh.id) } }
      let token = self.update { state, _ in state.isUnderWay(refresh.id) ? state.owned(token) : nil }
      guard let token else { return }
      var problem: (any Error)?
      // Another process may have signed out or in meanwhile, also as the same account, which must not be undone. If
      // that cannot be read, the token is stored all the same: it may be the only valid one.
      @Sendable func mayBeStored() -> Bool {
        self.update { state, _ in state.isUnderWay(refresh.id) && !state.isOvertaken(refresh.id) }
      }
      do {
        let stored = try await self.store(
          reading: { await self.readIfPossible() }, { mayBeStored() ? TokenState.Change(token: token) : nil })
        guard stored != nil else {
          // The token of the other process is read by the next request.
          if isUnderWay() { self.fail(refresh, unasked: NetworkError.tokenRefreshedElsewhere()) }
          return
        }
      } catch {
        problem = error
      }
      // A sign-in or sign-out during the write has ended this refresh already.
      var wasTaken = false
      self.complete { state, _ in
        wasTaken = state.isUnderWay(refresh.id)
        state.endSave(of: token, isPending: false, succeeded: problem == nil)
        return state.complete(refresh, with: token, now: now)
      } telling: { _ in
        wasTaken ? .refreshed : nil
      }
      if let problem { self.broadcast.publish(.storeFailed(problem)) }
      self.saveLater()
    }.value()
  }

  private func fail(_ refresh: TokenState.Refresh, _ error: any Error, _ tally: TokenRequestTally) async {
    // A message may quote the body, and the request of the source may be over before it is read.
    let cause = await readable(error)
    let failure = failure(from: cause, tally)
    let wasAsked = tally.tellsOfRequest(endingIn: cause)
    if !wasAsked, (cause as? NetworkError)?.code == .clientShutDown {
      // No token was asked for, so a client that was not shut down may do so at once.
      return complete { state, _ in
        state.abandon(refresh, AbandonedRefresh(failure: failure))
      } telling: {
        event(of: $0, cause)
      }
    }
    // The refresh may be that of a newer token than it began with.
    let isPrecaution = update { state, _ in
      state.isUnderWay(refresh.id) ? state.refresh?.isPrecaution ?? false : refresh.isPrecaution
    }
    guard RefreshFailure.isTerminal(cause, isPrecaution: isPrecaution) else {
      return complete { state, _ in
        state.complete(refresh, failing: failure, isTerminal: false, wasAsked: wasAsked)
      } telling: {
        event(of: $0, cause)
      }
    }
    _ = try? await queue.enqueue {
      @Sendable func isRefused() -> Bool { self.update { state, _ in state.isSignedOut(ifRefused: refresh) } }
      // The refusal may mean that another process has refreshed the token. If the store cannot be read, the session
      // goes on.
      let removal = await self.remove(while: isRefused)
      let endsSession = removal.endsSession
      let problem = removal.problem
      self.complete { state, _ in
        if endsSession { state.endSave(of: nil, isPending: false, succeeded: problem == nil) }
        return state.complete(refresh, failing: failure, isTerminal: endsSession, wasAsked: wasAsked)
      } telling: {
        self.event(of: $0, cause)
      }
      if let problem { self.broadcast.publish(.storeFailed(problem)) }
      self.saveLater()
    }.value()
  }

  /// Returns the error of the calls that wait, which do not know the secrets of the token and of its requests.
  private func failure(from cause: any Error, _ tally: TokenRequestTally) -> NetworkError {
    var failure = NetworkError.tokenUnavailable(cause)
    // A `NetworkError` hides those of its request itself.
    guard !(cause is NetworkError) else { return failure }
    let token = update { state, _ in state.token }
    failure.causeSecrets = tally.secrets + [token?.value, token?.refreshToken].compactMap(\.self)
    return failure
  }

  /// The source's error, with the body of its response in memory.
  ///
  /// A cancellation is replaced: it is not the callers'.
  private func readable(_ error: any Error) async -> any Error {
    if error is CancellationError { return NetworkError.tokenSourceCancelled() }
    guard var failure = error as? NetworkError, let response = failure.response else { return error }
    if case .data = response.body { return error }
    failure.response = await response.detached()
    return failure
  }

  /// Returns what subscribers are told of a refresh that failed; `nil` if there is nothing to tell.
  private func event(of outcome: TokenState.RefreshOutcome, _ cause: any Error) -> TokenEvent? {
    switch outcome {
    // Where no user has signed in there is nothing to refresh, and the callers' error says so.
    case .fail where (cause as? NetworkError)?.code == .notSignedIn: nil
    case .fail: .refreshFailed(cause)
    case .signOut: .signedOut(.refused(cause))
    case .use, .ignore: nil
    }
  }
}

/// The error of callers whose refresh ended before it was sent, because the client that was to send it was shut down.
struct AbandonedRefresh: Error {
  /// The error for callers of the client that was shut down.
  let failure: NetworkError
}
