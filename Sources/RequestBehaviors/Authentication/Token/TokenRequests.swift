/// Checks each request of a source right before it is sent.
///
/// Since the refresh began, or while the request waited for a retry, another process that shares the store may have
/// refreshed the token. The server would then take the refresh token for a stolen one.
struct TokenRequestCheck: RequestBehavior {
  let order = BehaviorOrder.last
  let coordinator: TokenCoordinator
  let refresh: TokenState.Refresh
  let work: LastingWork

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await coordinator.confirm(refresh)
    try work.begin()
    let handOvers = coordinator.handOvers
    // Weakly: the session keeps the error of a refresh, and with it this call.
    request.call.addSendCheck(of: handOvers, handOvers: handOvers) { [weak coordinator, refresh] _ in
      if coordinator?.generation != refresh.generation { throw NetworkError.signedOut() }
    }
    return try await next(request)
  }
}

/// Counts the sends of a source: a request that was refused before it left does not count as having asked for a token.
final class TokenRequestTally: Sendable {
  private struct Counts {
    var calls = 0
    var sends = 0
    var secrets: [String] = []
  }

  private let counts = Locked(Counts())

  func note(_ report: CallReport) {
    let count = report.call.attemptCount
    let secrets = report.error == nil ? [] : report.call.secrets.values(for: .standard)
    counts.withLock { counts in
      counts.calls += 1
      counts.sends += count
      counts.secrets += secrets
    }
  }

  /// The secrets of the requests that failed, which an error that names no request may quote.
  var secrets: [String] { counts.withLock { $0.secrets } }

  /// Whether a source that ended in an error asked for a token.
  ///
  /// A source that did not use its client may have asked elsewhere, unless it says that the user must sign in.
  func tellsOfRequest(endingIn error: any Error) -> Bool {
    let counts = counts.withLock { $0 }
    if counts.calls > 0 { return counts.sends > 0 }
    guard let error = error as? NetworkError else { return true }
    return error.code != .notSignedIn || error.response != nil
  }
}

extension RequestOptions {
  /// Raises the time limits of a send to the time that getting a token may take, and removes the client's deadline.
  ///
  /// A token request that is given up may have spent the refresh token, and its new token is lost.
  mutating func waitForTokens(atLeast limit: Duration) {
    deadline = nil
    timeout = timeout.map { max($0, limit) }
    idleTimeout = idleTimeout.map { max($0, limit) }
  }
}
