// MARK: - Reading and writing

extension TokenCoordinator {
  /// Reads the store unless the session has a token or has read the store before.
  func load() async throws {
    @Sendable func isLoaded() -> Bool { update { state, _ in state.isLoaded } }
    if isLoaded() { return }
    try await queue.enqueue { if !isLoaded() { try await self.readAgain() } }.value()
  }

  /// Reads the store and takes over the changes of another process; runs on the queue.
  ///
  /// - Throws: ``NetworkError`` of code `tokenStoreFailed`.
  func readAgain() async throws {
    let found: AccessToken?
    do { found = try await store.load() } catch { throw NetworkError.tokenStoreUnreadable(error) }
    // A refresh by another process does not end the wait of any request, but a change of the user does.
    var event: TokenEvent?
    complete(isCancelling: true) { state, clock in
      switch state.review(found, now: clock.now(), date: clock.date()) {
      case .unchanged: return .ignore
      case .refreshed:
        event = .refreshed
        return .ignore
      case .signedOut:
        event = .signedOut(.elsewhere)
        return .signOut(NetworkError.signedOut())
      case .signedIn(let wasEmpty):
        event = .signedIn
        guard wasEmpty, let issued = state.unexpired(now: clock.now()) else {
          return .signOut(NetworkError.signedOut())
        }
        return .use(issued)
      }
    } telling: { _ in
      event
    }
  }

  /// Reads the store as ``readAgain()``.
  ///
  /// A failure does not matter if the session's own change could not be written either.
  ///
  /// - Returns: Whether it could be read.
  @discardableResult
  func readForRefresh() async throws -> Bool {
    do {
      try await readAgain()
      return true
    } catch {
      if update({ state, _ in !state.isUnsaved }) { throw error }
      return false
    }
  }

  /// Reads the store as ``readAgain()``; returns whether it could be read within the policy's timeout.
  func readAgain(on clock: RequestClock) async -> Bool { await readAgain(on: clock, within: policy.timeout) }

  /// Reads the store as ``readAgain()``, and waits for it no longer than a time; returns whether it could be read.
  ///
  /// A caller that is cancelled does not wait.
  func readAgain(on clock: RequestClock, within limit: Duration?) async -> Bool {
    let reading = queue.enqueue { try await self.readAgain() }
    return await clock.value(of: Task { (try? await reading.value()) != nil }, within: limit) ?? false
  }

  /// Reads the store as ``readAgain()``; returns whether it could be read.
  func readIfPossible() async -> Bool { (try? await readAgain()) != nil }

  /// Checks that the request of a refresh may still be sent.
  ///
  /// - Throws: ``NetworkError`` if another process has refreshed the token, if the user has left, or if the store
  ///   cannot be read.
  func confirm(_ refresh: TokenState.Refresh) async throws {
    if update({ state, _ in state.isUnderWay(refresh.id) }) {
      try await queue.enqueue { try await self.readForRefresh() }.value()
    }
    try update { state, _ in
      if state.generation != refresh.generation { throw NetworkError.signedOut() }
      if state.isOvertaken(refresh.id) { throw NetworkError.tokenRefreshedElsewhere() }
    }
  }

  /// Begins to store a change of the session.
  ///
  /// Called while the state is changed, so that the store gets changes in order.
  ///
  /// - Parameters:
  ///   - token: The token; `nil` to remove it.
  ///   - state: The state.
  ///   - noteNews: Gets the token that is replaced, if another process has stored it since the store was last used.
  /// - Returns: The operation that stores the change.
  private func enqueueSave(
    _ token: AccessToken?, _ state: inout TokenState, noteNews: (@Sendable (AccessToken) -> Void)? = nil
  ) -> TokenStoreQueue.Operation {
    state.beginSave()
    return queue.enqueue {
      do {
        if let noteNews, let found = try? await self.store.load() {
          let known = self.update { state, _ in state.knownStored }
          if let known, !AccessToken.isSame(found, known.token) { noteNews(found) }
        }
        try await self.store.save(token)
        self.update { state, _ in state.endSave(of: token, isPending: true, succeeded: true) }
      } catch {
        self.update { state, _ in state.endSave(of: token, isPending: true, succeeded: false) }
        self.saveLater()
        throw error
      }
    }
  }

