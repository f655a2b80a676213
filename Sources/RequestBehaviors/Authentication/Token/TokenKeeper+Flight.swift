import Foundation

extension TokenKeeper {
  /// The keepers whose source is at work in this task: a request that waits for one of them would wait for itself.
  @TaskLocal static var atWork: Set<ID> = []

  /// Starts to get a token; nobody's cancellation but a sign-out's ends it.
  func launch(_ flight: TokenState.Flight, source: any TokenSource, client: NetworkClient) -> FlightTasks {
    let atWork = TokenKeeper.atWork.union([id])
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
      try await store(token, from: flight)
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
  private func store(_ token: AccessToken, from flight: TokenState.Flight) async throws {
    let saving = queue.enqueue {
      guard self.update({ $0.accepts(flight) }) else { return }
      try await self.store.save(token)
    }
    var problem: (any Error)?
    do { try await saving.value } catch { problem = error }
    let now = clock.now()
    let wasTaken = update { $0.accepts(flight) }
    land { $0.land(flight, with: token, now: now) }
    if wasTaken { broadcast.publish(.refreshed) }
    if let problem { broadcast.publish(.storeFailed(problem)) }
  }

  private func fail(_ flight: TokenState.Flight, _ error: any Error) async {
    let error = error is CancellationError ? NetworkError.tokenSourceCancelled() : error
    let isTerminal = TokenFailure.isTerminal(error)
    let problem = isTerminal ? await removeStored(refused: flight) : nil
    finish(land { $0.land(flight, failing: error, isTerminal: isTerminal) })
    if let problem { broadcast.publish(.storeFailed(problem)) }
  }

  /// Removes a token that is refused for good, before anybody learns of it: it would else be there after a restart.
  ///
  /// - Returns: What prevented it.
  private func removeStored(refused flight: TokenState.Flight) async -> (any Error)? {
    let removal = queue.enqueue {
      guard self.update({ $0.isSignedOut(ifRefused: flight) }) else { return }
      try await self.store.save(nil)
    }
    do {
      try await removal.value
      return nil
    } catch {
      return error
    }
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
      let isReplacing = state.token != nil
      state.signIn(token.received(at: date), now: now, date: date)
      saving = self.enqueueSave(state.token)
      guard !isReplacing, let lease = state.unexpired(now: now) else { return .signOut(NetworkError.signedOut()) }
      return .use(lease)
    }
    broadcast.publish(.signedIn)
    try await saving?.value
  }

  /// Forgets the token; those who wait for one fail, and what is being got is thrown away.
  func signOut(_ reason: TokenEvent.SignOutReason, ifCurrent lease: TokenLease? = nil) async throws {
    var removal: Task<Void, any Error>?
    var wasSignedIn = false
    land(isCancelling: true) { state in
      if let lease, !state.isCurrent(lease) { return .ignore }
      wasSignedIn = state.token != nil || !state.isLoaded
      state.signOut()
      removal = self.enqueueSave(nil)
      return .signOut(NetworkError.signedOut())
    }
    if wasSignedIn { broadcast.publish(.signedOut(reason)) }
    try await removal?.value
  }

  /// Ends the session because the server refuses even a token that it has just given.
  func refuse(_ lease: TokenLease, _ response: NetworkResponse) async {
    do {
      try await signOut(.refused(NetworkError.unacceptableStatus(response)), ifCurrent: lease)
    } catch {
      broadcast.publish(.storeFailed(error))
    }
  }
}
