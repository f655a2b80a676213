extension NetworkError.Code {
  /// There is no token, and getting one takes the user: call ``TokenSession/signIn(_:)``.
  public static let notSignedIn = Self(rawValue: "notSignedIn")
  /// The session was signed out, or another user was signed in, while the request was under way.
  public static let signedOut = Self(rawValue: "signedOut")
  /// Getting the token that the request needs failed; the ``NetworkError/underlyingError`` is the reason.
  ///
  /// The request was not sent. A response of the token endpoint belongs to the underlying error, never to this one.
  public static let tokenUnavailable = Self(rawValue: "tokenUnavailable")
  /// A token store could not be read or written.
  public static let tokenStoreFailed = Self(rawValue: "tokenStoreFailed")
}

extension NetworkError {
  /// Returns the error by which a ``TokenSource`` says that it cannot get a token without the user.
  ///
  /// A session whose refresh throws it is signed out.
  ///
  /// - Parameter message: The reason and the remedy, without secrets.
  /// - Returns: An error of code ``Code-swift.struct/notSignedIn``.
  public static func notSignedIn(
    _ message: String = "no user is signed in; call signIn(_:) on the session, or send with authentication .none"
  ) -> NetworkError {
    NetworkError(.notSignedIn, message)
  }

  /// The error of a source that has nothing to refresh a token with.
  static func unrefreshable(_ message: String) -> NetworkError {
    NetworkError(.notSignedIn, message, underlyingError: UnrefreshableToken())
  }

  package static func signedOut() -> NetworkError {
    NetworkError(
      .signedOut,
      "the session was signed out, or another user signed in, while the request was under way; it is not sent any more")
  }

  package static func signInOvertaken() -> NetworkError {
    NetworkError(
      .signedOut, "the session was signed out, or another sign-in ended, before this one did; its token is not used")
  }

  static func tokenOfAnotherKey() -> NetworkError {
    NetworkError(
      .notSignedIn, "the token is bound to a key that the endpoint does not have; sign in again",
      underlyingError: TokenOfAnotherKey())
  }

  /// Returns the error of a request whose token could not be got.
  ///
  /// An error of one of these codes without a response cannot be mistaken for the request's own outcome, and keeps its
  /// code.
  static func tokenUnavailable(_ cause: any Error) -> NetworkError {
    let error = cause as? NetworkError
    // The message may quote a secret that only the call of the token request knows.
    let redactor = error?.request.map { Redactor.standard.hiding(secretsOf: $0) } ?? .standard
    let ownCodes: [Code] = [.notSignedIn, .tokenUnavailable, .invalidBehavior]
    if let error, error.response == nil, ownCodes.contains(error.code) {
      guard error.request != nil else { return error }
      // Without the request, so that the sends of the call that waits tell whether it may have arrived.
      return NetworkError(error.code, redactor.redact(text: error.message), underlyingError: error.underlyingError)
    }
    let reason = error.map { redactor.redact(text: $0.message) } ?? "the source threw \(type(of: cause))"
    return NetworkError(
      error?.code == .notSignedIn ? .notSignedIn : .tokenUnavailable,
      "the token that the request needs could not be got: \(reason)", underlyingError: cause)
  }

  static func tokenTimedOut(after limit: Duration) -> NetworkError {
    .tokenUnavailable(
      NetworkError(
        .timedOut, "there was no token after \(limit); the source or the store of the session does not answer"))
  }

  static func tokenLockTimedOut(after limit: Duration) -> NetworkError {
    let message =
      "another process has been refreshing the token for \(limit), or its lock is not free; send again later"
    return NetworkError(.tokenUnavailable, message, underlyingError: NetworkError(.timedOut, message))
  }

  static func tokenLockIgnored(by store: any TokenStore) -> NetworkError {
    NetworkError(.tokenStoreFailed, "withRefreshLock(_:) of \(type(of: store)) returned without running the work")
  }

  static func tokenRefreshedElsewhere() -> NetworkError {
    NetworkError(.tokenUnavailable, "another process has refreshed or replaced the token; it is not refreshed again")
  }

  static func tokenStoreUnreadable(_ error: any Error) -> NetworkError {
    if let error = error as? NetworkError, error.code == .tokenStoreFailed { return error }
    return .tokenStoreFailed("the token store could not be read; no user was signed out by that", error)
  }

  static func tokenDeadlinePassed() -> NetworkError {
    NetworkError(.deadlineExceeded, "the call's deadline passed while it waited for a token")
  }

  static func tokenSourceCancelled() -> NetworkError {
    NetworkError(
      .tokenUnavailable, "the source of the session cancelled itself", underlyingError: CancellationError())
  }

  static func tooManyRefreshes(_ policy: TokenRefreshPolicy, _ last: (any Error)?) -> NetworkError {
    NetworkError(
      .tokenUnavailable,
      "a token was asked for \(policy.limit) times within \(policy.window); wait before asking again, or raise the "
        + "limit of the TokenRefreshPolicy if your tokens live for seconds",
      underlyingError: (last as? NetworkError)?.underlyingError ?? last)
  }

  static func noSuchSession(_ name: String, _ names: Set<String>) -> NetworkError {
    let others = names.isEmpty ? "none" : names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    return NetworkError(
      .invalidBehavior, "the request is to be authenticated by \"\(name)\" only, and the client has \(others)")
  }

  static func tokenSourceWaitsForItself() -> NetworkError {
    NetworkError(
      .invalidBehavior,
      "a TokenSource sent a request that waits for the token which the source is to get; send it with the client that "
        + "the source is given, or with authentication .none")
  }

  static func tokenStoreWaitsForItself() -> NetworkError {
    NetworkError(
      .invalidBehavior,
      "a TokenStore used the session whose token it loads or saves, which waits for the store; use the session in a task "
        + "that the store does not wait for")
  }

  static func tokenStoreFailed(_ message: String, _ error: (any Error)? = nil) -> NetworkError {
    NetworkError(.tokenStoreFailed, message, underlyingError: error)
  }
}
