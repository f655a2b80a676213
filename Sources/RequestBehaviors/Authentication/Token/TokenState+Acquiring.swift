/// Decides whether a request gets the token, waits for the refresh under way, begins one, or fails.
extension TokenState {
  /// Decides for a request that is to be sent.
  ///
  /// - Parameters:
  ///   - now: The monotonic time.
  ///   - snapshot: The number of failed refreshes when the request's call first came; only a later failure fails it.
  /// - Returns: The decision.
  mutating func acquire(now: Duration, snapshot: Int) -> Decision {
    // A refresh in time is waited for. After one that failed, or is overdue, a token that has not expired will do.
    if let issued = usable(now: now) { return .use(issued) }
    if refresh != nil, !isOverdue { return .wait }
    if let error = rememberedFailure(since: snapshot) { return unexpired(now: now).map { .use($0) } ?? .fail(error) }
    if refresh != nil { return unexpired(now: now).map { .use($0) } ?? .wait }
    guard isRefreshLimitReached(now: now) else {
      return .start(makeRefresh(isPrecaution: unexpired(now: now) != nil))
    }
    // The refresh limit is reached, so the server must say whether this token has expired.
    if let issued { return .use(issued) }
    return .fail(NetworkError.tooManyRefreshes(policy, failure?.error))
  }

  /// Decides for a request whose token the server, or the user's check, rejected.
  ///
  /// - Parameters:
  ///   - rejected: The token.
  ///   - isCertain: Whether it is sure that the rejection is about the token; true by default.
  ///   - now: The monotonic time.
  ///   - snapshot: The number of failed refreshes when the request's call first came; only a later failure fails it.
  /// - Returns: The decision.
  mutating func renew(_ rejected: IssuedToken, isCertain: Bool = true, now: Duration, snapshot: Int) -> Decision {
    // A token of an earlier user is not replaced. A token that is no longer the newest needs no refresh.
    guard rejected.generation == generation, issued != nil else { return .stand }
    guard rejected.version == version else { return acquire(now: now, snapshot: snapshot) }
    if refresh != nil, !isOverdue { return .wait }
    if let error = rememberedFailure(since: snapshot) { return .fail(error) }
    if refresh != nil { return .wait }
    if isRefreshLimitReached(now: now) { return .stand }
    return .start(makeRefresh(isPrecaution: !isCertain && unexpired(now: now) != nil))
  }

  private mutating func makeRefresh(isPrecaution: Bool) -> Refresh {
    lastRefresh += 1
    let new = Refresh(id: lastRefresh, version: version, generation: generation, isPrecaution: isPrecaution)
    refresh = new
    return new
  }

  private func rememberedFailure(since snapshot: Int) -> (any Error)? {
    guard let failure, failure.version == version, snapshot < failure.number else { return nil }
    return failure.error
  }
}
