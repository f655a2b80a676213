extension TokenSession {
  /// Forgets the token, also in the store, and then has the server revoke it.
  ///
  /// ```swift
  /// try await session.signOut { token in
  ///   try await endpoint.revoke(token, over: client)
  /// }
  /// ```
  ///
  /// The session is signed out first, as by ``signOut()``, whatever the server says. A refresh under way is awaited for
  /// up to ``TokenRefreshPolicy/timeout``: it may have spent the old refresh token, and the new token is then the one
  /// to revoke. So is a token that another process has refreshed, or has stored while this session had none. A user who
  /// signs in while the store is read for the first time stays. A cancellation of the task ends none of these waits. A
  /// source that calls this method while it gets a token does not wait for itself: the closure gets the old token.
  ///
  /// Without a network the closure fails, such as with ``NetworkError/Code-swift.struct/cannotConnect``. The session is
  /// signed out then too, and the token stays valid at the server until it expires. The session has forgotten it: to
  /// revoke it later, keep it in the closure, in a store of its own. <doc:SigningOut> shows how.
  ///
  /// - Parameter revoke: Revokes the token; not called if there is no token.
  /// - Throws: The error of the closure, as it is, else the error of the store. After either the session is signed out,
  ///   and calling this method again does not call the closure, because there is no token any more.
  public func signOut(_ revoke: (_ token: AccessToken) async throws -> Void) async throws {
    let (token, storing) = await coordinator.signOutKeepingToken()
    if let token { try await revoke(token) }
    try storing.get()
  }
}

extension TokenCoordinator {
  /// Signs out, and returns the newest token of the user who left, and the result of storing the change.
  func signOutKeepingToken() async -> (token: AccessToken?, storing: Result<Void, any Error>) {
    // A user who signs in while the store is read is not the one who signs out.
    let mark = update { state, _ in state.isLoaded ? nil : state.userChanges }
    try? await load()
    var token: AccessToken?
    var late: Waiter<AccessToken?>?
    let news = Locked<AccessToken?>(nil)
    let noteNews = { @Sendable (found: AccessToken) in news.withLock { $0 = found } }
    let storing: Result<Void, any Error>
    // A source that signs the user out would wait for itself.
    let own = refreshAtWork
    do {
      try await signOut(isCancelling: false, since: mark, noteNews: noteNews) { state in
        token = state.token
        // A refresh that waits for another process has sent nothing.
        guard let refresh = state.refresh, state.isAlone, refresh.id != own else { return }
        let waiter = Waiter<AccessToken?>()
        state.lateTokens[refresh.id] = waiter
        late = waiter
      }
      storing = .success(())
    } catch {
      storing = .failure(error)
    }
    // If another process has refreshed the token, the server may not know the older one any more. The token of another
    // sign-in of the account leaves the older one valid. A session without a token hands over the one that it removed.
    if let found = news.withLock({ $0 }),
      token.map({ found.sessionID == $0.sessionID && found.signIn == $0.signIn }) ?? true
    {
      token = found
    }
    guard let late else { return (token, storing) }
    let (clock, limit) = update { state, clock in (clock, state.policy.timeout) }
    let timer = clock.schedule(after: limit) { late.settle(.success(nil)) }
    defer { timer.cancel() }
    // In a task of its own, which a cancellation does not end: the refresh may have spent the older token.
    let newest = await Task { try? await late.value() }.value
    return (newest ?? token, storing)
  }

  /// Hands the token of a refresh to the sign-out that waits for it.
  func release(_ token: AccessToken?, of refresh: TokenState.Refresh) {
    update { state, _ in state.lateTokens.removeValue(forKey: refresh.id) }?.settle(.success(token))
  }
}
