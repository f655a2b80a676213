import Foundation

extension TokenKeeper {
  /// The flights whose source is at work in this task: a request that waits for one of them would wait for itself.
  @TaskLocal private static var atWork: [ID: Int] = [:]

  /// Whether this task does the source's work; not so a task that the source left behind when its flight has landed.
  var isAtWork: Bool { TokenKeeper.atWork[id].map { flight in update { $0.isUnderWay(flight) } } ?? false }

  /// Starts to get a token; nobody's cancellation but a sign-out's ends it.
  func launch(_ flight: TokenState.Flight, source: any TokenSource, client: NetworkClient) -> FlightTasks {
    let atWork = TokenKeeper.atWork.merging([id: flight.id]) { _, new in new }
    return FlightTasks(
      run: Task { await TokenKeeper.$atWork.withValue(atWork) { await self.run(flight, source, client) } },
      timer: Task {
        let limit = self.update { $0.policy.timeout }
        guard (try? await self.clock.sleep(for: limit)) != nil else { return }
        self.finish(self.land { $0.giveUp(on: flight) })
      })
  }

  private func run(_ flight: TokenState.Flight, _ source: any TokenSource, _ client: NetworkClient) async {
    do {
      guard let token = try await errand(flight, source, client) else { return }
      await store(token, got: clock.now(), from: flight)
    } catch {
      await fail(flight, error)
    }
  }

  /// Reads the store and asks the source.
  ///
  /// - Returns: The new token; `nil` if the stored one will do.
  private func errand(
    _ flight: TokenState.Flight, _ source: any TokenSource, _ client: NetworkClient
  ) async throws -> AccessToken? {
    try await load()
    let now = clock.now()
    switch update({ $0.begin(flight, now: now) }) {
    case .end: return nil
    case .use(let lease):
      land { _ in .use(lease) }
      return nil
    case .fetch: return try await source.fetch(using: client).received(at: clock.date())
    case .refresh(let old):
      return try await source.refresh(old, using: client).received(at: clock.date()).completed(from: old)
    }
  }

  /// Stores the token, and only then lets anybody use it: it may be the only copy of a rotated refresh token.
  ///
  /// The state changes before the store's next operation begins, so that both hold the same.
  private func store(_ token: AccessToken, got now: Duration, from flight: TokenState.Flight) async {
    _ = try? await queue.enqueue {
      guard self.update({ $0.accepts(flight) }) else { return }
      var problem: (any Error)?
      do { try await self.store.save(token) } catch { problem = error }
      var wasTaken = false
      self.land { state in
        wasTaken = state.accepts(flight)
        return state.land(flight, with: token, now: now)
      }
      if wasTaken { self.broadcast.publish(.refreshed) }
      if let problem { self.broadcast.publish(.storeFailed(problem)) }
    }.value
  }

  private func fail(_ flight: TokenState.Flight, _ error: any Error) async {
    let error = await readable(error)
    guard TokenFailure.isTerminal(error) else {
      return finish(land { $0.land(flight, failing: error, isTerminal: false) })
    }
    _ = try? await queue.enqueue {
      var problem: (any Error)?
      let endsSession = self.update { $0.isSignedOut(ifRefused: flight) }
      if endsSession {
        do { try await self.store.save(nil) } catch { problem = error }
      }
      self.finish(self.land { $0.land(flight, failing: error, isTerminal: endsSession) })
      if let problem { self.broadcast.publish(.storeFailed(problem)) }
    }.value
  }

  /// The error that callers get: with the answer's body at hand, and no cancellation, which is not theirs.
  private func readable(_ error: any Error) async -> any Error {
    if error is CancellationError { return NetworkError.tokenSourceCancelled() }
    guard var failure = error as? NetworkError, let response = failure.response else { return error }
    if case .data = response.body { return error }
    failure.response = await response.detached()
    return failure
  }

  /// Tells subscribers how a flight failed.
  private func finish(_ landing: TokenState.Landing) {
    switch landing {
    case .fail(let error): broadcast.publish(.refreshFailed(error))
    case .signOut(let error): broadcast.publish(.signedOut(.refused(error)))
    case .use, .ignore: break
    }
  }

  func enqueueSave(_ token: AccessToken?) -> Task<Void, any Error> {
    queue.enqueue { try await self.store.save(token) }
  }
}

// MARK: - Sign-in and sign-out

extension TokenKeeper {
  /// Reads the store unless the session has a token or has read it.
  func load() async throws {
    if update({ $0.isLoaded }) { return }
    try await queue.enqueue {
      if self.update({ $0.isLoaded }) { return }
      let stored = try await self.store.load()
      let (now, date) = (self.clock.now(), self.clock.date())
      self.update { $0.load(stored, now: now, date: date) }
    }.value
  }

  /// Takes a token that the user brought; those who wait for another user's fail.
  func signIn(_ token: AccessToken) async throws {
    let (now, date) = (clock.now(), clock.date())
    var saving: Task<Void, any Error>?
    land(isCancelling: true) { state in
      let isReplacing = state.hasToken || !state.isLoaded
      state.signIn(token.received(at: date), now: now, date: date)
      saving = self.enqueueSave(state.token)
      guard !isReplacing, let lease = state.unexpired(now: now) else { return .signOut(NetworkError.signedOut()) }
      return .use(lease)
    }
    broadcast.publish(.signedIn)
    try await saving?.value
  }

  /// Forgets the token; those who wait for one fail, and what is being got is thrown away.
  func signOut() async throws {
    var removal: Task<Void, any Error>?
    var wasSignedIn = false
    land(isCancelling: true) { state in
      wasSignedIn = state.hasToken || !state.isLoaded
      state.signOut()
      removal = self.enqueueSave(nil)
      return .signOut(NetworkError.signedOut())
    }
    if wasSignedIn { broadcast.publish(.signedOut(.requested)) }
    try await removal?.value
  }

  /// Ends the session because the server refuses even a token that it has just given.
  ///
  /// The token leaves the store before subscribers hear of it, and the caller unless it is cancelled.
  func refuse(_ lease: TokenLease, _ response: NetworkResponse) async {
    let error = NetworkError.unacceptableStatus(response)
    let removal = queue.enqueue {
      guard self.update({ $0.isCurrent(lease) }) else { return }
      var problem: (any Error)?
      do { try await self.store.save(nil) } catch { problem = error }
      var isSignedOut = false
      self.land(isCancelling: true) { state in
        isSignedOut = state.isCurrent(lease)
        guard isSignedOut else { return .ignore }
        state.signOut()
        return .signOut(NetworkError.signedOut())
      }
      if isSignedOut { self.broadcast.publish(.signedOut(.refused(error))) }
      if let problem { self.broadcast.publish(.storeFailed(problem)) }
    }
    await removal.endOrCancellation()
  }
}