  /// Stores the session's last change if that failed before.
  func saveUnsaved() async {
    _ = try? await queue.enqueue {
      // A change that another process has made since is newer. A store that cannot be read may still need to be
      // written.
      let stored = try await self.store(
        reading: { await self.readIfPossible() }, { self.update { state, _ in state.unsaved } })
      guard let stored else { return }
      self.update { state, _ in state.endSave(of: stored.token, isPending: false, succeeded: true) }
    }.value()
  }
}

// MARK: - Changes that undo no other

extension TokenCoordinator {
  /// Changes the store without undoing a change of another process; runs on the queue.
  ///
  /// - Parameters:
  ///   - read: Reads the store, and takes over the changes of another process; returns whether it could be read.
  ///   - change: Returns the change, once the session knows the content of the store; `nil` if there is nothing to
  ///     change any more.
  /// - Returns: The change that was made; `nil` if there was nothing to change any more, or if another process has
  ///   changed a store that cannot be read.
  /// - Throws: The error of the store.
  func store(
    reading read: () async throws -> Bool, _ change: () -> TokenState.Change?
  ) async throws -> TokenState.Change? {
    var made: TokenState.Change?
    // Another process may write between reading and replacing. More than two rounds are rare.
    for _ in 0..<8 {
      let isReadable = try await read()
      guard let change = change() else { return nil }
      made = change
      guard let expected = update({ state, _ in state.knownStored }) else { break }
      do {
        if try await store.replace(expected.token, with: change.token) { return change }
      } catch {
        if isReadable { throw error }
        break
      }
      // A store may refuse to be read and still know that another process has written to it.
      if !isReadable { return nil }
    }
    try await store.save(made?.token)
    return made
  }

  /// Removes a refused token, unless the store cannot be read or holds a newer one; runs on the queue.
  ///
  /// - Parameter isRefused: Whether the refused token is still the session's.
  /// - Returns: Whether the session ends, and the error that kept its token from being removed.
  func remove(while isRefused: () -> Bool) async -> (endsSession: Bool, problem: (any Error)?) {
    var isReadable = true
    do {
      let removal = try await store(
        reading: {
          isReadable = false
          let result = try await readForRefresh()
          isReadable = true
          return result
        }, { isRefused() ? TokenState.Change(token: nil) : nil })
      return (removal != nil, nil)
    } catch {
      return isReadable ? (true, error) : (false, nil)
    }
  }
}

// MARK: - Sign-in and sign-out

extension TokenCoordinator {
  /// Takes a token that the user brought; requests that wait for another user's token fail.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - id: The id of its owner; `nil` for a new one.
  ///   - mark: The mark of the sign-in, which is void if it is not the newest any more; `nil` to sign in anyway.
  /// - Throws: The error of the store, or ``NetworkError`` if the token cannot be sent or the sign-in is void.
  func signIn(_ token: AccessToken, id: String?, since mark: Int? = nil) async throws {
    try token.checkCharacters()
    var saving: TokenStoreQueue.Operation?
    var isVoid = false
    // Waiters get the token only if the session is known to have had no owner; otherwise they may be another one's.
    complete(isCancelling: true) { state, clock in
      isVoid = mark.map { $0 != state.userChanges } ?? false
      if isVoid { return .ignore }
      let now = clock.now()
      let isReplacing = state.hasOwner || !state.isLoaded
      state.signIn(token, id: id, now: now, date: clock.date())
      saving = self.enqueueSave(state.token, &state)
      guard !isReplacing, let issued = state.unexpired(now: now) else { return .signOut(NetworkError.signedOut()) }
      return .use(issued)
    } telling: { _ in
      isVoid ? nil : .signedIn
    }
    if isVoid { throw NetworkError.signInOvertaken() }
    // Before this returns, the former user's requests must have left, and the clients must know of the change.
    await handOvers.wait()
    await scopes.wait()
    try await saving?.value()
  }

  /// Forgets the token.
  ///
  /// Requests that wait for one fail, and the result of a refresh under way is dropped.
  ///
  /// - Parameters:
  ///   - isCancelling: Whether to cancel the task of a refresh under way.
  ///   - mark: The mark of the user who signs out, who has left already if it is not the newest any more; `nil` for any
  ///     user.
  ///   - noteNews: Gets the token that is removed, if another process has stored it since the store was last used.
  ///   - note: Reads the state before the token is forgotten; called under the lock.
  /// - Throws: The error of the store.
  func signOut(
    isCancelling: Bool = true, since mark: Int? = nil, noteNews: (@Sendable (AccessToken) -> Void)? = nil,
    noting note: (inout TokenState) -> Void = { _ in }
  ) async throws {
    var removal: TokenStoreQueue.Operation?
    var wasSignedIn = false
    complete(isCancelling: isCancelling) { state, _ in
      if let mark, mark != state.userChanges, state.hasToken { return .ignore }
      note(&state)
      wasSignedIn = state.hasToken || !state.isLoaded
      state.signOutAsRequested()
      removal = self.enqueueSave(nil, &state, noteNews: noteNews)
      return .signOut(NetworkError.signedOut())
    } telling: { _ in
      wasSignedIn ? .signedOut(.requested) : nil
    }
    // Before this returns, the user's requests must have left, and the clients must know of the sign-out.
    await handOvers.wait()
    await scopes.wait()
    try await removal?.value()
  }

  /// Ends the session because the server refuses even a token that it has just given.
  ///
  /// The token is removed from the store before subscribers and the caller hear of it; a cancelled caller does not
  /// wait. If another process has replaced the token, or the store cannot be read, the session goes on.
  func refuse(_ issued: IssuedToken, _ response: NetworkResponse) async {
    let error = NetworkError.unacceptableStatus(response)
    let removal = queue.enqueue {
      let removal = await self.remove(while: { self.update { state, _ in state.isCurrent(issued) } })
      guard removal.endsSession else { return }
      let problem = removal.problem
      var isSignedOut = false
      // The user may have signed in again while the store was written.
      self.complete(isCancelling: true) { state, _ in
        state.endSave(of: nil, isPending: false, succeeded: problem == nil)
        isSignedOut = state.isCurrent(issued)
        guard isSignedOut else { return .ignore }
        state.signOut()
        return .signOut(NetworkError.signedOut())
      } telling: { _ in
        isSignedOut ? .signedOut(.refused(error)) : nil
      }
      if let problem { self.broadcast.publish(.storeFailed(problem)) }
      self.saveLater()
    }
    await Task { try await removal.value() }.endOrCancellation()
  }
}

// MARK: - Scopes

extension TokenCoordinator {
  /// Reads the store unless it was read, so that the owner of the call is known.
  ///
  /// Gives up after the policy's timeout.
  func waitForUser(of call: Call) async {
    let (isLoaded, limit) = update { state, _ in (state.isLoaded, state.policy.timeout) }
    if isLoaded { return }
    // A sign-in or sign-out meanwhile settles the question too.
    let waiter = Waiter<Void>()
    let number = scopes.add(waiter)
    defer { scopes.remove(waiter: number) }
    let loading = Task {
      try? await self.load()
      waiter.settle(.success(()))
    }
    let timer = call.clock.schedule(after: limit) { waiter.settle(.success(())) }
    try? await call.wait { try await waiter.value() }
    loading.cancel()
    timer.cancel()
  }
}
